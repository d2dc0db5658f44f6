"""White space that carries no meaning: which it is depends on the file and on the place in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import xor
from pathlib import PurePosixPath
from typing import TypeAlias

from prjury.pull.threeway import Lines, Region, ThreeWay

#: Lines without the white space that carries no meaning.
Bare: TypeAlias = Callable[[Lines], list[str]]

_TRIPLE = ('"""', "'''")


def _table(*rows: tuple[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    return {suffix: marks for suffixes, marks in rows for suffix in suffixes.split()}


#: Files in which neither blanks around a line nor empty lines carry a meaning, with the marks
#: between which they may all the same: text over several lines.
_FREE = _table(
    (".java .kt .kts .groovy .gradle .scala .swift .dart", _TRIPLE),
    (".js .jsx .mjs .cjs .ts .tsx .mts .cts .go", ("`",)),
    (".c .h .cc .cpp .cxx .hh .hpp .cs .json .proto .xml .css .scss .less .rs .php", ('"',)),
)
#: Files in which blanks at the end of a line carry no meaning, with the same.
_LOOSE_ENDS = _table((".py .pyi .toml", _TRIPLE), (".ini .cfg", ()))
#: Where these stand anywhere in a file, text may begin and end in ways that are not counted.
_VERBATIM = ("<<<", 'R"', '@"', "<![CDATA[", "xml:space", "<pre", "$/")


class LayoutReader:
    """Tells for the regions of a file whether a side changes its layout only."""

    def __init__(self, path: str, file: ThreeWay) -> None:
        suffix = PurePosixPath(path).suffix.lower()
        marks = _FREE.get(suffix, _LOOSE_ENDS.get(suffix))
        self._file = file
        self._bare = _without_blanks if suffix in _FREE else _without_last_blanks
        versions = (file.base or (), file.ours, file.theirs)
        self._in_text = None if marks is None else [_Text.of(marks, lines) for lines in versions]

    def only(self, region: Region, onto: str, head: str) -> str | None:
        """What to do where a side, or what is between both, is white space and nothing else.

        Args:
            onto: what our side is called, such as ``the base``.
            head: what the other side is called.

        Returns:
            One phrase; None where the sides differ in more than that.
        """
        base, ours, theirs = self._file.texts(region)
        for bare, what in self._ways(region):
            if bare(ours) == bare(theirs):
                return f"{what} only"
            if self._file.base is None:
                continue
            if bare(ours) == bare(base):
                return f"{onto} changes {what} only: take the lines of {head}"
            if bare(theirs) == bare(base):
                return f"{head} changes {what} only: take the lines of {onto}"
        return None

    def _ways(self, region: Region) -> Iterator[tuple[Bare, str]]:
        yield _without_ends, "line ends"
        if self._in_text is None:
            return
        places = zip(self._in_text, (region.base, region.ours, region.theirs), strict=True)
        if not any(text.at(where) for text, where in places):
            yield self._bare, "white space"


@dataclass(frozen=True)
class _Text:
    """Where text over several lines lies in a version of a file.

    Attributes:
        opened: for each line and for the end, whether it was opened before and not closed.
        turning: for each line, whether it opens or closes some.
    """

    opened: Sequence[bool]
    turning: Sequence[bool]

    @classmethod
    def of(cls, marks: Sequence[str], lines: Lines) -> _Text:
        if any(word in line for line in lines for word in _VERBATIM):
            return cls([True] * (len(lines) + 1), [])
        turning = [[line.count(mark) % 2 == 1 for line in lines] for mark in marks]
        opened = [list(accumulate(lines, xor, initial=False)) for lines in turning]
        return cls(_either(opened, len(lines) + 1), _either(turning, len(lines)))

    def at(self, where: range) -> bool:
        return self.opened[where.start] or any(self.turning[where.start : where.stop])


def _either(rows: Sequence[Sequence[bool]], length: int) -> list[bool]:
    return [any(row[at] for row in rows) for at in range(length)]


def _without_ends(lines: Lines) -> list[str]:
    return [line.removesuffix("\n").removesuffix("\r") for line in lines]


def _without_last_blanks(lines: Lines) -> list[str]:
    return [_unless_continued(line, line.rstrip(" \t")) for line in _without_ends(lines)]


def _without_blanks(lines: Lines) -> list[str]:
    stripped = (_unless_continued(line, line.strip(" \t")) for line in _without_ends(lines))
    return [line for line in stripped if line]


def _unless_continued(line: str, stripped: str) -> str:
    """A blank behind a backslash decides whether the line goes on."""
    return line if stripped.endswith("\\") else stripped
