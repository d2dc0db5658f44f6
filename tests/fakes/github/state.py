"""What GitHub remembers, in plain words for tests, and what tests put there."""

from __future__ import annotations

import re
import threading
import time
from datetime import UTC, datetime, timedelta

from fakes.github.accounts import ACTIONS, OCTOCAT, Account
from fakes.github.check_payloads import REPOSITORY
from fakes.github.exchange import Headers, Payload, Refusal, Request
from fakes.github.faults import Fault
from fakes.github.objects import Objects
from fakes.github.payloads import BASE_SHA
from fakes.github.statuses import commit_of

_START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class State:
    """One repository, `REPOSITORY`, and the pull requests of any.

    Attributes:
        diffs: by the pull request's number: the paths, and the lines that a comment may stand on.
        commits: the commits that are there; None: whichever is asked for.
        objects: what has been written through the API, or loaded from a real repository.
        restricted: patterns of branches that a ruleset lets nobody create.
        drafts: whether the repository's plan has draft pull requests.
        files: by ref and path; the ref None stands for all.
        conflicting: the numbers of the pull requests that cannot be merged.
        unindexed: the numbers of the pull requests that the search does not know yet.
        known_labels: the labels that the repository has, in small letters.
        roles: what people may do, by login; all others are nobody.
        protections: the required checks of a branch, and the only app that each may come from.
        violations: where somebody did not speak as GitHub describes it; see `contract`.
        delay: seconds before each answer.
        skew: seconds by which the server's clock is wrong, in the header ``Date``.
        hourly: the requests that the tokens of all jobs have together in an hour.
        spent: those of them that were made since the last `next_hour`.
        over: the status beyond them: GitHub says 403 or 429.
    """

    url: str
    prefix: str

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {"ghs_actions": ACTIONS, "ghp_octocat": OCTOCAT}
        self.repositories: dict[str, Payload] = {REPOSITORY: {}}
        self.pulls: dict[tuple[str, int], Payload] = {}
        self.diffs: dict[int, dict[str, frozenset[int]]] = {}
        self.issues: dict[int, Payload] = {}
        self.comments: dict[int, Payload] = {}
        self.reactions: dict[tuple[int, str, str], Payload] = {}
        self.review_list: list[Payload] = []
        self.review_comment_list: list[Payload] = []
        self.resolved: set[int] = set()
        self.conflicting: set[int] = set()
        self.unindexed: set[int] = set()
        self.known_labels: set[str] = set()
        self.roles: dict[str, str] = {"octocat": "admin"}
        self.check_runs: list[Payload] = []
        self.annotations: dict[int, list[Payload]] = {}
        self.statuses: list[Payload] = []
        self.workflow_runs: list[Payload] = []
        self.artifacts: dict[int, Payload] = {}
        self.archives: dict[int, bytes] = {}
        self.branches: dict[str, str] = {"main": BASE_SHA}
        self.commits: set[str] | None = None
        self.objects = Objects()
        self.restricted: list[str] = []
        self.drafts = True
        self.protections: dict[str, dict[str, int | None]] = {}
        self.rules: dict[str, list[Payload]] = {}
        self.workflow_permissions: Payload = {
            "default_workflow_permissions": "read",
            "can_approve_pull_request_reviews": False,
        }
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.violations: list[str] = []
        self.locked = False
        self.delay = 0.0
        self.skew = 0.0
        self.rate: Headers = {
            "X-RateLimit-Limit": "5000",
            "X-RateLimit-Remaining": "4999",
            "X-RateLimit-Reset": "4102444800",
        }
        self.hourly, self.spent, self.over = 1_000, 0, 403
        self._reset = int(time.time()) + 3_600
        self.next_link: str | None = None
        self._next_id = 1_000
        self._lock = threading.RLock()

    def number(self) -> int:
        """An id that nothing else has."""
        with self._lock:
            self._next_id += 1
            return self._next_id

    def moment(self) -> str:
        """The time by the server's clock, which goes on by a second whenever something is made."""
        now = _START + timedelta(seconds=self._next_id - 1_000)
        return now.strftime("%Y-%m-%dT%H:%M:%SZ")

    def next_hour(self) -> None:
        """The tokens of jobs have all of their requests again."""
        self.spent, self._reset = 0, int(time.time()) + 3_600

    def rate_of(self, account: Account | None) -> Headers:
        """What is told with each answer; the tokens of all jobs of a repository share one limit."""
        if account is None or not account.is_job:
            return self.rate
        return {
            "X-RateLimit-Limit": str(self.hourly),
            "X-RateLimit-Remaining": str(max(0, self.hourly - self.spent)),
            "X-RateLimit-Used": str(min(self.spent, self.hourly)),
            "X-RateLimit-Reset": str(self._reset),
            "X-RateLimit-Resource": "core",
        }

    def spend(self, account: Account | None) -> None:
        """One request more, unless there is none left."""
        if account is None or not account.is_job:
            return
        with self._lock:
            if self.spent >= self.hourly:
                raise Refusal(self.over, "API rate limit exceeded for installation ID 1.")
            self.spent += 1

    def can_merge(self, pull: Payload) -> bool:
        """What GitHub's trial of a merge comes to."""
        return pull["number"] not in self.conflicting

    def resolve(self, ref: str) -> str:
        """The commit that is meant by a branch or a hash."""
        sha = self.branches.get(ref.removeprefix("refs/").removeprefix("heads/"), ref)
        self.known_commit(sha)
        return sha

    def known_commit(self, sha: str) -> None:
        full = re.fullmatch("[0-9a-f]{40}", sha) is not None
        if not full or (self.commits is not None and sha not in self.commits):
            raise Refusal(422, f"No commit found for SHA: {sha}")

    def statuses_of(self, sha: str, context: str | None = None) -> list[Payload]:
        """A commit's statuses, the newest first."""
        return [
            one
            for one in reversed(self.statuses)
            if commit_of(one) == sha and context in {None, one["context"]}
        ]
