"""The statuses of a commit: the door through which a publisher sets its own."""

from __future__ import annotations

from dataclasses import dataclass

from prjury.errors import PublishError
from prjury.github.client import GitHub
from prjury.github.payload import at, object_name, text, whole_number
from prjury.github.repo_client import RepoClient

#: GitHub keeps so many statuses of a commit and context; a hundred of them are a page.
_MOST_PAGES = 50


@dataclass(frozen=True, slots=True)
class PostedStatus:
    """A status as GitHub holds it.

    Attributes:
        id: its number; later statuses have greater ones.
        state: ``success``, ``failure``, ``error`` or ``pending``.
        creator: the login of the account that set it, empty for a deleted one.
        target_url: the page that it leads to, or an empty text.
    """

    id: int
    state: str
    description: str
    target_url: str
    creator: str


class Statuses:
    """The statuses of one repository's commits.

    Every method raises PublishError: whoever comes here wants to publish.
    """

    def __init__(self, hub: GitHub, repo: str) -> None:
        self._room = RepoClient(hub, repo)

    def account(self) -> str:
        """The account under which statuses are set here."""
        return self._room.account()

    def latest(self, sha: str, context: str) -> PostedStatus | None:
        """The last status of that context, which is the one that counts."""
        path = f"/commits/{object_name(sha, 'the head')}/statuses"
        doing = f"list the statuses of {self._room.repo}"
        for number in range(1, _MOST_PAGES + 1):
            entries, more = self._room.page(doing, path, number, needs="statuses: read")
            for entry in entries:
                if text(at(entry, "context")) == context:
                    return _posted(entry)
            if not more:
                return None
        raise PublishError(f"Could not {doing}", why="The pages do not end", reason="bad_response")

    def recent(self, sha: str, context: str) -> list[PostedStatus]:
        """The statuses of that context among the last hundred of all, the newest first."""
        path = f"/commits/{object_name(sha, 'the head')}/statuses"
        doing = f"list the statuses of {self._room.repo}"
        entries, _ = self._room.page(doing, path, needs="statuses: read")
        return [_posted(entry) for entry in entries if text(at(entry, "context")) == context]

    def create(
        self, sha: str, context: str, *, state: str, description: str, target_url: str
    ) -> PostedStatus:
        """Sets a status; after an unclear failure nobody knows whether it is there."""
        content = {"state": state, "context": context, "description": description}
        return self._room.send(
            f"set the commit status of {self._room.repo}",
            "POST",
            f"/statuses/{object_name(sha, 'the head')}",
            content | ({"target_url": target_url} if target_url else {}),
            _posted,
            needs="statuses: write",
            repeatable=False,
        )


def _posted(payload: object) -> PostedStatus:
    return PostedStatus(
        id=whole_number(at(payload, "id"), "the status's id"),
        state=text(at(payload, "state")),
        description=text(at(payload, "description")),
        target_url=text(at(payload, "target_url")),
        creator=text(at(payload, "creator", "login")),
    )
