r"""Characters that a reader cannot see, and how they are shown: ``\u{202e}``.

Terminal escapes, bidirectional overrides, zero-width characters and tags can make a text read
differently from what it is. They are never dropped: what was there is named.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

#: Unseen characters, as the inside of a regular expression's character class. Line feed and tab
#: are not among them; what is left of the line separators has become a line feed before.
_UNSEEN = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"  # C0 with ESC, DEL, C1
    "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"  # soft hyphen, fillers
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0"  # zero-width, bidi
    "\\ufff0-\\ufffb\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a"  # annotations, formats
    "\\U000e0000-\\U000e0fff"  # tags and the variation selectors that smuggle text
    "\\ud800-\\udfff"  # lone surrogates: bytes that were no UTF-8
)
_HIDDEN = re.compile(f"[{_UNSEEN}]")
_ANSI = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
_SKIPPED = re.compile(f"{_ANSI}|[{_UNSEEN}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile("\r\n|[\r\x85\u2028\u2029]")


def normalise_line_ends(text: str) -> str:
    """The text with every line break as one line feed."""
    return _LINE_END.sub("\n", text)


def show_invisible(text: str) -> str:
    r"""The text with hidden characters as ``\u{202e}`` and bytes that are no UTF-8 as ``\xff``."""
    return _HIDDEN.sub(_name_char, text) if _HIDDEN.search(text) else text


def show_surrogates(text: str) -> str:
    """The text as UTF-8 can hold it; other control characters stay."""
    return text if text.isascii() else _SURROGATE.sub(_name_char, text)


class Pieces:
    """Pieces of a text, put together to another one: where its characters were."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        """Take the pieces by their starts and ends in the first text."""
        self._old = [start for start, _ in spans]
        ends = accumulate((end - start for start, end in spans), initial=0)
        self._new = list(ends)[:-1]

    def find(self, at: int) -> int:
        """Return where a character of the second text was in the first."""
        piece = bisect_right(self._new, at) - 1
        return self._old[piece] + at - self._new[piece]


def bare(text: str) -> tuple[str, Pieces | None]:
    """Return the text without terminal sequences and hidden characters, and where its rest was."""
    if not _HIDDEN.search(text):
        return text, None
    ends = [0, *(end for match in _SKIPPED.finditer(text) for end in match.span()), len(text)]
    spans = [(start, end) for start, end in zip(ends[::2], ends[1::2], strict=True) if end > start]
    return "".join([text[start:end] for start, end in spans]), Pieces(spans)


def _name_char(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004 - how surrogateescape writes the bytes 80 to ff
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{{{code:x}}}"
