"""What people read below a pull request: its comments, reviews and labels, read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from prjury.errors import PublishError
from prjury.github.client import GitHub
from prjury.github.payload import (
    CommentFacts,
    at,
    object_name,
    read_comment,
    text,
    whole_number,
)
from prjury.github.repo_client import RepoClient
from prjury.report.inline import Remark

_READS, _WRITES = "pull-requests: read", "pull-requests: write"
#: How a comment is answered at a glance: done, refused, not understood, a run was started.
Reaction: TypeAlias = Literal["+1", "-1", "confused", "rocket"]


@dataclass(frozen=True, slots=True)
class PostedText:
    """A review's body, or a remark at a line, as GitHub holds it.

    Attributes:
        author: the login of the account that wrote it, empty for a deleted one.
    """

    body: str
    author: str
    url: str


class _OfPull:
    """What hangs on one pull request."""

    def __init__(self, client: GitHub, repo: str, number: int) -> None:
        self._room = RepoClient(client, repo)
        self._number = number
        self._told_as = f"{repo}#{number}"

    def author(self) -> str:
        """The account under which texts are written here."""
        return self._room.account()


class Reviews(_OfPull):
    """The reviews of one pull request.

    Every method raises PublishError.
    """

    @property
    def _pull(self) -> str:
        return f"/pulls/{self._number}"

    def bodies(self) -> list[PostedText]:
        """What every review says as a whole, oldest first."""
        return self._room.every(
            f"list the reviews of {self._told_as}",
            f"{self._pull}/reviews",
            _posted_text,
            needs=_READS,
        )

    def remarks(self) -> list[PostedText]:
        """Every remark at a line."""
        return self._room.every(
            f"list the review comments of {self._told_as}",
            f"{self._pull}/comments",
            _posted_text,
            needs=_READS,
        )

    def create(self, head_sha: str, body: str, remarks: Sequence[Remark]) -> PostedText:
        """Posts a review that neither approves nor blocks.

        After an unclear failure nobody knows whether it is there.
        """
        content = {
            "commit_id": object_name(head_sha, "the head"),
            "event": "COMMENT",
            "body": body,
            "comments": [_sent_remark(remark) for remark in remarks],
        }
        return self._room.send(
            f"review {self._told_as}",
            "POST",
            f"{self._pull}/reviews",
            content,
            _posted_text,
            needs=_WRITES,
            repeatable=False,
        )


def _posted_text(payload: object) -> PostedText:
    return PostedText(
        body=text(at(payload, "body")),
        author=text(at(payload, "user", "login")),
        url=text(at(payload, "html_url")),
    )


def _sent_remark(remark: Remark) -> dict[str, Any]:
    content = {"path": remark.path, "line": remark.line, "side": "RIGHT", "body": remark.body}
    if remark.start_line is None:
        return content
    return content | {"start_line": remark.start_line, "start_side": "RIGHT"}


class IssueLabels(_OfPull):
    """The labels of one pull request, which GitHub keeps as those of an issue.

    Every method raises PublishError.
    """

    @property
    def _path(self) -> str:
        return f"/issues/{self._number}/labels"

    def names(self) -> list[str]:
        """The labels that are there."""
        return self._room.every(
            f"list the labels of {self._told_as}",
            self._path,
            lambda label: text(at(label, "name")),
            needs=_READS,
        )

    def add(self, names: Sequence[str]) -> None:
        """Adds labels; those that the repository does not have take ``issues: write``."""
        self._room.send(
            f"label {self._told_as}",
            "POST",
            self._path,
            {"labels": list(names)},
            lambda _answer: None,
            needs=_WRITES,
        )

    def remove(self, name: str) -> None:
        """Takes a label off; one that is not there is no failure."""
        try:
            self._room.send(
                f"take a label off {self._told_as}",
                "DELETE",
                f"{self._path}/{quote(name, safe='')}",
                None,
                lambda _answer: None,
                needs=_WRITES,
            )
        except PublishError as error:
            if error.reason != "not_found":
                raise


@dataclass(frozen=True, slots=True)
class PostedComment:
    """A comment below a pull request, as GitHub holds it.

    Attributes:
        updated: when it was written last, such as ``2026-01-02T03:04:05Z``.
    """

    id: int
    body: str
    author: str
    url: str
    updated: str = ""


class Comments(_OfPull):
    """The comments below one pull request: read them all, write single ones.

    Every method raises PublishError.
    """

    def comments(self) -> list[PostedComment]:
        """Every comment, from all pages, oldest first."""
        doing, path = f"list the comments of {self._told_as}", f"/issues/{self._number}/comments"
        return self._room.every(doing, path, _posted_comment, needs=_READS)

    def one(self, comment: int) -> CommentFacts | None:
        """A comment as it stands now; None where there is none of that number."""
        doing, path = f"read a comment on {self._told_as}", f"/issues/comments/{comment}"
        try:
            found = self._room.get(doing, path, read_comment, needs=_READS)
        except PublishError as error:
            if error.reason != "not_found":
                raise
            return None
        return found if found.number == self._number else None

    def react(self, comment: int, content: Reaction) -> None:
        """Put a reaction to a comment; once more is the same as once."""
        self._room.send(
            f"react to a comment on {self._told_as}",
            "POST",
            f"/issues/comments/{comment}/reactions",
            {"content": content},
            lambda _answer: None,
            needs=_WRITES,
        )

    def has_reaction(self, comment: int) -> bool:
        """Whether our own account has reacted to a comment."""
        doing, path = f"read reactions on {self._told_as}", f"/issues/comments/{comment}/reactions"
        authors = self._room.every(doing, path, _login, needs=_READS)
        return bool(authors) and self.author() in authors

    def create(self, body: str) -> PostedComment:
        """Posts a comment; after an unclear failure nobody knows whether it is there."""
        return self._room.send(
            f"comment on {self._told_as}",
            "POST",
            f"/issues/{self._number}/comments",
            {"body": body},
            _posted_comment,
            needs=_WRITES,
            repeatable=False,
        )

    def edit(self, comment: int, body: str) -> PostedComment:
        """Replaces a comment's text."""
        return self._room.send(
            f"edit the comment on {self._told_as}",
            "PATCH",
            f"/issues/comments/{comment}",
            {"body": body},
            _posted_comment,
            needs=_WRITES,
        )

    def delete(self, comment: int) -> None:
        """Removes a comment."""
        self._room.send(
            f"delete a comment on {self._told_as}",
            "DELETE",
            f"/issues/comments/{comment}",
            None,
            lambda _answer: None,
            needs=_WRITES,
        )


def _login(payload: object) -> str:
    return text(at(payload, "user", "login"))


def _posted_comment(payload: object) -> PostedComment:
    return PostedComment(
        id=whole_number(at(payload, "id"), "the comment's id"),
        body=text(at(payload, "body")),
        author=_login(payload),
        url=text(at(payload, "html_url")),
        updated=text(at(payload, "updated_at")),
    )
