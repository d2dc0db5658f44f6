"""The score: points of features that add up to a calibrated likelihood, with reasons."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from prjury.judges.backport.history import HistoryFeatures
from prjury.judges.backport.score.features import ChangeFeatures
from prjury.report.wording import counted
from prjury.resources import score_text

#: From this share on, all lines count as present.
_WHOLE = 0.995


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The features of a branch.

    Attributes:
        conflicts: files that conflict; None if the pick could not be tried.
        lacks: touched files that the branch lacks.
        removed: the share of removed lines that are on the branch, 0..1; None without any.
        context: the same for the lines around them.
        newest: whether no release branch forked later from the base.
        habits: what earlier changes say; None if the history is unknown.
    """

    conflicts: int | None
    lacks: int = 0
    removed: float | None = None
    context: float | None = None
    newest: bool = True
    habits: HistoryFeatures | None = None


Value = Callable[[ChangeFeatures, Circumstances], float | None]
Says = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of the model.

    Attributes:
        value: its number; None if unknown, which counts as the average.
        says: the number as a reason, or an empty text.
    """

    value: Value
    says: Says


def _flag(value: Callable[[ChangeFeatures], bool], present: str) -> Feature:
    return Feature(lambda traits, _: float(value(traits)), lambda number: present if number else "")


def _kind(name: str, present: str) -> Feature:
    return _flag(lambda traits: name in traits.kinds, f"{present} by its title")


def _notes(name: str, present: str) -> Feature:
    return _flag(lambda traits: name in traits.notes, f"its changelog entry {present}")


def _only(name: str, present: str) -> Feature:
    return _flag(lambda traits: traits.only == name, f"{present} only")


def _count(value: Callable[[ChangeFeatures], int], verb: str, noun: str) -> Feature:
    return Feature(
        lambda traits, _: value(traits), lambda number: f"{verb} {counted(int(number), noun)}"
    )


def _adds_files(number: float) -> str:
    return f"adds {'a file' if number == 1 else counted(int(number), 'file')}" if number else ""


def _picks(number: float) -> str:
    return f"conflicts in {counted(int(number), 'file')}" if number else "picks cleanly"


def _lacks(number: float) -> str:
    return f"the branch lacks {counted(int(number), 'touched file')}" if number else ""


def _stands(what: str) -> Says:
    def says(share: float) -> str:
        return f"the branch has {'all' if share >= _WHOLE else f'{share:.0%} of'} {what}"

    return says


def _lately(share: float) -> str:
    return f"{'many' if share > 0.25 else 'few'} recent changes were backported to the branch"  # noqa: PLR2004


def _lift(lift: float) -> str:
    if not lift:
        return ""
    return f"changes with similar titles were {'often' if lift > 0 else 'rarely'} backported"


def _of_habits(value: Callable[[HistoryFeatures], float]) -> Value:
    return lambda _, branch: value(branch.habits) if branch.habits else None


FEATURES: Mapping[str, Feature] = {
    "conflicts": Feature(lambda _, branch: branch.conflicts, _picks),
    "lacks": Feature(lambda _, branch: branch.lacks, _lacks),
    "removed": Feature(lambda _, branch: branch.removed, _stands("removed lines")),
    "context": Feature(lambda _, branch: branch.context, _stands("lines around the change")),
    "newest": Feature(
        lambda _, branch: branch.newest,
        lambda newest: "the newest branch" if newest else "not the newest branch",
    ),
    "earlier": Feature(
        _of_habits(lambda habits: habits.earlier),
        lambda number: f"{counted(int(number), 'change')} on the base since the branch forked",
    ),
    "lately": Feature(_of_habits(lambda habits: habits.lately), _lately),
    "lift": Feature(_of_habits(lambda habits: habits.lift), _lift),
    "files": _count(lambda traits: traits.files, "touches", "file"),
    "lines": _count(lambda traits: traits.lines, "changes", "line"),
    "new_files": Feature(lambda traits, _: traits.new_files, _adds_files),
    "declared": Feature(
        lambda traits, _: traits.declared,
        lambda number: f"declares {counted(int(number), 'public name')}" if number else "",
    ),
    "title_fix": _kind("fix", "a fix"),
    "title_feature": _kind("feature", "a feature"),
    "title_docs": _kind("docs", "documentation"),
    "title_tests": _kind("tests", "tests"),
    "title_build": _kind("build", "build or CI"),
    "title_dependency": _kind("dependency", "a dependency"),
    "title_tidying": _kind("tidying", "a cleanup"),
    "title_removal": _kind("removal", "a removal or deprecation"),
    "title_typing": _kind("typing", "typing"),
    "title_security": _kind("security", "security"),
    "title_revert": _kind("revert", "a revert"),
    "notes_fix": _notes("fix", "is a fix"),
    "notes_feature": _notes("feature", "is a feature"),
    "notes_breaking": _notes("breaking", "breaks or deprecates"),
    "only_docs": _only("docs", "documentation"),
    "only_tests": _only("tests", "tests"),
    "only_ci": _only("ci", "CI"),
    "only_build": _only("build", "build files"),
    "bot": _flag(lambda traits: traits.bot, "opened by a bot"),
}


Band: TypeAlias = Literal["likely", "grey", "unlikely"]

#: So many reasons are given, each with at least this effect in log-odds.
_MOST_REASONS, _LEAST = 6, 0.22
#: A reason with a larger effect has two signs.
_STRONG = 0.7


@dataclass(frozen=True, slots=True)
class Score:
    """How likely people are to backport the change. Evidence, never a gate.

    Of changes with a ``value`` of 0.3, three in ten were backported. The strongest reasons stand
    first, each with ``++``, ``+``, ``−`` or ``−−``.
    """

    value: float
    band: Band
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of one feature, linear between knots: of the ``usual`` change, of no number."""

    knots: tuple[float, ...]
    points: tuple[float, ...]
    usual: float
    unknown: float

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Curve:
        """The curve that part of a parsed file holds."""
        knots, points, usual = data["knots"], data["points"], data["usual"]
        return cls(tuple(knots), tuple(points), usual, data.get("unknown", usual))

    def at(self, value: float | None) -> float:
        """Return the points for a number."""
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
    """An additive model; below the first band a backport is unlikely, from the second on likely."""

    intercept: float
    curves: Mapping[str, Curve]
    bands: tuple[float, float]

    @classmethod
    def read(cls, data: Mapping[str, Any], bands: tuple[float, float]) -> Model:
        """The model in part of a parsed file; KeyError if something is missing or not known."""
        curves = {name: Curve.read(found) for name, found in data["features"].items()}
        if unknown := set(curves) - set(FEATURES):
            raise KeyError(f"features that are not known: {sorted(unknown)}")
        return cls(data["intercept"], curves, bands)

    def parts(self, traits: ChangeFeatures, branch: Circumstances) -> dict[str, float]:
        """Return the points of every feature."""
        return {
            name: curve.at(FEATURES[name].value(traits, branch))
            for name, curve in self.curves.items()
        }

    def score(self, traits: ChangeFeatures, branch: Circumstances) -> Score:
        """Return the score of a change for a branch."""
        parts = self.parts(traits, branch)
        value = _logistic(self.intercept + math.fsum(parts.values()))
        low, high = self.bands
        band: Band = "unlikely" if value < low else "likely" if value >= high else "grey"
        moves = {name: points - self.curves[name].usual for name, points in parts.items()}
        strongest = sorted(moves, key=lambda name: (-abs(moves[name]), name))
        reasons = [
            f"{words} {('+' if moves[name] > 0 else '−') * (1 + (abs(moves[name]) >= _STRONG))}"
            for name in strongest
            if abs(moves[name]) >= _LEAST and (words := _reason(name, traits, branch))
        ]
        return Score(value, band, tuple(reasons[:_MOST_REASONS]))


def score_words(score: Score) -> str:
    """Return the score and its reasons as one phrase."""
    percent = round(score.value * 100)
    share = f"{percent} %" if percent else "fewer than 1 %"
    band = "possible" if score.band == "grey" else score.band
    parts = [f"{share} of such changes were backported: {band}"]
    for word, sign in (("for", "+"), ("against", "−")):
        found = [reason.rstrip("+− ") for reason in score.reasons if reason.endswith(sign)]
        parts += [f"{word}: {', '.join(found)}"] if found else []
    return "; ".join(parts)


def _reason(name: str, traits: ChangeFeatures, branch: Circumstances) -> str:
    feature = FEATURES[name]
    value = feature.value(traits, branch)
    return "" if value is None else feature.says(value)


def _logistic(number: float) -> float:
    if number >= 0:
        return 1.0 / (1.0 + math.exp(-number))
    return 1.0 - 1.0 / (1.0 + math.exp(number))


@dataclass(frozen=True)
class ScoreModels:
    """Two models: with and without the history of earlier changes."""

    with_history: Model
    without_history: Model

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> ScoreModels:
        """The models that a parsed file holds; raises as `Model.read` does."""
        bands = data["bands"]["unlikely_below"], data["bands"]["likely_from"]
        return cls(*(Model.read(data[name], bands) for name in ("with_history", "without_history")))

    def score(self, traits: ChangeFeatures, branch: Circumstances) -> Score:
        """Return the score by the model that fits what is known."""
        model = self.with_history if branch.habits else self.without_history
        return model.score(traits, branch)


@cache
def shipped_models() -> ScoreModels:
    """Read the shipped models once."""
    return ScoreModels.read(json.loads(score_text()))


def score(traits: ChangeFeatures, branch: Circumstances) -> Score:
    """Return the score by the shipped models."""
    return shipped_models().score(traits, branch)
