from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from fakes.refusals import refused
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


# The normalised value.


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
        (NumericalScore(15, 10, 20), 0.5),
        (CategoricalScore("fair", GRADES, {"bad": 0.0, "fair": 0.6, "good": 1.0}), 0.6),
        (CategoricalScore("fair", GRADES), None),
        (CategoricalScore("fair", GRADES, {}), None),
        (CategoricalScore("fair", GRADES, {"good": 1.0}), None),
    ],
)
def test_normalized(score: Score, normalized: float | None) -> None:
    assert score.normalized == normalized


@given(strategies.scores())
def test_a_normalized_score_lies_between_zero_and_one(score: Score) -> None:
    assert score.normalized is None or 0.0 <= score.normalized <= 1.0


# What is a score.


@given(strategies.scores())
def test_a_score_is_a_value(score: Score) -> None:
    for twin in (copy.deepcopy(score), pickle.loads(pickle.dumps(score))):  # noqa: S301 - our own
        assert twin == score
        assert hash(twin) == hash(score)


def test_there_are_two_boolean_scores() -> None:
    assert (BooleanScore.PASS.value, BooleanScore.FAIL.value) == (True, False)


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, -0.0])
def test_bounds_belong_to_the_scale(value: float) -> None:
    assert NumericalScore(value).value == value
    assert CategoricalScore("good", GRADES, {"good": value}).normalized == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", ["value", "minimum", "maximum"])
def test_a_number_that_is_not_finite_is_refused(field: str, value: float) -> None:
    with refused(ValueError, f"a numerical score's {field} must be finite, not {value}"):
        NumericalScore(**{"value": 0.5, field: value})


@pytest.mark.parametrize("value", [10**400, -(10**400)])
@pytest.mark.parametrize("field", ["value", "minimum", "maximum"])
def test_an_integer_beyond_all_floats_is_refused(field: str, value: int) -> None:
    too_large = f"a numerical score's {field} is larger than any number that can be counted with"
    with refused(ValueError, too_large):
        NumericalScore(**{"value": 0.5, field: value})


@pytest.mark.parametrize("value", [True, False, "0.5", None, 1j])
def test_a_number_is_a_number(value: Any) -> None:
    with refused(TypeError, f"a numerical score's value must be a number, not {value!r}"):
        NumericalScore(value)


@pytest.mark.parametrize(
    ("score", "words"),
    [
        ((1.1, 0, 1), "score 1.1 is outside 0..1"),
        ((-0.1, 0, 1), "score -0.1 is outside 0..1"),
        ((11, 0, 10), "score 11 is outside 0..10"),
        ((1, 1, 1), "minimum 1 is not below maximum 1"),
        ((1, 2, 0), "minimum 2 is not below maximum 0"),
        ((0.0, -1e308, 1e308), "a numerical score's range must be finite, not inf"),
    ],
)
def test_bounds_hold(score: tuple[float, float, float], words: str) -> None:
    with refused(ValueError, words):
        NumericalScore(*score)


@pytest.mark.parametrize("value", [1, 0, None, "yes"])
def test_a_boolean_score_is_a_bool(value: Any) -> None:
    with refused(TypeError, f"a boolean score is True or False, not {value!r}"):
        BooleanScore(value)


@pytest.mark.parametrize(
    ("value", "allowed", "weights", "words"),
    [
        ("mediocre", GRADES, None, "'mediocre' is not one of bad, fair, good"),
        ("good", (), None, "the allowed words must be distinct and at least one: ()"),
        (
            "good",
            ("good", "good"),
            None,
            "the allowed words must be distinct and at least one: ('good', 'good')",
        ),
        (
            "good",
            GRADES,
            {"mediocre": 0.5},
            "weight for 'mediocre', which is not one of the allowed words",
        ),
        ("good", GRADES, {"good": 1.5}, "the weight of 'good' must be in 0..1, not 1.5"),
        ("good", GRADES, {"bad": -0.5}, "the weight of 'bad' must be in 0..1, not -0.5"),
        ("good", GRADES, {"good": math.nan}, "the weight of 'good' must be finite, not nan"),
    ],
)
def test_a_word_outside_its_set_or_scale_is_refused(
    value: str, allowed: tuple[str, ...], weights: dict[str, float] | None, words: str
) -> None:
    with refused(ValueError, words):
        CategoricalScore(value, allowed, weights)


@pytest.mark.parametrize(
    ("value", "allowed", "weights", "words"),
    [
        ("a", "abc", None, "allowed is a sequence of words, not one string"),
        (1, (1, 2), None, "the words of a categorical score are text: (1, 2)"),
        ("a", ("a", 1), None, "the words of a categorical score are text: ('a', 1)"),
        (1, ("a", "b"), None, "the words of a categorical score are text: ('a', 'b')"),
        ("a", ["a"], {"a": True}, "the weight of 'a' must be a number, not True"),
    ],
)
def test_words_are_text_and_weights_are_numbers(
    value: Any, allowed: Any, weights: Any, words: str
) -> None:
    with refused(TypeError, words):
        CategoricalScore(value, allowed, weights)


# Conversions.


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
    with refused(ValueError, "'fair' has no weight, so it has no numerical value"):
        to_numerical(CategoricalScore("fair", GRADES), scale)
    with refused(ValueError, "'fair' has no weight, so it has no numerical value"):
        to_numerical(CategoricalScore("fair", GRADES))
    with refused(ValueError, "the weight of 'good' must be in 0..1, not 7.0"):
        to_numerical(CategoricalScore("good", GRADES), {"good": 7.0})


@given(st.floats() | st.integers(-(10**400), 10**400))
def test_finite_lets_finite_numbers_through_and_nothing_else(value: float) -> None:
    try:
        kept = finite(value, "it")
    except ValueError:
        kept = math.nan
    bounded = -(10**308) <= value <= 10**308
    assert kept == value if bounded else math.isnan(kept) or abs(value) > 10**308
