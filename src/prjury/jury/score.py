"""Scores: a yes or no, a number on a scale, or a word from a fixed set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from prjury.jury.frozen import FrozenDict


def finite(value: float, what: str) -> float:
    """The value itself, if it is a finite real number, which ``True`` is not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{what} must be a number, not {value!r}")
    try:
        bounded = math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        raise ValueError(f"{what} is larger than any number that can be counted with") from None
    if not bounded:
        raise ValueError(f"{what} must be finite, not {value!r}")
    return value


def require_whole_number(value: object, what: str) -> int:
    """The value itself, if it is a whole number, which ``True`` and 3.0 are not."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} is a whole number, not {value!r}")
    return value


@dataclass(frozen=True, slots=True)
class BooleanScore:
    """Yes or no; ``BooleanScore.PASS`` and ``BooleanScore.FAIL`` are the two there are."""

    value: bool

    PASS: ClassVar[BooleanScore]
    FAIL: ClassVar[BooleanScore]

    def __post_init__(self) -> None:
        if not isinstance(self.value, bool):
            raise TypeError(f"a boolean score is True or False, not {self.value!r}")

    @property
    def normalized(self) -> float:
        """1.0 for yes, 0.0 for no."""
        return float(self.value)


BooleanScore.PASS = BooleanScore(value=True)
BooleanScore.FAIL = BooleanScore(value=False)


@dataclass(frozen=True, slots=True)
class NumericalScore:
    """A number between two finite bounds, ``0.0`` and ``1.0`` by default."""

    value: float
    minimum: float = 0.0
    maximum: float = 1.0

    def __post_init__(self) -> None:
        for name in ("value", "minimum", "maximum"):
            finite(getattr(self, name), f"a numerical score's {name}")
        if self.minimum >= self.maximum:
            raise ValueError(f"minimum {self.minimum} is not below maximum {self.maximum}")
        finite(self.maximum - self.minimum, "a numerical score's range")
        if not self.minimum <= self.value <= self.maximum:
            raise ValueError(f"score {self.value} is outside {self.minimum}..{self.maximum}")

    @property
    def normalized(self) -> float:
        """The position between the bounds, 0.0 to 1.0."""
        return (self.value - self.minimum) / (self.maximum - self.minimum)


@dataclass(frozen=True, slots=True)
class CategoricalScore:
    """One word out of an allowed set of distinct ones, with a weight in 0..1 for some or none."""

    value: str
    allowed: Sequence[str]
    weights: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.allowed, str):
            raise TypeError("allowed is a sequence of words, not one string")
        object.__setattr__(self, "allowed", tuple(self.allowed))
        if not all(isinstance(word, str) for word in (self.value, *self.allowed)):
            raise TypeError(f"the words of a categorical score are text: {self.allowed}")
        if not self.allowed or len(set(self.allowed)) != len(self.allowed):
            raise ValueError(f"the allowed words must be distinct and at least one: {self.allowed}")
        if self.value not in self.allowed:
            raise ValueError(f"{self.value!r} is not one of {', '.join(self.allowed)}")
        if self.weights is not None:
            object.__setattr__(self, "weights", FrozenDict(self._check_weights(self.weights)))

    def _check_weights(self, weights: Mapping[str, float]) -> dict[str, float]:
        for word, weight in weights.items():
            if word not in self.allowed:
                raise ValueError(f"weight for {word!r}, which is not one of the allowed words")
            if not 0.0 <= finite(weight, f"the weight of {word!r}") <= 1.0:
                raise ValueError(f"the weight of {word!r} must be in 0..1, not {weight}")
        return dict(weights)

    def __hash__(self) -> int:
        return hash((self.value, self.allowed))

    @property
    def normalized(self) -> float | None:
        """The word's weight, or None where it has none."""
        return None if self.weights is None else self.weights.get(self.value)


Score: TypeAlias = BooleanScore | NumericalScore | CategoricalScore


def to_boolean(score: Score, threshold: float = 0.5) -> bool:
    """Return true if the normalised value reaches the threshold, as `to_numerical` has it."""
    return to_numerical(score) >= threshold


def to_numerical(score: Score, categories: Mapping[str, float] | None = None) -> float:
    """The score as a number in 0..1; ValueError for a word that has no weight here either."""
    value = score.normalized
    if value is None and isinstance(score, CategoricalScore) and score.value in (categories or {}):
        supplied = {score.value: (categories or {})[score.value]}
        value = CategoricalScore(score.value, score.allowed, supplied).normalized
    if value is None:
        raise ValueError(f"{score.value!r} has no weight, so it has no numerical value")
    return value
