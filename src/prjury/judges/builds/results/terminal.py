"""Take a terminal's sequences out of texts. Pure."""

from __future__ import annotations

import re

#: Colours and the like, and links, behind the escape character or what writers put for it.
_SEQUENCE = re.compile(
    r"(?:\x1b|␛|#x1[Bb];?|\\x1b|\\u001b)"
    r"(?:\[[0-9;?]*[ -/]*[@-~]|\].*?(?:\x07|#x07;?|(?:\x1b|␛|#x1[Bb];?)\\))"
)


def strip_escapes(text: str) -> str:
    """Return the text without colours, links and the characters that move a cursor."""
    if not any(mark in text for mark in _MARKS):
        return text
    return _SEQUENCE.sub("", text).translate(_CONTROLS)


_MARKS = ("\x1b", "␛", "#x1", "\\x1b", "\\u001b", "\x00", "\x08", "\x07", "#x07")
_CONTROLS = dict.fromkeys(map(ord, "\x00\x07\x08\x1b"))
