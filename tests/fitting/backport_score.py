"""Fits the score of the backport judge and writes its model, its figures and its picture.

    uv run --group fit python -P tests/fitting/backport_score.py [--check] [DATA]

See README.md beside this file. The result is the same on every run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

import numpy as np
from scipy.optimize import minimize
from sklearn.ensemble import HistGradientBoostingClassifier

from fitting.picture import drawn
from fitting.rows import DATA, Decision, decisions
from prjury.judges.backport.score.features import FEATURES

MODEL = ROOT / "src/prjury/judges/backport/score/model.json"
PICTURE = ROOT / ".github/docs/pictures/backport-calibration.svg"
BANDS = (0.05, 0.60)
#: How strongly points are drawn to nothing.
_PENALTY = 20.0
_SAMPLES = 1000
_SEED = 20
Numbers = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Shape:
    """The knots of a curve, and where sense says so that it never falls (1) or never rises (-1).

    Attributes:
        gaps: whether the number may be missing in the data, which then has points of its own.
    """

    knots: tuple[float, ...] = (0.0, 1.0)
    slope: int = 0
    gaps: bool = False


_SHARES = (0.0, 0.5, 0.75, 0.9, 1.0)
SHAPES: Mapping[str, Shape] = {
    "conflicts": Shape((0, 1, 2, 4, 8), -1),
    "lacks": Shape((0, 1, 3), -1),
    "removed": Shape(_SHARES, 1, gaps=True),
    "context": Shape(_SHARES, 1, gaps=True),
    "newest": Shape(slope=1),
    "earlier": Shape((0, 30, 100, 300, 1000)),
    "lately": Shape((0.03, 0.08, 0.15, 0.25, 0.4, 0.6), 1),
    "lift": Shape((-4, -2.5, -1.5, -0.75, 0, 0.75, 1.5, 2.5, 4), 1),
    "files": Shape((1, 2, 4, 8, 20)),
    "lines": Shape((1, 4, 10, 30, 80, 200, 600, 2000), -1),
    "new_files": Shape((0, 1, 2, 5), -1),
    "declared": Shape((0, 1, 4, 16), -1),
    "title_fix": Shape(slope=1),
    "title_feature": Shape(slope=-1),
    "title_docs": Shape(),
    "title_tests": Shape(),
    "title_build": Shape(),
    "title_dependency": Shape(slope=-1),
    "title_tidying": Shape(slope=-1),
    "title_removal": Shape(slope=-1),
    "title_typing": Shape(),
    "title_security": Shape(slope=1),
    "title_revert": Shape(),
    "notes_fix": Shape(slope=1),
    "notes_feature": Shape(slope=-1),
    "notes_breaking": Shape(slope=-1),
    "only_docs": Shape(slope=1),
    "only_tests": Shape(),
    "only_ci": Shape(),
    "only_build": Shape(),
    "bot": Shape(slope=-1),
}


@dataclass(frozen=True)
class Column:
    """One number of the design: which feature's, and between which knots it grows from 0 to 1."""

    feature: str
    step: int | None  # None: the number is missing


def columns(shapes: Mapping[str, Shape]) -> list[Column]:
    return [
        Column(name, step)
        for name, shape in shapes.items()
        for step in [*range(1, len(shape.knots)), *([None] if shape.gaps else [])]
    ]


def values(rows: Sequence[Decision]) -> dict[str, Numbers]:
    """Each feature's numbers; NaN where one is missing."""
    return {
        name: np.array(
            [FEATURES[name].value(row.traits, row.circumstances) for row in rows], dtype=float
        )
        for name in SHAPES
    }


def design(found: Mapping[str, Numbers], shapes: Mapping[str, Shape]) -> Numbers:
    """Steps between knots: the sum of a feature's steps times their heights is its curve."""
    return np.column_stack(
        [_column(found[each.feature], shapes[each.feature], each) for each in columns(shapes)]
    )


def _column(numbers: Numbers, shape: Shape, column: Column) -> Numbers:
    missing = np.isnan(numbers)
    if column.step is None:
        return missing.astype(float)
    start, end = shape.knots[column.step - 1], shape.knots[column.step]
    return np.where(missing, 0.0, np.clip((numbers - start) / (end - start), 0.0, 1.0))


@dataclass(frozen=True)
class Fitted:
    """An intercept, and the heights of the steps."""

    intercept: float
    heights: Numbers

    def likelihood(self, steps: Numbers) -> Numbers:
        return 1.0 / (1.0 + np.exp(-(self.intercept + steps @ self.heights)))


def fit(steps: Numbers, backported: Flags, shapes: Mapping[str, Shape] = SHAPES) -> Fitted:
    """Logistic regression, with a penalty on the heights and with their signs where they have one."""
    signs = np.where(backported, 1.0, -1.0)

    def loss(found: Numbers) -> tuple[float, Numbers]:
        margins = signs * (found[0] + steps @ found[1:])
        pull = -signs / (1.0 + np.exp(margins))
        slopes = np.concatenate(([pull.sum()], steps.T @ pull + _PENALTY * found[1:]))
        total = np.logaddexp(0.0, -margins).sum() + 0.5 * _PENALTY * float(found[1:] @ found[1:])
        return float(total), slopes

    limits = {1: (0.0, None), -1: (None, 0.0), 0: (None, None)}
    bounds = [(None, None)] + [
        limits[shapes[each.feature].slope if each.step is not None else 0]
        for each in columns(shapes)
    ]
    start = np.zeros(steps.shape[1] + 1)
    start[0] = np.log(backported.mean() / (1 - backported.mean()))
    options = {"maxiter": 5000, "maxfun": 100_000, "ftol": 1e-12, "gtol": 1e-6}
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return Fitted(float(best.x[0]), best.x[1:])


@dataclass(frozen=True)
class Material:
    """The decisions as numbers."""

    rows: Sequence[Decision]
    found: Mapping[str, Numbers]
    backported: Flags
    late: Flags
    repo: np.ndarray[Any, np.dtype[np.str_]]


def material(rows: Sequence[Decision]) -> Material:
    return Material(
        rows,
        values(rows),
        np.array([row.backported for row in rows]),
        np.array([row.late for row in rows]),
        np.array([row.repo for row in rows]),
    )


Learn = Callable[[Numbers, Flags], Callable[[Numbers], Numbers]]


def additive(steps: Numbers, backported: Flags) -> Callable[[Numbers], Numbers]:
    return fit(steps, backported).likelihood


def boosting(numbers: Numbers, backported: Flags) -> Callable[[Numbers], Numbers]:
    """The reference: trees that may look at several features at once."""
    model = HistGradientBoostingClassifier(
        max_iter=150,
        learning_rate=0.05,
        max_leaf_nodes=12,
        min_samples_leaf=40,
        l2_regularization=1.0,
        random_state=_SEED,
    ).fit(numbers, backported)
    return lambda more: np.asarray(model.predict_proba(more)[:, 1])


def on_later(all_of: Material, numbers: Numbers, learn: Learn) -> Numbers:
    """Learned on the earlier part, told for the later one; NaN elsewhere."""
    late = all_of.late
    told = np.full(len(late), np.nan)
    told[late] = learn(numbers[~late], all_of.backported[~late])(numbers[late])
    return told


def on_strangers(all_of: Material, numbers: Numbers, learn: Learn) -> Numbers:
    """Each repository told by a model that was learned on the others."""
    told = np.full(len(all_of.late), np.nan)
    for repo in np.unique(all_of.repo):
        own = all_of.repo == repo
        told[own] = learn(numbers[~own], all_of.backported[~own])(numbers[own])
    return told


def auc(told: Numbers, backported: Flags) -> float:
    """How often a backport is told higher than another change; ties count as half."""
    _, ranks, counts = np.unique(told, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2.0
    positive = int(backported.sum())
    total = float(middle[ranks][backported].sum())
    return (total - positive * (positive + 1) / 2) / (positive * (len(told) - positive))


@dataclass(frozen=True)
class Figure:
    """A figure with its 95 % interval, over samples of changes with all their branches."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    @property
    def plain(self) -> list[float]:
        return [round(self.value, 4), round(self.low, 4), round(self.high, 4)]


def sampled(rows: Sequence[Decision], measure: Callable[[np.ndarray[Any, Any]], float]) -> Figure:
    """The measure on all rows, and its spread over samples of changes."""
    members: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        members.setdefault(row.sha, []).append(index)
    groups = [np.array(group) for group in members.values()]
    random = np.random.default_rng(_SEED)
    spread = [
        measure(
            np.concatenate([groups[one] for one in random.integers(0, len(groups), len(groups))])
        )
        for _ in range(_SAMPLES)
    ]
    low, high = np.quantile(spread, (0.025, 0.975))
    return Figure(measure(np.arange(len(rows))), float(low), float(high))


def auc_of(all_of: Material, told: Numbers, chosen: Flags) -> Figure:
    rows = [row for row, is_in in zip(all_of.rows, chosen, strict=True) if is_in]
    numbers, flags = told[chosen], all_of.backported[chosen]
    return sampled(rows, lambda these: auc(numbers[these], flags[these]))


def mean_auc_of(all_of: Material, told: Numbers) -> Figure:
    """The mean over repositories, each told by the others."""
    repos = np.unique(all_of.repo)

    def measure(these: np.ndarray[Any, Any]) -> float:
        parts = [these[all_of.repo[these] == repo] for repo in repos]
        return float(np.mean([auc(told[part], all_of.backported[part]) for part in parts]))

    return sampled(all_of.rows, measure)


def calibration_error(told: Numbers, backported: Flags, bins: int = 10) -> float:
    """The mean distance between what is told and what happens, over bins of equal size."""
    parts = np.array_split(np.argsort(told, kind="stable"), bins)
    gaps = [abs(float(told[part].mean() - backported[part].mean())) * len(part) for part in parts]
    return sum(gaps) / len(told)


def table(told: Numbers, backported: Flags, bins: int = 10) -> list[tuple[float, float, int]]:
    """Mean likelihood told, share backported, rows, by tenths of the rows."""
    parts = np.array_split(np.argsort(told, kind="stable"), bins)
    return [(float(told[part].mean()), float(backported[part].mean()), len(part)) for part in parts]


def bands(told: Numbers, backported: Flags) -> dict[str, float]:
    low, high = told < BANDS[0], told >= BANDS[1]
    return {
        "unlikely_share": _share(low),
        "unlikely_missed": _share(low[backported]),
        "likely_share": _share(high),
        "likely_precision": _share(backported[high]),
        "likely_recall": _share(high[backported]),
    }


def _share(flags: Flags) -> float:
    return round(float(flags.mean()), 4) if len(flags) else 0.0


@dataclass(frozen=True)
class Trial:
    """A way to tell backports, on the later part and on strangers."""

    name: str
    later: Numbers
    strangers: Numbers


def trials(all_of: Material, steps: Numbers) -> list[Trial]:
    numbers = np.column_stack(list(all_of.found.values()))
    rules = {
        "the title says fix": all_of.found["title_fix"],
        "picks cleanly": (all_of.found["conflicts"] == 0).astype(float),
    }
    ways: list[tuple[str, Numbers, Learn]] = [
        ("additive score", steps, additive),
        ("boosting, same features", numbers, boosting),
    ]
    learned = [
        Trial(name, on_later(all_of, given, learn), on_strangers(all_of, given, learn))
        for name, given, learn in ways
    ]
    return learned + [Trial(name, told, told) for name, told in rules.items()]


def metrics(all_of: Material, trial: Trial) -> dict[str, Any]:
    """The figures of a way: areas under the curve, and for likelihoods how true they are."""
    late, everything = all_of.late, np.ones(len(all_of.rows), dtype=bool)
    repos = {str(repo): all_of.repo == repo for repo in np.unique(all_of.repo)}
    found: dict[str, Any] = {
        "time": {"auc": auc_of(all_of, trial.later, late).plain},
        "leave_one_repository_out": {
            "auc_mean": mean_auc_of(all_of, trial.strangers).plain,
            "auc_pooled": auc_of(all_of, trial.strangers, everything).plain,
            "auc": {
                name: auc_of(all_of, trial.strangers, own).plain for name, own in repos.items()
            },
        },
    }
    parts = {"time": (trial.later, late), "leave_one_repository_out": (trial.strangers, everything)}
    for name, (told, chosen) in parts.items():
        if not set(np.unique(told[chosen])) <= {0.0, 1.0}:
            found[name].update(_truth(told[chosen], all_of.backported[chosen]))
    return found


def _truth(told: Numbers, backported: Flags) -> dict[str, Any]:
    return {
        "brier": round(float(np.mean((told - backported) ** 2)), 4),
        "calibration_error": round(calibration_error(told, backported), 4),
        "bands": bands(told, backported),
    }


def curves(fitted: Fitted, all_of: Material) -> dict[str, Any]:
    """The model's curves: points at knots, with those of the average change."""
    heights: dict[str, dict[int | None, float]] = {}
    for each, height in zip(columns(SHAPES), fitted.heights, strict=True):
        heights.setdefault(each.feature, {})[each.step] = float(height)
    return {
        name: _curve(shape, heights[name], all_of.found[name]) for name, shape in SHAPES.items()
    }


def _curve(shape: Shape, heights: Mapping[int | None, float], numbers: Numbers) -> dict[str, Any]:
    points = np.cumsum([0.0, *(heights[step] for step in range(1, len(shape.knots)))])
    known = np.interp(numbers[~np.isnan(numbers)], shape.knots, points)
    missing = heights.get(None, 0.0)
    usual = (known.sum() + missing * np.isnan(numbers).sum()) / len(numbers)
    curve = {
        "knots": list(shape.knots),
        "points": [round(float(point), 4) for point in points],
        "usual": round(float(usual), 4),
    }
    return curve | ({"unknown": round(missing, 4)} if shape.gaps else {})


def model(all_of: Material, steps: Numbers, told: Trial, data: Path) -> dict[str, Any]:
    fitted = fit(steps, all_of.backported)
    whole = fitted.likelihood(steps)
    dates = sorted(row.recorded["date"][:10] for row in all_of.rows)
    return {
        "what": "points of an additive score for whether a change is brought to a release branch",
        "intercept": round(fitted.intercept, 4),
        "features": curves(fitted, all_of),
        "bands": {"unlikely_below": BANDS[0], "likely_from": BANDS[1]},
        "provenance": {
            "script": "tests/fitting/backport_score.py",
            "data_sha256": hashlib.sha256(data.read_bytes()).hexdigest(),
            "rows": len(all_of.rows),
            "backported": int(all_of.backported.sum()),
            "repositories": sorted(set(map(str, all_of.repo))),
            "from": dates[0],
            "until": dates[-1],
            "penalty": _PENALTY,
        },
        "metrics": metrics(all_of, told)
        | {
            "shipped": {  # on the rows that it was fitted on: to see that a file is intact
                "auc": round(auc(whole, all_of.backported), 4),
                "auc_late": round(auc(whole[all_of.late], all_of.backported[all_of.late]), 4),
            }
        },
    }


def told(all_of: Material, found: Sequence[Trial]) -> Iterator[str]:
    """The figures, as lines to read."""
    late, everything = all_of.late, np.ones(len(all_of.rows), dtype=bool)
    yield f"{'':28}{'time split':24}{'mean of repositories':24}pooled"
    for trial in found:
        figures = (
            auc_of(all_of, trial.later, late),
            mean_auc_of(all_of, trial.strangers),
            auc_of(all_of, trial.strangers, everything),
        )
        yield f"{trial.name:28}" + "".join(f"{figure!s:24}" for figure in figures).rstrip()
    score = found[0]
    for repo in np.unique(all_of.repo):
        yield f"  told by the others: {repo:24}{auc_of(all_of, score.strangers, all_of.repo == repo)}"
    parts = {"time split": (score.later, late), "told by the others": (score.strangers, everything)}
    for name, (numbers, chosen) in parts.items():
        yield from _calibration(name, numbers[chosen], all_of.backported[chosen])


def _calibration(name: str, told: Numbers, backported: Flags) -> Iterator[str]:
    truth = _truth(told, backported)
    yield ""
    yield f"{name}: Brier {truth['brier']}, calibration error {truth['calibration_error']}"
    yield "  told   happened   rows"
    yield from (
        f"  {one:.3f}  {other:.3f}  {rows:8}" for one, other, rows in table(told, backported)
    )
    found = truth["bands"]
    yield (
        f"  below {BANDS[0]}: {found['unlikely_share']:.1%} of rows, "
        f"{found['unlikely_missed']:.1%} of the backports among them"
    )
    yield (
        f"  from {BANDS[1]}: {found['likely_share']:.1%} of rows, "
        f"{found['likely_precision']:.1%} of them backported, "
        f"which are {found['likely_recall']:.1%} of all"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--check", action="store_true", help="compare with the shipped model only")
    given = parser.parse_args()
    all_of = material(decisions(given.data))
    steps = design(all_of.found, SHAPES)
    found = trials(all_of, steps)
    print("\n".join(told(all_of, found)))
    text = json.dumps(model(all_of, steps, found[0], given.data), indent=1) + "\n"
    if given.check:
        print("the shipped model is", "the same" if MODEL.read_text("utf-8") == text else "another")
        return 0
    MODEL.write_text(text, "utf-8")
    PICTURE.write_text(_picture(all_of, found[0]), "utf-8")
    return 0


def _picture(all_of: Material, score: Trial) -> str:
    late = all_of.late
    series = {
        "later changes": table(score.later[late], all_of.backported[late]),
        "other repositories": table(score.strangers, all_of.backported),
    }
    return drawn(series, BANDS)


if __name__ == "__main__":
    raise SystemExit(main())
