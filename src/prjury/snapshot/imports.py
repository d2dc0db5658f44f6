"""Which lines of a file are its imports: those above the first line of code, and no others.

An import inside a function runs when the function does, and a line inside a text block only looks
like one. So a file is read from its top, and with the first line that is neither import, header,
comment nor blank everything below is code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from prjury.snapshot.import_edits import Imports, SideRegion, how_to_keep
from prjury.snapshot.languages import ImportLanguage, ImportList, language_of
from prjury.snapshot.threeway import Region, ThreeWay

_HARMLESS_CODINGS = frozenset("utf-8 utf8 ascii us-ascii latin-1 latin1 iso-8859-1".split())
_CODING = re.compile(r"coding[:=]\s*([-\w.]+)")
#: Python looks for the encoding's name in so many lines.
_CODING_LINES = 2
_QUOTES = ('"""', "'''")
_LONGEST_LINE = 1_000


class ImportKind(Enum):
    """What a line is."""

    BLANK = auto()
    IMPORT = auto()
    #: A comment or the package's name: no code, but no import either.
    OTHER = auto()


def only_imports(path: str, file: ThreeWay) -> list[str | None]:
    """For each region what to do, if all that stands there on all sides is imports to be kept.

    Comments and headers among them have to be the same on all sides.
    """
    language = language_of(path)
    if language is None:
        return [None] * len(file.regions)
    base = _Side.of(language, file.base) if file.base is not None else None
    ours, theirs = _Side.of(language, file.ours), _Side.of(language, file.theirs)
    return [_told(language, base, ours, theirs, region) for region in file.regions]


def _told(
    language: ImportLanguage, base: _Side | None, ours: _Side, theirs: _Side, region: Region
) -> str | None:
    places = [(base, region.base), (ours, region.ours), (theirs, region.theirs)]
    if not _agree(places):
        return None
    before = base.place(region.base) if base else None
    return how_to_keep(language, before, ours.place(region.ours), theirs.place(region.theirs))


@dataclass(frozen=True)
class _Side:
    """One version of a file, and what its lines are down to the first one of code."""

    lines: Sequence[str]
    kinds: Sequence[ImportKind]
    statements: Imports

    @classmethod
    def of(cls, language: ImportLanguage, lines: Sequence[str]) -> _Side:
        """Reads a version from its top."""
        found = kinds(language, lines)
        imports = [
            _bare(line) if kind is ImportKind.IMPORT else None
            for line, kind in zip(lines, found, strict=False)
        ]
        return cls(lines, found, Imports.of(language, imports))

    def place(self, where: range) -> SideRegion:
        """The imports of a region."""
        return SideRegion(self.statements, where)

    def free_of_code(self, where: range) -> bool:
        return where.stop <= len(self.kinds)

    def imports(self, where: range) -> bool:
        return ImportKind.IMPORT in self.kinds[where.start : where.stop]

    def others(self, where: range) -> list[str]:
        """The lines that stand among the imports and are none."""
        return [self.lines[at].strip() for at in where if self.kinds[at] is ImportKind.OTHER]


def _agree(places: Sequence[tuple[_Side | None, range]]) -> bool:
    """Whether nothing but imports differs at these places of the sides that there are."""
    sides = [(side, where) for side, where in places if side is not None]
    if not all(side.free_of_code(where) for side, where in sides):
        return False
    others = [side.others(where) for side, where in sides]
    same = all(found == others[0] for found in others)
    return same and any(side.imports(where) for side, where in sides)


def kinds(language: ImportLanguage, lines: Sequence[str]) -> list[ImportKind]:
    """What each line is, from the top; the list ends where the code begins."""
    scan = _Scan(language, [_bare(line) for line in lines])
    while scan.step():
        pass
    return scan.found


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r").rstrip(" \t")


@dataclass
class _Scan:
    """A file on its way from the top to its first line of code.

    Attributes:
        found: what the lines so far are.
        guarded: whether lines that are indented stand in a block of nothing but imports.
        documented: whether the place for a docstring is behind us.
    """

    language: ImportLanguage
    lines: Sequence[str]
    found: list[ImportKind] = field(default_factory=list)
    guarded: bool = False
    documented: bool = False

    def step(self) -> bool:
        """Reads what stands next, one line or several; whether it was something but code."""
        at = len(self.found)
        line = self._line(at)
        if line is None:
            return False
        taken = self._one(line) or self._comment(line) or self._docstring(line) or self._list(line)
        if taken and line and line[0] not in " \t":
            self.guarded = bool(self.language.guarded and self.language.guarded.fullmatch(line))
        self.documented = self.documented or ImportKind.IMPORT in taken
        self.found += taken
        return bool(taken)

    def _line(self, at: int) -> str | None:
        """The line; None at the end, and where nobody can be sure that it is what it looks like."""
        if at >= len(self.lines):
            return None
        line = self.lines[at].removeprefix("\ufeff") if at == 0 else self.lines[at]
        if len(line) > _LONGEST_LINE or not _shown(line) or self.language.refused.search(line):
            return None
        named = _CODING.search(line) if at < _CODING_LINES and self.language.docstring else None
        return None if named and named[1].lower() not in _HARMLESS_CODINGS else line

    def _one(self, line: str) -> list[ImportKind]:
        """A line that says all by itself."""
        language = self.language
        if not line:
            return [ImportKind.BLANK]
        if language.imports.fullmatch(self._unindented(line)):
            return [ImportKind.IMPORT]
        forms = (language.header, language.guarded)
        if self._remark(line) or any(form and form.fullmatch(line) for form in forms):
            return [ImportKind.OTHER]
        first = not self.found and line.startswith("#!")
        return [ImportKind.OTHER] if first else []

    def _unindented(self, line: str) -> str:
        return line.lstrip(" \t") if self.guarded else line

    def _remark(self, line: str) -> bool:
        return self.language.comment.fullmatch(line.lstrip(" \t")) is not None

    def _comment(self, line: str) -> list[ImportKind]:
        """A comment over several lines that holds no other and is followed by nothing."""
        text = line.lstrip(" \t")
        if not self.language.blocks or not text.startswith("/*"):
            return []
        return self._enclosed(text.removeprefix("/*"), "*/", refused="/*")

    def _docstring(self, line: str) -> list[ImportKind]:
        """The string at the top of a file, if nothing stands before and after it."""
        marks = next((quotes for quotes in _QUOTES if line.startswith(quotes)), "")
        if not marks or not self.language.docstring or self.documented:
            return []
        self.documented = True
        return self._enclosed(line.removeprefix(marks), marks)

    def _enclosed(self, after: str, mark: str, refused: str | None = None) -> list[ImportKind]:
        """The lines from here to the mark that closes what has been opened."""
        for at in range(len(self.found), len(self.lines)):
            text = after if at == len(self.found) else self._line(at)
            if text is None or (refused and refused in text):
                return []
            if mark in text:
                closed = text.endswith(mark) and text.count(mark) == 1
                return [ImportKind.OTHER] * (at - len(self.found) + 1) if closed else []
        return []

    def _list(self, line: str) -> list[ImportKind]:
        opening = self._unindented(line)
        opened = (form for form in self.language.lists if form.opening.fullmatch(opening))
        return next(filter(None, map(self._items, opened)), [])

    def _items(self, form: ImportList) -> list[ImportKind]:
        """The whole list; nothing unless it holds nothing but names to its very end."""
        taken = [ImportKind.IMPORT]
        for at in range(len(self.found) + 1, len(self.lines)):
            line = self._line(at)
            if line is None:
                return []
            if form.closing.fullmatch(self._unindented(line)):
                return [*taken, ImportKind.IMPORT]
            kind = self._item(form, line)
            if kind is None:
                return []
            taken.append(kind)
        return []

    def _item(self, form: ImportList, line: str) -> ImportKind | None:
        if not line:
            return ImportKind.BLANK
        if self._remark(line):
            return ImportKind.OTHER
        return ImportKind.IMPORT if form.item.fullmatch(line) else None


def _shown(line: str) -> bool:
    """Whether every character is one that is shown; bytes that are not UTF-8 pass as letters."""
    if line.isprintable():
        return True
    return all(char.isprintable() or char == "\t" or "\udc80" <= char <= "\udcff" for char in line)
