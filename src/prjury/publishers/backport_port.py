"""What the publisher of backports needs of GitHub.

There is no way through this door to move or to delete a branch: objects and new branches are
created, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from prjury.snapshot.picked import Author, PickedEntry


class CommitRef(Protocol):
    """A commit as GitHub holds it."""

    @property
    def sha(self) -> str:
        """Its object name."""
        ...

    @property
    def tree(self) -> str:
        """The object name of its tree."""
        ...

    @property
    def parents(self) -> Sequence[str]:
        """The commits before it."""
        ...


class PullRef(Protocol):
    """A pull request as GitHub holds it."""

    @property
    def number(self) -> int:
        """Its number."""
        ...

    @property
    def url(self) -> str:
        """Its page."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether it is neither merged nor closed."""
        ...

    @property
    def body(self) -> str:
        """Its Markdown."""
        ...

    @property
    def author(self) -> str:
        """The login of the account that opened it, empty for a deleted one."""
        ...

    @property
    def labels(self) -> Sequence[str]:
        """The names of its labels."""
        ...


class BranchesPort(Protocol):
    """Objects, new branches and pull requests of one repository.

    Every method raises PublishError.
    """

    def account(self) -> str:
        """The account that writes here."""
        ...

    def tip(self, branch: str) -> str | None:
        """The commit that a branch is at; None where there is no such branch."""
        ...

    def commit(self, sha: str) -> CommitRef:
        """A commit."""
        ...

    def add_blob(self, content: bytes) -> str:
        """Stores a content; the result is its object name. Twice is the same as once."""
        ...

    def add_tree(self, base: str, entries: Sequence[PickedEntry]) -> str:
        """Stores the tree ``base`` with other entries; the result is its object name."""
        ...

    def add_commit(
        self, message: str, tree: str, parent: str, author: Author | None, committer: str
    ) -> CommitRef:
        """Stores a commit, which no branch holds yet.

        Args:
            author: None for the committer.
            committer: an account.
        """
        ...

    def create_branch(self, name: str, sha: str) -> None:
        """Makes a branch whose name begins with `HEADS`; one that is there is never changed.

        After an unclear failure nobody knows whether it is there. The reason is ``refused`` where
        it was there before, among others.
        """
        ...

    def pulls(self, branch: str) -> Sequence[PullRef]:
        """All pull requests from a branch of this repository, open ones and others."""
        ...

    def open_pull(self, *, head: str, base: str, title: str, body: str, draft: bool) -> PullRef:
        """Opens a pull request; after an unclear failure nobody knows whether it is there."""
        ...

    def label(self, number: int, names: Sequence[str]) -> None:
        """Adds labels; GitHub makes those that the repository does not have."""
        ...
