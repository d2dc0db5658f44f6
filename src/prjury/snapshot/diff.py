"""Reads git's patch text into hunks.

The reader is driven by the lengths in the hunk headers, never by what a line looks like: an added
line ``++ b/x`` is content, not a header. A line ends at a line feed and nowhere else (git's own
model); a carriage return before it belongs to the line end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from prjury.snapshot.model import Hunk, Line

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")


class DiffError(ValueError):
    """The text is not a patch as git writes it."""


_LFS_POINTER, _LFS_LINES = b"version https://git-lfs.github.com/spec/", 20


class FilePatch(Struct, frozen=True):
    """One file's part of a patch, measured but not yet taken apart.

    Attributes:
        body: the hunks' raw lines, headers included.
        binary: whether git called the content binary and left it out.
    """

    body: Sequence[bytes] = ()
    additions: int = 0
    deletions: int = 0
    added_bytes: int = 0
    longest: int = 0
    binary: bool = False

    @property
    def points_to_lfs(self) -> bool:
        """Return true if the new content is a Git LFS pointer of three lines or a few more."""
        few = self.body[:_LFS_LINES]
        is_pointer = any(line[:1] in b" +" and line[1:].startswith(_LFS_POINTER) for line in few)
        return is_pointer and any(line.startswith(b"+oid sha256:") for line in few)

    def hunks(self) -> tuple[Hunk, ...]:
        """The hunks with their lines; this costs some 300 bytes of memory a line."""
        return tuple(_hunks(PatchReader(self.body)))

    def followed_by(self, other: FilePatch) -> FilePatch:
        """Both patches as one: git writes two where a file's type changes."""
        return FilePatch(
            (*self.body, *other.body),
            self.additions + other.additions,
            self.deletions + other.deletions,
            self.added_bytes + other.added_bytes,
            max(self.longest, other.longest),
            binary=self.binary or other.binary,
        )


@dataclass
class PatchReader:
    """The lines of a patch, taken one by one."""

    lines: Sequence[bytes]
    at: int = 0

    @property
    def more(self) -> bool:
        """Return true if a line is left."""
        return self.at < len(self.lines)

    def peek(self) -> bytes:
        """Return the next line; nothing at the end."""
        return self.lines[self.at] if self.more else b""

    def take(self) -> bytes:
        """Return the next line, and go on; DiffError at the end."""
        if not self.more:
            raise DiffError("the patch ends in the middle of a hunk")
        self.at += 1
        return self.lines[self.at - 1]


def _header(line: bytes) -> Hunk:
    """The ranges in ``@@ -1,2 +3,4 @@ section`` as a hunk that lacks its lines."""
    match = _HUNK.match(line)
    if not match:
        raise DiffError(f"not the header of a hunk: {line[:60]!r}")
    old, new = (int(match[1]), int(match[2] or 1)), (int(match[3]), int(match[4] or 1))
    return Hunk(*old, *new, match[5].decode("utf-8", "replace"), ())


def read_patches(patch: bytes) -> Iterator[FilePatch]:
    """Yield the files of a patch in git's order; DiffError for text in another format."""
    lines = patch.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    reader = PatchReader(lines)
    while reader.more:
        header = reader.take()
        if not header.startswith(b"diff --git "):
            raise DiffError(f"expected the header of a file, found {header[:60]!r}")
        yield _read_file(reader)


def _read_file(reader: PatchReader) -> FilePatch:
    start = reader.at
    tally = _Tally()
    binary = False
    while reader.more and not reader.peek().startswith(b"diff --git "):
        line = reader.take()
        if line.startswith(b"@@ "):
            start = start if tally.hunks else reader.at - 1
            tally.measure(reader, _header(line))
        elif tally.hunks:
            raise DiffError(f"expected a hunk, found {line[:60]!r}")
        elif line.startswith(b"Binary files "):
            binary = True
    body = reader.lines[start : reader.at] if tally.hunks else ()
    return FilePatch(
        body, tally.additions, tally.deletions, tally.added_bytes, tally.longest, binary=binary
    )


@dataclass
class _Tally:
    """What hunks amount to, found without taking their lines apart."""

    hunks: int = 0
    additions: int = 0
    deletions: int = 0
    added_bytes: int = 0
    longest: int = 0

    def measure(self, reader: PatchReader, header: Hunk) -> None:
        """Reads past one hunk."""
        self.hunks += 1
        old_left, new_left = header.old_lines, header.new_lines
        while old_left > 0 or new_left > 0:
            raw = reader.take()
            sign = raw[:1]
            if sign == b"+":
                new_left -= 1
                self.additions += 1
                self.added_bytes += len(raw)
                if len(raw) > self.longest:
                    self.longest = max(self.longest, len(raw.decode("utf-8", "replace")) - 1)
            elif sign == b"-":
                old_left -= 1
                self.deletions += 1
            elif sign in {b" ", b""}:
                old_left -= 1
                new_left -= 1
            elif sign != b"\\":
                raise DiffError(f"a hunk's line starts with {sign!r}")
        if old_left < 0 or new_left < 0:
            raise DiffError("a hunk holds more lines than its header says")
        if reader.peek().startswith(b"\\"):
            reader.take()


@dataclass
class _Position:
    """The next line numbers on both sides and how many lines are still owed."""

    old: int
    new: int
    old_left: int
    new_left: int
    lines: list[Line] = field(default_factory=list)

    def add(self, raw: bytes) -> None:
        sign, text, end = _split(raw)
        old = self.old if sign in " -" else None
        new = self.new if sign in " +" else None
        self.old += old is not None
        self.old_left -= old is not None
        self.new += new is not None
        self.new_left -= new is not None
        self.lines.append(Line(sign, old, new, text, end))

    def end_without_newline(self) -> None:
        if not self.lines:
            raise DiffError("a hunk starts with the note on a missing line end")
        last = self.lines[-1]
        text = last.text + last.end.removesuffix("\n")
        self.lines[-1] = Line(last.sign, last.old, last.new, text, "")


def _split(raw: bytes) -> tuple[str, str, str]:
    sign, content = raw[:1].decode() or " ", raw[1:]
    end = "\r\n" if content.endswith(b"\r") else "\n"
    return sign, content.removesuffix(b"\r").decode("utf-8", "surrogateescape"), end


def _hunks(reader: PatchReader) -> Iterator[Hunk]:
    while reader.more:
        yield read_hunk(reader)


def read_hunk(reader: PatchReader) -> Hunk:
    """Read a hunk, header first."""
    header = _header(reader.take())
    position = _Position(header.old_start, header.new_start, header.old_lines, header.new_lines)
    while position.old_left > 0 or position.new_left > 0:
        raw = reader.take()
        if raw.startswith(b"\\"):
            position.end_without_newline()
        else:
            position.add(raw)
    if reader.peek().startswith(b"\\"):
        reader.take()
        position.end_without_newline()
    return replace(header, lines=tuple(position.lines))
