"""A change as it would stand on a release branch: commits, their trees and what differs in each.

What was tried in object space is written as these very objects, and their names are compared.
"""

from __future__ import annotations

from msgspec import Struct

from prjury.snapshot.model import Conflict

#: What the name of every branch that is made for a backport begins with.
HEADS = "backport/"


class PickedFile(Struct, frozen=True):
    """A path at which a tree differs from the one before it; no mode where the file goes away.

    ``blob`` may be the commit of a submodule; ``content`` is None where the server has the object.
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
    """A commit to be made, whose tree must get this name, of the commits with these full names."""

    tree: str
    files: tuple[PickedFile, ...]
    message: str
    author: Author
    origins: tuple[str, ...]


class Pick(Struct, frozen=True):
    """A change on top of a release branch and its tip; one in conflict is never written."""

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
