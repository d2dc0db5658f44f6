"""Reads git's patch text into hunks.

The lengths in the hunk headers lead the reader, never what a line looks like: an added line
``++ b/x`` is content. A line ends at a line feed; a carriage return before it belongs to the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from prjury.snapshot.model import Hunk, Line

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")


class DiffError(ValueError):
    """The text is not a patch as git writes it."""


_LFS_POINTER, _LFS_LINES = b"version https://git-lfs.github.com/spec/", 20


class FilePatch(Struct, frozen=True):
    """One file's part of a patch, measured; ``longest`` are characters of an added line."""

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
        reader, hunks = _Rows(self.body), list[Hunk]()
        while reader.next is not None:
            hunks.append(_read_hunk(reader))
        return tuple(hunks)

    def combine(self, other: FilePatch) -> FilePatch:
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
class _Rows:
    """The lines of a patch, taken one by one."""

    lines: Sequence[bytes]
    at: int = 0

    @property
    def next(self) -> bytes | None:
        return self.lines[self.at] if self.at < len(self.lines) else None

    def take(self) -> bytes:
        if self.at == len(self.lines):
            raise DiffError("the patch ends in the middle of a hunk")
        self.at += 1
        return self.lines[self.at - 1]


def _header(line: bytes) -> Hunk:
    match = _HUNK.match(line)
    if not match:
        raise DiffError(f"not the header of a hunk: {line[:60]!r}")
    old, new = (int(match[1]), int(match[2] or 1)), (int(match[3]), int(match[4] or 1))
    return Hunk(*old, *new, match[5].decode("utf-8", "replace"), ())


def read_patches(patch: bytes) -> Iterator[FilePatch]:
    """The files of a patch in git's order; DiffError for text that git does not write."""
    lines = patch.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    reader = _Rows(lines)
    while reader.next is not None:
        header = reader.take()
        if not header.startswith(b"diff --git "):
            raise DiffError(f"expected the header of a file, found {header[:60]!r}")
        yield _read_file_patch(reader)


def _read_file_patch(reader: _Rows) -> FilePatch:
    start, has_hunks, binary = reader.at, False, False
    additions = deletions = added_bytes = longest = 0
    while reader.next is not None and not reader.next.startswith(b"diff --git "):
        line = reader.take()
        if line.startswith(b"@@ "):
            start = start if has_hunks else reader.at - 1
            has_hunks = True
            for raw in _take_hunk_rows(reader, _header(line)):
                if raw.startswith(b"+"):
                    additions += 1
                    added_bytes += len(raw)
                    if len(raw) > longest:
                        longest = max(longest, len(raw.decode("utf-8", "replace")) - 1)
                elif raw.startswith(b"-"):
                    deletions += 1
        elif has_hunks:
            raise DiffError(f"expected a hunk, found {line[:60]!r}")
        elif line.startswith(b"Binary files "):
            binary = True
    body = reader.lines[start : reader.at] if has_hunks else ()
    return FilePatch(body, additions, deletions, added_bytes, longest, binary=binary)


def _take_hunk_rows(reader: _Rows, header: Hunk) -> Iterator[bytes]:
    """The rows of a hunk, as many as its header says, and the note behind them."""
    old_left, new_left = header.old_lines, header.new_lines
    while old_left > 0 or new_left > 0:
        row = reader.take()
        sign = row[:1]
        if sign not in {b"+", b"-", b" ", b"", b"\\"}:
            raise DiffError(f"a hunk's line starts with {sign!r}")
        old_left -= sign in {b"-", b" ", b""}
        new_left -= sign in {b"+", b" ", b""}
        yield row
    if old_left < 0 or new_left < 0:
        raise DiffError("a hunk holds more lines than its header says")
    if reader.next and reader.next.startswith(b"\\"):
        yield reader.take()


def _read_hunk(reader: _Rows) -> Hunk:
    header = _header(reader.take())
    old, new, lines = header.old_start, header.new_start, list[Line]()
    for row in _take_hunk_rows(reader, header):
        if row.startswith(b"\\"):
            _drop_end(lines)
            continue
        sign = row[:1].decode() or " "
        text = row[1:].removesuffix(b"\r").decode("utf-8", "surrogateescape")
        end = "\r\n" if row.endswith(b"\r") else "\n"
        before = old if sign in " -" else None
        after = new if sign in " +" else None
        lines.append(Line(sign, before, after, text, end))
        old, new = old + (before is not None), new + (after is not None)
    return replace(header, lines=tuple(lines))


def _drop_end(lines: list[Line]) -> None:
    if not lines:
        raise DiffError("a hunk starts with the note on a missing line end")
    last = lines.pop()
    lines.append(replace(last, text=last.text + last.end.removesuffix("\n"), end=""))
