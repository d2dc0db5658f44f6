"""What stands on a pull request and its commits: comments, reactions and statuses.

Every function raises what its `RepoClient` raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from prjury.github.payload import CommentFacts, at, object_name, read_comment
from prjury.github.repo_client import RepoClient, ignore, login_of

if TYPE_CHECKING:
    from github.CommitStatus import CommitStatus
    from github.IssueComment import IssueComment

    PostedStatus: TypeAlias = CommitStatus

_READS, _WRITES = "pull-requests: read", "pull-requests: write"
#: How a comment is answered at a glance: done, refused, not understood, a run was started.
ReactionName: TypeAlias = Literal["+1", "-1", "confused", "rocket"]


def list_comments(room: RepoClient, number: int) -> list[IssueComment]:
    """Return every comment of a pull request, oldest first."""
    from github.IssueComment import IssueComment  # noqa: PLC0415 - heavy, hence late

    doing, path = f"list the comments of {room.repo}#{number}", f"/issues/{number}/comments"
    return room.objects(IssueComment, doing, path, needs=_READS)


def read_comments(room: RepoClient, number: int) -> list[CommentFacts]:
    """Return what every comment of a pull request says, oldest first."""
    doing, path = f"list the comments of {room.repo}#{number}", f"/issues/{number}/comments"
    return room.every(doing, path, read_comment, needs=_READS)


def post_answer(room: RepoClient, number: int, body: str, earlier: CommentFacts | None) -> None:
    """Post a comment, or write it in place of an earlier one."""
    method, path = (
        ("PATCH", f"/issues/comments/{earlier.id}")
        if earlier
        else ("POST", f"/issues/{number}/comments")
    )
    doing = f"answer below {room.repo}#{number}"
    room.send(doing, method, path, {"body": body}, ignore, needs=_WRITES, repeatable=bool(earlier))


def react(room: RepoClient, comment: int, content: ReactionName) -> None:
    """Put a reaction to a comment; once more is the same as once."""
    path = f"/issues/comments/{comment}/reactions"
    doing = f"react to a comment of {room.repo}"
    room.send(doing, "POST", path, {"content": content}, ignore, needs=_WRITES)


def has_reaction(room: RepoClient, comment: int) -> bool:
    """Return true if our own account has reacted to a comment."""
    from github.Reaction import Reaction  # noqa: PLC0415 - heavy, hence late

    path = f"/issues/comments/{comment}/reactions"
    reactions = room.objects(Reaction, f"read reactions in {room.repo}", path, needs=_READS)
    authors = {login_of(reaction.user) for reaction in reactions}
    return bool(authors) and room.account() in authors


def list_statuses(room: RepoClient, sha: str, context: str | None = None) -> Iterator[CommitStatus]:
    """Yield the statuses of a commit, the newest first, as far as they are asked for."""
    from github.CommitStatus import CommitStatus  # noqa: PLC0415 - heavy, hence late

    doing, needs = f"list the statuses of {room.repo}", "statuses: read"
    path = f"/commits/{object_name(sha, 'the head')}/statuses"
    for entry in room.entries(doing, path, needs=needs):
        if context is None or at(entry, "context") == context:
            read = partial(room.read_object, CommitStatus, entry)
            yield room.client.ask(doing, read, error=room.error)


def find_status(room: RepoClient, sha: str, context: str) -> CommitStatus | None:
    """Return the last status of a name, which is the one that counts."""
    return next(list_statuses(room, sha, context), None)


def set_status(
    room: RepoClient, sha: str, context: str, *, state: str, description: str, target_url: str
) -> None:
    """Set a status; after an unclear failure nobody knows whether it is there."""
    from github.CommitStatus import CommitStatus  # noqa: PLC0415 - heavy, hence late

    content = {"state": state, "context": context, "description": description}
    content |= {"target_url": target_url} if target_url else {}
    doing, path = f"set the commit status of {room.repo}", f"/statuses/{object_name(sha, 'head')}"
    room.write(
        CommitStatus, doing, "POST", path, content, needs="statuses: write", repeatable=False
    )
