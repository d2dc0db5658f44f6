"""Spans of versions, and what can be done with them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

Numbers: TypeAlias = tuple[int, ...]

_NUMBERS = re.compile(r"\s*v?(\d{1,9}(?:\.\d{1,9}){0,9})")


def release(text: str) -> Numbers | None:
    """The leading numbers of a version as they are written, or None where it has none."""
    match = _NUMBERS.match(text)
    return tuple(int(part) for part in match[1].split(".")) if match else None


def numbers(text: str) -> Numbers | None:
    """The leading numbers of a version without trailing zeros, or None where it has none."""
    found = release(text)
    return trimmed(found) if found else None


def trimmed(version: Numbers) -> Numbers:
    """The version without trailing zeros: 4.0 is 4."""
    parts = list(version)
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class VersionSpan:
    """Versions from ``low`` (included) to ``high`` (excluded, None for no end).

    As versions have no trailing zeros, ``(4, 0)`` is a bound right above version 4.
    """

    low: Numbers = (0,)
    high: Numbers | None = None

    def within(self, other: VersionSpan) -> bool:
        """Whether every version of this span is one of the other's."""
        below = other.high is None or (self.high is not None and self.high <= other.high)
        return self.low >= other.low and below

    def apart(self, other: VersionSpan) -> bool:
        """Whether no version is in both."""
        return (self.high is not None and self.high <= other.low) or (
            other.high is not None and other.high <= self.low
        )


def exact(text: str) -> VersionSpan | None:
    """One version and nothing else."""
    found = numbers(text)
    return only(found) if found else None


def only(version: Numbers) -> VersionSpan:
    """Exactly this version."""
    return VersionSpan(trimmed(version), (*trimmed(version), 0))


def starting(version: Numbers) -> VersionSpan:
    """Every version that starts with these numbers: ``1.0`` is from 1.0 to below 1.1."""
    return VersionSpan(trimmed(version), after(version))


def minimum(text: str) -> VersionSpan | None:
    """This version and everything above."""
    found = numbers(text)
    return VersionSpan(found) if found else None


def after(version: Numbers) -> Numbers:
    """The first version that does not start with these numbers."""
    return trimmed((*version[:-1], version[-1] + 1))


def overlap(spans: Iterable[VersionSpan]) -> VersionSpan | None:
    """What is in all of the spans; None where nothing is."""
    low: Numbers = (0,)
    high: Numbers | None = None
    for span in spans:
        low = max(low, span.low)
        high = span.high if high is None else min(high, span.high or high)
    return None if high is not None and high <= low else VersionSpan(low, high)


def hull(spans: Iterable[VersionSpan | None]) -> VersionSpan | None:
    """The smallest span around all of them; None where one is not known, or there is none."""
    found = list(spans)
    known = [span for span in found if span is not None]
    if not known or len(known) < len(found):
        return None
    highs = [span.high for span in known if span.high is not None]
    return VersionSpan(
        min(span.low for span in known), max(highs) if len(highs) == len(known) else None
    )
