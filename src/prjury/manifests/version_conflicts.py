"""Conflicts in which both sides do nothing but raise versions.

The readers of manifests say what a place in a file means: a number counts as a version only if the
reader finds another version of the same dependency once another number is put there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from prjury.manifests.distance import both_go_up
from prjury.manifests.manifest import ManifestError
from prjury.snapshot.threeway import Lines, Region, ThreeWay

if TYPE_CHECKING:
    from prjury.manifests.declared import DeclaredDependency

#: All lines of a file with their ends, on the base, on our side and on theirs.
_Sides: TypeAlias = tuple[Lines, Lines, Lines]

_MAX_LINE = 1_000
_MAX_LINES = 500
_PLAIN = r"v?\d+(?:\.\d+)*"
_COMMIT = r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])"
_NUMBER = re.compile(rf"{_COMMIT}|{_PLAIN}")
#: What may differ from one side to the other.
_DIFFERING = re.compile(r"[\w.+*~^<>=!, |#:-]+")
_OPERATORS = re.compile(r"[~^<>=!, |]+")
_WHOLE_NUMBER = re.compile(rf"(?:{_COMMIT}|v?\d[\w.+*-]*)+")
_WORD = re.compile(r"[\w.+*-]")
_HASH = re.compile(r"\s*--hash=\w+:[0-9a-fA-F]+\s*\\?")


def only_versions(path: str, file: ThreeWay) -> list[bool]:
    """For each region, whether both sides go up from the base's versions and change nothing else.

    Lines that both sides add do not count: where they come from is not known.
    """
    from prjury.manifests.declared import is_manifest  # noqa: PLC0415 - readers load slowly

    nothing = [False] * len(file.regions)
    if file.base is None or not is_manifest(path):
        return nothing
    sides = file.base, file.ours, file.theirs
    pairs = [_pairs(sides, region) for region in file.regions]
    found = {number: line for number, line in enumerate(_all(pairs)) if line.differs}
    if not found or len(found) > _MAX_LINES:
        return nothing
    try:
        raised = _raised(path, sides, found)
    except ManifestError:
        return nothing
    numbered = {id(line): number in raised for number, line in found.items()}
    return [bool(lines) and all(numbered.get(id(line), True) for line in lines) for lines in pairs]


@dataclass(frozen=True)
class _Line:
    """A line on all three sides: where it is, and its text without what ends it."""

    at: tuple[int, ...]
    texts: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether the sides have different texts."""
        return len(set(self.texts)) > 1

    def marked(self, marker: int) -> tuple[str, ...] | None:
        """The line with the marker in place of the numbers that differ; None for other text."""
        if max(map(len, self.texts)) > _MAX_LINE:
            return None
        spans = _differing(self.texts)
        pieces = [text[start:end] for text, (start, end) in zip(self.texts, spans, strict=True)]
        if not all(_DIFFERING.fullmatch(piece) for piece in pieces):
            return None
        if len({_WHOLE_NUMBER.sub("0", _OPERATORS.sub("", piece)) for piece in pieces}) > 1:
            return None
        return tuple(
            text[:start] + _NUMBER.sub(lambda match: _mark(match[0], marker), piece) + text[end:]
            for text, piece, (start, end) in zip(self.texts, pieces, spans, strict=True)
        )


def _all(pairs: Sequence[Sequence[_Line]]) -> list[_Line]:
    return [line for lines in pairs for line in lines]


def _pairs(sides: _Sides, region: Region) -> list[_Line]:
    """The lines of a region side by side; none where the sides have not equally many."""
    ranges = region.base, region.ours, region.theirs
    found = [_telling(lines, where) for lines, where in zip(sides, ranges, strict=True)]
    if len({len(lines) for lines in found}) != 1:
        return []
    return [
        _Line(tuple(at for at, _ in each), tuple(text for _, text in each))
        for each in zip(*found, strict=True)
    ]


def _telling(lines: Lines, where: range) -> list[tuple[int, str]]:
    """The lines that say something; hashes follow from the versions above them."""
    found = [(at, lines[at].rstrip()) for at in where]
    return [(at, text) for at, text in found if text and not _HASH.fullmatch(text)]


def _differing(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Where the texts differ, as far as the words there reach."""
    first = texts[0]
    shortest = min(map(len, texts))
    start = next((at for at in range(shortest) if len({text[at] for text in texts}) > 1), shortest)
    rest = shortest - start
    end = next((at for at in range(rest) if len({text[-1 - at] for text in texts}) > 1), rest)
    while start and _WORD.match(first[start - 1]):
        start -= 1
    while end and _WORD.match(first[len(first) - end]):
        end -= 1
    return [(start, len(text) - end) for text in texts]


def _mark(number: str, marker: int) -> str:
    if len(number) == 40:  # noqa: PLR2004 - a commit
        return f"{9:020}{marker:020}"
    return f"{'v' * number.startswith('v')}{900_000 + marker}.7"


def _raised(path: str, sides: _Sides, found: Mapping[int, _Line]) -> frozenset[int]:
    """The numbers of the lines on which both sides raise one and the same version."""
    marked = {number: line.marked(number) for number, line in found.items()}
    known = {number: texts for number, texts in marked.items() if texts}
    read: list[_Marked] = []
    for side, lines in enumerate(sides):
        replaced = {found[n].at[side]: known[n][side] for n in known}
        read.append(_Marked.read(path, lines, replaced, known) if known else _Marked())
        known = {n: texts for n, texts in known.items() if read[-1].at(n)}
    return frozenset(number for number in known if _all_go_up([each.at(number) for each in read]))


@dataclass(frozen=True)
class _Marked:
    """The dependencies of one side by the number of the line that holds their version."""

    found: Mapping[int, Sequence[DeclaredDependency]] = field(default_factory=dict)

    @classmethod
    def read(
        cls, path: str, lines: Lines, replaced: Mapping[int, str], numbers: Mapping[int, object]
    ) -> _Marked:
        """Reads a side as it is and with markers; those that change anything else are dropped."""
        from prjury.manifests.declared import declared  # noqa: PLC0415 - readers load slowly

        texts = [replaced.get(at, line.rstrip("\r\n")) for at, line in enumerate(lines)]
        before = declared(path, "".join(lines).encode("utf-8", "surrogateescape")) or ()
        after = declared(path, "\n".join(texts).encode("utf-8", "surrogateescape")) or ()
        found: dict[int, list[DeclaredDependency]] = {}
        one_by_one = _in_order(before), _in_order(after)
        if [_key(each) for each in one_by_one[0]] != [_key(each) for each in one_by_one[1]]:
            return cls()
        for was, now in zip(*one_by_one, strict=True):
            if was.written != now.written or was.version != now.version:
                for number in numbers:
                    if _holds(now, number):
                        found.setdefault(number, []).append(was)
        return cls(found)

    def at(self, number: int) -> Sequence[DeclaredDependency]:
        """The dependencies whose version stands on a line."""
        return self.found.get(number, ())


def _in_order(found: Sequence[DeclaredDependency]) -> list[DeclaredDependency]:
    """Stable whatever the versions are, as far as lines and names tell entries apart."""
    return sorted(found, key=lambda each: (each.name, each.scope, each.line))


def _key(each: DeclaredDependency) -> tuple[str, str, str]:
    return each.name, each.scope, each.purpose


def _holds(each: DeclaredDependency, number: int) -> bool:
    if len(each.written) == 40:  # noqa: PLR2004 - a commit
        return each.written.endswith(f"{number:020}")
    return re.search(rf"(?<!\d){900_000 + number}\.7(?!\d)", each.version) is not None


def _all_go_up(sides: Sequence[Sequence[DeclaredDependency]]) -> bool:
    """Whether the sides name the same dependencies, in versions that go up."""
    if not all(sides) or len({tuple(map(_key, side)) for side in sides}) > 1:
        return False
    return all(_goes_up(each) for each in zip(*sides, strict=True))


def _goes_up(sides: Sequence[DeclaredDependency]) -> bool:
    versions = [_version(each) for each in sides]
    base, ours, theirs = versions
    # A comment that stays while the commit changes tells nothing.
    known = all(versions) and len(set(versions)) == len({each.written for each in sides})
    return known and both_go_up(base, ours, theirs)


def _version(each: DeclaredDependency) -> str:
    """The version; one that a comment behind a commit names is another form than a plain one."""
    return f"={each.version}" if each.version and each.version != each.written else each.version
