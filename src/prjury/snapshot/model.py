"""A pull request as it was when the snapshot was taken: two sides, a trial merge, files, hunks.

Paths are what git stores, as UTF-8 with ``surrogateescape``; `printable` shows one to people.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from msgspec import Struct


def patch_id(pull: PullRequest) -> str:
    """64 hex digits for what a pull request does to which lines, wherever they are."""
    digest = hashlib.sha256()
    for file in pull.files:
        for part in _list_hashed_parts(file):
            digest.update(part.encode("utf-8", "surrogateescape"))
            digest.update(b"\0")
    return digest.hexdigest()


def _list_hashed_parts(file: FileChange) -> Iterator[str]:
    yield from (file.path, file.old_path or "", file.status)
    yield from (file.old_mode or "", file.new_mode or "")
    if not file.hunks or file.unread:
        yield f"{file.old_blob} {file.new_blob}"
    for hunk in file.hunks:
        yield "@@"
        for line in hunk.lines:
            yield f"{line.sign}{line.text}{line.end}"


def printable(text: str) -> str:
    r"""The text with bytes that are not UTF-8 shown as ``\xff``."""
    try:
        content = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, as JSON can have it
        content = text.encode("utf-8", "backslashreplace")
    return content.decode("utf-8", "backslashreplace")


def visible(text: str) -> str:
    r"""The text as one line, with escapes such as ``\u202e`` for what hides or moves other text."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in printable(text)
    )


class FileStatus(StrEnum):
    """What a pull request does to a file."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    COPIED = "copied"
    TYPE_CHANGED = "type_changed"
    MODE_CHANGED = "mode_changed"


#: How the reason begins for which a file's hunks are not here where the change is too large.
BEYOND_LIMIT = "beyond the limit for one pull request"


class FileKind(StrEnum):
    """What a file is for, judged by its name and mode alone."""

    SOURCE = "source"
    TEST = "test"
    CONFIG = "config"
    DOCS = "docs"
    LOCK = "lock"
    GENERATED = "generated"
    VENDORED = "vendored"
    BINARY = "binary"
    SUBMODULE = "submodule"
    SYMLINK = "symlink"


#: Files of these kinds are not read line by line.
UNREADABLE_KINDS = frozenset({FileKind.LOCK, FileKind.BINARY, FileKind.SUBMODULE})


class Line(Struct, frozen=True):
    """One line of a hunk with its numbers, from 1, on both sides, and its end as it stands there.

    The sign is ``"+"`` for an added, ``"-"`` for a removed one, ``" "`` for context.
    """

    sign: str
    old: int | None
    new: int | None
    text: str
    end: str = "\n"


class Hunk(Struct, frozen=True):
    """A contiguous part of a file's change, with the heading that git gives it."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    section: str
    lines: tuple[Line, ...]


class FileChange(Struct, frozen=True):
    """What the pull request does to one file; ``unread`` and ``exempt`` say why nobody reads it."""

    path: str
    status: FileStatus
    kind: FileKind
    additions: int = 0
    deletions: int = 0
    old_path: str | None = None
    old_blob: str | None = None
    new_blob: str | None = None
    old_mode: str | None = None
    new_mode: str | None = None
    hunks: tuple[Hunk, ...] = ()
    unread: str | None = None
    exempt: str | None = None

    @property
    def added_lines(self) -> Iterator[Line]:
        """The lines that the pull request adds, in order."""
        return (line for hunk in self.hunks for line in hunk.lines if line.sign == "+")

    @property
    def readable(self) -> bool:
        """Return whether the file belongs to what judges are expected to read."""
        return not self.exempt and self.kind not in UNREADABLE_KINDS


class ConflictType(StrEnum):
    """How two sides collide in a file."""

    CONTENT = "content"
    MODIFY_DELETE = "modify_delete"
    ADD_ADD = "add_add"
    RENAME = "rename"
    BINARY = "binary"
    SUBMODULE = "submodule"
    MODE = "mode"
    OTHER = "other"


class LineSpan(Struct, frozen=True):
    """Lines of a file: the first one, from 1, and how many; none stand before that line."""

    first: int
    count: int

    @property
    def last(self) -> int:
        """The last line; where there is none, the one before which it would stand."""
        return self.first + max(self.count, 1) - 1

    def __str__(self) -> str:
        if not self.count:
            return f"before line {self.first}"
        return f"line {self.first}" if self.count == 1 else f"lines {self.first} to {self.last}"


@dataclass(frozen=True, slots=True)
class ConflictRegion:
    """One place where the sides disagree: its lines and texts at the head and onto."""

    head: LineSpan
    onto: LineSpan
    texts: tuple[tuple[str, ...], tuple[str, ...]] = field(default=((), ()), compare=False)


class Conflict(Struct, frozen=True):
    """A file that does not merge by itself, with its first places and their lines at the head.

    A ``mechanical`` one, such as a lock file, is resolved without knowing the code.
    """

    path: str
    type: ConflictType
    mechanical: bool
    reason: str
    lines: tuple[int, int] | None = None
    regions: tuple[ConflictRegion, ...] = ()


#: What is said of an object that git does not have.
MISSING = "missing from this clone (partial or damaged)"
#: The reason of a trial that is not made, because a path of the change leaves the tree.
UNSAFE_TREE = "unsafe_tree"


class MergeTrial(Struct, frozen=True):
    """The head merged onto the tip of the base in object space; None as tree with conflicts."""

    tree: str | None
    conflicts: tuple[Conflict, ...] = ()
    impossible: str | None = None
    reason: str = "merge_impossible"

    @property
    def clean(self) -> bool:
        """Return whether the merge succeeded by itself."""
        return self.tree is not None


class Side(Struct, frozen=True):
    """A branch as it was named, and the commit that it stood for."""

    ref: str
    sha: str


class PullRequest(Struct, frozen=True):
    """Everything that judges may know of a pull request; two local refs have no number.

    The diff starts at ``merge_base``, where both parted; the head lacks the ``behind`` commits, the
    base those that are ``ahead``; ``notes`` tell a reader of uncommitted work and the like.
    """

    repo: str
    base: Side
    head: Side
    merge_base: str
    merge: MergeTrial
    files: tuple[FileChange, ...] = ()
    behind: int = 0
    ahead: int = 0
    number: int | None = None
    title: str = ""
    body: str = ""
    author: str | None = None
    draft: bool = False
    url: str | None = None
    notes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    milestone: str | None = None

    @property
    def additions(self) -> int:
        """Added lines in all files."""
        return sum(file.additions for file in self.files)

    @property
    def deletions(self) -> int:
        """Removed lines in all files."""
        return sum(file.deletions for file in self.files)
