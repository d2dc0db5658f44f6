"""The score: points of features that add up to a calibrated likelihood, with its reasons."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from prjury.judges.backport.history import HistoryFeatures
from prjury.judges.backport.score.features import ChangeFeatures

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

#: A share of this much is told as the whole.
_WHOLE = 0.995


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What of a branch counts for whether a change is brought to it.

    Attributes:
        conflicts: files that conflict when the change is picked onto the branch; 0 for a clean
            pick, None where no trial could be made.
        lacks: touched files that the branch has not.
        removed: the share of removed lines that stand on the branch, 0..1; None without any.
        context: the same of the lines around them.
        newest: whether no release branch forked later from the base.
        habits: what became of earlier changes; None where nobody has looked.
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
    """One thing that counts.

    Attributes:
        value: its number; None where it is not known, which counts as the usual.
        says: the number as a reason; empty where it is not worth telling.
    """

    value: Value
    says: Says


def _flag(value: Callable[[ChangeFeatures], bool], present: str) -> Feature:
    return Feature(lambda traits, _: float(value(traits)), lambda number: present if number else "")


def _kind(name: str, present: str) -> Feature:
    return _flag(lambda traits: name in traits.kinds, present)


def _notes(name: str, present: str) -> Feature:
    return _flag(lambda traits: name in traits.notes, present)


def _only(name: str, present: str) -> Feature:
    return _flag(lambda traits: traits.only == name, present)


def _counted(number: float, noun: str) -> str:
    return f"{int(number)} {noun}{'s' * (int(number) != 1)}"


def _adds_files(number: float) -> str:
    return f"adds {'a file' if number == 1 else _counted(number, 'file')}" if number else ""


def _picks(number: float) -> str:
    return f"conflicts in {_counted(number, 'file')}" if number else "picks cleanly"


def _lacks(number: float) -> str:
    return f"the branch lacks {_counted(number, 'touched file')}" if number else ""


def _stands(what: str) -> Says:
    def says(share: float) -> str:
        if share >= _WHOLE:
            return f"all {what} stand on the branch"
        return f"{share:.0%} of {what} stand on the branch"

    return says


def _lately(share: float) -> str:
    return f"the branch lately gets {'much' if share > 0.25 else 'little'} of what is merged"  # noqa: PLR2004


def _lift(lift: float) -> str:
    if not lift:
        return ""
    return f"changes with such titles {'often' if lift > 0 else 'seldom'} reached the branch"


def _of_habits(value: Callable[[HistoryFeatures], float]) -> Value:
    return lambda _, branch: value(branch.habits) if branch.habits else None


def _conflicts(_: ChangeFeatures, branch: Circumstances) -> float | None:
    return branch.conflicts


FEATURES: Mapping[str, Feature] = {
    "conflicts": Feature(_conflicts, _picks),
    "lacks": Feature(lambda _, branch: branch.lacks, _lacks),
    "removed": Feature(lambda _, branch: branch.removed, _stands("removed lines")),
    "context": Feature(lambda _, branch: branch.context, _stands("lines around the change")),
    "newest": Feature(
        lambda _, branch: branch.newest,
        lambda newest: "the newest branch" if newest else "not the newest branch",
    ),
    "earlier": Feature(
        _of_habits(lambda habits: habits.earlier),
        lambda number: f"{_counted(number, 'change')} on the base since the branch forked",
    ),
    "lately": Feature(_of_habits(lambda habits: habits.lately), _lately),
    "lift": Feature(_of_habits(lambda habits: habits.lift), _lift),
    "files": Feature(
        lambda traits, _: traits.files, lambda number: f"touches {_counted(number, 'file')}"
    ),
    "lines": Feature(
        lambda traits, _: traits.lines, lambda number: f"changes {_counted(number, 'line')}"
    ),
    "new_files": Feature(lambda traits, _: traits.new_files, _adds_files),
    "declared": Feature(
        lambda traits, _: traits.declared,
        lambda number: f"declares {_counted(number, 'public name')}" if number else "",
    ),
    "title_fix": _kind("fix", "a fix by its title"),
    "title_feature": _kind("feature", "a feature by its title"),
    "title_docs": _kind("docs", "documentation by its title"),
    "title_tests": _kind("tests", "tests by its title"),
    "title_build": _kind("build", "build or CI by its title"),
    "title_dependency": _kind("dependency", "a dependency by its title"),
    "title_tidying": _kind("tidying", "tidying by its title"),
    "title_removal": _kind("removal", "a removal or deprecation by its title"),
    "title_typing": _kind("typing", "typing by its title"),
    "title_security": _kind("security", "security by its title"),
    "title_revert": _kind("revert", "takes something back"),
    "notes_fix": _notes("fix", "its changelog entry is a fix"),
    "notes_feature": _notes("feature", "its changelog entry is a feature"),
    "notes_breaking": _notes("breaking", "its changelog entry breaks or deprecates"),
    "only_docs": _only("docs", "documentation only"),
    "only_tests": _only("tests", "tests only"),
    "only_ci": _only("ci", "CI only"),
    "only_build": _only("build", "build files only"),
    "bot": _flag(lambda traits: traits.bot, "proposed by a program"),
}


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
