"""Whether a conflict is mechanical or needs a human, decided from what both sides wrote."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import PurePosixPath
from typing import TypeAlias

from prjury.code.imports import ImportHead, ImportLine, import_head
from prjury.code.languages import Language, kin_of, language_of
from prjury.code.languages.language import ImportSyntax, Layout
from prjury.code.parser import Parsed, Parser, job
from prjury.deadline import Deadline
from prjury.manifests.version_conflicts import only_versions
from prjury.report.wording import counted
from prjury.snapshot.kinds import LOCK_FILES, kind_of
from prjury.snapshot.model import FileKind, visible
from prjury.snapshot.threeway import (
    BASE_AND_HEAD,
    Classified,
    Lines,
    Region,
    SideNames,
    ThreeWay,
)

_BOTH = "imports only: keep both sides'"
_EITHER = "imports only: keep what either side adds, leave out what either removes"
#: Seconds for the parser to find the texts of the three versions.
_SECONDS = 3.0
_BROKEN = {"rule": {"kind": "ERROR"}}
_XML = frozenset({"xml", "maven", "nuget"})

#: The lines without white space that has no meaning.
_Bare: TypeAlias = Callable[[Lines], list[str]]


@dataclass(frozen=True)
class _Change:
    """What a side does to the imports of the base."""

    added: frozenset[ImportLine]
    gone: frozenset[ImportLine]

    @classmethod
    def of(cls, before: Sequence[ImportLine], after: Sequence[ImportLine]) -> _Change:
        return cls(frozenset(after) - frozenset(before), frozenset(before) - frozenset(after))

    @property
    def all(self) -> frozenset[ImportLine]:
        return self.added | self.gone

    def disturbs(self, other: _Change) -> bool:
        """Whether both remove the same line, or this one the list that the other changes."""
        taken = {entry.within for entry in self.gone if entry.edge}
        return bool(self.gone & other.gone) or any(one.within in taken for one in other.all)


def only_imports(path: str, file: ThreeWay) -> list[str | None]:
    """For each region what to do, if all that stands there on all sides is imports to be kept.

    Comments and headers among them have to be the same on all sides.
    """
    language = language_of(path)
    syntax = language.imports if language else None
    if syntax is None:
        return [None] * len(file.regions)
    ours, theirs = import_head(syntax, file.ours), import_head(syntax, file.theirs)
    base = None if file.base is None else import_head(syntax, file.base)
    return [_kept(syntax, base, ours, theirs, region) for region in file.regions]


def _kept(
    syntax: ImportSyntax,
    base: ImportHead | None,
    ours: ImportHead,
    theirs: ImportHead,
    region: Region,
) -> str | None:
    places = [(ours, region.ours), (theirs, region.theirs)]
    places += [(base, region.base)] if base else []
    if not _differ_in_imports(places):
        return None
    before = base.imports(region.base) if base else []
    sides = ours.imports(region.ours), theirs.imports(region.theirs)
    one, other = (_Change.of(before, side) for side in sides)
    if (
        one.disturbs(other)
        or other.disturbs(one)
        or (syntax.ordered and _in_another_order(ours, theirs))
        or any(entry.effect for entry in (*before, *sides[0], *sides[1]))
        or any(entry.unknown for entry in one.all | other.all)
        or _ambiguous(one.added | other.added, (ours, theirs))
    ):
        return None
    return _EITHER if one.gone or other.gone else _BOTH


def _differ_in_imports(places: Sequence[tuple[ImportHead, range]]) -> bool:
    """Whether nothing but imports differs at these places, and no list is cut in different ways."""
    if any(where.stop > len(head.entries) for head, where in places):
        return False
    others = [head.others(where) for head, where in places]
    lists = {(head.open_at(where.start), head.open_at(where.stop)) for head, where in places}
    same = all(found == others[0] for found in others) and len(lists) == 1
    return same and any(head.imports(where) for head, where in places)


def _in_another_order(ours: ImportHead, theirs: ImportHead) -> bool:
    """Whether the sides disagree about the order of what both have, anywhere in the file."""
    mine, yours = ours.imports(), theirs.imports()
    common = set(mine) & set(yours)
    orders = [[entry for entry in side if entry in common] for side in (mine, yours)]
    return orders[0] != orders[1]


def _ambiguous(added: Iterable[ImportLine], heads: Iterable[ImportHead]) -> bool:
    """Whether a name that is added would be made known by two lines."""
    sources: defaultdict[str, set[object]] = defaultdict(set)
    for entry in (entry for head in heads for entry in head.imports()):
        for name, shared in entry.names:
            sources[name].add(shared or entry)
    return any(len(sources[name]) > 1 for entry in added for name, _ in entry.names)


@dataclass(frozen=True)
class WhiteSpace:
    """Tells for the regions of a file whether a side changes white space only."""

    path: str
    file: ThreeWay

    def only(self, region: Region, names: SideNames) -> str | None:
        """What to do, in one phrase, where a side or what is between both is white space only."""
        if found := self._compared(region, _without_ends, "line ends", names):
            return found
        language = language_of(self.path)
        if language is None or language.layout is None:
            return None
        bare = _without_blanks if language.layout.free else _without_last_blanks
        found = self._compared(region, bare, "white space", names)
        return found if found and self._means_nothing(language, language.layout, region) else None

    def _compared(self, region: Region, bare: _Bare, what: str, names: SideNames) -> str | None:
        onto, head = names.onto, names.head
        base, ours, theirs = map(bare, self.file.texts(region))
        if ours == theirs:
            return f"{what} only: take the lines of {onto}"
        if self.file.base is None:
            return None
        if ours == base:
            return f"{onto} changes {what} only: take the lines of {head}"
        if theirs == base:
            return f"{head} changes {what} only: take the lines of {onto}"
        return None

    @cached_property
    def _versions(self) -> list[str]:
        return [
            "".join(lines) for lines in (self.file.base or (), self.file.ours, self.file.theirs)
        ]

    def _means_nothing(self, language: Language, layout: Layout, region: Region) -> bool:
        """Whether the region lies in no text on any side, and no line goes on behind its end."""
        if any(
            (text and re.search(layout.refused, text)) or "\r" in text.replace("\r\n", "\n")
            for text in self._versions
        ):
            return False
        places = (region.base, region.ours, region.theirs)
        sides = (self.file.base or (), self.file.ours, self.file.theirs)
        around = [
            lines[max(at.start - 1, 0) : at.stop] for lines, at in zip(sides, places, strict=True)
        ]
        if any(line.rstrip().endswith("\\") for lines in around for line in lines):
            return False
        if language.name in _XML and not all(map(_between_tags, self.file.texts(region))):
            return False
        if not any(re.search(layout.texts, text) for text in self._versions):
            return True
        texts = self._texts
        if texts is None:
            return False
        spans = [_span(lines, at) for lines, at in zip(sides, places, strict=True)]
        return not any(
            start < span[1] and end > span[0]
            for span, found in zip(spans, texts, strict=True)
            for start, end in found
        )

    @cached_property
    def _texts(self) -> list[list[tuple[int, int]]] | None:
        """The texts over several lines of each version; None where they are not known."""
        language = language_of(self.path)
        if language is None or language.parser is None:
            return None
        jobs = [job(text, language, [_BROKEN]) for text in self._versions]
        replies = Parser().parse(jobs, Deadline.after(_SECONDS))
        parsed = [reply for reply in replies if isinstance(reply, Parsed) and not reply.found]
        if len(parsed) < len(jobs):
            return None
        return [
            [(start, end) for start, end in reply.strings if "\n" in text[start:end]]
            for text, reply in zip(self._versions, parsed, strict=True)
        ]


def _span(lines: Lines, where: range) -> tuple[int, int]:
    """The characters of these lines; a place without lines counts as the one before it."""
    starts = list(accumulate(map(len, lines), initial=0))
    return max(starts[where.start] - 1, 0), max(starts[where.stop], starts[where.start])


def _between_tags(lines: Lines) -> bool:
    """Whether blanks at the ends of these lines of XML stand between tags."""
    stripped = filter(None, (line.strip() for line in lines))
    return all(line.startswith("<") and line.endswith(">") for line in stripped)


def _without_ends(lines: Lines) -> list[str]:
    return [line.removesuffix("\n").removesuffix("\r") for line in lines]


def _without_last_blanks(lines: Lines) -> list[str]:
    return [line.rstrip(" \t") for line in _without_ends(lines)]


def _without_blanks(lines: Lines) -> list[str]:
    stripped = (line.strip(" \t") for line in _without_ends(lines))
    return [line for line in stripped if line]


_CHANGELOG = re.compile(r"(changelog|changes|news|history|release[-_ ]?notes)([-_.]|$)")
_LONGEST_SECTION = 60
_MOST_REGIONS = 1_000


def regenerate(path: str) -> str | None:
    """The command that writes this lock file anew; None for any other file."""
    return LOCK_FILES.get(PurePosixPath(path).name.lower())


def classify(path: str, file: ThreeWay, names: SideNames = BASE_AND_HEAD) -> Classified:
    """Whether the conflict is mechanical, which it is only if every one of its regions is."""
    count = len(file.regions)
    if command := regenerate(path):
        reason = f"a lock file: take either side's and run `{command}`"
        return Classified(mechanical=True, reason=reason, regions=(True,) * count)
    if not file.regions or count > _MOST_REGIONS:
        many = f"{count} regions, more than are looked into"
        reason = many if count else "the sides collide as a whole, not line by line"
        return Classified(mechanical=False, reason=reason, regions=(False,) * count)
    reasons = list(_reasons(path, file, names))
    easy = tuple(reason is not None for reason in reasons)
    if not all(easy):
        return Classified(
            mechanical=False, reason=_collision(path, file, easy, names), regions=easy
        )
    every = "; ".join(dict.fromkeys(reason for reason in reasons if reason))
    return Classified(mechanical=True, reason=every, regions=easy)


def _reasons(path: str, file: ThreeWay, names: SideNames) -> Iterator[str | None]:
    """For each region why it is mechanical, or None."""
    white_space = WhiteSpace(path, file)
    regions = zip(file.regions, only_imports(path, file), only_versions(path, file), strict=True)
    for region, imports, versions in regions:
        base, ours, theirs = file.texts(region)
        if found := white_space.only(region, names):
            yield found
        elif imports:
            yield imports
        elif versions:
            yield "version numbers only: take the newer one"
        elif is_changelog(path) and _both_add(base, ours, theirs):
            yield "changelog entries: keep both"
        else:
            yield None


def is_changelog(path: str) -> bool:
    """Whether the file is a changelog."""
    name = PurePosixPath(path).name.lower()
    return _CHANGELOG.match(name) is not None and kind_of(path) is FileKind.DOCS


def _both_add(base: Lines, ours: Lines, theirs: Lines) -> bool:
    """Whether both sides add lines and leave every line of the base as it was.

    The last line of the base may have had no end.
    """
    was, mine, yours = ([line.rstrip("\r\n") for line in lines] for lines in (base, ours, theirs))
    more = min(len(mine), len(yours)) > len(was)
    return more and _within(was, mine) and _within(was, yours)


def _within(few: Lines, many: Lines) -> bool:
    """Whether all of the few lines stand among the many, in their order."""
    remaining = iter(many)
    return all(line in remaining for line in few)


def _collision(path: str, file: ThreeWay, easy: Sequence[bool], names: SideNames) -> str:
    """What collides at the first place that needs a human, and how many such places there are."""
    hard = [region for region, done in zip(file.regions, easy, strict=True) if not done]
    count = len(file.regions)
    if file.base is None:
        places = "one place" if count == 1 else counted(count, "place")
        return f"both sides add the file, with different lines in {places}"
    first = _what_collides(file, hard[0], names) + _below(path, hard[0])
    if count == 1:
        return first
    if len(hard) == 1:
        return f"1 of {count} regions needs a human: {first}"
    return f"{len(hard)} of {count} regions need a human: in the first of them {first}"


def _below(path: str, region: Region) -> str:
    """The heading above the region; git knows headings of code only."""
    section = visible(region.section.strip())
    if not section or kin_of(path) is None:
        return ""
    cut = section[:_LONGEST_SECTION]
    return f", below `{cut}{'…' * (cut != section)}`"


def _what_collides(file: ThreeWay, region: Region, names: SideNames) -> str:
    base, ours, theirs = file.texts(region)
    if base and not (ours and theirs):
        deletes, changes = (names.onto, names.head) if not ours else (names.head, names.onto)
        what = "a line" if len(base) == 1 else _lines(base)
        return f"{deletes} deletes {what} that {changes} changes"
    if not base and _within(theirs, ours):
        return _superset(names.onto, names.head, len(ours) - len(theirs))
    if not base and _within(ours, theirs):
        return _superset(names.head, names.onto, len(theirs) - len(ours))
    if not base:
        return "both sides add different lines at the same place"
    return f"both sides change the same {_lines(base)}"


def _superset(more: str, less: str, count: int) -> str:
    return f"{more} adds all that {less} adds, and {counted(count, 'line')} more"


def _lines(lines: Lines) -> str:
    return "line" if len(lines) == 1 else counted(len(lines), "line")
