"""How checks quote names, and how many they list."""

from __future__ import annotations

from prjury.snapshot.model import visible

#: So many items are listed as evidence.
MOST_LISTED = 20
_LONGEST_NAME = 80


def shorten(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return the text for a line of Markdown, without backticks and cut to a length."""
    text = visible(text).replace("`", "'")
    return text if len(text) <= longest else f"{text[:longest]}…"


def code_name(text: str) -> str:
    """Return a name in backticks."""
    return f"`{shorten(text)}`"
