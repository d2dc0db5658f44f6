"""What opens and closes comments, characters and texts, language by language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

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
