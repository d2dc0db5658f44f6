"""What has come of it all, in plain words."""

from __future__ import annotations

from fakes.github.check_payloads import REPOSITORY
from fakes.github.exchange import Payload
from fakes.github.payloads import HEAD_SHA
from fakes.github.state import State


class Outcome(State):
    """A state that is easily read."""

    @property
    def bodies(self) -> list[str]:
        """The texts of the comments, the oldest first."""
        return [comment["body"] for _, comment in sorted(self.comments.items())]

    @property
    def writes(self) -> list[tuple[str, str]]:
        """Method and path of every writing request, whether it succeeded or not."""
        return [(one.method, one.path) for one in self.requests if one.is_write]

    def checks(self, sha: str = HEAD_SHA) -> list[Payload]:
        """The check runs of a commit, the oldest first."""
        return [run for run in self.check_runs if run["head_sha"] == sha]

    def annotations_of(self, name: str, sha: str = HEAD_SHA) -> list[Payload]:
        """All annotations of the check runs of this name."""
        runs = [run["id"] for run in self.checks(sha) if run["name"] == name]
        return [one for run in runs for one in self.annotations.get(run, [])]

    def latest_status(self, sha: str, context: str) -> str | None:
        """The state that counts."""
        return next((one["state"] for one in self.statuses_of(sha, context)), None)

    def labels(self, number: int, repo: str = REPOSITORY) -> list[str]:
        return [label["name"] for label in self.pulls[repo, number]["labels"]]

    def reviews(self, number: int) -> list[Payload]:
        """The reviews of a pull request, each with its ``comments``."""
        comments = self.review_comment_list
        return [
            review
            | {"comments": [c for c in comments if c["pull_request_review_id"] == review["id"]]}
            for review in self.review_list
            if review["pull_request_url"].endswith(f"/pulls/{number}")
        ]
