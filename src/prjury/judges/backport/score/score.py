"""The score: points of features that add up to a calibrated likelihood, with its reasons."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from prjury.judges.backport.score.change_features import ChangeFeatures
from prjury.judges.backport.score.features import FEATURES, Circumstances

__all__ = [
    "Band",
    "ChangeFeatures",
    "Circumstances",
    "Model",
    "Score",
    "ScoreModels",
    "score",
    "score_words",
    "shipped_models",
]

Band: TypeAlias = Literal["likely", "grey", "unlikely"]

#: So many reasons are told, none that moves the odds by less than a quarter (in log-odds).
_MOST_REASONS, _LEAST = 6, 0.22
#: A reason that moves them by more than this has two signs.
_STRONG = 0.7


@dataclass(frozen=True, slots=True)
class Score:
    """How likely people are to bring the change to the branch. Evidence, never a gate.

    Attributes:
        value: 0..1; of changes with 0.3, three in ten were backported.
        band: ``likely`` and ``unlikely`` where the value alone says something.
        reasons: what moves it most away from the usual change, strongest first, each with ``++``,
            ``+``, ``−`` or ``−−``.
    """

    value: float
    band: Band
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of one feature: straight lines between knots, level outside of them.

    Attributes:
        usual: the points of the average change, which count where the number is not known.
        unknown: the points where the number cannot be, such as a share of nothing.
    """

    knots: tuple[float, ...]
    points: tuple[float, ...]
    usual: float
    unknown: float

    def at(self, value: float | None) -> float:
        """The points for a number."""
        if value is None:
            return self.unknown
        right = bisect_right(self.knots, value)
        if right == 0:
            return self.points[0]
        if right == len(self.knots):
            return self.points[-1]
        left = right - 1
        start, end = self.knots[left], self.knots[right]
        way = (value - start) / (end - start)
        return self.points[left] + way * (self.points[right] - self.points[left])


@dataclass(frozen=True)
class Model:
    """An additive model, as its file holds it.

    Attributes:
        curves: the points by the feature's name.
        bands: below the first a backport is unlikely, from the second on likely.
    """

    intercept: float
    curves: Mapping[str, Curve]
    bands: tuple[float, float]

    @classmethod
    def read(cls, data: Mapping[str, Any], bands: tuple[float, float]) -> Model:
        """The model that part of a parsed file holds.

        Raises:
            KeyError: when something is missing, or a feature is not known.
        """
        curves = {name: _curve(found) for name, found in data["features"].items()}
        if unknown := set(curves) - set(FEATURES):
            raise KeyError(f"features that are not known: {sorted(unknown)}")
        return cls(data["intercept"], curves, bands)

    def parts(self, traits: ChangeFeatures, branch: Circumstances) -> dict[str, float]:
        """The points of every feature."""
        return {
            name: curve.at(FEATURES[name].value(traits, branch))
            for name, curve in self.curves.items()
        }

    def score(self, traits: ChangeFeatures, branch: Circumstances) -> Score:
        """The score of a change for a branch."""
        parts = self.parts(traits, branch)
        value = _logistic(self.intercept + math.fsum(parts.values()))
        return Score(value, self._band(value), tuple(self._reasons(parts, traits, branch)))

    def _band(self, value: float) -> Band:
        low, high = self.bands
        if value < low:
            return "unlikely"
        return "likely" if value >= high else "grey"

    def _reasons(
        self, parts: Mapping[str, float], traits: ChangeFeatures, branch: Circumstances
    ) -> Sequence[str]:
        moves = {name: points - self.curves[name].usual for name, points in parts.items()}
        strongest = sorted(moves, key=lambda name: (-abs(moves[name]), name))
        told = [
            f"{said} {_signs(moves[name])}"
            for name in strongest
            if abs(moves[name]) >= _LEAST and (said := _said(name, traits, branch))
        ]
        return told[:_MOST_REASONS]


def score_words(score: Score) -> str:
    """Return the score and what speaks for and against a backport as one phrase."""
    percent = round(score.value * 100)
    share = f"{percent} %" if percent else "fewer than 1 %"
    band = "possible" if score.band == "grey" else score.band
    parts = [f"{share} of such changes were backported: {band}"]
    for word, sign in (("for", "+"), ("against", "−")):
        found = [reason.rstrip("+− ") for reason in score.reasons if reason.endswith(sign)]
        parts += [f"{word}: {', '.join(found)}"] if found else []
    return "; ".join(parts)


def _curve(found: Mapping[str, Any]) -> Curve:
    usual = found["usual"]
    return Curve(tuple(found["knots"]), tuple(found["points"]), usual, found.get("unknown", usual))


def _said(name: str, traits: ChangeFeatures, branch: Circumstances) -> str:
    feature = FEATURES[name]
    value = feature.value(traits, branch)
    return "" if value is None else feature.says(value)


def _signs(move: float) -> str:
    sign = "+" if move > 0 else "−"
    return sign * (2 if abs(move) >= _STRONG else 1)


def _logistic(number: float) -> float:
    if number >= 0:
        return 1.0 / (1.0 + math.exp(-number))
    return 1.0 - 1.0 / (1.0 + math.exp(number))


@dataclass(frozen=True)
class ScoreModels:
    """Two models, for where it is known what became of earlier changes, and where it is not."""

    with_history: Model
    without_history: Model

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> ScoreModels:
        """The models that a parsed file holds.

        Raises:
            KeyError: as for `Model.read`.
        """
        bands = data["bands"]["unlikely_below"], data["bands"]["likely_from"]
        return cls(*(Model.read(data[name], bands) for name in ("with_history", "without_history")))

    def score(self, traits: ChangeFeatures, branch: Circumstances) -> Score:
        """The score by the model that fits what is known."""
        model = self.with_history if branch.habits else self.without_history
        return model.score(traits, branch)


@cache
def shipped_models() -> ScoreModels:
    """The models that come with the program, read once."""
    text = files("prjury.judges.backport.score").joinpath("model.json").read_text("utf-8")
    return ScoreModels.read(json.loads(text))


def score(traits: ChangeFeatures, branch: Circumstances) -> Score:
    """How likely people are to bring the change to the branch, by the shipped models."""
    return shipped_models().score(traits, branch)
