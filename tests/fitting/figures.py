"""How well likelihoods tell backports from other changes, and how true they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fitting.additive import Flags, Numbers
from fitting.rows import Decision

BANDS = (0.05, 0.60)
_SAMPLES = 500
_SEED = 20


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


def truth(told: Numbers, backported: Flags) -> dict[str, Any]:
    return {
        "brier": round(float(np.mean((told - backported) ** 2)), 4),
        "calibration_error": round(calibration_error(told, backported), 4),
        "bands": bands(told, backported),
    }
