"""White space that carries no meaning: which it is depends on the file and on the place in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import PurePosixPath
from typing import TypeAlias

from prjury.snapshot.texts import Texts
from prjury.snapshot.threeway import Lines, Region, ThreeWay

#: Lines without the white space that carries no meaning.
Bare: TypeAlias = Callable[[Lines], list[str]]

#: Files in which neither blanks around a line nor empty lines carry a meaning. Languages that say
#: with indentation what belongs together are none of them, nor is Scala, which may do so.
_FREE = frozenset(
    ".java .kt .kts .groovy .gradle .swift .dart .js .jsx .mjs .cjs .ts .tsx .mts .cts .go .c .h "
    ".cc .cpp .hh .hpp .cs .json .proto .xml .css .scss .less .rs .php".split()
)
#: Files in which blanks at the end of a line carry no meaning.
_LOOSE_ENDS = frozenset(".py .pyi .toml .ini .cfg".split())


class LayoutReader:
    """Tells for the regions of a file whether a side changes its layout only."""

    def __init__(self, path: str, file: ThreeWay) -> None:
        suffix = PurePosixPath(path).suffix.lower()
        self._file = file
        self._suffix = suffix

    @cached_property
    def _texts(self) -> list[Texts]:
        versions = (self._file.base or (), self._file.ours, self._file.theirs)
        return [Texts.of(self._suffix, lines) for lines in versions]

    def only(self, region: Region, onto: str, head: str) -> str | None:
        """What to do where a side, or what is between both, is white space and nothing else.

        Args:
            onto: what our side is called, such as ``the base``.
            head: what the other side is called.

        Returns:
            One phrase; None where the sides differ in more than that.
        """
        names = onto, head
        if told := self._compared(region, _without_ends, "line ends", names):
            return told
        bare = _without_blanks if self._suffix in _FREE else _without_last_blanks
        if self._suffix not in _FREE | _LOOSE_ENDS:
            return None
        told = self._compared(region, bare, "white space", names)
        return told if told and self._means_nothing(region) else None

    def _compared(
        self, region: Region, bare: Bare, what: str, names: tuple[str, str]
    ) -> str | None:
        onto, head = names
        base, ours, theirs = map(bare, self._file.texts(region))
        if ours == theirs:
            return f"{what} only: take the lines of {onto}"
        if self._file.base is None:
            return None
        if ours == base:
            return f"{onto} changes {what} only: take the lines of {head}"
        if theirs == base:
            return f"{head} changes {what} only: take the lines of {onto}"
        return None

    def _means_nothing(self, region: Region) -> bool:
        """Whether the region lies in no text on any side."""
        if not all(map(self._between_lines, self._file.texts(region))):
            return False
        places = zip(self._texts, (region.base, region.ours, region.theirs), strict=True)
        return all(text.clear_of(where) for text, where in places)

    def _between_lines(self, lines: Lines) -> bool:
        """Whether blanks there stand between lines; in XML they do only between tags."""
        if self._suffix != ".xml":
            return True
        stripped = filter(None, (line.strip() for line in lines))
        return all(line.startswith("<") and line.endswith(">") for line in stripped)


def _without_ends(lines: Lines) -> list[str]:
    return [line.removesuffix("\n").removesuffix("\r") for line in lines]


def _without_last_blanks(lines: Lines) -> list[str]:
    return [line.rstrip(" \t") for line in _without_ends(lines)]


def _without_blanks(lines: Lines) -> list[str]:
    stripped = (line.strip(" \t") for line in _without_ends(lines))
    return [line for line in stripped if line]
