"""Distributes pieces over sheets that fit into a model's room. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from prjury.judges.quality.prompt_input.chunk import (
    Chunk,
    ChunkRow,
    NotSent,
    Passage,
    Section,
    sizes,
)

#: From the digests of all pieces to sheets that were asked about before, as digests of theirs.
Known = Callable[[Sequence[str]], Iterable[Sequence[str]]]


def _nothing_known(_: Sequence[str]) -> Iterable[Sequence[str]]:
    return ()


@dataclass(frozen=True)
class Plan:
    """Sheets that together hold everything that is sent, and the files that are on none."""

    chunks: tuple[Chunk, ...]
    left_out: tuple[NotSent, ...] = ()

    @property
    def sections(self) -> tuple[Section, ...]:
        """Everything that is sent."""
        return tuple(section for chunk in self.chunks for section in chunk.sections)

    def elsewhere(self, chunk: Chunk) -> tuple[Section, ...]:
        """One piece of each file that is on other sheets only."""
        here = set(chunk.paths)
        others = {section.path: section for section in self.sections if section.path not in here}
        return tuple(others[path] for path in sorted(others))


def plan(
    sections: Sequence[Section],
    left_out: tuple[NotSent, ...],
    budget: int,
    known: Known = _nothing_known,
) -> Plan:
    """Puts everything on one sheet if that can be had, else on as few as first fit needs.

    A piece is split only if it is larger than a sheet, and then between hunks; a hunk only if it is
    itself larger than a sheet. Where there are several sheets, those that were asked about before
    are kept as they were, so that an answer to them still counts.

    Args:
        budget: characters of a sheet.
    """
    if sizes(sections) <= budget:
        return Plan((Chunk(tuple(sections)),) if sections else (), left_out)
    parts = [part for section in sections for part in _parts(section, budget)]
    kept = list(_kept(parts, known([part.digest for part in parts]), budget))
    taken = {section.digest for chunk in kept for section in chunk.sections}
    fresh = _packed((part for part in parts if part.digest not in taken), budget)
    return Plan((*kept, *fresh), left_out)


def _kept(parts: Sequence[Section], known: Iterable[Sequence[str]], budget: int) -> Iterator[Chunk]:
    """The known sheets all of whose pieces are still there and fit, no piece on two of them."""
    counted = Counter(part.digest for part in parts)
    free = {part.digest: part for part in parts if counted[part.digest] == 1}
    for digests in known:
        if len(set(digests)) != len(digests) or not all(digest in free for digest in digests):
            continue
        sections = tuple(free[digest] for digest in digests)
        if len(sections) == 1 or 0 < sizes(sections) <= budget:
            yield Chunk(tuple(free.pop(digest) for digest in digests))


def _packed(sections: Iterable[Section], budget: int) -> Iterator[Chunk]:
    """Puts each piece on the first sheet that has room for it."""
    chunks: list[list[Section]] = []
    room: list[int] = []
    for section in sections:
        at = next((i for i, left in enumerate(room) if section.size <= left), len(chunks))
        if at == len(chunks):
            chunks.append([])
            room.append(budget)
        chunks[at].append(section)
        room[at] -= section.size
    return (Chunk(tuple(chunk)) for chunk in chunks)


def _parts(section: Section, budget: int) -> Iterator[Section]:
    """The piece itself, or parts of it none of which is larger than a sheet if that can be had."""
    if section.size <= budget:
        yield section
        return
    room = budget - replace(section, passages=()).size
    group: list[Passage] = []
    used = 0
    for passage in (part for whole in section.passages for part in _cut(whole, room)):
        size = passage.size
        if group and used + size > room:
            yield replace(section, passages=tuple(group))
            group, used = [], 0
        group.append(passage)
        used += size
    yield replace(section, passages=tuple(group))


def _cut(passage: Passage, room: int) -> Iterator[Passage]:
    if passage.size <= room:
        yield passage
        return
    room -= replace(passage, rows=()).size
    rows: list[ChunkRow] = []
    used = 0
    for row in passage.rows:
        if rows and used + row.size > room:
            yield replace(passage, rows=tuple(rows))
            rows, used = [], 0
        rows.append(row)
        used += row.size
    yield replace(passage, rows=tuple(rows))
