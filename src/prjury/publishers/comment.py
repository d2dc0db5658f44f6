"""The one comment below a pull request that is edited in place.

It is found by its hidden marker *and* its author, so that nobody else's text is ever taken for it.
Simultaneous runs converge to one comment (`prjury.publishers.races`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import attrgetter

from msgspec import Struct

from prjury.errors import PublishError
from prjury.github.payload import CommentFacts
from prjury.github.posts import delete_comment, post_comment, read_comments
from prjury.github.repo_client import RepoClient, ignore
from prjury.publishers.races import (
    LookAgainError,
    Run,
    Url,
    find_newest_after,
    raise_if_unclear,
    read_run,
    retry_unclear,
)
from prjury.report.annotations import MARKER_ID, read_markers
from prjury.report.model import Report

_NEEDS = "pull-requests: write"


class Marker(Struct, frozen=True):
    """What the first line of one of our comments says to programs."""

    #: Which of several comments on the same pull request this is.
    id: str
    run: Run | None = None
    #: What it says of the files that the report was made of.
    files: str = ""
    head: str = ""
    base: str = ""

    @classmethod
    def of(cls, body: str) -> Marker | None:
        """Read the marker of a comment; None where its first line is not one."""
        values = read_markers(body.partition("\n")[0])
        if values is None:
            return None
        words = (values.get(name, "") for name in ("files", "head", "base"))
        return cls(values.get("id", "default"), read_run(values.get("run", "")), *words)


@dataclass
class StickyComment:
    """Publishes a report as the pull request's one comment."""

    room: RepoClient
    number: int
    render: Callable[[Report], str] = lambda report: report.headline
    #: The comments as this job has read them a moment ago; None for a look of its own.
    comments: Iterable[CommentFacts] | None = None
    name: str = "comment"
    #: After `publish`, whether a later run has published its verdict already.
    outdated: bool = field(default=False, init=False)

    def publish(self, report: Report) -> str | None:
        return self.write(self.render(report))

    def write(self, body: str) -> str:
        return retry_unclear(lambda: self._post_or_edit_and_dedupe(body), self.room.client.sleep)

    def _post_or_edit_and_dedupe(self, body: str) -> Url:
        seen, self.comments = self.comments, None  # another attempt looks again
        own = self._find_own_comments(seen)
        if not own:
            with raise_if_unclear():
                created = post_comment(self.room, self.number, body)
            # A second look: another run may have seen nothing and posted at the same time.
            comments = {comment.id: comment for comment in (created, *self._find_own_comments())}
            own = sorted(comments.values(), key=attrgetter("id"))
        oldest, *duplicates = own
        newer = find_newest_after(own, _find_writer(body), lambda other: _find_writer(other.body))
        self.outdated = newer is not None
        text = newer.body.replace("\r\n", "\n") if newer else body
        if oldest.body.replace("\r\n", "\n") != text:
            self._edit_comment(oldest, text)
        for duplicate in duplicates:
            delete_comment(self.room, duplicate.id)
        return oldest.url

    def _find_own_comments(self, seen: Iterable[CommentFacts] | None = None) -> list[CommentFacts]:
        marked = [
            comment
            for comment in (read_comments(self.room, self.number) if seen is None else seen)
            if (marker := Marker.of(comment.body)) and marker.id == MARKER_ID
        ]
        account = self.room.account() if marked else ""
        own = [comment for comment in marked if comment.author == account]
        return sorted(own, key=attrgetter("id"))

    def _edit_comment(self, comment: CommentFacts, body: str) -> None:
        task = f"edit the comment on {self.room.repo}#{self.number}"
        path = f"/issues/comments/{comment.id}"
        try:
            self.room.send(task, "PATCH", path, {"body": body}, ignore, needs=_NEEDS)
        except PublishError as error:
            if error.reason == "not_found":  # it was deleted since we looked
                raise LookAgainError(error) from error
            raise


def _find_writer(body: str) -> Run | None:
    marker = Marker.of(body)
    return marker.run if marker else None
