"""What a reader of the change does not see: hidden characters, and encodings that hide code."""

from __future__ import annotations

import re
import tokenize
import unicodedata
from collections.abc import Iterable
from io import BytesIO

from prjury.jury.judgment import Check, Location
from prjury.report.invisible_chars import show_invisible
from prjury.snapshot.model import FileChange, printable

NAME = "hidden-characters"
_MOST_CHECKS = 20
_LONGEST_EVIDENCE = 200
#: Characters that turn the direction of text, have no width, or are tags. A joiner between two
#: letters that are not ASCII, or within a symbol, is how some languages are written.
_HIDDEN = re.compile(
    "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\u00ad\U000e0000-\U000e007f]"
    "|(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f])|(?<!^)\ufeff"
)


def find_hidden(files: Iterable[FileChange]) -> list[Check]:
    """Return a warning for each added line with characters that nobody sees, up to twenty."""
    checks: list[Check] = []
    for file in files:
        for line in file.added_lines:
            match = None if line.text.isascii() else _HIDDEN.search(line.text)
            if match is None or len(checks) == _MOST_CHECKS:
                continue
            name = unicodedata.name(match[0], "a tag").lower()
            message = f"holds a character that nobody sees: U+{ord(match[0]):04X} ({name})"
            evidence = show_invisible(line.text.strip())[:_LONGEST_EVIDENCE]
            place = Location(printable(file.path), line.new)
            checks.append(Check.bad(NAME, message, place, severity="warning", evidence=evidence))
    return checks


def find_other_reading(content: bytes) -> str | None:
    """Return why Python reads other code than stands there, by the encoding that it declares."""
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(content).readline)
        text = content.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return None  # a syntax error, which is told by the parser
    shown = content.decode("utf-8", "replace").removeprefix("\ufeff")
    if _take_ascii(text) == _take_ascii(shown):
        return None
    return f"it declares the encoding {encoding}, in which it is other code than it seems"


def _take_ascii(text: str) -> str:
    return "".join(filter(str.isascii, text))
