"""Fits the score of the backport judge; prints its model and its figures.

    uv run --group fit python -P tests/fitting/backport_score.py DATA

See README.md beside this file. The result is the same on every run.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fitting.rows import decisions
from prjury.judges.backport.score import LIKELY, STEADY, encode_traits, score_change

#: How weakly weights are drawn to nothing.
LOOSENESS = 0.3


def main(data: Path) -> None:
    rows = decisions(data)
    numbers = np.array([encode_traits(row.change, row.traits) for row in rows])
    came = np.array([row.backported for row in rows])
    late = np.array([row.late for row in rows])
    worth = np.array([score_change(row.change, row.traits).possible_from for row in rows])
    steady = np.array([row.traits.habits.lately >= STEADY for row in rows])
    repos = np.array([row.repo for row in rows])
    print(f"{len(rows)} decisions, {came.sum()} backports")
    print(
        "later changes:",
        _figures(_likelihood(numbers, came, ~late, late), came[late], worth[late], steady[late]),
    )
    for repo in sorted(set(repos)):
        own = repos == repo
        print(
            f"{repo}, learned elsewhere:",
            _figures(_likelihood(numbers, came, ~own, own), came[own], worth[own], steady[own]),
        )
    model = LogisticRegression(C=LOOSENESS, max_iter=1000).fit(numbers, came)
    print("intercept", round(float(model.intercept_[0]), 2))
    print("weights  ", model.coef_[0].round(2).tolist())
    print("usual    ", numbers.mean(axis=0).round(2).tolist())


def _likelihood(numbers: Any, came: Any, learned: Any, tested: Any) -> Any:
    model = LogisticRegression(C=LOOSENESS, max_iter=1000).fit(numbers[learned], came[learned])
    return model.predict_proba(numbers[tested])[:, 1]


def _figures(likelihood: Any, came: Any, start: Any, steady: Any) -> str:
    chance = np.random.default_rng(7)
    drawn = []
    for _ in range(300):
        some = chance.integers(0, len(came), len(came))
        drawn.append(roc_auc_score(came[some], likelihood[some]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    worth, likely = likelihood >= start, (likelihood >= LIKELY) & steady
    return (
        f"AUC {roc_auc_score(came, likelihood):.3f} [{low:.3f}, {high:.3f}]; possible: "
        f"{worth.mean():.0%} of the rows, {came[worth].sum() / came.sum():.0%} of the backports; "
        f"from {LIKELY}: {likely.mean():.0%}, right {came[likely].mean():.0%}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
