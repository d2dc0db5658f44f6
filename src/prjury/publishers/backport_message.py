"""A picked commit's message, as ``git cherry-pick -x`` writes it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_GIT_MADE = ("Signed-off-by: ", "(cherry picked from commit ")
_TRAILER = re.compile(r"[A-Za-z0-9-]+[ \t]*:")
#: One line in four has to be a trailer where one of them is made by git.
_OTHERS_FOR_EACH = 3
_COMMENT = "#"


def with_origins(message: str, origins: Sequence[str]) -> str:
    """The message with a line for each commit that it is picked from.

    The lines join trailers that are there; without any, a blank line stands before them.
    """
    lines = message.split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    if lines and not lines[-1]:
        del lines[-1]
    for origin in origins:
        if not _ends_in_trailers(lines):
            lines.append("")
        lines.append(f"(cherry picked from commit {origin})")
    return _tidied(lines)


def _ends_in_trailers(lines: Sequence[str]) -> bool:
    """Whether git takes the last paragraph for trailers; the first one is the title."""
    ending = _last_paragraph(lines)
    trailers = others = continuations = 0
    git_made = False
    for line in reversed(ending):
        if line.startswith(_COMMENT):
            others, continuations = others + continuations, 0
        elif line.startswith(_GIT_MADE):
            trailers, continuations, git_made = trailers + 1, 0, True
        elif _TRAILER.match(line):
            trailers, continuations = trailers + 1, 0
        elif line[0].isspace():
            continuations += 1
        else:
            others, continuations = others + 1 + continuations, 0
    others += continuations
    if git_made and trailers * _OTHERS_FOR_EACH >= others:
        return True
    return trailers > 0 and not others


def _last_paragraph(lines: Sequence[str]) -> list[str]:
    """The lines of it, none where there is but the title."""
    blank = [not line.strip() for line in lines]
    if True not in blank:
        return []
    end = len(lines)
    while end and blank[end - 1]:
        end -= 1
    start = end
    while start and not blank[start - 1]:
        start -= 1
    return list(lines[start:end]) if start else []


def _tidied(lines: Sequence[str]) -> str:
    """No blanks at the ends of lines, and no two blank lines in a row."""
    kept: list[str] = []
    for line in (one.rstrip() for one in lines):
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return "\n".join(kept) + "\n"
