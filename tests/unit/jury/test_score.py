from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from prjury.jury.score import (
    BooleanScore,
    CategoricalScore,
    NumericalScore,
    Score,
    finite,
    to_boolean,
    to_numerical,
)

GRADES = ("bad", "fair", "good")


@pytest.mark.parametrize(
    ("score", "normalized"),
    [
        (BooleanScore(value=True), 1.0),
        (BooleanScore(value=False), 0.0),
        (BooleanScore.PASS, 1.0),
        (BooleanScore.FAIL, 0.0),
        (NumericalScore(8, 0, 10), 0.8),
        (NumericalScore(3.5, 0, 5), 0.7),
        (NumericalScore(0, -1, 1), 0.5),
        (NumericalScore(0.25), 0.25),
        (CategoricalScore("fair", GRADES, {"bad": 0.0, "fair": 0.6, "good": 1.0}), 0.6),
        (CategoricalScore("fair", GRADES), None),
        (CategoricalScore("fair", GRADES, {"good": 1.0}), None),
    ],
)
def test_normalized(score: Score, normalized: float | None) -> None:
    assert score.normalized == normalized


@given(strategies.scores())
def test_a_normalized_score_lies_between_zero_and_one(score: Score) -> None:
    assert score.normalized is None or 0.0 <= score.normalized <= 1.0


@given(strategies.scores())
def test_a_score_is_a_value(score: Score) -> None:
    for twin in (copy.deepcopy(score), pickle.loads(pickle.dumps(score))):  # noqa: S301 - our own
        assert twin == score
        assert hash(twin) == hash(score)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, -(10**400)])
@pytest.mark.parametrize("field", ["value", "minimum", "maximum"])
def test_a_number_that_is_not_finite_is_refused(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=field):
        NumericalScore(**{"value": 0.5, field: value})


@pytest.mark.parametrize("value", [True, False, "0.5", None, 1j])
def test_a_number_is_a_number(value: Any) -> None:
    with pytest.raises(TypeError, match="must be a number"):
        NumericalScore(value)


@pytest.mark.parametrize(
    ("value", "minimum", "maximum"), [(1.1, 0, 1), (-0.1, 0, 1), (1, 1, 1), (1, 2, 0)]
)
def test_bounds_hold(value: float, minimum: float, maximum: float) -> None:
    with pytest.raises(ValueError, match=r"outside|not below"):
        NumericalScore(value, minimum, maximum)


def test_bounds_further_apart_than_any_float_are_refused() -> None:
    with pytest.raises(ValueError, match="range must be finite"):
        NumericalScore(0.0, -1e308, 1e308)


@pytest.mark.parametrize("value", [1, 0, None, "yes"])
def test_a_boolean_score_is_a_bool(value: Any) -> None:
    with pytest.raises(TypeError, match="True or False"):
        BooleanScore(value)


@pytest.mark.parametrize(
    ("value", "allowed", "weights"),
    [
        ("mediocre", GRADES, None),
        ("good", (), None),
        ("good", ("good", "good"), None),
        ("good", GRADES, {"mediocre": 0.5}),
        ("good", GRADES, {"good": 1.5}),
        ("good", GRADES, {"good": math.nan}),
    ],
)
def test_a_word_outside_its_set_or_scale_is_refused(
    value: str, allowed: tuple[str, ...], weights: dict[str, float] | None
) -> None:
    with pytest.raises(ValueError, match=r"allowed|not one of|0\.\.1|finite"):
        CategoricalScore(value, allowed, weights)


@pytest.mark.parametrize(("value", "allowed"), [("a", "abc"), (1, (1, 2)), ("a", ("a", 1))])
def test_words_are_text(value: Any, allowed: Any) -> None:
    with pytest.raises(TypeError, match="words"):
        CategoricalScore(value, allowed)


def test_a_categorical_score_keeps_its_own_copies() -> None:
    allowed, weights = ["bad", "good"], {"good": 1.0}
    score = CategoricalScore("good", allowed, weights)
    allowed.append("excellent")
    weights["good"] = 0.0
    assert score == CategoricalScore("good", ("bad", "good"), {"good": 1.0})
    with pytest.raises(TypeError):
        score.weights["good"] = 0.0  # type: ignore[index]


@given(strategies.scores(), strategies.shares)
def test_conversions_agree(score: Score, threshold: float) -> None:
    if score.normalized is None:
        with pytest.raises(ValueError, match="no weight"):
            to_boolean(score, threshold)
    else:
        assert to_numerical(score) == score.normalized
        assert to_boolean(score, threshold) is (score.normalized >= threshold)


def test_categories_supply_a_weight_only_where_there_is_none() -> None:
    scale = {"bad": 0.0, "good": 0.9, "of another scale": 1.0}
    assert to_numerical(CategoricalScore("good", GRADES), scale) == 0.9
    assert to_numerical(CategoricalScore("good", GRADES, {"good": 0.4}), scale) == 0.4
    with pytest.raises(ValueError, match="no weight"):
        to_numerical(CategoricalScore("fair", GRADES), scale)
    with pytest.raises(ValueError, match=r"0\.\.1"):
        to_numerical(CategoricalScore("good", GRADES), {"good": 7.0})


@given(st.floats() | st.integers(-(10**400), 10**400))
def test_finite_lets_finite_numbers_through_and_nothing_else(value: float) -> None:
    try:
        kept = finite(value, "it")
    except ValueError:
        kept = math.nan
    bounded = -(10**308) <= value <= 10**308
    assert kept == value if bounded else math.isnan(kept) or abs(value) > 10**308
