"""Reads git's patch text into hunks.

The reader is driven by the lengths in the hunk headers, never by what a line looks like: an added
line ``++ b/x`` is content, not a header. A line ends at a line feed and nowhere else (git's own
model); a carriage return before it belongs to the line end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from prjury.pull.model import Hunk, Line

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)(?: \d+)?$")


class DiffError(ValueError):
    """The text is not a patch as git writes it."""


@dataclass
class FilePatch:
    """One file's part of a patch.

    Attributes:
        blobs: the object names before and after, None where the content did not change.
        binary: whether git called the content binary and left it out.
    """

    hunks: tuple[Hunk, ...] = ()
    blobs: tuple[str, str] | None = None
    binary: bool = False


@dataclass
class _Reader:
    lines: list[bytes]
    at: int = 0

    @property
    def more(self) -> bool:
        return self.at < len(self.lines)

    def peek(self) -> bytes:
        return self.lines[self.at] if self.more else b""

    def take(self) -> bytes:
        if not self.more:
            raise DiffError("the patch ends in the middle of a hunk")
        self.at += 1
        return self.lines[self.at - 1]


def read_patches(patch: bytes) -> Iterator[FilePatch]:
    """The files of a patch in git's order.

    Raises:
        DiffError: for text that does not follow git's format, or that ends too early.
    """
    reader = _Reader(patch.split(b"\n"))
    if reader.lines[-1] == b"":
        reader.lines.pop()
    while reader.more:
        header = reader.take()
        if not header.startswith(b"diff --git "):
            raise DiffError(f"expected the header of a file, found {header[:60]!r}")
        yield _read_file(reader)


def _read_file(reader: _Reader) -> FilePatch:
    file = FilePatch()
    hunks: list[Hunk] = []
    while reader.more and not reader.peek().startswith(b"diff --git "):
        line = reader.take()
        if line.startswith(b"@@ "):
            hunks.append(_read_hunk(reader, line))
        elif line.startswith(b"Binary files "):
            file.binary = True
        elif index := _INDEX.match(line):
            file.blobs = (index[1].decode(), index[2].decode())
    file.hunks = tuple(hunks)
    return file


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
        last = self.lines[-1]
        text = last.text + last.end.removesuffix("\n")
        self.lines[-1] = Line(last.sign, last.old, last.new, text, "")


def _split(raw: bytes) -> tuple[str, str, str]:
    sign, content = raw[:1].decode("latin-1") or " ", raw[1:]
    if sign not in " +-":
        raise DiffError(f"a hunk's line starts with {sign!r}")
    end = "\r\n" if content.endswith(b"\r") else "\n"
    return sign, content.removesuffix(b"\r").decode("utf-8", "surrogateescape"), end


def _read_hunk(reader: _Reader, header: bytes) -> Hunk:
    match = _HUNK.match(header)
    if not match:
        raise DiffError(f"not the header of a hunk: {header[:60]!r}")
    old_start, new_start = int(match[1]), int(match[3])
    old_lines, new_lines = int(match[2] or 1), int(match[4] or 1)
    position = _Position(old_start, new_start, old_lines, new_lines)
    while position.old_left > 0 or position.new_left > 0:
        raw = reader.take()
        if raw.startswith(b"\\"):
            position.end_without_newline()
        else:
            position.add(raw)
    if reader.peek().startswith(b"\\"):
        reader.take()
        position.end_without_newline()
    section = match[5].decode("utf-8", "replace")
    return Hunk(old_start, old_lines, new_start, new_lines, section, tuple(position.lines))
