"""Declared versions as spans, in the forms of each ecosystem."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

Numbers: TypeAlias = tuple[int, ...]

_NUMBERS = re.compile(r"\s*v?(\d{1,9}(?:\.\d{1,9}){0,9})")


def release(text: str) -> Numbers | None:
    """The leading numbers of a version as they are written, or None where it has none."""
    match = _NUMBERS.match(text)
    return tuple(int(part) for part in match[1].split(".")) if match else None


def numbers(text: str) -> Numbers | None:
    """The leading numbers of a version without trailing zeros, or None where it has none."""
    version = release(text)
    return trim(version) if version else None


def trim(version: Numbers) -> Numbers:
    """The version without trailing zeros: 4.0 is 4."""
    parts = list(version)
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


class VersionSpan(Struct, frozen=True):
    """Versions from ``low`` to below ``high``, if it ends; ``(4, 0)`` is right above version 4."""

    low: Numbers = (0,)
    high: Numbers | None = None

    def within(self, other: VersionSpan) -> bool:
        below = other.high is None or (self.high is not None and self.high <= other.high)
        return self.low >= other.low and below

    def excludes(self, other: VersionSpan) -> bool:
        return (self.high is not None and self.high <= other.low) or (
            other.high is not None and other.high <= self.low
        )


def exact(text: str) -> VersionSpan | None:
    version = numbers(text)
    return pin(version) if version else None


def pin(version: Numbers) -> VersionSpan:
    return VersionSpan(trim(version), (*trim(version), 0))


def starting(version: Numbers) -> VersionSpan:
    """Every version that starts with these numbers: ``1.0`` is from 1.0 to below 1.1."""
    return VersionSpan(trim(version), step_over(version))


def minimum(text: str) -> VersionSpan | None:
    version = numbers(text)
    return VersionSpan(version) if version else None


def step_over(version: Numbers) -> Numbers:
    """The first version that does not start with these numbers."""
    return trim((*version[:-1], version[-1] + 1))


def intersect(spans: Iterable[VersionSpan]) -> VersionSpan | None:
    low: Numbers = (0,)
    high: Numbers | None = None
    for span in spans:
        low = max(low, span.low)
        high = span.high if high is None else min(high, span.high or high)
    return None if high is not None and high <= low else VersionSpan(low, high)


def find_hull(spans: Iterable[VersionSpan | None]) -> VersionSpan | None:
    """The smallest span around all of them; None where one is not known, or there is none."""
    parts = list(spans)
    whole = [span for span in parts if span is not None]
    if not whole or len(whole) < len(parts):
        return None
    highs = [span.high for span in whole if span.high is not None]
    high = max(highs) if len(highs) == len(whole) else None
    return VersionSpan(min(span.low for span in whole), high)


_PART = r"(?:\d{1,9}|[xX*])"
_PARTIAL = rf"[v=]?\s*({_PART}(?:\.{_PART}(?:\.{_PART})?)?)(?:-[\w.-]+)?(?:\+[\w.-]+)?"
_COMPARATOR = re.compile(rf"(\^|~>|~|>=|<=|>|<|=|)\s*{_PARTIAL}(?:\s+|\Z)")
_HYPHEN = re.compile(rf"\s*{_PARTIAL}\s+-\s+{_PARTIAL}\s*")
_WHOLE = 3
_MAX_LENGTH = 2_000


def parse_npm(text: str) -> VersionSpan | None:
    """A range of npm's; None for tags, addresses, workspaces and whatever is no range."""
    return find_hull(_npm_set(alternative) for alternative in text.split("||"))


def _npm_set(text: str) -> VersionSpan | None:
    if hyphen := _HYPHEN.fullmatch(text):
        ends = _parse_comparator(">=", hyphen[1]), _parse_comparator("<=", hyphen[2])
        return intersect(ends)
    return _join_comparators(text, "=") if text.strip() else VersionSpan()


def parse_cargo(text: str) -> VersionSpan | None:
    """Comparators after commas; one without an operator is a caret."""
    return _all_of(_join_comparators(part.strip(), "^") for part in text.split(","))


def _join_comparators(text: str, bare: str) -> VersionSpan | None:
    text = text.strip()
    return _all_of(_parse_comparators(text, bare)) if text else None


def _all_of(spans: Iterable[VersionSpan | None]) -> VersionSpan | None:
    parts = list(spans)
    whole = [span for span in parts if span is not None]
    return intersect(whole) if len(whole) == len(parts) else None


def _parse_comparators(text: str, bare: str) -> Iterator[VersionSpan | None]:
    place = 0
    while place < len(text):
        match = _COMPARATOR.match(text, place)
        if not match:
            yield None
            return
        yield _parse_comparator(match[1] or bare, match[2])
        place = match.end()


def _parse_comparator(operator: str, partial: str) -> VersionSpan:
    version = release(partial)
    if not version:
        # Nothing is above or below all versions.
        return VersionSpan((0,), (0,)) if operator in {"<", ">"} else VersionSpan()
    above = (*trim(version), 0) if len(version) == _WHOLE else step_over(version)
    if operator in {"=", ">", "<="}:
        low = {"=": trim(version), ">": above, "<=": (0,)}[operator]
        return VersionSpan(low, None if operator == ">" else above)
    return _BOUNDS[operator](version)


_CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>|\^|~|)\s*v?(\d{1,9}(?:\.\d{1,9}){0,9})([^,]*)")
_SUFFIX = re.compile(r"(?i)[-_.]?[a-z][a-z0-9._-]*(?:\+[a-z0-9._-]+)?|\+[a-z0-9._-]+|-\d{1,9}|")
_ANYTHING = frozenset({"", "*"})


def parse_pypi(text: str) -> VersionSpan | None:
    """A set of specifiers, or alternatives of them after Poetry's ``||``."""
    alternatives = [part.split(",") for part in text.split("||")]
    # `!=` takes single versions out, which a span cannot tell.
    return find_hull(_all_of(_parse_clause(part.strip()) for part in each) for each in alternatives)


def _parse_clause(text: str) -> VersionSpan | None:
    if text in _ANYTHING:
        return VersionSpan()
    match = _CLAUSE.fullmatch(text)
    if not match:
        return None
    operator, version, suffix = match[1], _split_numbers(match[2]), match[3].strip()
    if suffix == ".*":
        return {"": starting(version), "==": starting(version), "!=": VersionSpan()}.get(operator)
    if not _SUFFIX.fullmatch(suffix):
        return None
    return _OPERATORS[operator](version)


def _compatible(version: Numbers) -> VersionSpan | None:
    """``~=1.4.2`` is from 1.4.2 to below 1.5; ``~=1`` is not allowed."""
    return VersionSpan(trim(version), step_over(version[:-1])) if len(version) > 1 else None


def _caret(version: Numbers) -> VersionSpan:
    place = next((i for i, part in enumerate(version) if part), len(version) - 1)
    return VersionSpan(trim(version), step_over(version[: place + 1]))


def _tilde(version: Numbers) -> VersionSpan:
    return VersionSpan(trim(version), step_over(version[:2]))


#: What npm, Cargo and Python mean alike.
_BOUNDS: Mapping[str, Callable[[Numbers], VersionSpan]] = {
    ">=": lambda version: VersionSpan(trim(version)),
    "<": lambda version: VersionSpan((0,), trim(version)),
    "^": _caret,
    "~": _tilde,
    "~>": _tilde,
}
_OPERATORS: Mapping[str, Callable[[Numbers], VersionSpan | None]] = {
    **_BOUNDS,
    **dict.fromkeys(("", "==", "==="), pin),
    "!=": lambda _: VersionSpan(),
    "~=": _compatible,
    ">": lambda version: VersionSpan((*trim(version), 0)),
    "<=": lambda version: VersionSpan((0,), (*trim(version), 0)),
}


_RANGE = re.compile(r"([\[(])\s*([^,\[\]()]*?)\s*(?:(,)\s*([^,\[\]()]*?)\s*)?([\])])")
_DYNAMIC = re.compile(r"\s*((?:\d{1,9}\.)+)\+\s*")
_FLOATING = re.compile(r"\s*((?:\d{1,9}\.){1,9})\*(?:-\*)?\s*")


def parse_maven(text: str) -> VersionSpan | None:
    """Exact versions, Maven's ranges and Gradle's ``4.+``."""
    if ranges := _RANGE.findall(text):
        return _cover_ordered_ranges(ranges)
    if dynamic := _DYNAMIC.fullmatch(text):
        return starting(_split_numbers(dynamic[1]))
    return exact(text)


def parse_nuget(text: str) -> VersionSpan | None:
    """NuGet's ranges and ``1.*``. A bare version is the lowest one, which NuGet then takes."""
    if floating := _FLOATING.fullmatch(text):
        return starting(_split_numbers(floating[1]))
    if _RANGE.search(text) and "*" in text:
        return None
    return parse_maven(text)


def _split_numbers(dotted: str) -> Numbers:
    return tuple(int(part) for part in dotted.rstrip(".").split("."))


def _cover_ordered_ranges(ranges: list[tuple[str, str, str, str, str]]) -> VersionSpan | None:
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


#: Not more digits than a version has: a commit may be all digits.
_ACTION = re.compile(r"v?(\d{1,5}(?:\.\d{1,5}){0,2})(?:[-+][\w.+-]*)?")
_JAVA = re.compile(r"(?:1\.)?(\d{1,3})(?:\.\d+)*(?:[_+-].*)?")
_FRAMEWORK = re.compile(r"net(?:coreapp)?(\d{1,2}\.\d{1,2})(?:-[\w.]+)?")


def parse_action(text: str) -> VersionSpan | None:
    """``v4`` is moved along with every 4.x; branches and commits are not known."""
    match = _ACTION.fullmatch(text.strip())
    version = release(match[1]) if match else None
    if not version:
        return None
    return pin(version) if len(version) == _WHOLE else starting(version)


def parse_java(text: str) -> VersionSpan | None:
    """One release; ``1.8`` is 8."""
    match = _JAVA.fullmatch(text.strip())
    return exact(match[1]) if match else None


def parse_dotnet(text: str) -> VersionSpan | None:
    """Target frameworks: ``net8.0`` is 8.0; several make a span."""
    names = [name.strip().lower() for name in text.split(";") if name.strip()]
    matches = [_FRAMEWORK.fullmatch(name) for name in names]
    return find_hull(exact(match[1]) if match else None for match in matches)


#: How a version is read in each ecosystem, and for each runtime.
SPANS: Mapping[str, Callable[[str], VersionSpan | None]] = {
    "maven": parse_maven, "pypi": parse_pypi, "npm": parse_npm, "go": exact, "cargo": parse_cargo,
    "nuget": parse_nuget, "action": parse_action,
    "runtime:python": parse_pypi, "runtime:node": parse_npm, "runtime:go": minimum,
    "runtime:rust": minimum, "runtime:java": parse_java, "runtime:kotlin": parse_maven,
    "runtime:gradle": exact, "runtime:rust-edition": exact, "runtime:dotnet": parse_dotnet,
}  # fmt: skip


def read_span(text: str, ecosystem: str, name: str = "") -> VersionSpan | None:
    """Read what a declared version may come to; None if unknown. Runtimes are read by name."""
    if len(text) > _MAX_LENGTH:
        return None
    key = f"runtime:{name}" if ecosystem == "runtime" else ecosystem
    return SPANS.get(key, exact)(text)


def surely_within(text: str, ecosystem: str, name: str, span: VersionSpan) -> bool:
    """Return true if every version that a declaration allows is in the span."""
    declared = read_span(text, ecosystem, name)
    return declared is not None and declared != VersionSpan() and declared.within(span)
