from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from prjury.jury.judgment import Judgment, Status
from prjury.jury.library.repeated import (
    AggregationMethod,
    AggregationSelector,
    AverageAggregationStrategy,
    BaseJudgeAggregator,
    MajorityVoteAggregationStrategy,
    MedianAggregationStrategy,
    aggregate_repeated_results,
    build_aggregation_strategy,
)
from prjury.jury.score import BooleanScore, CategoricalScore, NumericalScore

AVERAGE = AverageAggregationStrategy()
MEDIAN = MedianAggregationStrategy()
MAJORITY = MajorityVoteAggregationStrategy()
ALL = (AVERAGE, MEDIAN, MAJORITY)

DOCS = Judgment.abstained("docs only", "not_applicable")
BROKEN = Judgment.errored("no answer\nat all")
VOTE = Judgment.failed("no")
WORD = Judgment.passed("fine", score=CategoricalScore("good", ("good", "bad"), {"good": 1.0}))

HUGE = 1.7e308


def scored(score: float, reasoning: str = "as given") -> Judgment:
    bounds = (min(score, 0.0), max(score, 1.0))
    return Judgment.passed(reasoning, score=NumericalScore(score, *bounds))


def outputs(*scores: float) -> list[Judgment]:
    return [scored(score, f"output {place}") for place, score in enumerate(scores)]


def told(judgment: Judgment) -> Any:
    return judgment.metadata["repeated"]


# Which one represents, and what for.


@pytest.mark.parametrize(
    ("scores", "place", "mean"),
    [
        ([1, 4, 3], 2, 8 / 3),
        ([2, 4], 0, 3.0),
        ([4, 2], 0, 3.0),
        ([5], 0, 5.0),
        ([0.2, 0.4, 0.9], 1, 0.5),
        ([0.7, 0.7, 0.7], 0, 0.7),
        ([0.1, 0.2, 0.3, 0.4], 1, 0.25),
        ([0.4, 0.3, 0.2, 0.1], 1, 0.25),
        ([-4, -1, -1], 1, -2.0),
        ([HUGE, HUGE, HUGE, -HUGE], 0, HUGE / 2),
        ([HUGE, HUGE], 0, HUGE),
        ([5e-324, 5e-324, 1e-323], 0, 5e-324),
        ([2**53, 2**53 + 1, 2**53 + 2], 1, float(2**53 + 1)),
        ([1.0, -0.0, 0.0, -1.0], 1, 0.0),
    ],
)
def test_the_average_is_the_result_nearest_the_mean(
    scores: list[float], place: int, mean: float
) -> None:
    said = AVERAGE.aggregate(outputs(*scores), len(scores))
    assert (said.reasoning, told(said)["representative"]) == (f"output {place}", place)
    assert told(said)["aggregate"] == mean


@pytest.mark.parametrize(
    ("scores", "place"),
    [
        ([9, 8, 2], 1),
        ([1, 4, 2, 3], 3),
        ([0.3, 0.7], 1),
        ([0.7, 0.3], 0),
        ([5], 0),
        ([3, 3, 3], 0),
        ([1, 5, 5, 9], 1),
        ([3, 1, 3.0, 1], 0),
        ([HUGE, -HUGE, 0, 1], 3),
    ],
)
def test_the_median_is_an_observed_score_and_the_upper_of_two(
    scores: list[float], place: int
) -> None:
    said = MEDIAN.aggregate(outputs(*scores), len(scores))
    assert (said.reasoning, told(said)["representative"]) == (f"output {place}", place)
    assert told(said)["aggregate"] == scores[place]


@pytest.mark.parametrize(
    ("scores", "place", "tied"),
    [
        ([1, 3, 3], 1, False),
        ([3, 1, 3], 0, False),
        ([9, 9, 1, 2, 3], 0, False),
        ([2, 2, 2], 0, False),
        ([5], 0, False),
        ([1, 3, 3, 1], 1, True),
        ([5, 1, 3], 2, True),
        ([1, 1, 9, 9, 4], 4, True),
        ([1, 1, 8, 9, 9, 5], 2, True),
        ([3, 3.0, 1], 0, False),
        ([0.1 + 0.2, 0.3, 0.3], 1, False),
        ([-0.0, 0.0, 1.0], 0, False),
    ],
)
def test_the_majority_is_the_most_frequent_score_or_the_median(
    scores: list[float], place: int, tied: bool
) -> None:
    said = MAJORITY.aggregate(outputs(*scores), len(scores))
    assert (said.reasoning, told(said)["representative"]) == (f"output {place}", place)
    assert (told(said)["aggregate"], told(said)["tied"]) == (scores[place], tied)


# What the representative tells.


def test_what_a_result_stood_for_already_is_kept() -> None:
    inner = MAJORITY.aggregate(outputs(1, 1, 2), 3)
    said = AVERAGE.aggregate([inner], 1)
    assert told(said)["strategy"] == "average"
    assert told(said)["inner"] == told(inner)


# What is refused.


@pytest.mark.parametrize(
    ("results", "total", "words"),
    [
        ([], 0, "there are no results to aggregate"),
        ([], 3, "there are no results to aggregate"),
        ([BROKEN], 1, "none of 1 results has a numeric score; the first: no answer"),
        ([DOCS, BROKEN], 2, "none of 2 results has a numeric score; the first: no answer"),
        ([DOCS, VOTE], 2, "none of 2 results has a numeric score; the first: abstain: docs only"),
        ([scored(1), WORD], 2, "result 1 has the score 'good', which is a word and not a number"),
        ([WORD], 1, "result 0 has the score 'good', which is a word and not a number"),
        ([scored(1), scored(2)], 1, "2 results cannot come from 1 judges"),
        ([scored(1)], 0, "1 results cannot come from 0 judges"),
        ([scored(1)], -1, "1 results cannot come from -1 judges"),
        ([], -1, "0 results cannot come from -1 judges"),
    ],
)
def test_results_that_cannot_be_aggregated(results: list[Judgment], total: int, words: str) -> None:
    for strategy in ALL:
        with pytest.raises(ValueError, match=r"\S") as refusal:
            strategy.aggregate(results, total)
        assert str(refusal.value) == words
    with pytest.raises(ValueError, match=r"\S") as refusal:
        aggregate_repeated_results(results, total)
    assert str(refusal.value) == words


@pytest.mark.parametrize("total", [True, 3.0, "3", None])
def test_the_number_of_judges_is_a_whole_one(total: Any) -> None:
    with pytest.raises(TypeError) as refusal:
        aggregate_repeated_results([scored(1)], total)
    assert str(refusal.value) == f"total_judges is a whole number, not {total!r}"


@pytest.mark.parametrize("result", [0.5, None, "pass", Status.PASS])
def test_results_are_judgments(result: Any) -> None:
    with pytest.raises(TypeError) as refusal:
        AVERAGE.aggregate([scored(1), result], 2)
    assert str(refusal.value) == f"a result is a Judgment, not {result!r}"


# How a strategy is named.


@pytest.mark.parametrize(
    ("selector", "strategy"),
    [
        ("average", AVERAGE),
        ("median", MEDIAN),
        ("majority_vote", MAJORITY),
        (AggregationMethod.AVERAGE, AVERAGE),
        (AggregationMethod.MEDIAN, MEDIAN),
        (AggregationMethod.MAJORITY_VOTE, MAJORITY),
    ],
)
def test_a_strategy_by_its_name(
    selector: AggregationSelector, strategy: BaseJudgeAggregator
) -> None:
    built = build_aggregation_strategy(selector)
    assert built == strategy
    assert type(built) is type(strategy)
    assert built.strategy is AggregationMethod(str(selector))


class Lowest(BaseJudgeAggregator):
    """A strategy of one's own."""

    strategy = "lowest"

    def aggregate(self, results: Sequence[Judgment], total_judges: int) -> Judgment:
        found = self.aggregate_repeated_results(results, total_judges)
        lowest = min(found.scores)
        return found.represent(found.scores.index(lowest), lowest, self.strategy, why="mine")


@pytest.mark.parametrize("strategy", [*ALL, Lowest()])
def test_a_strategy_stands_for_itself(strategy: BaseJudgeAggregator) -> None:
    assert build_aggregation_strategy(strategy) is strategy


@pytest.mark.parametrize("name", ["mode", "", "Average", "majority-vote"])
def test_unknown_names(name: str) -> None:
    with pytest.raises(ValueError, match=r"\S") as refusal:
        build_aggregation_strategy(name)
    known = "average, median, majority_vote"
    assert str(refusal.value) == f"aggregation {name!r} is none of {known}"


@pytest.mark.parametrize("selector", [None, 1, True, ["median"], MedianAggregationStrategy])
def test_selectors_of_the_wrong_type(selector: Any) -> None:
    with pytest.raises(TypeError) as refusal:
        build_aggregation_strategy(selector)
    assert str(refusal.value) == (
        "an aggregation is one of average, median, majority_vote or a BaseJudgeAggregator, "
        f"not {selector!r}"
    )


def test_a_strategy_needs_both_its_parts() -> None:
    with pytest.raises(TypeError, match="abstract"):
        BaseJudgeAggregator()  # type: ignore[abstract]


# What always holds.

numbers = (
    st.integers(-3, 3)
    | st.sampled_from([0.1, 0.2, 0.3, 0.7, 0.1 + 0.2])
    | st.floats(-1e308, 1e308)
    | st.integers(-(10**300), 10**300)
)
number_scores = numbers.map(lambda number: scored(number).score)
yes_or_no = st.sampled_from([BooleanScore.PASS, BooleanScore.FAIL])


@st.composite
def counted(draw: st.DrawFn, *, evidence: bool) -> Judgment:
    said = draw(strategies.judgments(strategies.VOTES, evidence=evidence))
    return replace(said, score=draw(number_scores | yes_or_no))


@st.composite
def runs(draw: st.DrawFn, *, evidence: bool = False) -> list[Judgment]:
    """Results of which at least one counts."""
    votes = strategies.judgments(strategies.VOTES, evidence=evidence)
    unscored = votes.map(lambda said: replace(said, score=None))
    silent = strategies.judgments(strategies.SILENT, evidence=evidence) | unscored
    valid = draw(st.lists(counted(evidence=evidence), min_size=1, max_size=6))
    return draw(st.permutations([*valid, *draw(st.lists(silent, max_size=3))]))


def raw(judgment: Judgment) -> Fraction | None:
    match judgment.score:
        case NumericalScore(value=float(value)):
            return Fraction(str(value))
        case NumericalScore() | BooleanScore():
            return Fraction(judgment.score.value)
    return None


methods = st.sampled_from(ALL)


@given(runs(evidence=True), methods)
def test_the_representative_is_one_of_the_results(
    results: list[Judgment], strategy: BaseJudgeAggregator
) -> None:
    said = strategy.aggregate(results, len(results))
    chosen = results[told(said)["representative"]]
    assert replace(said, metadata=chosen.metadata) == chosen
    rest = {key: value for key, value in said.metadata.items() if key != "repeated"}
    assert rest == {key: value for key, value in chosen.metadata.items() if key != "repeated"}


@given(runs(), methods, st.integers(0, 5))
def test_every_result_is_accounted_for(
    results: list[Judgment], strategy: BaseJudgeAggregator, missing: int
) -> None:
    evidence = told(strategy.aggregate(results, len(results) + missing))
    places = list(evidence["valid_indices"])
    assert places == sorted(set(places))
    assert set(places) <= set(range(len(results)))
    assert places == [place for place, result in enumerate(results) if raw(result) is not None]
    assert evidence["representative"] in places
    assert len(places) + len(evidence["errors"]) + len(evidence["unscored"]) == len(results)
    assert evidence["total_judges"] == len(results) + missing


@given(st.data(), methods)
def test_the_order_of_the_results_does_not_change_the_aggregate(
    data: st.DataObject, strategy: BaseJudgeAggregator
) -> None:
    results = data.draw(runs())
    shuffled = data.draw(st.permutations(results))
    before = strategy.aggregate(results, len(results))
    after = strategy.aggregate(shuffled, len(results))
    assert told(before)["aggregate"] == told(after)["aggregate"]
    if strategy != AVERAGE:
        assert raw(before) == raw(after)


@given(runs())
def test_no_result_is_nearer_the_mean_and_none_as_near_is_earlier(results: list[Judgment]) -> None:
    said = AVERAGE.aggregate(results, len(results))
    values = [value for value in map(raw, results) if value is not None]
    mean = Fraction(sum(values), len(values))
    assert told(said)["aggregate"] == float(mean)
    assert math.isfinite(told(said)["aggregate"])
    chosen = told(said)["representative"]
    for place, result in enumerate(results):
        value, own = raw(result), raw(said)
        if value is not None and own is not None:
            assert abs(value - mean) >= abs(own - mean)
            assert place >= chosen or abs(value - mean) > abs(own - mean)


@given(runs())
def test_at_least_half_lies_on_each_side_of_the_median(results: list[Judgment]) -> None:
    said = MEDIAN.aggregate(results, len(results))
    values = [value for value in map(raw, results) if value is not None]
    own = raw(said)
    assert own is not None
    below = sum(value < own for value in values)
    above = sum(value > own for value in values)
    assert 2 * below <= len(values)
    assert 2 * above < len(values)
    assert told(said)["representative"] == list(map(raw, results)).index(own)


@given(runs())
def test_a_clear_mode_wins_and_a_tie_is_the_medians(results: list[Judgment]) -> None:
    said = MAJORITY.aggregate(results, len(results))
    values = [value for value in map(raw, results) if value is not None]
    (mode, count), *others = Counter(values).most_common()
    tied = any(number == count for _, number in others)
    assert told(said)["tied"] is tied
    if tied:
        median = MEDIAN.aggregate(results, len(results))
        assert replace(said, metadata={}) == replace(median, metadata={})
        assert told(said)["aggregate"] == told(median)["aggregate"]
    else:
        assert told(said)["representative"] == list(map(raw, results)).index(mode)
