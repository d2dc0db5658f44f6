"""The imports at the top of a file, above its first line of code, and the names that they bring.

An import inside a function runs when the function does, and a line inside a text only looks like
an import. So reading ends at the first line that is neither import, header, comment nor blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from prjury.code.languages.language import ImportSyntax

#: Stands for names that an import does not spell out.
ANY = "*"

_LONGEST_LINE = 1_000
_QUOTES = ('"""', "'''")
#: Python looks for the name of a file's encoding in so many lines; others could hide code.
_CODING_LINES = 2
_CODING = re.compile(
    r"coding[:=]\s*+(?!(?:utf-?8|(?:us-)?ascii|latin-?1|iso-8859-1)(?![-.\w]))", re.IGNORECASE
)
_REMARK = re.compile(r"\s*(?://|#).*")
_RENAMED = re.compile(r" as | => |: ?| ")
_MEMBER = re.compile(r"[.\\]|::")
_GO_IMPORT = re.compile(r'(?:([\w.]+) )?"([^"]+)"')
_GO_MAJOR = re.compile(r"[/.]v\d+$")
_GO_AFFIX = re.compile(r"^go[-.]|[-.]go$")


@dataclass(frozen=True)
class ImportLine:
    """A line of an import.

    Attributes:
        text: the line as it stands there; of a list's item without the comma.
        within: the first and the last line of the list in which it stands.
        names: what it makes known, each with what it stands for where lines may share it.
        edge: whether it opens or closes the list.
        effect: whether it is there for what it does, at its place among the others.
    """

    text: str
    within: tuple[str, str] | None = None
    names: frozenset[tuple[str, str]] = frozenset()
    edge: bool = False
    effect: bool = False

    @property
    def unknown(self) -> bool:
        """Whether it brings names that it does not spell out."""
        return any(name == ANY for name, _ in self.names)


@dataclass(frozen=True)
class ImportHead:
    """The lines of a file down to its first line of code.

    Attributes:
        entries: an import, or the text of a comment or header, ``""`` for a blank line.
        inside: for each line, the list that was opened above and goes on there.
    """

    entries: Sequence[ImportLine | str]
    inside: Sequence[tuple[str, str] | None]

    def imports(self, where: range | None = None) -> list[ImportLine]:
        """The imports of a place, or all of them."""
        entries = self.entries[where.start : where.stop] if where is not None else self.entries
        return [entry for entry in entries if isinstance(entry, ImportLine)]

    def others(self, where: range) -> list[str]:
        """The comments and headers that stand among them."""
        return [
            entry
            for entry in self.entries[where.start : where.stop]
            if isinstance(entry, str) and entry
        ]

    def open_at(self, line: int) -> tuple[str, str] | None:
        """The list that goes on at a line."""
        return self.inside[line] if line < len(self.inside) else None


def import_head(syntax: ImportSyntax, lines: Sequence[str]) -> ImportHead:
    """Reads a file, given as lines with their ends, from its top."""
    reader = _Reader(syntax, [line.rstrip("\n").removesuffix("\r").rstrip(" \t") for line in lines])
    while reader.step():
        pass
    return ImportHead(reader.entries, reader.inside)


@dataclass
class _Reader:
    """A file on the way from its top to its first line of code."""

    syntax: ImportSyntax
    lines: Sequence[str]
    entries: list[ImportLine | str] = field(default_factory=list)
    inside: list[tuple[str, str] | None] = field(default_factory=list)
    guarded: bool = False
    documented: bool = False

    def step(self) -> bool:
        """Reads what stands next, one line or several; whether that was no code."""
        line = self._line(len(self.entries))
        if line is None:
            return False
        text = line.lstrip(" \t") if self.guarded else line
        taken = (
            self._one(line, text) or self._block(line) or self._docstring(line) or self._list(text)
        )
        if line[:1].strip():
            self.guarded = line.startswith("if ")
        self.inside += [None] * (len(self.entries) + len(taken) - len(self.inside))
        self.entries += taken
        self.documented |= bool(taken) and isinstance(taken[0], ImportLine)
        return bool(taken)

    def _line(self, at: int) -> str | None:
        """The line; None at the end, and where a compiler may see something else."""
        if at >= len(self.lines):
            return None
        line = self.lines[at] if at else self.lines[at].removeprefix("\ufeff")
        coding = self.syntax.docstring and at < _CODING_LINES and _CODING.search(line)
        if len(line) > _LONGEST_LINE or coding or re.search(self.syntax.refused, line):
            return None
        return line if line.isprintable() or all(map(_is_shown, line)) else None

    def _one(self, line: str, text: str) -> list[ImportLine | str]:
        if not line:
            return [""]
        syntax = self.syntax
        if re.fullmatch(syntax.line, text):
            names, effect = _known_by(syntax, text)
            return [ImportLine(line, None, names, effect=effect)]
        other = re.fullmatch(syntax.comment, line.lstrip(" \t")) or re.fullmatch(
            syntax.header, line
        )
        return [line.strip()] if other or (not self.entries and line.startswith("#!")) else []

    def _block(self, line: str) -> list[ImportLine | str]:
        """A comment over several lines that holds no other and is followed by nothing."""
        text = line.lstrip(" \t")
        is_block = text.startswith("/*") and self.syntax.comment.startswith("//")
        return self._enclosed(text.removeprefix("/*"), "*/", "/*") if is_block else []

    def _docstring(self, line: str) -> list[ImportLine | str]:
        """The string at the top of a file, with nothing before and behind it."""
        marks = next((quotes for quotes in _QUOTES if line.startswith(quotes)), "")
        if not marks or not self.syntax.docstring or self.documented:
            return []
        self.documented = True
        return self._enclosed(line.removeprefix(marks), marks, marks)

    def _enclosed(self, first: str, mark: str, refused: str) -> list[ImportLine | str]:
        """The lines from here to the mark that closes what has been opened."""
        start = len(self.entries)
        for at in range(start, len(self.lines)):
            text = first if at == start else self._line(at)
            if text is None or (refused != mark and refused in text):
                return []
            if mark in text:
                closed = text.endswith(mark) and text.count(mark) == 1
                return [line.strip() or " " for line in self.lines[start : at + 1] if closed]
        return []

    def _list(self, text: str) -> list[ImportLine | str]:
        opened = (form for form in self.syntax.lists if re.fullmatch(form[0], text))
        return next(filter(None, (self._items(text, *form[1:]) for form in opened)), [])

    def _items(self, opening: str, item: str, closing: str) -> list[ImportLine | str]:
        """The whole list; nothing unless it holds nothing but names to its very end."""
        start = len(self.entries)
        for at in range(start + 1, len(self.lines)):
            line = self._line(at)
            if line is None:
                return []
            last = line.lstrip(" \t")
            if re.fullmatch(closing, last):
                return self._listed(opening, self.lines[start + 1 : at], last)
            if (
                line
                and not re.fullmatch(self.syntax.comment, last)
                and not re.fullmatch(item, line)
            ):
                return []
        return []

    def _listed(self, first: str, items: Sequence[str], last: str) -> list[ImportLine | str]:
        """The entries of a list; each item is read as if it were the only one."""
        opens, closes = _REMARK.sub("", first), _REMARK.sub("", last)
        within = opens, closes
        edge = frozenset(bound_names(self.syntax, opens + closes))
        bare = [_REMARK.sub("", item).strip(" \t") for item in items]
        nested = any(item.count("{") != item.count("}") for item in bare)
        taken: list[ImportLine | str] = [ImportLine(first.strip(), within, edge, edge=True)]
        for line, item in zip(items, bare, strict=True):
            names = frozenset(bound_names(self.syntax, f"{opens}{item}{closes}")) - edge
            known = frozenset({(ANY, "")}) if nested else names
            text = line.strip(" \t").rstrip(", \t")
            taken.append(ImportLine(text, within, known) if item else line.strip())
        self.inside += [None] * (len(self.entries) + 1 - len(self.inside))
        self.inside += [within] * (len(items) + 1)
        return [*taken, ImportLine(last, within, edge=True)]


@lru_cache(1_000)
def _known_by(syntax: ImportSyntax, text: str) -> tuple[frozenset[tuple[str, str]], bool]:
    """The names that an import brings, and whether it has an effect; sides share most imports."""
    return frozenset(bound_names(syntax, text)), re.fullmatch(syntax.effects, text) is not None


def bound_names(syntax: ImportSyntax, text: str) -> Iterator[tuple[str, str]]:
    """The names that an import on one line makes known, each with what lines may share of it."""
    quoted = '"' in text or "'" in text
    found = re.fullmatch(syntax.names, text.strip() if quoted else _REMARK.sub("", text).strip())
    if found and syntax.docstring and not text.startswith("from "):
        yield from _modules(found[1])
    elif found:
        names = map(_bound, re.split(r"[{},()]", found[1].lower() if "\\" in text else found[1]))
        yield from ((name, "") for name in names if name)


def _bound(part: str) -> str:
    """The name that one part of an import makes known; ``""`` for none."""
    if path := _GO_IMPORT.search(part):
        last = _GO_MAJOR.sub("", path[2]).rpartition("/")[2]
        return {".": ANY, "_": ""}.get(path[1], path[1] or _GO_AFFIX.sub("", last))
    *renamed, last = _RENAMED.split(part.strip())
    name = _MEMBER.split(last)[-1]
    if name == "_":
        return "" if renamed else ANY
    return ANY if name in {"self", "given"} else name


def _modules(text: str) -> Iterator[tuple[str, str]]:
    """Python's imports of whole modules; those of one package share its name."""
    for part in text.split(","):
        module, _, alias = part.strip().partition(" as ")
        package = module.partition(".")[0]
        yield (alias, "") if alias else (package, f"import {package}")


def _is_shown(char: str) -> bool:
    """Whether a character is one that is shown; bytes that are not UTF-8 pass as letters."""
    return char.isprintable() or char == "\t" or "\udc80" <= char <= "\udcff"
