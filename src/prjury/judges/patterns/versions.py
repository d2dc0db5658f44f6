"""Versions, what a project may mean by one, and what a rule requires of it.

Only the leading numbers count: ``4.0.0-RC1`` is 4.0.0, because a release candidate has the API of
its release. What is declared is a span (``[3.2,4.0)``, ``4.+``); what a rule requires is one too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from typing import TypeAlias

Numbers: TypeAlias = tuple[int, ...]

_NUMBERS = re.compile(r"\s*v?(\d{1,9}(?:\.\d{1,9}){0,9})")
_RANGE = re.compile(r"([\[(])\s*([^,\[\]()]*?)\s*(?:(,)\s*([^,\[\]()]*?)\s*)?([\])])")
_DYNAMIC = re.compile(r"\s*((?:\d{1,9}\.)+)\+\s*")
_REQUIREMENT = re.compile(r"maven:([\w.*-]+)(?::([\w.*-]+))?((?:\s+(?:>=|<)\s*\d+(?:\.\d+)*)*)")
_BOUND = re.compile(r"(>=|<)\s*(\d+(?:\.\d+)*)")


class Truth(Enum):
    """Whether a requirement holds: surely, surely not, nobody can tell, nothing is declared."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    ABSENT = "absent"


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


def declared_span(text: str) -> Span | None:
    """What a declared version may come to, or None where nobody can tell.

    Reads exact versions, Maven's ranges and Gradle's ``4.+``.
    """
    ranges = _RANGE.findall(text)
    if ranges:
        return _hull(ranges)
    if dynamic := _DYNAMIC.fullmatch(text):
        low = [int(part) for part in dynamic[1].rstrip(".").split(".")]
        return Span(tuple(low), _after(tuple(low)))
    exact = numbers(text)
    return Span(exact, (*exact, 0)) if exact else None


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


def _after(version: Numbers) -> Numbers:
    """The first version that does not start with these numbers."""
    return (*version[:-1], version[-1] + 1)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A dependency or platform that must be declared, in some span of versions.

    Attributes:
        group: a Maven group, possibly with ``*``.
        artifact: an artifact of it, possibly with ``*``.
        span: None where any version will do.
        text: the requirement as it was written.
    """

    group: str
    artifact: str
    span: Span | None
    text: str

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Reads ``maven:group[:artifact] [>=version] [<version]``.

        Raises:
            ValueError: for anything else.
        """
        match = _REQUIREMENT.fullmatch(text.strip())
        if not match:
            raise ValueError(
                f"{text!r} is not a requirement such as `maven:org.springframework.boot >=4.0`"
            )
        bounds = {sign: numbers(version) for sign, version in _BOUND.findall(match[3] or "")}
        span = Span(bounds.get(">=") or (0,), bounds.get("<")) if bounds else None
        return cls(match[1], match[2] or "*", span, text.strip())

    def names(self, group: str, artifact: str) -> bool:
        """Whether it speaks of this dependency."""
        return fnmatchcase(group, self.group) and fnmatchcase(artifact, self.artifact)

    def met_by(self, version: str | None) -> Truth:
        """Whether a declared version is inside the span; None is a version nobody knows."""
        if self.span is None:
            return Truth.YES
        declared = declared_span(version) if version else None
        if declared is None:
            return Truth.UNKNOWN
        if declared.within(self.span):
            return Truth.YES
        return Truth.NO if declared.apart(self.span) else Truth.UNKNOWN
