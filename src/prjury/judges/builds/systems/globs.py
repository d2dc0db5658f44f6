"""The patterns by which workspaces name the directories of their members. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

_TOKEN = re.compile(r"\*\*/?|\*|\?|\[[!^]?[^\]/]+\]|[^*?\[{}\\()!|]+")
_MOST_ALTERNATIVES = 64


def matching(patterns: Sequence[str], directories: Iterable[str]) -> frozenset[str] | None:
    """The directories that the patterns name; a later one with ``!`` takes away.

    Returns:
        None where a pattern is written in a way that is not understood here.
    """
    compiled = [(pattern.startswith("!"), _compiled(pattern.lstrip("!"))) for pattern in patterns]
    known = [(taken, expression) for taken, expression in compiled if expression]
    if len(known) < len(compiled):
        return None
    chosen = set[str]()
    for directory in directories:
        fitting = [taken for taken, expression in known if expression.fullmatch(directory)]
        if fitting and not fitting[-1]:
            chosen.add(directory)
    return frozenset(chosen)


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:  # noqa: ANN401 - a pattern of re2, which has no types
    """The pattern for an engine that takes linear time whatever it is given, or None."""
    import re2  # noqa: PLC0415 - only workspaces need it

    expressions = [_expression(plain) for plain in _expanded(pattern)]
    if not all(expressions):
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile("|".join(f"(?:{expression})" for expression in expressions), options)
    except re2.error:
        return None


def _expanded(pattern: str) -> list[str]:
    """The pattern with its ``{a,b}`` written out; too many of them are left as they are."""
    waiting, done = [pattern], list[str]()
    while waiting:
        if len(waiting) + len(done) > _MOST_ALTERNATIVES:
            return [pattern]
        text = waiting.pop(0)
        if match := re.search(r"\{([^{}]*,[^{}]*)\}", text):
            before, after = text[: match.start()], text[match.end() :]
            waiting += [f"{before}{choice}{after}" for choice in match[1].split(",")]
        else:
            done.append(text)
    return done


def _expression(pattern: str) -> str:
    """The pattern as a regular expression, empty where it is not understood."""
    cleaned = "/".join(part for part in pattern.split("/") if part not in {"", "."})
    position, found = 0, list[str]()
    while position < len(cleaned):
        match = _TOKEN.match(cleaned, position)
        if match is None:
            return ""
        found.append(_translated(match[0]))
        position = match.end()
    return "".join(found) or "(?:)"


def _translated(part: str) -> str:
    if part == "**/":
        return r"(?:[^/]+/)*"
    if part == "**":
        return r".*"
    if part == "*":
        return r"[^/]*"
    if part == "?":
        return r"[^/]"
    if part.startswith("["):
        inside = part[1:-1].replace("\\", r"\\").replace("[", r"\[").replace("&", r"\&")
        return f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]"
    return re.escape(part)
