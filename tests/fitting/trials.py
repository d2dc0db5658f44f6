"""Ways to tell backports, tried on later changes and on repositories that they never saw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from fitting.additive import (
    SHAPES,
    WITHOUT_HISTORY,
    Flags,
    Numbers,
    Shape,
    design,
    fit,
    values,
)
from fitting.figures import Figure, auc, sampled, truth
from fitting.rows import Decision

_SEED = 20


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


def additive(shapes: Mapping[str, Shape]) -> Learn:
    """The way of the program."""
    return lambda steps, backported: fit(steps, backported, shapes).likelihood


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


@dataclass(frozen=True)
class Trial:
    """A way to tell backports, on the later part and on strangers."""

    name: str
    later: Numbers
    strangers: Numbers


def trials(all_of: Material) -> list[Trial]:
    """Ours with and without history first, then the reference and the rules of thumb."""
    numbers = np.column_stack(list(all_of.found.values()))
    rules = {
        "the title says fix": all_of.found["title_fix"],
        "picks cleanly": (all_of.found["conflicts"] == 0).astype(float),
    }
    ways: list[tuple[str, Numbers, Learn]] = [
        ("score", design(all_of.found, SHAPES), additive(SHAPES)),
        (
            "score without history",
            design(all_of.found, WITHOUT_HISTORY),
            additive(WITHOUT_HISTORY),
        ),
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
            found[name].update(truth(told[chosen], all_of.backported[chosen]))
    return found
