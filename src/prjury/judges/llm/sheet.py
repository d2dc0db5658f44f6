"""What of a change is laid before the model: numbered lines, in sheets that fit its budget.

Everything a sheet holds is safe to show: bytes that are no UTF-8 and hidden characters are visible
escapes, secrets are gone. What fits on no sheet that is sent is named, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from prjury.pull.model import FileChange, FileKind, Hunk, printable
from prjury.report.hidden import shown
from prjury.report.redact import Redact, redacted

#: Kinds in the order in which they are read; a kind that is missing here is not sent at all.
SENT_KINDS = (
    FileKind.SOURCE,
    FileKind.TEST,
    FileKind.CONFIG,
    FileKind.DOCS,
    FileKind.SYMLINK,
    FileKind.GENERATED,
)
#: A longer line is no text that anybody reviews; its file is not sent.
LONGEST_LINE = 20_000

OVER_BUDGET = "over the model's budget"
_LEFT_OUT = "[redacted]"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a hunk as the model sees it.

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
    def value(self) -> list[Any]:
        """The row as it stands in the prompt."""
        return [self.side, self.line, self.sign, self.text]

    @property
    def size(self) -> int:
        """Characters of the prompt."""
        return _size(self.value)


@dataclass(frozen=True, slots=True)
class Passage:
    """A hunk, or a part of one that is too large for a sheet."""

    section: str
    rows: tuple[Row, ...]

    @property
    def size(self) -> int:
        """Characters of the prompt."""
        return len(self.section) + sum(row.size for row in self.rows) + 40


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or a part of one that is too large for a sheet."""

    path: str
    heading: dict[str, str] = field(hash=False)
    passages: tuple[Passage, ...] = ()

    @property
    def size(self) -> int:
        """Characters of the prompt."""
        return _size(self.heading) + sum(passage.size for passage in self.passages) + 20

    @property
    def value(self) -> dict[str, Any]:
        """The piece as it stands in the prompt."""
        hunks = [{"section": p.section, "lines": [r.value for r in p.rows]} for p in self.passages]
        return {**self.heading, "hunks": hunks}

    @property
    def rows(self) -> Iterator[Row]:
        """All its lines."""
        return (row for passage in self.passages for row in passage.rows)


@dataclass(frozen=True, slots=True)
class NotSent:
    """A file that the model does not see, or not all of it."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Sheets that together hold the whole change, and the files that are on none."""

    sheets: tuple[tuple[Piece, ...], ...]
    left_out: tuple[NotSent, ...]

    def sent(self, sheet: int = 0) -> tuple[str, ...]:
        """The files that are on this sheet from beginning to end."""
        partly = {
            piece.path for i, other in enumerate(self.sheets) if i != sheet for piece in other
        }
        return tuple(p for p in _paths(self.sheets[sheet : sheet + 1]) if p not in partly)

    def not_sent(self, sheet: int = 0) -> tuple[NotSent, ...]:
        """The files that are not, or not wholly, on this sheet."""
        whole = set(self.sent(sheet))
        over = (path for path in _paths(self.sheets) if path not in whole)
        return (*(NotSent(path, OVER_BUDGET) for path in over), *self.left_out)


def plan(files: Iterable[FileChange], budget: int, redact: Redact) -> Plan:
    """Distributes a change over sheets: source before tests before everything else.

    A file is split only if it is larger than a sheet, and then between hunks; a hunk only if it is
    itself larger than a sheet.

    Args:
        budget: characters of a sheet.
        redact: takes secrets out of what is shown.
    """
    pieces: list[tuple[int, Piece]] = []
    left_out: list[NotSent] = []
    for file in files:
        piece = _piece(file, redact)
        reason = _why_not(file, piece, budget)
        if reason:
            left_out.append(NotSent(piece.path, reason))
        else:
            pieces.append((SENT_KINDS.index(file.kind), piece))
    ordered = (piece for _, piece in sorted(pieces, key=lambda ranked: ranked[0]))
    return Plan(
        _pack((part for piece in ordered for part in _parts(piece, budget)), budget),
        tuple(left_out),
    )


def _why_not(file: FileChange, piece: Piece, budget: int) -> str | None:
    if file.unread:
        return file.unread
    if file.kind not in SENT_KINDS:
        return f"a {file.kind} file"
    longest = max((len(row.text) for row in piece.rows), default=0)
    if longest > min(LONGEST_LINE, budget):
        return f"has a line of {longest} characters"
    return None


def _piece(file: FileChange, redact: Redact) -> Piece:
    heading = {"path": file.path, "kind": file.kind.value, "status": file.status.value}
    if file.old_path and file.old_path != file.path:
        heading["old_path"] = file.old_path
    safe = {key: shown(redacted(printable(value), redact)) for key, value in heading.items()}
    passages = tuple(_passage(hunk, redact) for hunk in file.hunks)
    return Piece(printable(file.path), safe, passages)


def _passage(hunk: Hunk, redact: Redact) -> Passage:
    texts = _without_secrets([printable(line.text) for line in hunk.lines], redact)
    rows = []
    for line, text in zip(hunk.lines, texts, strict=True):
        side = "old" if line.new is None else "new"
        number = (line.old if line.new is None else line.new) or 0
        context = line.old if line.sign == " " else None
        rows.append(Row(side, number, line.sign, shown(text), context))
    return Passage(shown(redacted(printable(hunk.section), redact)), tuple(rows))


def _without_secrets(lines: list[str], redact: Redact) -> list[str]:
    """The lines without secrets, still as many: a secret may span several of them."""
    # A line feed is what separates them, so none may hide inside.
    lines = [line.replace("\n", " ") for line in lines]
    clean = redacted("\n".join(lines), redact).split("\n")
    if len(clean) == len(lines):
        return clean
    first = _alike(lines, clean)
    last = min(_alike(lines[::-1], clean[::-1]), min(len(lines), len(clean)) - first)
    return [*lines[:first], *[_LEFT_OUT] * (len(lines) - first - last), *lines[len(lines) - last :]]


def _alike(some: list[str], others: list[str]) -> int:
    """How many lines at the beginning are the same."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(some), len(others)))


def _parts(piece: Piece, budget: int) -> Iterator[Piece]:
    """The piece itself, or parts of it none of which is larger than a sheet if that can be had."""
    if piece.size <= budget:
        yield piece
        return
    room = budget - replace(piece, passages=()).size
    group: list[Passage] = []
    used = 0
    for passage in (part for whole in piece.passages for part in _cut(whole, room)):
        size = passage.size
        if group and used + size > room:
            yield replace(piece, passages=tuple(group))
            group, used = [], 0
        group.append(passage)
        used += size
    yield replace(piece, passages=tuple(group))


def _cut(passage: Passage, room: int) -> Iterator[Passage]:
    if passage.size <= room:
        yield passage
        return
    room -= replace(passage, rows=()).size
    rows: list[Row] = []
    used = 0
    for row in passage.rows:
        if rows and used + row.size > room:
            yield replace(passage, rows=tuple(rows))
            rows, used = [], 0
        rows.append(row)
        used += row.size
    yield replace(passage, rows=tuple(rows))


def _pack(pieces: Iterable[Piece], budget: int) -> tuple[tuple[Piece, ...], ...]:
    """Puts each piece on the first sheet that has room for it."""
    sheets: list[list[Piece]] = []
    room: list[int] = []
    for piece in pieces:
        size = piece.size
        at = next((i for i, left in enumerate(room) if size <= left), len(sheets))
        if at == len(sheets):
            sheets.append([])
            room.append(budget)
        sheets[at].append(piece)
        room[at] -= size
    return tuple(map(tuple, sheets))


def _paths(sheets: Iterable[Iterable[Piece]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(piece.path for sheet in sheets for piece in sheet))


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False)) + 2
