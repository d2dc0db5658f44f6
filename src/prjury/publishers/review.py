"""One review with remarks at added lines; what was said once is never said again.

What there is to say follows from what our own account has said before: on the same head nothing,
on a later one the findings that have no remark yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from prjury.errors import PublishError
from prjury.github.payload import at, object_name, text
from prjury.github.repo_client import RepoClient, login_of
from prjury.publishers.races import Url, raise_if_unclear, retry_unclear
from prjury.report.annotations import MARKER_ID, Remark, Reviewer, list_added_lines, read_markers
from prjury.report.continuity import make_fixed_or_dismissed_test
from prjury.report.model import Report
from prjury.report.render import marker
from prjury.report.sanitise import BY_SHAPE, Redact, plain
from prjury.report.wording import pluralize

if TYPE_CHECKING:
    from github.PullRequestComment import PullRequestComment
    from github.PullRequestReview import PullRequestReview

    Posted: TypeAlias = PullRequestReview | PullRequestComment


_READS, _WRITES = "pull-requests: read", "pull-requests: write"
#: A thread is resolved by who may write contents, whatever else the token may do.
_RESOLVES = "contents: write"
_LIST_THREADS = """\
query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    reviewThreads(last: 100) {
      nodes { id isResolved comments(first: 1) { nodes { body author { __typename login } } } }
    }
  } }
}
"""
_RESOLVE = """\
mutation($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) { thread { id } } }
"""


@dataclass
class LineReview:
    """Publishes a report as a review of its head."""

    room: RepoClient
    number: int
    #: The workflow run and its attempt (``5.1``), None outside of a workflow.
    run: str | None = None
    redact: Redact = BY_SHAPE
    name: str = "review"
    notes: list[str] = field(default_factory=list, init=False)

    def publish(self, report: Report) -> str | None:
        reviewer = Reviewer(report, list_added_lines(report.pull), self.redact)
        self._resolve_settled_threads(report)
        if not reviewer.remarks():
            return None
        return retry_unclear(lambda: self._find_or_post_review(reviewer), self.room.client.sleep)

    def _find_or_post_review(self, reviewer: Reviewer) -> Url | None:
        head = reviewer.report.pull.head.sha
        earlier: set[str] = set()
        for posted, values in self._list_own_posts_and_markers():
            if values.get("head") == head:
                return posted.html_url
            earlier.add(values.get("finding", ""))
        remarks = reviewer.remarks(earlier)
        return self._post_review(reviewer.report, remarks) if remarks else None

    def _list_own_posts_and_markers(self) -> list[tuple[Posted, dict[str, str]]]:
        from github.PullRequestComment import PullRequestComment  # noqa: PLC0415 - heavy, hence late
        from github.PullRequestReview import PullRequestReview  # noqa: PLC0415 - the same

        task, path = f"list the reviews of {self._pull_name}", f"{self._address}/reviews"
        reviews: list[Posted] = self.room.list_objects(PullRequestReview, task, path, needs=_READS)
        task, path = f"list the review comments of {self._pull_name}", f"{self._address}/comments"
        remarks: list[Posted] = self.room.list_objects(PullRequestComment, task, path, needs=_READS)
        marked = [
            (posted, values)
            for posted in (*reviews, *remarks)
            if (values := read_markers(posted.body or "")) and values.get("id") == MARKER_ID
        ]
        account = self.room.account() if marked else ""
        return [(posted, values) for posted, values in marked if login_of(posted.user) == account]

    def _post_review(self, report: Report, remarks: Sequence[Remark]) -> Url | None:
        from github.PullRequestReview import PullRequestReview  # noqa: PLC0415 - heavy, hence late

        count = pluralize(len(remarks), "comment")
        headline = plain(report.headline, 240, self.redact)
        content = {
            "commit_id": object_name(report.pull.head.sha, "the head"),
            "event": "COMMENT",
            "body": f"{marker(report, self.run)}\n**{headline}**\n\n"
            f"{count} on lines that this change adds; the report has every finding.\n",
            "comments": remarks,
        }
        task, path = f"review {self._pull_name}", f"{self._address}/reviews"
        kind = PullRequestReview
        try:
            with raise_if_unclear():
                return self.room.write(
                    kind, task, "POST", path, content, needs=_WRITES, repeatable=False
                ).html_url
        except PublishError as error:
            if error.reason != "refused":
                raise
            # GitHub refuses a review as a whole where it does not know one of its lines.
            self.notes.append(f"GitHub refused remarks at lines: {error.why}")
            return None

    def _resolve_settled_threads(self, report: Report) -> None:
        is_settled = make_fixed_or_dismissed_test(report)
        try:
            for thread in self._list_unresolved_threads():
                comments = at(thread, "comments", "nodes")
                first = comments[0] if isinstance(comments, list) and comments else None
                values = read_markers(text(at(first, "body"))) or {}
                finding, seat = values.get("finding", ""), values.get("seat", "")
                if values.get("id") != MARKER_ID or not is_settled(finding, seat):
                    continue
                if _author_of(first) == self.room.account():
                    self._query("resolve a review thread", _RESOLVE, {"thread": at(thread, "id")})
        except PublishError as error:
            self.notes.append(
                f"Threads of findings that are gone stay open (`contents: write`): {error}"
            )

    def _list_unresolved_threads(self) -> Iterator[object]:
        owner, _, name = self.room.repo.partition("/")
        pull = {"owner": owner, "name": name, "number": self.number}
        data = self._query("list the review threads", _LIST_THREADS, pull)
        nodes = at(data, "repository", "pullRequest", "reviewThreads", "nodes")
        for node in nodes if isinstance(nodes, list) else ():
            if at(node, "isResolved") is False:
                yield node

    def _query(self, task: str, query: str, values: Mapping[str, Any]) -> object:
        client = self.room.client
        return client.ask(
            task,
            lambda: client.api.requester.graphql_query(query, dict(values))[1]["data"],
            error=PublishError,
            needs=_RESOLVES,
        )

    @property
    def _address(self) -> str:
        return f"/pulls/{self.number}"

    @property
    def _pull_name(self) -> str:
        return f"{self.room.repo}#{self.number}"


def _author_of(comment: object) -> str:
    """Return the login; GraphQL names bots without the suffix that the REST API gives them."""
    login, kind = text(at(comment, "author", "login")), at(comment, "author", "__typename")
    bot = "[bot]" if kind == "Bot" and login and not login.endswith("[bot]") else ""
    return login + bot
