"""The additive model: curves of straight lines, fitted by logistic regression with limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import minimize

from fitting.rows import Decision
from prjury.judges.backport.score.score import FEATURES

#: How strongly points are drawn to nothing.
PENALTY = 30.0

#: Arrays. Types are checked without numpy, which only a fit needs.
Numbers: TypeAlias = Any
Flags: TypeAlias = Any


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


#: What is known of a branch only from history.
HISTORY = frozenset({"earlier", "lately", "lift"})
WITHOUT_HISTORY = {name: shape for name, shape in SHAPES.items() if name not in HISTORY}


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


def fit(steps: Numbers, backported: Flags, shapes: Mapping[str, Shape]) -> Fitted:
    """Logistic regression, with a penalty on the heights and with signs where they have one."""
    signs = np.where(backported, 1.0, -1.0)

    def loss(found: Numbers) -> tuple[float, Numbers]:
        margins = signs * (found[0] + steps @ found[1:])
        pull = -signs / (1.0 + np.exp(margins))
        slopes = np.concatenate(([pull.sum()], steps.T @ pull + PENALTY * found[1:]))
        total = np.logaddexp(0.0, -margins).sum() + 0.5 * PENALTY * float(found[1:] @ found[1:])
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


def curves(
    fitted: Fitted, found: Mapping[str, Numbers], shapes: Mapping[str, Shape]
) -> dict[str, Any]:
    """The model's curves: points at knots, with those of the average change."""
    heights: dict[str, dict[int | None, float]] = {}
    for each, height in zip(columns(shapes), fitted.heights, strict=True):
        heights.setdefault(each.feature, {})[each.step] = float(height)
    return {name: _curve(shape, heights[name], found[name]) for name, shape in shapes.items()}


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
