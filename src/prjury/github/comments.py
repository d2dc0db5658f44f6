"""The comments below a pull request: the door through which a publisher reaches GitHub."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from prjury.errors import PublishError
from prjury.github.client import GitHub
from prjury.github.payload import repo_name, text, whole_number
from prjury.github.repo_client import RepoClient

if TYPE_CHECKING:
    from github.Issue import Issue
    from github.IssueComment import IssueComment
    from github.NamedUser import NamedUser

Result = TypeVar("Result")

_COMMENTS_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class PostedComment:
    """A comment below a pull request, as GitHub holds it."""

    id: int
    body: str
    author: str
    url: str


class Comments:
    """The comments below one pull request: read them all, write single ones.

    Every method raises PublishError: whoever comes here wants to publish.
    """

    def __init__(self, hub: GitHub, repo: str, number: int) -> None:
        self._hub = hub
        self._repo = repo_name(repo, "the repository")
        self._number = number

    def author(self) -> str:
        """The account under which comments are written here."""
        return RepoClient(self._hub, self._repo).account()

    def comments(self) -> list[PostedComment]:
        """Every comment, from all pages, oldest first."""
        return self._hub.ask(
            f"list the comments of {self._repo}#{self._number}",
            lambda: _all_comments(self._issue()),
            error=PublishError,
            needs="pull-requests: read",
        )

    def create(self, body: str) -> PostedComment:
        """Posts a comment; after an unclear failure nobody knows whether it is there."""
        return self._write(
            "comment on", lambda: _posted(self._issue().create_comment(body)), repeatable=False
        )

    def edit(self, comment: int, body: str) -> PostedComment:
        """Replaces a comment's text."""

        def call() -> PostedComment:
            found = self._issue().get_comment(comment)
            found.edit(body)
            return _posted(found)

        return self._write("edit the comment on", call)

    def delete(self, comment: int) -> None:
        """Removes a comment."""
        self._write("delete a comment on", lambda: self._issue().get_comment(comment).delete())

    def _issue(self) -> Issue:
        return self._hub.api.get_repo(self._repo).get_issue(self._number)

    def _write(self, doing: str, call: Callable[[], Result], *, repeatable: bool = True) -> Result:
        return self._hub.ask(
            f"{doing} {self._repo}#{self._number}",
            call,
            error=PublishError,
            needs="pull-requests: write",
            repeatable=repeatable,
        )


def _all_comments(issue: Issue) -> list[PostedComment]:
    found: dict[int, PostedComment] = {}
    for comment in issue.get_comments():
        posted = _posted(comment)
        if posted.id in found or len(found) >= _COMMENTS_LIMIT:
            raise ValueError("the pages of the list do not end")
        found[posted.id] = posted
    return list(found.values())


def _posted(comment: IssueComment) -> PostedComment:
    # PyGithub's annotations leave out that a deleted account is null, and what a proxy may send.
    user = cast("NamedUser | None", comment.user)
    author = text(user.login) if user else ""
    number = whole_number(cast("int | None", comment.id), "the comment's id")
    return PostedComment(number, text(comment.body), author, text(comment.html_url))
