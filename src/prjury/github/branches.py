"""Objects, new branches and pull requests, as backports need them.

Nothing here moves or deletes a branch: references are only ever created, and only under
``refs/heads/backport/``.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from prjury.errors import PublishError
from prjury.github.client import GitHub
from prjury.github.comments import IssueLabels
from prjury.github.payload import at, object_name, text, whole_number
from prjury.github.repo_client import RepoClient
from prjury.snapshot.model import visible
from prjury.snapshot.picked import HEADS, Author, PickedEntry

Result = TypeVar("Result")

_READS = "contents: read"
_WRITES = "contents: write"
_TYPES = {"160000": "commit", "040000": "tree"}


@dataclass(frozen=True, slots=True)
class StoredCommit:
    """A commit as GitHub holds it: the names of it, of its tree and of its parents."""

    sha: str
    tree: str
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredPull:
    """A pull request as GitHub holds it.

    Attributes:
        author: the login of the account that opened it, empty for a deleted one.
    """

    number: int
    url: str
    is_open: bool
    body: str
    author: str
    labels: tuple[str, ...]


class Branches:
    """Objects, new branches and pull requests of one repository; none of its forks is touched.

    Every method raises PublishError.
    """

    def __init__(self, client: GitHub, repo: str) -> None:
        self._hub = client
        self._room = RepoClient(client, repo)

    def account(self) -> str:
        """The account that writes here."""
        return self._room.account()

    def tip(self, branch: str) -> str | None:
        """The commit that a branch is at; None where there is no such branch."""
        try:
            return self._room.get(
                f"read the branch {visible(branch)} of {self._room.repo}",
                f"/git/ref/heads/{quote(branch, errors='surrogateescape')}",
                lambda answer: object_name(at(answer, "object", "sha"), "object.sha"),
                needs=_READS,
            )
        except PublishError as error:
            if error.reason != "not_found":
                raise
            return None

    def commit(self, sha: str) -> StoredCommit:
        """A commit."""
        path = f"/git/commits/{object_name(sha, 'the commit')}"
        return self._room.get(f"read a commit of {self._room.repo}", path, _commit, needs=_READS)

    def add_blob(self, content: bytes) -> str:
        """Stores a content; the result is its object name."""
        encoded = base64.b64encode(content).decode()
        given = {"content": encoded, "encoding": "base64"}
        return self._add("a file", "/git/blobs", given, _sha)

    def add_tree(self, base: str, entries: Sequence[PickedEntry]) -> str:
        """Stores the tree ``base`` with other entries; the result is its object name."""
        given = {"base_tree": object_name(base, "the tree"), "tree": list(map(_sent, entries))}
        return self._add("a tree", "/git/trees", given, _sha)

    def add_commit(
        self, message: str, tree: str, parent: str, author: Author | None, committer: str
    ) -> StoredCommit:
        """Stores a commit, which no branch holds yet.

        Args:
            author: None for the committer.
            committer: an account, which GitHub's address of no mailbox stands for.
        """
        account = {"name": committer, "email": f"{committer}@users.noreply.github.com"}
        by = author and {
            "name": text(author.name),
            "email": text(author.email),
            "date": author.date,
        }
        given = {
            "message": text(message),
            "tree": object_name(tree, "the tree"),
            "parents": [object_name(parent, "the parent")],
            "author": by or account,
            "committer": account,
        }
        return self._add("a commit", "/git/commits", given, _commit)

    def create_branch(self, name: str, sha: str) -> None:
        """Makes a branch; one that is there is never changed.

        After an unclear failure nobody knows whether it is there.
        """
        if not name.startswith(HEADS):
            raise PublishError(
                f"{visible(name)} is no branch for a backport",
                why=f"Only branches below {HEADS} are made",
                reason="internal",
            )
        self._room.send(
            f"create the branch {visible(name)} of {self._room.repo}",
            "POST",
            "/git/refs",
            {"ref": f"refs/heads/{name}", "sha": object_name(sha, "the commit")},
            lambda _answer: None,
            needs=_WRITES,
            repeatable=False,
        )

    def pulls(self, branch: str) -> list[StoredPull]:
        """All pull requests from a branch of this repository, open ones and others."""
        owner = self._room.repo.partition("/")[0]
        found = self._room.every(
            f"list the pull requests of {self._room.repo}",
            "/pulls",
            # GitHub's filter does not tell a repository from its owner's own fork.
            lambda answer: _pull(answer) if _is_from(answer, branch) else None,
            needs="pull-requests: read",
            query={"head": f"{owner}:{branch}", "state": "all"},
        )
        return [pull for pull in found if pull is not None]

    def open_pull(self, *, head: str, base: str, title: str, body: str, draft: bool) -> StoredPull:
        """Opens a pull request; after an unclear failure nobody knows whether it is there."""
        return self._room.send(
            f"open a pull request onto {visible(base)} of {self._room.repo}",
            "POST",
            "/pulls",
            {"head": head, "base": base, "title": title, "body": body, "draft": draft},
            _pull,
            needs="pull-requests: write",
            repeatable=False,
        )

    def label(self, number: int, names: Sequence[str]) -> None:
        """Adds labels; those that the repository does not have take ``issues: write``."""
        IssueLabels(self._hub, self._room.repo, number).add(names)

    def _add(
        self, what: str, path: str, given: Mapping[str, Any], read: Callable[[object], Result]
    ) -> Result:
        """What is stored twice is the same object, or one that nothing leads to."""
        doing = f"store {what} in {self._room.repo}"
        return self._room.send(doing, "POST", path, given, read, needs=_WRITES)


def _sha(answer: object) -> str:
    return object_name(at(answer, "sha"), "sha")


def _commit(answer: object) -> StoredCommit:
    parents = at(answer, "parents")
    return StoredCommit(
        sha=_sha(answer),
        tree=object_name(at(answer, "tree", "sha"), "tree.sha"),
        parents=tuple(map(_sha, parents if isinstance(parents, list) else ())),
    )


def _pull(answer: object) -> StoredPull:
    labels = at(answer, "labels")
    return StoredPull(
        number=whole_number(at(answer, "number"), "number"),
        url=text(at(answer, "html_url")),
        is_open=at(answer, "state") == "open",
        body=text(at(answer, "body")),
        author=text(at(answer, "user", "login")),
        labels=tuple(text(at(one, "name")) for one in labels) if isinstance(labels, list) else (),
    )


def _is_from(answer: object, branch: str) -> bool:
    """Whether a pull request comes from a branch of the very repository that it goes to."""
    head, base = (at(answer, side, "repo", "full_name") for side in ("head", "base"))
    return at(answer, "head", "ref") == branch and head is not None and head == base


def _sent(entry: PickedEntry) -> dict[str, str | None]:
    """An entry for GitHub, by which a path with the object null goes away."""
    if entry.mode is None:
        return {"path": entry.path, "mode": "100644", "type": "blob", "sha": None}
    kind = _TYPES.get(entry.mode, "blob")
    content = {"sha": entry.object} if entry.text is None else {"content": entry.text}
    return {"path": entry.path, "mode": entry.mode, "type": kind, **content}
