"""A change as it would stand on a release branch: commits, their trees and what differs in each.

A pick was tried in object space; whatever opens a pull request of it writes these very objects and
compares the names that the server answers with those of the trial.
"""

from __future__ import annotations

from msgspec import Struct

from prjury.snapshot.model import Conflict

#: What the name of every branch that is made for a backport begins with.
HEADS = "backport/"


class PickedFile(Struct, frozen=True):
    """A path at which a tree differs from the one before it.

    Attributes:
        mode: git's; None, and no ``blob``, where the file goes away.
        blob: the object name of its content, or the commit of a submodule.
        content: its bytes; None where the server has the object.
    """

    path: str
    mode: str | None
    blob: str = ""
    content: bytes | None = None


class Author(Struct, frozen=True):
    """Who wrote a commit, and when: ISO 8601 with an offset, as git's ``%aI`` prints it."""

    name: str
    email: str
    date: str


class PickedCommit(Struct, frozen=True):
    """A commit to be made.

    Attributes:
        tree: the object name that its tree must get.
        files: what differs from the tree before: that of the commit before, or of the tip.
        origins: the full names of the commits that it is picked from.
    """

    tree: str
    files: tuple[PickedFile, ...]
    message: str
    author: Author
    origins: tuple[str, ...]


class Pick(Struct, frozen=True):
    """A change on top of a release branch, clean or in conflict.

    Attributes:
        branch: the release branch, without ``refs/heads/``, at its tip and with that tip's tree.
        commits: each on top of the one before; none of a pick in conflict is ever written.
        verdict: its word, such as ``suitable_with_changes``.
        number: of the pull request that it is from, as title and address are.
        conflicts: of a pick that does not apply, nor would after what is picked before it.
        commands: what to type to get the picked branch.
    """

    branch: str
    branch_sha: str
    branch_tree: str
    commits: tuple[PickedCommit, ...]
    verdict: str
    number: int
    title: str
    url: str = ""
    reasons: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    prerequisites: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
