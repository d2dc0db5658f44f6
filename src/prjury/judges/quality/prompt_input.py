"""What is laid before a model: numbered lines of files and documents, in sections and chunks. Pure.

Everything a section holds is safe to show: bytes that are not UTF-8 and hidden characters are
visible escapes, secrets are removed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from prjury.jury.judgment import Check
from prjury.report.sanitise import Redact, normalise_line_ends, redact_text, show_invisible
from prjury.snapshot.model import FileChange, FileKind, Hunk, printable

#: Stands for every line's number where characters are counted: where a line is must not decide
#: what is laid beside it.
_ANY_LINE = 99_999


class ChunkRow(Struct, frozen=True):
    """A line as the model sees it; ``old`` is a context line's number on the old side."""

    side: str
    line: int
    sign: str
    text: str
    old: int | None = None

    @property
    def value(self) -> str:
        return f"{self.sign}{self.line}|{self.text}"

    @property
    def size(self) -> int:
        return _size(f"{self.sign}{_ANY_LINE}|{self.text}")

    def number(self, side: str) -> int | None:
        """Return its number on that side; None where it is not there."""
        if side == self.side:
            return self.line
        return self.old if side == "old" else None


class Passage(Struct, frozen=True):
    """A hunk, or a part of one that is too large for a chunk."""

    section: str
    rows: tuple[ChunkRow, ...]

    @property
    def size(self) -> int:
        return len(self.section) + sum(row.size for row in self.rows) + 40


Part = TypeVar("Part", Passage, ChunkRow)


class Section(Struct, frozen=True, dict=True):
    """A file or document, or a part of one; ``path`` is as the report prints it."""

    path: str
    heading: dict[str, str]
    passages: tuple[Passage, ...] = ()
    is_file: bool = True

    @cached_property
    def size(self) -> int:
        return _size(self.heading) + sum(passage.size for passage in self.passages) + 20

    @property
    def rows(self) -> tuple[ChunkRow, ...]:
        """All its lines."""
        return tuple(row for passage in self.passages for row in passage.rows)

    @property
    def value(self) -> dict[str, Any]:
        hunks = [{"section": p.section, "lines": [r.value for r in p.rows]} for p in self.passages]
        return {**self.heading, "hunks": hunks}

    @cached_property
    def digest(self) -> str:
        """64 hex digits that stay the same where only the numbers of its lines change."""
        texts = [[p.section, [[r.side, r.sign, r.text] for r in p.rows]] for p in self.passages]
        return digest_of([self.heading, texts])


class Fact(Struct, frozen=True):
    """A line that programs know; ``name`` is the altered name that it is about, or empty."""

    text: str
    name: str = ""


class NotSent(Struct, frozen=True):
    """A file that the model does not see: its path, why, and its name in the prompt."""

    path: str
    reason: str
    name: str


class Material(Struct, frozen=True):
    """What there is to read, in its order, and the documents that every question needs."""

    sections: tuple[Section, ...]
    left_out: tuple[NotSent, ...] = ()
    always: tuple[Section, ...] = ()
    facts: tuple[Fact, ...] = ()
    warnings: tuple[Check, ...] = ()


class Chunk(Struct, frozen=True):
    """What one question is about: sections that together fit into a model's room."""

    sections: tuple[Section, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(section.path for section in self.sections))

    @property
    def rows(self) -> Iterator[tuple[Section, ChunkRow]]:
        """All its lines, each with its section; the order depends on the text alone."""
        return ((section, row) for section in self.sections for row in section.rows)

    def reverse(self) -> Chunk:
        """Return the same sections in the opposite order, and the passages of each as well."""
        return Chunk(tuple(replace(p, passages=p.passages[::-1]) for p in self.sections[::-1]))


def digest_of(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def sizes(sections: Iterable[Section]) -> int:
    return sum(section.size for section in sections)


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False)) + 2


class Plan(Struct, frozen=True):
    """Chunks that together hold everything that is sent, and the files that are on none."""

    chunks: tuple[Chunk, ...]
    left_out: tuple[NotSent, ...] = ()

    @property
    def sections(self) -> tuple[Section, ...]:
        return tuple(section for chunk in self.chunks for section in chunk.sections)

    def list_other_files(self, chunk: Chunk) -> tuple[Section, ...]:
        others = {section.path: section for section in self.sections}
        return tuple(others[path] for path in sorted(others.keys() - set(chunk.paths)))


def plan_chunks(material: Material, budget: int) -> Plan:
    """Put everything into one chunk if it fits, else into as few as first fit needs.

    What is larger than a chunk, so many characters, is split between hunks, a hunk between lines.
    """
    sections, left_out = material.sections, material.left_out
    if sizes(sections) <= budget:
        return Plan((Chunk(sections),) if sections else (), left_out)
    chunks: list[list[Section]] = []
    room: list[int] = []
    for section in sections:
        for part in _split_section(section, budget):
            at = next((i for i, space in enumerate(room) if part.size <= space), len(chunks))
            if at == len(chunks):
                chunks.append([])
                room.append(budget)
            chunks[at].append(part)
            room[at] -= part.size
    return Plan(tuple(Chunk(tuple(chunk)) for chunk in chunks), left_out)


def _split_section(section: Section, budget: int) -> Iterator[Section]:
    if section.size <= budget:
        yield section
        return
    room = budget - replace(section, passages=()).size
    passages: list[Passage] = []
    for passage in section.passages:
        if passage.size <= room:
            passages.append(passage)
        else:
            groups = _group_parts(passage.rows, room - Passage(passage.section, ()).size)
            passages += [Passage(passage.section, rows) for rows in groups]
    for some in _group_parts(passages, room):
        yield replace(section, passages=some)


def _group_parts(parts: Iterable[Part], room: int) -> Iterator[tuple[Part, ...]]:
    group: list[Part] = []
    size = 0
    for part in parts:
        if group and size + part.size > room:
            yield tuple(group)
            group, size = [], 0
        group.append(part)
        size += part.size
    yield tuple(group)


#: Kinds in the order in which they are read; a kind that is missing here is not sent at all.
SENT_KINDS = (
    FileKind.SOURCE,
    FileKind.TEST,
    FileKind.CONFIG,
    FileKind.DOCS,
    FileKind.SYMLINK,
    FileKind.GENERATED,
    FileKind.VENDORED,
)
#: A longer line is no text that anybody reviews; its file is not sent.
LONGEST_LINE = 20_000

_LEFT_OUT = "[redacted]"


def make_sections(
    files: Iterable[FileChange], redact: Redact, longest_line: int = LONGEST_LINE
) -> tuple[tuple[Section, ...], tuple[NotSent, ...]]:
    """Return the files that a model sees, source first, and those that it does not."""
    sections: list[tuple[int, Section]] = []
    left_out = []
    for file in files:
        section = _section(file, redact)
        longest = max((len(row.text) for row in section.rows), default=0)
        reason = file.unread or file.exempt
        if not reason and file.kind not in SENT_KINDS:
            reason = f"a {file.kind} file"
        elif not reason and longest > min(longest_line, LONGEST_LINE):
            reason = f"has a line of {longest} characters"
        if reason:
            left_out.append(NotSent(section.path, reason, section.heading["path"]))
        else:
            sections.append((SENT_KINDS.index(file.kind), section))
    sections.sort(key=lambda ranked: ranked[0])
    return tuple(section for _, section in sections), tuple(left_out)


def _section(file: FileChange, redact: Redact) -> Section:
    heading = {"path": file.path, "kind": file.kind.value, "status": file.status.value}
    if file.old_path and file.old_path != file.path:
        heading["old_path"] = file.old_path
    safe = {key: show_safely(value, redact) for key, value in heading.items()}
    passages = tuple(_make_passage(hunk, redact) for hunk in file.hunks)
    return Section(printable(file.path), safe, passages)


def show_safely(text: str, redact: Redact) -> str:
    return show_invisible(redact_text(printable(text), redact))


def _make_passage(hunk: Hunk, redact: Redact) -> Passage:
    texts = _remove_secrets([printable(line.text) for line in hunk.lines], redact)
    rows = []
    for line, text in zip(hunk.lines, texts, strict=True):
        side, number = ("old", line.old or 0) if line.new is None else ("new", line.new)
        context = line.old if line.sign == " " else None
        rows.append(ChunkRow(side, number, line.sign, show_invisible(text), context))
    return Passage(show_safely(hunk.section, redact), tuple(rows))


def _remove_secrets(lines: list[str], redact: Redact) -> list[str]:
    """Return the lines without secrets, still as many: a secret may span several of them."""
    # A line feed is what separates them, so none may hide inside.
    lines = [line.replace("\n", " ") for line in lines]
    clean = redact_text("\n".join(lines), redact).split("\n")
    if len(clean) == len(lines):
        return clean
    first = _count_equal(lines, clean)
    last = min(_count_equal(lines[::-1], clean[::-1]), min(len(lines), len(clean)) - first)
    return [*lines[:first], *[_LEFT_OUT] * (len(lines) - first - last), *lines[len(lines) - last :]]


def _count_equal(some: list[str], others: list[str]) -> int:
    pairs = enumerate(zip(some, others, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(some), len(others)))


def make_document(name: str, kind: str, content: str, redact: Redact) -> Section:
    """Return a text as numbered lines; a line longer than any that people write is cut, visibly."""
    clean = redact_text(printable(normalise_line_ends(content)), redact)
    lines = clean.removesuffix("\n").split("\n") if clean else []
    rows = []
    for at, line in enumerate(lines, start=1):
        text, more = show_invisible(line), len(show_invisible(line)) - LONGEST_LINE
        cut = f"{text[:LONGEST_LINE]}… (+{more} characters)" if more > 0 else text
        rows.append(ChunkRow("new", at, " ", cut))
    heading = {"path": show_safely(name, redact), "kind": kind}
    return Section(printable(name), heading, (Passage("", tuple(rows)),), is_file=False)


def cut_text(text: str, longest: int, redact: Redact) -> str:
    """Return a text without secrets, which half of one would hide, and visibly cut to a length."""
    clean = show_invisible(redact_text(normalise_line_ends(text), redact)).strip()
    more = len(clean) - longest
    return f"{clean[:longest]}\n… (+{more} characters)" if more > 0 else clean
