"""The statuses of a commit, read and set.

Every function raises what its `RepoClient` raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from prjury.github.payload import at, object_name
from prjury.github.repo_client import RepoClient

if TYPE_CHECKING:
    from github.CommitStatus import CommitStatus

    PostedStatus: TypeAlias = CommitStatus


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
