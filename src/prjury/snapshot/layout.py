"""White space that carries no meaning: which it is depends on the file and on the place in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import PurePosixPath
from typing import TypeAlias

from prjury.snapshot.threeway import Lines, Region, ThreeWay

#: Where these stand anywhere in a file, text may begin and end in ways that are not followed, or an
#: empty line decides what a comment belongs to.
VERBATIM = (
    "<<<",
    'R"',
    '@"',
    '@$"',
    '""""',
    "<![CDATA[",
    "xml:space",
    "<pre",
    "$/",
    "+build",
    'import "C"',
)

#: Code within a text, as it is followed, and what opens any other.
_DOLLAR = (r"""\$\{[^{}"'`\n]*\}""", r"\$\{")
_BACKSLASH = (r"""\\\((?:[^()"\n]|\([^()"\n]*\))*\)""", r"\\\(")
_BRACE = (r"""(?:\{\$|\$\{)[^{}"'`\n]*\}""", r"\{\$|\$\{")
_TRIPLE = ('"""', "'''")
_QUOTES = ('"', "'")
_SLASHES, _HASH = "//", "#"


@dataclass(frozen=True)
class Syntax:
    """How a language writes what is no code.

    Attributes:
        opening: what opens it. The groups say what it is: ``unsure`` is not followed, ``whole`` has
            its end with it, ``raw`` is a text that ends with as many marks, ``remark`` ends with
            the line, ``slash`` may divide or open a pattern, ``block`` opens a comment.
        closing: for each mark around a text what matters in it; the groups ``code`` and ``simple``
            are code within it, the latter such that no text begins there.
        texts: the marks around texts that may go over several lines.
        nested: whether a comment may hold others.
        begins: how a file has to begin.
    """

    opening: re.Pattern[str]
    closing: Mapping[str, re.Pattern[str]]
    texts: tuple[str, ...] = ()
    nested: bool = False
    begins: str = ""


@dataclass(frozen=True)
class _Marks:
    """The parts of a language from which its `Syntax` is made; patterns, but for the marks.

    Attributes:
        lines: the marks around text that ends with its line.
        literal: the marks of texts in which a backslash means nothing.
    """

    remark: str = ""
    block: bool = False
    texts: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    literal: tuple[str, ...] = ()
    code: tuple[str, str] | None = None
    whole: str = ""
    raw: str = ""
    slash: str = ""
    unsure: str = ""
    nested: bool = False
    begins: str = ""

    def syntax(self) -> Syntax:
        marks = (*self.texts, *self.lines)
        groups = {
            "whole": self.whole,
            "unsure": self.unsure,
            "remark": self.remark,
            "block": r"/\*" if self.block else "",
            "slash": self.slash,
            "raw": self.raw,
            "mark": "|".join(map(re.escape, marks)),
        }
        every = (f"(?P<{name}>{pattern})" for name, pattern in groups.items() if pattern)
        closing = {mark: self._closing(mark) for mark in marks}
        opening = re.compile("|".join(every) or r"(?!)")
        return Syntax(opening, closing, self.texts, self.nested, self.begins)

    def _closing(self, mark: str) -> re.Pattern[str]:
        simple, code = self.code or ("", "")
        every = (
            f"(?P<simple>{simple})" if simple else "",
            f"(?P<code>{code})" if code else "",
            "" if mark in self.literal else r"\\.",
            re.escape(mark),
            "" if mark in self.texts else r"\n",
        )
        return re.compile("|".join(filter(None, every)), re.DOTALL)


_JAVA = _Marks(_SLASHES, block=True, texts=_TRIPLE[:1], lines=_QUOTES)
_KOTLIN = _Marks(
    _SLASHES,
    block=True,
    nested=True,
    texts=_TRIPLE[:1],
    lines=(*_QUOTES, "`"),
    literal=(*_TRIPLE[:1], "`"),
    code=_DOLLAR,
)
_GROOVY = _Marks(
    _SLASHES, block=True, texts=_TRIPLE, lines=_QUOTES, code=_DOLLAR, unsure=r"/(?![/*])"
)
_SWIFT = _Marks(
    _SLASHES,
    block=True,
    nested=True,
    texts=_TRIPLE[:1],
    lines=_QUOTES[:1],
    code=_BACKSLASH,
    unsure='#"',
)
_DART = _Marks(
    _SLASHES,
    block=True,
    nested=True,
    texts=_TRIPLE,
    lines=_QUOTES,
    code=_DOLLAR,
    whole=r"""\br(?:'[^'\n]*'(?!')|"[^"\n]*"(?!"))""",
    unsure=r"""\br['"]""",
)
_SCRIPT = _Marks(
    _SLASHES,
    block=True,
    texts=("`",),
    lines=_QUOTES,
    code=_DOLLAR,
    slash=r"/(?![/*])",
    unsure="://",
)
_GO = _Marks(_SLASHES, block=True, texts=("`",), lines=_QUOTES, literal=("`",))
_NO_DIGIT_BEFORE = r"(?:(?<![0-9a-fA-F])|(?<=\bu8))'"
_C = _Marks(
    _SLASHES,
    block=True,
    lines=_QUOTES[:1],
    whole=rf"{_NO_DIGIT_BEFORE}(?:[^'\\\n]|\\[^\n])+'",
    unsure=rf"{_NO_DIGIT_BEFORE}|//[^\n]*\\\r?\n",
)
_C_SHARP = _Marks(
    _SLASHES,
    block=True,
    texts=_TRIPLE[:1],
    lines=_QUOTES,
    literal=_TRIPLE[:1],
    unsure=r'\$"[^"\n{]*(?:\{[^}"\n]*\}[^"\n{]*)*\{[^}"\n]*"',
)
_CSS = _Marks(block=True, lines=_QUOTES)
_RUST = _Marks(
    _SLASHES,
    block=True,
    nested=True,
    texts=_QUOTES[:1],
    whole=r"'(?:[^'\\\n]|\\(?:[^\nxu]|x\w\w|u\{\w{1,6}\}))'",
    raw=r'\bb?c?r#*"',
)
_PHP = _Marks(
    r"//|#(?!\[)",
    block=True,
    texts=(*_QUOTES, "`"),
    code=_BRACE,
    unsure=r"(?:(?://|#)[^\n]*)?\?>",
    begins="<?php",
)
_PYTHON = _Marks(
    _HASH,
    texts=_TRIPLE,
    lines=_QUOTES,
    unsure=r"""\b[fF][rR]?(?:"[^"\n{]*(?:\{[^}"\n]*\}[^"\n{]*)*\{[^}"\n]*"|"""
    r"""'[^'\n{]*(?:\{[^}'\n]*\}[^'\n{]*)*\{[^}'\n]*')""",
)
_TOML = _Marks(_HASH, texts=_TRIPLE, lines=_QUOTES, literal=(_TRIPLE[1], _QUOTES[1]))

#: By the suffix of the file's name.
SYNTAXES: Mapping[str, Syntax] = {
    suffix: marks.syntax()
    for suffixes, marks in (
        (".java", _JAVA),
        (".kt .kts", _KOTLIN),
        (".groovy .gradle", _GROOVY),
        (".swift", _SWIFT),
        (".dart", _DART),
        (".js .jsx .mjs .cjs .ts .tsx .mts .cts", _SCRIPT),
        (".go", _GO),
        (".c .h .cc .cpp .hh .hpp", _C),
        (".cs", _C_SHARP),
        (".json", _Marks(lines=_QUOTES[:1])),
        (".proto", replace(_CSS, remark=_SLASHES)),
        (".xml", _Marks()),
        (".css", _CSS),
        (".scss .less", replace(_CSS, remark=_SLASHES, unsure="://")),
        (".rs", _RUST),
        (".php", _PHP),
        (".py .pyi", _PYTHON),
        (".toml", _TOML),
        (".ini .cfg", _Marks()),
    )
    for suffix in suffixes.split()
}


_BEFORE_A_PATTERN = frozenset("(,=:[!&|?{;+-*%~^>")
_WORDS_BEFORE = frozenset(
    "return typeof case in of void delete throw await yield else do instanceof new".split()
)
_PATTERN = re.compile(r"/(?![*/])(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/\w*")
_WORD = re.compile(r"[\w$]+$")
#: So far it is looked back for what stands before a slash.
_FAR = 80


@dataclass(frozen=True)
class Texts:
    """The texts of one version of a file, by offsets of characters.

    Attributes:
        starts: where each line begins, and where the last one ends.
        spans: the texts that go over several lines, in order.
        known: up to where the file could be read.
        goes_on: for each line, whether the next one belongs to it.
    """

    starts: Sequence[int]
    spans: Sequence[tuple[int, int]]
    known: int
    goes_on: Sequence[bool]

    @classmethod
    def of(cls, suffix: str, lines: Lines) -> Texts:
        """Reads a file of a kind that is known."""
        content = "".join(lines)
        syntax = SYNTAXES[suffix]
        odd = any(word in content for word in VERBATIM) or not content.startswith(syntax.begins)
        spans, known = ([], -1) if odd and content else _read(syntax, content)
        starts = list(accumulate(map(len, lines), initial=0))
        goes_on = [line.rstrip().endswith(("\\", "??/")) for line in lines]
        return cls(starts, spans, known, goes_on)

    def clear_of(self, where: range) -> bool:
        """Whether no text is open there, and no line goes on behind a backslash, for certain."""
        start, stop = self.starts[where.start], self.starts[where.stop]
        if stop > self.known or any(self.goes_on[max(where.start - 1, 0) : where.stop]):
            return False
        # Texts do not overlap: of those that begin before the end the last one ends last.
        begun = bisect_left(self.spans, (stop, -1))
        return not begun or self.spans[begun - 1][1] <= start


def _read(syntax: Syntax, content: str) -> tuple[list[tuple[int, int]], int]:
    """The texts over several lines, and the offset up to which that is certain."""
    spans: list[tuple[int, int]] = []
    end = 0
    for start, stop, is_text in _pieces(syntax, content):
        if stop is None:
            return spans, start
        if is_text and "\n" in content[start:stop]:
            spans.append((start, stop))
        end = stop
    return spans, max(end, len(content))


def _pieces(syntax: Syntax, content: str) -> Iterator[tuple[int, int | None, bool]]:
    """Comments and texts from the top; one without an end is where reading ends."""
    at = 0
    while found := syntax.opening.search(content, at):
        stop = _end(syntax, content, found)
        yield found.start(), stop, found.lastgroup == "raw" or found[0] in syntax.texts
        if stop is None:
            return
        at = stop


def _end(syntax: Syntax, content: str, found: re.Match[str]) -> int | None:
    """Where what has been opened ends; None where that is not certain."""
    start = found.end()
    match found.lastgroup:
        case "whole":
            return start
        case "unsure":
            return None
        case "remark":
            end = content.find("\n", start)
            return len(content) if end < 0 else end
        case "block":
            return _comment_end(syntax, content, start)
        case "slash":
            return _slash_end(content, found.start())
        case "raw":
            return _behind(content, f'"{"#" * found[0].count("#")}', start)
    return _text_end(syntax, content, found[0], start)


def _behind(content: str, mark: str, start: int) -> int | None:
    at = content.find(mark, start)
    return None if at < 0 else at + len(mark)


def _comment_end(syntax: Syntax, content: str, start: int) -> int | None:
    end = _behind(content, "*/", start)
    if end and syntax.nested and "/*" in content[start:end]:
        return None
    return end


def _text_end(syntax: Syntax, content: str, mark: str, start: int) -> int | None:
    """The end of a string; one on a single line that has none there cannot be told."""
    several = mark in syntax.texts
    for found in syntax.closing[mark].finditer(content, start):
        if found.lastgroup == "code" or (found[0] in {"\n", "\\\n"} and not several):
            return None
        if found[0] == mark:
            return found.end()
    return None


def _slash_end(content: str, at: int) -> int | None:
    """Behind a slash that divides, or behind the pattern that it opens."""
    before = content[max(at - _FAR, 0) : at].rstrip()
    word = _WORD.search(before)
    if content.startswith("/>", at) or (at and content[at - 1] == "<"):
        return at + 1
    if not before or before[-1] in _BEFORE_A_PATTERN or (word and word[0] in _WORDS_BEFORE):
        pattern = _PATTERN.match(content, at)
        return pattern.end() if pattern else None
    if word or before[-1] in "]\"'`":
        return at + 1
    end = content.find("\n", at)
    rest = content[at + 1 : end if end >= 0 else None]
    return None if any(mark in rest for mark in "\"'`/") else at + 1


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
