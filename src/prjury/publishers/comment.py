"""The one comment below a pull request that is edited in place.

It is found by its hidden marker *and* its author, so that nobody else's text is ever taken for it.
Every attempt starts by looking what is there: that makes an attempt repeatable after a failure
that left open whether the comment was written, and lets simultaneous runs converge to one comment.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from prjury.errors import PublishError
from prjury.publishers.idempotent import LookAgainError, write_converging, written_once
from prjury.report.inline import markers
from prjury.report.model import Report

if TYPE_CHECKING:
    from prjury.github.comments import PostedComment


class CommentsPort(Protocol):
    """The comments below one pull request; every method raises PublishError."""

    def author(self) -> str:
        """The account under which comments are written here."""

    def comments(self) -> Sequence[PostedComment]:
        """All comments."""

    def create(self, body: str) -> PostedComment:
        """Posts a comment."""

    def edit(self, comment: int, body: str) -> PostedComment:
        """Replaces a comment's text."""

    def delete(self, comment: int) -> None:
        """Removes a comment."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What the first line of one of our comments says to programs.

    Attributes:
        id: which of several comments on the same pull request this is.
        run: the workflow run and its attempt, None for a comment from elsewhere.
        files: what it says of the files that the report was made of.
        head: the commit that the comment is about; empty for comments of old.
        base: the commit that it was merged into.
    """

    id: str
    run: tuple[int, int] | None = None
    files: str = ""
    head: str = ""
    base: str = ""

    @classmethod
    def of(cls, body: str) -> Marker | None:
        """The marker of a comment, None where its first line is not one."""
        values = markers(body.partition("\n")[0])
        if values is None:
            return None
        run = re.fullmatch(r"(\d{1,18})\.(\d{1,9})", values.get("run", ""), re.ASCII)
        at = (int(run[1]), int(run[2])) if run else None
        words = (values.get(name, "") for name in ("files", "head", "base"))
        return cls(values.get("id", "default"), at, *words)


@dataclass
class StickyComment:
    """Publishes a report as the pull request's comment of this id.

    Attributes:
        render: the comment's Markdown, with the marker on its first line.
        sleep: waits so many seconds between attempts.
        outdated: after `publish`, whether a later run has published its verdict already.
    """

    conversation: CommentsPort
    render: Callable[[Report], str] = lambda report: report.headline
    id: str = "default"
    sleep: Callable[[float], None] = time.sleep
    name: str = "comment"
    outdated: bool = field(default=False, init=False)
    _author: str | None = field(default=None, init=False)

    def publish(self, report: Report) -> str | None:
        """Creates or edits the comment; the result is its web address."""
        return self.write(self.render(report))

    def write(self, body: str) -> str:
        """The same with a text, whose first line is a marker of this id."""
        return write_converging(lambda: self._upsert(body), self.sleep)

    def _upsert(self, body: str) -> str:
        own = self._own()
        if not own:
            created = self._create(body)
            # A second look: another run may have found nothing and posted at the same time.
            own = sorted({c.id: c for c in (created, *self._own())}.values(), key=lambda c: c.id)
        keep, *extra = own
        text = _newest(body, own)
        self.outdated = text != body
        if keep.body.replace("\r\n", "\n") != text:
            self._edit(keep, text)
        for comment in extra:
            self._delete(comment)
        return keep.url

    def _own(self) -> list[PostedComment]:
        """Our comments of this id, oldest first."""
        marked = [
            comment
            for comment in self.conversation.comments()
            if (marker := Marker.of(comment.body)) and marker.id == self.id
        ]
        if marked and self._author is None:
            self._author = self.conversation.author()
        ours = [comment for comment in marked if comment.author == self._author]
        return sorted(ours, key=lambda comment: comment.id)

    def _create(self, body: str) -> PostedComment:
        with written_once():
            return self.conversation.create(body)

    def _edit(self, comment: PostedComment, body: str) -> None:
        try:
            self.conversation.edit(comment.id, body)
        except PublishError as error:
            if error.reason == "not_found":  # it was deleted since we looked
                raise LookAgainError(error) from error
            raise

    def _delete(self, comment: PostedComment) -> None:
        try:
            self.conversation.delete(comment.id)
        except PublishError as error:
            if error.reason != "not_found":  # another run was faster
                raise


def _newest(body: str, own: Sequence[PostedComment]) -> str:
    """The text of the latest run: ours, unless one that started later has published already."""
    newest, run = body, _run(body)
    for comment in own:
        other = _run(comment.body)
        if run and other and other > run:
            newest, run = comment.body.replace("\r\n", "\n"), other
    return newest


def _run(body: str) -> tuple[int, int] | None:
    marker = Marker.of(body)
    return marker.run if marker else None
