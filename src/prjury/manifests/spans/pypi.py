"""Versions as Python's packages write them: PEP 440, and Poetry's carets and tildes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from prjury.manifests.spans.span import Numbers, Span, after, hull, only, overlap, starting, trimmed

_CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>|\^|~|)\s*v?(\d{1,9}(?:\.\d{1,9}){0,9})([^,]*)")
_SUFFIX = re.compile(r"(?i)[-_.]?[a-z][a-z0-9._-]*(?:\+[a-z0-9._-]+)?|\+[a-z0-9._-]+|-\d{1,9}|")
_ANYTHING = frozenset({"", "*"})
_MAX_LENGTH = 2_000


def pypi(text: str) -> Span | None:
    """A set of specifiers, or alternatives of them after Poetry's ``||``."""
    if len(text) > _MAX_LENGTH:
        return None
    return hull(_all(alternative) for alternative in text.split("||"))


def _all(text: str) -> Span | None:
    """What all the clauses allow; ``!=`` takes single versions out, which a span cannot tell."""
    clauses = [_clause(part.strip()) for part in text.split(",")]
    known = [span for span in clauses if span is not None]
    return overlap(known) if len(known) == len(clauses) else None


def _clause(text: str) -> Span | None:
    if text in _ANYTHING:
        return Span()
    match = _CLAUSE.fullmatch(text)
    if not match:
        return None
    operator, version, suffix = match[1], _parts(match[2]), match[3].strip()
    if suffix == ".*":
        return {"": starting, "==": starting, "!=": _any}.get(operator, _none)(version)
    if not _SUFFIX.fullmatch(suffix):
        return None
    return _OPERATORS[operator](version)


def _parts(dotted: str) -> Numbers:
    return tuple(int(part) for part in dotted.split("."))


def _any(_: Numbers) -> Span | None:
    return Span()


def _none(_: Numbers) -> Span | None:
    return None


def _compatible(version: Numbers) -> Span | None:
    """``~=1.4.2`` is from 1.4.2 to below 1.5; ``~=1`` is not allowed."""
    return Span(trimmed(version), after(version[:-1])) if len(version) > 1 else None


def _caret(version: Numbers) -> Span:
    """Up to the next change of the first number that is not zero."""
    kept = next((i for i, part in enumerate(version) if part), len(version) - 1)
    return Span(trimmed(version), after(version[: kept + 1]))


def _tilde(version: Numbers) -> Span:
    return Span(trimmed(version), after(version[:2]))


_OPERATORS: Mapping[str, Callable[[Numbers], Span | None]] = {
    "": only,
    "==": only,
    "===": only,
    "!=": _any,
    "~=": _compatible,
    ">=": lambda version: Span(trimmed(version)),
    ">": lambda version: Span((*trimmed(version), 0)),
    "<": lambda version: Span((0,), trimmed(version)),
    "<=": lambda version: Span((0,), (*trimmed(version), 0)),
    "^": _caret,
    "~": _tilde,
}
