"""What a declared version may come to, as each ecosystem writes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Numbers: TypeAlias = tuple[int, ...]

_NUMBERS = re.compile(r"\s*v?(\d{1,9}(?:\.\d{1,9}){0,9})")
_RANGE = re.compile(r"([\[(])\s*([^,\[\]()]*?)\s*(?:(,)\s*([^,\[\]()]*?)\s*)?([\])])")
_DYNAMIC = re.compile(r"\s*((?:\d{1,9}\.)+)\+\s*")


def numbers(text: str) -> Numbers | None:
    """The leading numbers of a version without trailing zeros, or None where it has none."""
    match = _NUMBERS.match(text)
    if not match:
        return None
    parts = [int(part) for part in match[1].split(".")]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class Span:
    """Versions from ``low`` (included) to ``high`` (excluded, None for no end)."""

    low: Numbers = (0,)
    high: Numbers | None = None

    def within(self, other: Span) -> bool:
        """Whether every version of this span is one of the other's."""
        below = other.high is None or (self.high is not None and self.high <= other.high)
        return self.low >= other.low and below

    def apart(self, other: Span) -> bool:
        """Whether no version is in both."""
        return (self.high is not None and self.high <= other.low) or (
            other.high is not None and other.high <= self.low
        )


def declared_span(text: str, ecosystem: str) -> Span | None:
    """What a declared version may come to, or None where nobody can tell."""
    return SPANS.get(ecosystem, exact)(text)


def exact(text: str) -> Span | None:
    """One version and nothing else."""
    found = numbers(text)
    return Span(found, (*found, 0)) if found else None


def maven(text: str) -> Span | None:
    """Exact versions, Maven's ranges and Gradle's ``4.+``."""
    ranges = _RANGE.findall(text)
    if ranges:
        return _hull(ranges)
    if dynamic := _DYNAMIC.fullmatch(text):
        low = tuple(int(part) for part in dynamic[1].rstrip(".").split("."))
        return Span(low, after(low))
    return exact(text)


def _hull(ranges: list[tuple[str, str, str, str, str]]) -> Span | None:
    """The smallest span around Maven's ranges; ``[4.0]`` is exactly that version."""
    _, low_text, _, _, _ = ranges[0]
    opening, last_low, comma, high_text, closing = ranges[-1]
    low = numbers(low_text) if low_text else (0,)
    if not comma:
        high = numbers(last_low)
        return Span(low, (*high, 0)) if low and high and opening == "[" else None
    if not high_text:
        return Span(low) if low else None
    high = numbers(high_text)
    if not low or not high:
        return None
    return Span(low, high if closing == ")" else (*high, 0))


def after(version: Numbers) -> Numbers:
    """The first version that does not start with these numbers."""
    return (*version[:-1], version[-1] + 1)


#: How a version is read in each ecosystem; where none is named, it is exact.
SPANS: Mapping[str, Callable[[str], Span | None]] = {"maven": maven}
