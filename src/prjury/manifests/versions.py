"""Versions, what a project may mean by one, and what a rule requires of it.

Only the leading numbers count: ``4.0.0-RC1`` is 4.0.0, because a release candidate has the API of
its release; of ``>=4.0-RC1`` milestones are not sure. What is declared is a span (``[3.2,4.0)``).
"""

from __future__ import annotations

import re
from enum import Enum
from fnmatch import fnmatchcase

from msgspec import Struct

from prjury.manifests.manifest import ECOSYSTEMS
from prjury.manifests.spans import VersionSpan, numbers, read_span

_BOUNDS = r"((?:\s+(?:>=|<)\s*\d+(?:\.\d+)*(?:-RC1)?)*)"
_REQUIREMENT = re.compile(rf"({'|'.join(ECOSYSTEMS)}):([^\s:]+)(?::([^\s:]+))?{_BOUNDS}")
_SPAN = re.compile(_BOUNDS)
_BOUND = re.compile(r"(>=|<)\s*(\d+(?:\.\d+)*)")
_ALWAYS = "always"
_EARLY = re.compile(r"\d[-.](?:M\d|alpha|beta|SNAPSHOT)", re.IGNORECASE)


class Truth(Enum):
    """A requirement holds for every version that is allowed, for some, for none; or who knows."""

    YES = "yes"
    SOME = "some"
    NO = "no"
    UNKNOWN = "unknown"
    ABSENT = "absent"


class Requirement(Struct, frozen=True):
    """A dependency or platform to be declared, in a span or any; names may hold ``*``."""

    ecosystem: str
    group: str
    artifact: str
    span: VersionSpan | None
    text: str

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read ``ECOSYSTEM:NAME [>=version] [<version]``, or ``always``; else ValueError."""
        if text.strip() == _ALWAYS:
            return cls("", "", "", None, _ALWAYS)
        match = _REQUIREMENT.fullmatch(text.strip())
        if not match or (match[3] and match[1] != "maven"):
            raise ValueError(
                f"{text!r} is not a requirement such as `maven:org.springframework.boot >=4.0`, "
                "`pypi:numpy >=2`, `runtime:python >=3.12` or `always`"
            )
        span = span_of(match[4])
        if match[1] == "maven":
            return cls(match[1], match[2], match[3] or "*", span, text.strip())
        return cls(match[1], "", match[2], span, text.strip())

    def names(self, ecosystem: str, group: str, artifact: str) -> bool:
        return (
            ecosystem == self.ecosystem
            and _fits(artifact, self.artifact)
            and _fits(group, self.group)
        )

    def compare(self, version: str | None) -> Truth:
        """Return true if a declared version is inside the span; None is an unknown version."""
        if self.span is None:
            return Truth.YES
        declared = read_span(version, self.ecosystem, self.artifact) if version else None
        if declared is None or declared == VersionSpan():
            return Truth.UNKNOWN
        if declared.within(self.span):
            is_first = "-RC1" in self.text and declared.low == self.span.low
            return Truth.SOME if is_first and _EARLY.search(version or "") else Truth.YES
        return Truth.NO if declared.excludes(self.span) else Truth.SOME


def _fits(name: str, pattern: str) -> bool:
    return name == pattern or ("*" in pattern and fnmatchcase(name, pattern))


def parse_span(text: str) -> VersionSpan:
    """Read ``>=1.2 <3``, of which one bound may lack; ValueError for anything else."""
    span = span_of(text) if _SPAN.fullmatch(f" {text.strip()}") else None
    if span is None:
        raise ValueError(f"{text!r} are no versions such as `<3` or `>=1 <4`")
    return span


def span_of(bounds: str | None) -> VersionSpan | None:
    bounds_by_sign = {sign: numbers(version) for sign, version in _BOUND.findall(bounds or "")}
    if not bounds_by_sign:
        return None
    return VersionSpan(bounds_by_sign.get(">=") or (0,), bounds_by_sign.get("<"))
