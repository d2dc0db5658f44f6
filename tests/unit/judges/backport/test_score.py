"""The score: what its shipped model says, with reasons, and that the file is what was fitted."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.backport.history import HistoryFeatures
from prjury.judges.backport.score.features import ChangeFeatures
from prjury.judges.backport.score.score import (
    FEATURES,
    Circumstances,
    Curve,
    Model,
    score,
    shipped_models,
)

HISTORY = {"earlier", "lately", "lift"}
CLEAN = Circumstances(conflicts=0, removed=1.0, context=1.0)
SHIPPED: dict[str, Any] = json.loads(
    files("prjury.judges.backport.score").joinpath("model.json").read_text("utf-8")
)
FIX = ChangeFeatures(kinds=frozenset({"fix"}), notes=frozenset({"fix"}), files=2, lines=12)
FEATURE = ChangeFeatures(
    kinds=frozenset({"feature"}),
    notes=frozenset({"feature"}),
    files=12,
    lines=900,
    new_files=3,
    declared=9,
)

shares = st.none() | st.floats(0.0, 1.0)
habit = st.none() | st.builds(
    HistoryFeatures, st.integers(0, 5000), st.floats(0.01, 0.99), st.floats(-10.0, 10.0)
)
circumstances = st.builds(
    Circumstances,
    st.none() | st.integers(0, 500),
    st.integers(0, 500),
    shares,
    shares,
    st.booleans(),
    habit,
)
kinds = st.frozensets(st.sampled_from(["fix", "feature", "docs", "tests", "removal", "revert"]))
some_traits = st.builds(
    ChangeFeatures,
    kinds=kinds,
    notes=st.frozensets(st.sampled_from(["fix", "feature", "breaking"])),
    only=st.sampled_from([None, "docs", "tests", "ci", "build", "source"]),
    files=st.integers(0, 10_000),
    lines=st.integers(0, 10_000_000),
    new_files=st.integers(0, 10_000),
    declared=st.integers(0, 10_000),
    bot=st.booleans(),
)


@given(some_traits, circumstances)
def test_every_change_has_a_likelihood_a_band_and_few_reasons(
    traits: ChangeFeatures, branch: Circumstances
) -> None:
    found = score(traits, branch)
    assert 0.0 < found.value < 1.0
    bounds = {"unlikely": (0.0, 0.05), "grey": (0.05, 0.60), "likely": (0.60, 1.0)}
    low, high = bounds[found.band]
    assert low <= found.value <= high
    assert len(found.reasons) <= 6
    assert all(reason.endswith((" +", " ++", " −", " −−")) for reason in found.reasons)
    assert found == score(traits, branch)


@given(some_traits, circumstances, st.integers(1, 50))
def test_a_clean_pick_is_never_less_likely_than_a_conflict(
    traits: ChangeFeatures, branch: Circumstances, conflicts: int
) -> None:
    clean, worse, worst = (
        score(traits, replace(branch, conflicts=number)).value
        for number in (0, conflicts, conflicts + 1)
    )
    assert clean >= worse >= worst


@given(some_traits, circumstances, st.integers(1, 50))
def test_files_that_are_not_there_never_help(
    traits: ChangeFeatures, branch: Circumstances, more: int
) -> None:
    before = score(traits, branch).value
    assert before >= score(traits, replace(branch, lacks=branch.lacks + more)).value


@given(some_traits, circumstances)
def test_a_title_that_says_fix_never_hurts(traits: ChangeFeatures, branch: Circumstances) -> None:
    plain = replace(traits, kinds=traits.kinds - {"fix"})
    assert (
        score(plain, branch).value
        <= score(replace(plain, kinds=plain.kinds | {"fix"}), branch).value
    )


def test_a_small_clean_fix_is_told_apart_from_a_large_conflicting_feature() -> None:
    fix = score(FIX, replace(CLEAN, habits=HistoryFeatures(100, 0.4, 2.0)))
    conflict = Circumstances(conflicts=3, lacks=1, removed=0.4, context=0.5, newest=False)
    feature = score(FEATURE, replace(conflict, habits=HistoryFeatures(100, 0.1, -1.5)))
    assert (fix.band, feature.band) == ("likely", "unlikely")
    assert "changes with similar titles were often backported ++" in fix.reasons
    assert "conflicts in 3 files −" in feature.reasons


def test_a_pick_that_could_not_be_tried_counts_as_the_usual() -> None:
    model = shipped_models().with_history
    parts = model.parts(ChangeFeatures(), Circumstances(conflicts=None))
    assert parts["conflicts"] == model.curves["conflicts"].usual


def test_a_model_of_its_own_is_asked_where_history_is_not_known() -> None:
    models = shipped_models()
    known = replace(CLEAN, habits=HistoryFeatures(100, 0.2, 0.0))
    assert score(FIX, CLEAN) == models.without_history.score(FIX, CLEAN)
    assert score(FIX, known) == models.with_history.score(FIX, known)


def test_a_curve_is_straight_between_knots_and_level_outside() -> None:
    curve = Curve((0.0, 1.0, 3.0), (0.0, 1.0, -1.0), usual=0.1, unknown=0.5)
    found = [curve.at(value) for value in (None, -5, 0, 0.5, 1, 2, 3, 99)]
    assert found == [0.5, 0.0, 0.0, 0.5, 1.0, 0.0, -1.0, -1.0]


def test_a_model_with_a_feature_that_is_not_known_is_refused() -> None:
    curve = {"knots": [0, 1], "points": [0, 1], "usual": 0.5}
    with pytest.raises(KeyError, match="phase_of_the_moon"):
        Model.read({"intercept": 0, "features": {"phase_of_the_moon": curve}}, (0.05, 0.6))


def test_every_feature_is_in_the_model_and_told_in_words() -> None:
    assert set(shipped_models().with_history.curves) == set(FEATURES)
    assert set(shipped_models().without_history.curves) == set(FEATURES) - HISTORY
    assert all(feature.says(1.0) for feature in FEATURES.values())


def test_nothing_of_a_scientific_library_is_loaded_to_tell_a_score() -> None:
    program = (
        "import sys; from prjury.judges.backport.score.score import *;"
        "score(ChangeFeatures(), Circumstances(0));"
        "sys.exit(bool({'numpy', 'scipy', 'sklearn'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-P", "-c", program], check=False).returncode == 0


def test_the_recorded_figures_are_above_the_floors() -> None:
    metrics = SHIPPED["with_history"]["metrics"]
    assert metrics["time"]["auc"][0] >= 0.81
    assert metrics["leave_one_repository_out"]["auc_mean"][0] >= 0.79
    assert metrics["leave_one_repository_out"]["auc_pooled"][0] >= 0.79
    assert SHIPPED["provenance"]["rows"] == 9025
