"""Versions as Maven, Gradle and NuGet write them."""

from __future__ import annotations

import re

from prjury.manifests.spans.span import Numbers, VersionSpan, exact, numbers, starting

_RANGE = re.compile(r"([\[(])\s*([^,\[\]()]*?)\s*(?:(,)\s*([^,\[\]()]*?)\s*)?([\])])")
_DYNAMIC = re.compile(r"\s*((?:\d{1,9}\.)+)\+\s*")
_FLOATING = re.compile(r"\s*((?:\d{1,9}\.){1,9})\*(?:-\*)?\s*")


def maven(text: str) -> VersionSpan | None:
    """Exact versions, Maven's ranges and Gradle's ``4.+``."""
    ranges = _RANGE.findall(text)
    if ranges:
        return _hull(ranges)
    if dynamic := _DYNAMIC.fullmatch(text):
        return starting(_parts(dynamic[1]))
    return exact(text)


def nuget(text: str) -> VersionSpan | None:
    """NuGet's ranges and ``1.*``. A bare version is the lowest one, which NuGet then takes."""
    if floating := _FLOATING.fullmatch(text):
        return starting(_parts(floating[1]))
    if _RANGE.search(text) and "*" in text:
        return None
    return maven(text)


def _parts(dotted: str) -> Numbers:
    return tuple(int(part) for part in dotted.rstrip(".").split("."))


def _hull(ranges: list[tuple[str, str, str, str, str]]) -> VersionSpan | None:
    """The smallest span around Maven's ranges; ``[4.0]`` is exactly that version."""
    _, low_text, _, _, _ = ranges[0]
    opening, last_low, comma, high_text, closing = ranges[-1]
    low = numbers(low_text) if low_text else (0,)
    if not comma:
        high = numbers(last_low)
        return VersionSpan(low, (*high, 0)) if low and high and opening == "[" else None
    if not high_text:
        return VersionSpan(low) if low else None
    high = numbers(high_text)
    if not low or not high:
        return None
    return VersionSpan(low, high if closing == ")" else (*high, 0))
