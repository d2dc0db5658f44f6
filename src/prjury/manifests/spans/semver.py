"""Versions as npm and Cargo write them: comparators over three numbers, of which some may lack."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prjury.manifests.spans.span import Numbers, VersionSpan, after, hull, overlap, trimmed

_PART = r"(?:\d{1,9}|[xX*])"
_PARTIAL = rf"[v=]?\s*({_PART}(?:\.{_PART}(?:\.{_PART})?)?)(?:-[\w.-]+)?(?:\+[\w.-]+)?"
_COMPARATOR = re.compile(rf"(\^|~>|~|>=|<=|>|<|=|)\s*{_PARTIAL}(?:\s+|\Z)")
_HYPHEN = re.compile(rf"\s*{_PARTIAL}\s+-\s+{_PARTIAL}\s*")
_WHOLE = 3
_MAX_LENGTH = 2_000


def npm(text: str) -> VersionSpan | None:
    """A range of npm's; None for tags, addresses, workspaces and whatever is no range."""
    if len(text) > _MAX_LENGTH:
        return None
    return hull(_npm_set(alternative) for alternative in text.split("||"))


def _npm_set(text: str) -> VersionSpan | None:
    if hyphen := _HYPHEN.fullmatch(text):
        ends = _comparator(">=", hyphen[1]), _comparator("<=", hyphen[2])
        return overlap(ends)
    return _joined(text, "=") if text.strip() else VersionSpan()


def cargo(text: str) -> VersionSpan | None:
    """Comparators after commas; one without an operator is a caret."""
    if len(text) > _MAX_LENGTH:
        return None
    parts = [part.strip() for part in text.split(",")]
    spans = [_joined(part, "^") for part in parts]
    known = [span for span in spans if span is not None]
    return overlap(known) if len(known) == len(parts) else None


def _joined(text: str, bare: str) -> VersionSpan | None:
    """What all comparators of a text allow."""
    spans = list(_comparators(text.strip(), bare))
    known = [span for span in spans if span is not None]
    return overlap(known) if known and len(known) == len(spans) else None


def _comparators(text: str, bare: str) -> Iterator[VersionSpan | None]:
    place = 0
    while place < len(text):
        match = _COMPARATOR.match(text, place)
        if not match:
            yield None
            return
        yield _comparator(match[1] or bare, match[2])
        place = match.end()


def _comparator(operator: str, partial: str) -> VersionSpan:
    version = _numbers(partial)
    if not version:
        # Nothing is above or below all versions.
        return VersionSpan((0,), (0,)) if operator in {"<", ">"} else VersionSpan()
    above = (*trimmed(version), 0) if len(version) == _WHOLE else after(version)
    return {
        "^": VersionSpan(trimmed(version), _caret_end(version)),
        "~": VersionSpan(trimmed(version), after(version[:2])),
        "~>": VersionSpan(trimmed(version), after(version[:2])),
        "=": VersionSpan(trimmed(version), above),
        ">=": VersionSpan(trimmed(version)),
        ">": VersionSpan(above),
        "<": VersionSpan((0,), trimmed(version)),
        "<=": VersionSpan((0,), above),
    }[operator]


def _numbers(partial: str) -> Numbers:
    """The numbers before the first ``x``; none for ``*``."""
    found: list[int] = []
    for part in partial.split("."):
        if not part.isdigit():
            break
        found.append(int(part))
    return tuple(found)


def _caret_end(version: Numbers) -> Numbers:
    kept = next((i for i, part in enumerate(version) if part), len(version) - 1)
    return after(version[: kept + 1])
