"""Which of two versions is the higher one, and by how much."""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct

from prjury.manifests.spans import trim

_BOUND = re.compile(r"(?P<operator>[~^<>=!]*)v?(?P<numbers>\d+(?:\.\d+)*)(?P<rest>[\w.+*-]*)")
_SEPARATOR = re.compile(r" ?, ?| ")
_OPERATORS = frozenset(("==", "===", ">=", "^", "", "=", "~", "~="))
_RELEASE = frozenset(("", "release", "final", "ga"))
_BEFORE = frozenset("a b c m rc cr alpha beta milestone dev pre preview snapshot".split())


class VersionStep(StrEnum):
    """How far it is from one version to another: the first number that differs."""

    SAME = "same"
    PATCH = "patch"
    MINOR = "minor"
    MAJOR = "major"


class Distance(Struct, frozen=True):
    """From one version to another: the first number that differs, by ``count``."""

    step: VersionStep
    up: bool = True
    count: int = 0


class _Bound(Struct, frozen=True):
    operator: str
    numbers: tuple[int, ...]
    kind: str
    rest: str


def measure_distance(old: str, new: str) -> Distance | None:
    """Compare versions or ranges, by their lower ends if they have any; None if unknown."""
    if old.strip() == new.strip():
        return Distance(VersionStep.SAME)
    sides = [_bounds(text) for text in (old, new)]
    compared = 0
    for operators in (_OPERATORS | {">"}, {"<", "<="}):
        ends = [[bound for bound in side if bound.operator in operators] for side in sides]
        if not all(len(end) == 1 for end in ends):
            continue
        result = _compare_bounds(ends[0][0], ends[1][0])
        if result is None or result.step is not VersionStep.SAME:
            return result
        compared += 1
    return Distance(VersionStep.SAME) if compared == len(sides[0]) == len(sides[1]) > 0 else None


def _compare_bounds(old: _Bound, new: _Bound) -> Distance | None:
    if {old.kind, new.kind} - {"", "pre"} and old.kind != new.kind:
        return None
    if trim(old.numbers) == trim(new.numbers):
        if old.kind == new.kind:
            return Distance(VersionStep.SAME) if old.rest == new.rest else None
        return Distance(VersionStep.PATCH, up=old.kind == "pre", count=1)
    length = max(len(old.numbers), len(new.numbers))
    before, after = (list(b.numbers) + [0] * (length - len(b.numbers)) for b in (old, new))
    at = next(at for at in range(length) if before[at] != after[at])
    step = (VersionStep.MAJOR, VersionStep.MINOR)[at] if at < 2 else VersionStep.PATCH  # noqa: PLR2004 - 1.2.x
    return Distance(step, after[at] > before[at], abs(after[at] - before[at]))


def _bounds(text: str) -> list[_Bound]:
    # A blank between an operator and its number separates nothing.
    parts = _SEPARATOR.split(re.sub(r"(?<=[~^<>=!]) +", "", text.strip()))
    matches = [_BOUND.fullmatch(part) for part in parts]
    bounds = [_read_bound(match) for match in matches if match]
    return bounds if len(bounds) == len(matches) else []


def _read_bound(match: re.Match[str]) -> _Bound:
    numbers = tuple(int(number) for number in match["numbers"].split("."))
    word = re.sub(r"[\d.+_-]", "", match["rest"]).lower()
    kind = "" if word in _RELEASE else "pre" if word in _BEFORE else word
    return _Bound(match["operator"], numbers, kind, match["rest"])
