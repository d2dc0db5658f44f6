"""Which of two versions is the higher one, by how much, and whether both sides only go up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_BOUND = re.compile(
    r"(?P<operator>[~^<>=!]*)(?P<v>v?)(?P<numbers>\d+(?:\.\d+)*)(?P<rest>[\w.+*-]*)"
)
_SEPARATOR = re.compile(r" ?, ?| ")
#: Whichever way it is written, the operators alone say what is allowed.
_ANY_LENGTH = frozenset(("==", "===", ">=", "^"))
_OPERATORS = _ANY_LENGTH | {"", "=", "~", "~="}
_RELEASE = frozenset(("", "release", "final", "ga"))
_BEFORE = frozenset("a b c m rc cr alpha beta milestone dev pre preview snapshot".split())


class VersionStep(StrEnum):
    """How far it is from one version to another: the first number that differs."""

    SAME = "same"
    PATCH = "patch"
    MINOR = "minor"
    MAJOR = "major"


@dataclass(frozen=True)
class Distance:
    """From one version to another.

    Attributes:
        up: whether the other one is higher.
        count: by how much the first number that differs does; 1 for anything below patches.
    """

    step: VersionStep
    up: bool = True
    count: int = 0


@dataclass(frozen=True)
class _Bound:
    """One bound of a range.

    Attributes:
        kind: the kind of release, such as ``""`` or ``pre``; else the very words behind the number.
    """

    operator: str
    v: str
    numbers: tuple[int, ...]
    kind: str
    rest: str

    @property
    def form(self) -> tuple[str, str, int]:
        """What has to be the same for two bounds to say the same sort of thing."""
        any_length = self.operator in _ANY_LENGTH
        return self.operator, self.v, 0 if any_length else len(self.numbers)

    def over(self, other: _Bound) -> bool | None:
        """Whether this is the higher one, None for the same, False if unknown."""
        if self.numbers == other.numbers:
            return None if self.rest == other.rest else False
        return _trimmed(self.numbers) > _trimmed(other.numbers)


def both_go_up(base: str, ours: str, theirs: str) -> bool:
    """Whether both sides write the base's form of range, and neither goes back.

    One of the two has to be the newer one in every bound.
    """
    before, mine, yours = sides = [
        sorted(_bounds(text), key=lambda bound: bound.operator != ">=")
        for text in (base, ours, theirs)
    ]
    forms = {tuple(bound.form for bound in side) for side in sides}
    if not before or len(forms) > 1 or not _allowed(before) or not _one_kind(*sides):
        return False
    return (
        _at_least(mine, before)
        and _at_least(yours, before)
        and (_at_least(mine, yours) or _at_least(yours, mine))
    )


def distance(one: str, other: str) -> Distance | None:
    """From one version or range to another, by their lower ends; None if unknown.

    Ranges without a lower end are compared by the upper one.
    """
    if one.strip() == other.strip():
        return Distance(VersionStep.SAME)
    sides = [_bounds(text) for text in (one, other)]
    compared = 0
    for operators in (_OPERATORS | {">"}, {"<", "<="}):
        ends = [[bound for bound in side if bound.operator in operators] for side in sides]
        if not all(len(end) == 1 for end in ends):
            continue
        reported = _distance(ends[0][0], ends[1][0])
        if reported is None or reported.step is not VersionStep.SAME:
            return reported
        compared += 1
    return Distance(VersionStep.SAME) if compared == len(sides[0]) == len(sides[1]) > 0 else None


def _distance(one: _Bound, other: _Bound) -> Distance | None:
    if {one.kind, other.kind} - {"", "pre"} and one.kind != other.kind:
        return None
    if _trimmed(one.numbers) == _trimmed(other.numbers):
        if one.kind == other.kind:
            return Distance(VersionStep.SAME) if one.rest == other.rest else None
        return Distance(VersionStep.PATCH, up=one.kind == "pre", count=1)
    length = max(len(one.numbers), len(other.numbers))
    before, after = (list(b.numbers) + [0] * (length - len(b.numbers)) for b in (one, other))
    at = next(at for at in range(length) if before[at] != after[at])
    step = (VersionStep.MAJOR, VersionStep.MINOR)[at] if at < 2 else VersionStep.PATCH  # noqa: PLR2004 - 1.2.x
    return Distance(step, after[at] > before[at], abs(after[at] - before[at]))


def _bounds(text: str) -> list[_Bound]:
    """The bounds of a range; none where it holds anything that has no order."""
    matches = [_BOUND.fullmatch(part) for part in _SEPARATOR.split(_joined(text))]
    found = [_bound(match) for match in matches if match]
    return found if len(found) == len(matches) else []


def _joined(text: str) -> str:
    """A blank between an operator and its number separates nothing."""
    return re.sub(r"(?<=[~^<>=!]) +", "", text.strip())


def _bound(match: re.Match[str]) -> _Bound:
    numbers = tuple(int(number) for number in match["numbers"].split("."))
    word = re.sub(r"[\d.+_-]", "", match["rest"]).lower()
    kind = "" if word in _RELEASE else "pre" if word in _BEFORE else word
    return _Bound(match["operator"], match["v"], numbers, kind, match["rest"])


def _one_kind(*sides: Sequence[_Bound]) -> bool:
    """Whether the sides are releases alike; the base may have been one before or after them."""
    for was, mine, yours in zip(*sides, strict=True):
        usual = {"", "pre"} if mine.kind in {"", "pre"} else {mine.kind}
        if mine.kind != yours.kind or was.kind not in usual:
            return False
    return True


def _allowed(bounds: Sequence[_Bound]) -> bool:
    """One version or range that has a lower end; beside such an end a higher one may stand."""
    first, *others = (bound.operator for bound in bounds)
    if not others:
        return first in _OPERATORS
    return first == ">=" and len(others) == 1 and others[0] in {"<", "<="}


def _at_least(side: Sequence[_Bound], other: Sequence[_Bound]) -> bool:
    return all(one.over(two) is not False for one, two in zip(side, other, strict=True))


def _trimmed(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Without noughts at the end: 1.0 is 1."""
    last = max((at for at, number in enumerate(numbers, 1) if number), default=0)
    return numbers[:last]
