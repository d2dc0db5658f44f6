"""Which parts of a text are comments or strings, where no parser tells."""

from __future__ import annotations

import re

import re2

from prjury.code.languages import Language

_NOT_A_LINE_END = re.compile(r"[^\n]")


def comment_ranges(text: str, language: Language) -> list[tuple[int, int]]:
    """Start and end, in characters, of each comment of a language that is not parsed."""
    if not language.comment:
        return []
    pattern = f"({language.comment})"
    if language.string:
        # Whichever begins first wins: `"http://x"` holds no comment.
        pattern += f"|{language.string}"
    matches = re2.compile(pattern).finditer(text)
    return [match.span() for match in matches if match[1] is not None]


def masked(text: str, language: Language) -> str:
    """The text with every comment blanked out; offsets and lines stay as they are."""
    pieces: list[str] = []
    last = 0
    for start, end in comment_ranges(text, language):
        pieces += [text[last:start], _NOT_A_LINE_END.sub(" ", text[start:end])]
        last = end
    return "".join([*pieces, text[last:]])
