"""Versions as Python's packages write them: PEP 440, and Poetry's carets and tildes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from prjury.manifests.spans.span import (
    Numbers,
    VersionSpan,
    after,
    hull,
    only,
    overlap,
    starting,
    trimmed,
)

_CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>|\^|~|)\s*v?(\d{1,9}(?:\.\d{1,9}){0,9})([^,]*)")
_SUFFIX = re.compile(r"(?i)[-_.]?[a-z][a-z0-9._-]*(?:\+[a-z0-9._-]+)?|\+[a-z0-9._-]+|-\d{1,9}|")
_ANYTHING = frozenset({"", "*"})
_MAX_LENGTH = 2_000


def pypi(text: str) -> VersionSpan | None:
    """A set of specifiers, or alternatives of them after Poetry's ``||``."""
    if len(text) > _MAX_LENGTH:
        return None
    return hull(_all(alternative) for alternative in text.split("||"))


def _all(text: str) -> VersionSpan | None:
    """What all the clauses allow; ``!=`` takes single versions out, which a span cannot tell."""
    clauses = [_clause(part.strip()) for part in text.split(",")]
    known = [span for span in clauses if span is not None]
    return overlap(known) if len(known) == len(clauses) else None


def _clause(text: str) -> VersionSpan | None:
    if text in _ANYTHING:
        return VersionSpan()
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


def _any(_: Numbers) -> VersionSpan | None:
    return VersionSpan()


def _none(_: Numbers) -> VersionSpan | None:
    return None


def _compatible(version: Numbers) -> VersionSpan | None:
    """``~=1.4.2`` is from 1.4.2 to below 1.5; ``~=1`` is not allowed."""
    return VersionSpan(trimmed(version), after(version[:-1])) if len(version) > 1 else None


def _caret(version: Numbers) -> VersionSpan:
    """Up to the next change of the first number that is not zero."""
    kept = next((i for i, part in enumerate(version) if part), len(version) - 1)
    return VersionSpan(trimmed(version), after(version[: kept + 1]))


def _tilde(version: Numbers) -> VersionSpan:
    return VersionSpan(trimmed(version), after(version[:2]))


_OPERATORS: Mapping[str, Callable[[Numbers], VersionSpan | None]] = {
    "": only,
    "==": only,
    "===": only,
    "!=": _any,
    "~=": _compatible,
    ">=": lambda version: VersionSpan(trimmed(version)),
    ">": lambda version: VersionSpan((*trimmed(version), 0)),
    "<": lambda version: VersionSpan((0,), trimmed(version)),
    "<=": lambda version: VersionSpan((0,), (*trimmed(version), 0)),
    "^": _caret,
    "~": _tilde,
}
