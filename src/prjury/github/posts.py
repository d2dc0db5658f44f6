"""What stands on a pull request and its commits: comments, reactions and statuses.

Every function raises what its `RepoClient` raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from prjury.errors import PublishError
from prjury.github.payload import CommentFacts, at, object_name, read_comment
from prjury.github.repo_client import RepoClient, ignore, login_of

if TYPE_CHECKING:
    from github.CommitStatus import CommitStatus

    PostedStatus: TypeAlias = CommitStatus

_READS, _WRITES = "pull-requests: read", "pull-requests: write"
#: How a comment is answered without a word: its author may not ask, or a run was started.
ReactionName: TypeAlias = Literal["-1", "rocket"]


def read_comments(room: RepoClient, number: int) -> list[CommentFacts]:
    """Return what every comment of a pull request says, oldest first."""
    task, path = f"list the comments of {room.repo}#{number}", f"/issues/{number}/comments"
    return room.list_all(task, path, read_comment, needs=_READS)


def post_comment(room: RepoClient, number: int, body: str) -> CommentFacts:
    """Post a comment; after an unclear failure nobody knows whether it is there."""
    task, path = f"comment on {room.repo}#{number}", f"/issues/{number}/comments"
    content = {"body": body}
    return room.send(task, "POST", path, content, read_comment, needs=_WRITES, repeatable=False)


def delete_comment(room: RepoClient, comment: int) -> None:
    """Delete a comment, unless another run was faster."""
    task, path = f"delete a comment in {room.repo}", f"/issues/comments/{comment}"
    try:
        room.send(task, "DELETE", path, None, ignore, needs=_WRITES)
    except PublishError as error:
        if error.reason != "not_found":
            raise


def react(room: RepoClient, comment: int, content: ReactionName) -> None:
    """Put a reaction to a comment; once more is the same as once."""
    path = f"/issues/comments/{comment}/reactions"
    task = f"react to a comment of {room.repo}"
    room.send(task, "POST", path, {"content": content}, ignore, needs=_WRITES)


def has_own_reaction(room: RepoClient, comment: int) -> bool:
    """Return true if our own account has reacted to a comment."""
    from github.Reaction import Reaction  # noqa: PLC0415 - heavy, hence late

    path = f"/issues/comments/{comment}/reactions"
    reactions = room.list_objects(Reaction, f"read reactions in {room.repo}", path, needs=_READS)
    authors = {login_of(reaction.user) for reaction in reactions}
    return bool(authors) and room.account() in authors


def list_statuses(room: RepoClient, sha: str, context: str | None = None) -> Iterator[CommitStatus]:
    """Yield the statuses of a commit, the newest first, as far as they are asked for."""
    from github.CommitStatus import CommitStatus  # noqa: PLC0415 - heavy, hence late

    task, needs = f"list the statuses of {room.repo}", "statuses: read"
    path = f"/commits/{object_name(sha, 'the head')}/statuses"
    for entry in room.entries(task, path, needs=needs):
        if context is None or at(entry, "context") == context:
            read = partial(room.read_object, CommitStatus, entry)
            yield room.client.ask(task, read, error=room.error)


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
    task, path = f"set the commit status of {room.repo}", f"/statuses/{object_name(sha, 'head')}"
    room.write(CommitStatus, task, "POST", path, content, needs="statuses: write", repeatable=False)
