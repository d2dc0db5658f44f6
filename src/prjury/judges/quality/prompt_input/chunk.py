"""What is laid before a model: numbered lines of files, in pieces and on sheets. Pure.

Everything a piece holds is safe to show: bytes that are no UTF-8 and hidden characters are visible
escapes, secrets are gone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

#: Stands for every line's number where characters are counted: where a line is must not decide
#: what is laid beside it.
_ANY_LINE = 99_999


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A line as the model sees it.

    Attributes:
        side: ``"new"``, or ``"old"`` for a removed line.
        line: its number on that side.
        old: a context line's number on the old side.
    """

    side: str
    line: int
    sign: str
    text: str
    old: int | None = None

    @property
    def value(self) -> str:
        """The row as it stands in the prompt: ``+12|text``."""
        return f"{self.sign}{self.line}|{self.text}"

    @property
    def size(self) -> int:
        """Characters of the prompt, wherever the line is."""
        return _size(f"{self.sign}{_ANY_LINE}|{self.text}")

    def number(self, side: str) -> int | None:
        """Its number on that side; None where it is not there."""
        if side == self.side:
            return self.line
        return self.old if side == "old" else None


@dataclass(frozen=True, slots=True)
class Passage:
    """A hunk, or a part of one that is too large for a sheet."""

    section: str
    rows: tuple[ChunkRow, ...]

    @property
    def size(self) -> int:
        """Characters of the prompt."""
        return len(self.section) + sum(row.size for row in self.rows) + 40


@dataclass(frozen=True)
class Section:
    """A file or another document, or a part of one that is too large for a sheet.

    Attributes:
        path: as the report prints it.
        heading: what the prompt says of it: its ``path``, ``kind`` and the like.
        is_file: whether there is a file at that path, so that a reader can be sent there.
    """

    path: str
    heading: dict[str, str] = field(hash=False)
    passages: tuple[Passage, ...] = ()
    is_file: bool = True

    @cached_property
    def size(self) -> int:
        """Characters of the prompt."""
        return _size(self.heading) + sum(passage.size for passage in self.passages) + 20

    @property
    def value(self) -> dict[str, Any]:
        """The piece as it stands in the prompt."""
        hunks = [{"section": p.section, "lines": [r.value for r in p.rows]} for p in self.passages]
        return {**self.heading, "hunks": hunks}

    @cached_property
    def rows(self) -> tuple[ChunkRow, ...]:
        """All its lines."""
        return tuple(row for passage in self.passages for row in passage.rows)

    @cached_property
    def digest(self) -> str:
        """64 hex digits that stay the same where only the numbers of its lines change."""
        told = [[p.section, [[r.side, r.sign, r.text] for r in p.rows]] for p in self.passages]
        return digest_of([self.heading, told])


@dataclass(frozen=True, slots=True)
class NotSent:
    """A file that the model does not see.

    Attributes:
        path: as the report prints it.
        name: as the prompt names it: hidden characters are visible, secrets are gone.
    """

    path: str
    reason: str
    name: str


@dataclass(frozen=True)
class Chunk:
    """What one question is about: pieces that together fit into a model's room."""

    sections: tuple[Section, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The files on it, each once."""
        return tuple(dict.fromkeys(section.path for section in self.sections))

    @cached_property
    def digest(self) -> str:
        """64 hex digits for the sheet, whatever the numbers of its lines are."""
        return digest_of([section.digest for section in self.sections])

    @property
    def rows(self) -> Iterator[tuple[Section, ChunkRow]]:
        """All its lines, each with the piece that it is in; the order depends on the text alone."""
        return ((section, row) for section in self.sections for row in section.rows)

    def turned(self) -> Chunk:
        """The same pieces in the opposite order, and the passages of each as well."""
        return Chunk(tuple(replace(p, passages=p.passages[::-1]) for p in self.sections[::-1]))


def digest_of(value: object) -> str:
    """64 hex digits for a JSON value."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def sizes(sections: Iterable[Section]) -> int:
    """Characters of the prompt, all together."""
    return sum(section.size for section in sections)


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False)) + 2
