"""Whether the imports of both sides can be kept without knowing the code.

They can where both sides only add to them, or one removes what the other leaves alone, and where no
name comes to stand for two things.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from prjury.snapshot.bindings import ANY, Bound
from prjury.snapshot.languages import ImportLanguage, ImportList

#: The first and the last line of a list of imports over several lines.
List: TypeAlias = tuple[str, str]

_REMARK = re.compile(r"\s*(//|#).*")
_BOTH = "imports only: keep both sides'"
_EITHER = "imports only: keep what either side adds, leave out what either removes"


@dataclass(frozen=True)
class ImportLine:
    """A line of imports.

    Attributes:
        within: the list in which it stands.
        names: what it makes known, with what the name stands for where lines may share it.
        edge: whether it opens or closes the list.
        effect: whether it is there for what it does, at its place among the others.
    """

    text: str
    within: List | None = None
    names: frozenset[tuple[str, str]] = frozenset()
    edge: bool = False
    effect: bool = False

    @property
    def unknown(self) -> bool:
        """Whether it makes names known that cannot be told."""
        return any(name == ANY for name, _ in self.names)

    @property
    def sources(self) -> Iterable[tuple[str, object]]:
        """Each name, and what it stands for: the line itself unless lines may share it."""
        return ((name, shared or self) for name, shared in self.names)


@dataclass(frozen=True)
class Imports:
    """The imports of a file, line by line from its top.

    Attributes:
        entries: the line's import, None for a line that is none.
        inside: for each line, the list that was opened above it and goes on.
    """

    entries: Sequence[ImportLine | None]
    inside: Sequence[List | None]

    @classmethod
    def of(cls, language: ImportLanguage, lines: Sequence[str | None]) -> Imports:
        """Reads lines that are known to be imports, None standing for all others."""
        found: list[tuple[ImportLine | None, List | None]] = []
        while len(found) < len(lines):
            found += _statement(language, lines, len(found))
        return cls([entry for entry, _ in found], [inside for _, inside in found])

    def at(self, where: range) -> list[ImportLine]:
        """The imports that stand there."""
        return [entry for entry in self.entries[where.start : where.stop] if entry]

    def lists(self, where: range) -> tuple[List | None, ...]:
        """The lists that go on across both ends of the place."""
        return tuple(
            self.inside[at] if at < len(self.inside) else None for at in (where.start, where.stop)
        )


def _statement(
    language: ImportLanguage, lines: Sequence[str | None], at: int
) -> list[tuple[ImportLine | None, List | None]]:
    line = lines[at]
    if line is None:
        return [(None, None)]
    first = line.strip(" \t\ufeff")
    if language.imports.fullmatch(first):
        effect = bool(language.effects and language.effects.match(first))
        return [(ImportLine(line, None, _names(language.names(first)), effect=effect), None)]
    for form in language.lists:
        if form.opening.fullmatch(first) and (stop := _stop(form, lines, at)):
            return _list(language, lines[at:stop])
    return [(ImportLine(line, None, frozenset({(ANY, "")})), None)]


def _stop(form: ImportList, lines: Sequence[str | None], first: int) -> int:
    """Behind the line that closes the list; 0 where there is none."""
    below = range(first + 1, len(lines))
    return next((at + 1 for at in below if form.closing.fullmatch(_bare(lines[at]))), 0)


def _list(
    language: ImportLanguage, lines: Sequence[str | None]
) -> list[tuple[ImportLine | None, List | None]]:
    """The lines of one list; what an item means is told from the list with nothing else in it."""
    first, *items, last = (_REMARK.sub("", _bare(line)) for line in lines)
    within = first, last
    written = [_bare(line).rstrip(", \t") for line in lines]
    empty = _names(language.names(f"{first}{last}"))
    # A list within the list over several lines is not followed.
    nested = any(item.count("{") != item.count("}") for item in items)
    found: list[tuple[ImportLine | None, List | None]] = [
        (ImportLine(written[0], within, empty, edge=True), None)
    ]
    for item, text in zip(items, written[1:-1], strict=True):
        names = _names(language.names(f"{first}{item}{last}")) - empty
        known = frozenset({(ANY, "")}) if nested else names
        found.append((ImportLine(text, within, known) if item else None, within))
    return [*found, (ImportLine(written[-1], within, edge=True), within)]


def _bare(line: str | None) -> str:
    return (line or "").strip(" \t")


def _names(bound: Bound) -> frozenset[tuple[str, str]]:
    return frozenset(bound.items())


@dataclass(frozen=True)
class SideRegion:
    """A region of one side."""

    imports: Imports
    where: range

    @property
    def entries(self) -> list[ImportLine]:
        """The imports of the region."""
        return self.imports.at(self.where)

    @property
    def lists(self) -> tuple[List | None, ...]:
        """The lists that go on across its ends."""
        return self.imports.lists(self.where)


def how_to_keep(
    language: ImportLanguage, base: SideRegion | None, ours: SideRegion, theirs: SideRegion
) -> str | None:
    """What to do with the imports of both sides; None where that takes somebody who knows."""
    if len({place.lists for place in (base, ours, theirs) if place}) > 1:
        return None
    before = base.entries if base else []
    one, other = _Change.of(before, ours.entries), _Change.of(before, theirs.entries)
    if one.disturbs(other) or other.disturbs(one):
        return None
    if language.ordered and _in_another_order(ours.imports, theirs.imports):
        return None
    changed = one.changed | other.changed
    effects = any(entry.effect for entry in (*before, *ours.entries, *theirs.entries))
    if effects or any(entry.unknown for entry in changed):
        return None
    if _ambiguous(one.added | other.added, ours.imports, theirs.imports):
        return None
    return _EITHER if one.gone or other.gone else _BOTH


@dataclass(frozen=True)
class _Change:
    """What a side does to the imports of the base."""

    added: frozenset[ImportLine]
    gone: frozenset[ImportLine]

    @classmethod
    def of(cls, before: Sequence[ImportLine], after: Sequence[ImportLine]) -> _Change:
        return cls(frozenset(after) - frozenset(before), frozenset(before) - frozenset(after))

    @property
    def changed(self) -> frozenset[ImportLine]:
        return self.added | self.gone

    def disturbs(self, other: _Change) -> bool:
        """Whether both take away the same line, or this one the list that the other changes."""
        taken = {entry.within for entry in self.gone if entry.edge}
        return bool(self.gone & other.gone) or any(one.within in taken for one in other.changed)


def _in_another_order(ours: Imports, theirs: Imports) -> bool:
    """Whether the sides disagree about the order of what both have, anywhere in the file."""
    mine, yours = ([entry for entry in side.entries if entry] for side in (ours, theirs))
    common = set(mine) & set(yours)
    orders = [[entry for entry in side if entry in common] for side in (mine, yours)]
    return orders[0] != orders[1]


def _ambiguous(added: Iterable[ImportLine], *files: Imports) -> bool:
    """Whether a name that is added would be made known by two lines."""
    sources: defaultdict[str, set[object]] = defaultdict(set)
    for file in files:
        for entry in filter(None, file.entries):
            for name, source in entry.sources:
                sources[name].add(source)
    return any(len(sources[name]) > 1 for entry in added for name, _ in entry.names)
