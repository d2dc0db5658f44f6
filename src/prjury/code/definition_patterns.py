"""Lines that may define a name, recognised by their form alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from prjury.code.references import (
    DART,
    DEFINING,
    DOTNET,
    GO,
    JVM,
    NO_TYPES,
    PHP,
    PYTHON,
    RUST,
    SCRIPT,
    SWIFT,
    C,
)

#: So many bytes of a line are looked at before a name, and behind it.
_LONGEST = 300
#: So many places are reported of one word in one file.
_MOST = 3
#: So many words fit into a pattern that stays fast.
_AT_ONCE = 300

_ASSIGNED = r"\s*(?::[^=]*)?=[^=]"
_MODIFIERS = (
    "public|private|protected|static|final|readonly|volatile|pub|abstract|override|internal"
    "|extern|const|inline|default|synchronized|native|declare|export|async|get|set"
)
#: Types, modifiers and annotations before a name.
_TYPES = r"[ \t]*(?:[\w.<>\[\],?&*@:]+[ \t]+)+[*&]*"


@dataclass(frozen=True)
class _Form:
    """What stands on the line before the name, and what begins behind it."""

    before: re.Pattern[str]
    behind: re.Pattern[str]

    def fits(self, before: str, behind: str) -> bool:
        return bool(self.before.fullmatch(before) and self.behind.match(behind))


def _form(before: str, behind: str = "") -> _Form:
    return _Form(re.compile(before), re.compile(behind))


def _more(words: str) -> _Form:
    """Words of one language that define what stands behind them."""
    return _form(rf"(?:.*[^\w.])?(?:{words})[ \t]+")


_ANYWHERE = (
    _form(rf"(?:.*[^\w.])?(?:{DEFINING})[ \t]+"),
    _form(r"(?:.*\W)?(?:self|this|cls)\.", _ASSIGNED),
    _form(r"(?:export )?", _ASSIGNED),
)
_METHOD = _form(_TYPES, r"\s*\(")
_FIELD = _form(rf"[ \t]*(?:(?:{_MODIFIERS})[ \t]+)+(?:[\w.<>\[\],? ]+[ \t]+)?", r"\s*[=;:?(,{{]|$")
_FORMS = {
    PYTHON: (*_ANYWHERE, _form(r"    ", rf"\s*:[^=]*$|{_ASSIGNED}"), _METHOD),
    JVM: (*_ANYWHERE, _METHOD, _FIELD, _form(r"[ \t]+", r"(?<=[A-Z0-9_])\s*(?:[,;(]|$)")),
    SCRIPT: (
        *_ANYWHERE,
        _FIELD,
        _form(r"[ \t]+", r"(?:<[^>]*>)?\(.*\{\s*$|\??:[^,]*;\s*$"),
    ),
    GO: (
        *_ANYWHERE,
        _form(r"func \([^)]*\) "),
        _form(r"\t+", r"[ \t]+[\w*\[]|\(.*\)|$"),
    ),
    RUST: (*_ANYWHERE, _FIELD, _form(r"[ \t]+", r"\s*(?:[,({]|:(?!:)).*")),
    DOTNET: (*_ANYWHERE, _more("delegate|event"), _METHOD, _FIELD),
    SWIFT: (*_ANYWHERE, _more("protocol|actor|typealias|case")),
    DART: (*_ANYWHERE, _more("mixin|extension"), _METHOD, _FIELD),
    PHP: (*_ANYWHERE,),
    C: (*_ANYWHERE, _METHOD, _form("", r"\s*\("), _form(r"[ \t]+", r"\s*(?:,|=[^=]|$)")),
}


def definition_finder(kin: str, words: Sequence[str]) -> DefinitionFinder:
    """Finds the lines that may define these words."""
    parts = [words[at : at + _AT_ONCE] for at in range(0, len(words), _AT_ONCE)]
    patterns = tuple(re2.compile(rf"\b(?:{'|'.join(part)})\b".encode()) for part in parts)
    return DefinitionFinder(patterns, _FORMS[kin])


@dataclass(frozen=True)
class DefinitionFinder:
    """Finds definitions of certain words in files of kindred languages.

    Attributes:
        patterns: of the words.
        forms: of lines that define something.
    """

    patterns: tuple[re.Pattern[bytes], ...]
    forms: tuple[_Form, ...]

    def within(self, content: bytes) -> Iterator[tuple[str, int]]:
        """Word and line, from 1, of each place that looks like a definition.

        Of one word only the first ones are reported.
        """
        seen: Counter[bytes] = Counter()
        for pattern in self.patterns:
            for match in pattern.finditer(content):
                if seen[match[0]] < _MOST and self._defines(content, *match.span()):
                    seen[match[0]] += 1
                    yield match[0].decode(), content.count(b"\n", 0, match.start()) + 1

    def _defines(self, content: bytes, start: int, end: int) -> bool:
        begin = content.rfind(b"\n", max(0, start - _LONGEST), start) + 1
        if not begin and start > _LONGEST:
            return False
        stop = content.find(b"\n", end, end + _LONGEST)
        before = content[begin:start].decode("utf-8", "replace")
        behind = content[end : stop if stop >= 0 else end + _LONGEST].decode("utf-8", "replace")
        words = before.split()
        if words and words[0] in NO_TYPES:
            return False
        return any(form.fits(before, behind) for form in self.forms)
