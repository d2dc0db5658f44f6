"""One judge that wavers, asked several times, and the answer that stands for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fakes.opinions import answers
from prjury import (
    AggregationMethod,
    AggregationSelector,
    BaseJudgeAggregator,
    ConsensusVoting,
    Judgment,
    JudgmentContext,
    Jury,
    MedianAggregationStrategy,
    NumericalScore,
    RepeatedJudge,
    Status,
    build_aggregation_strategy,
)

TASK = JudgmentContext("rate the documentation")


def rated(*marks: float) -> list[Judgment]:
    """Answers of a judge that gives marks out of ten, each with a reason of its own."""
    return [
        Judgment.passed(f"answer {place}: {mark} of 10", score=NumericalScore(mark, 0, 10))
        for place, mark in enumerate(marks, start=1)
    ]


@pytest.mark.parametrize(
    ("aggregation", "representative", "aggregate"),
    [
        ("average", "answer 5: 6 of 10", 6.2),  # the real answer nearest the mean
        ("median", "answer 1: 7 of 10", 7),
        ("majority_vote", "answer 2: 8 of 10", 8),  # the earliest of the most frequent
    ],
)
def test_five_runs_of_one_judge(aggregation: str, representative: str, aggregate: float) -> None:
    quality = answers("quality", rated(7, 8, 2, 8, 6))
    said = RepeatedJudge(quality, 5, aggregation).judge(TASK)
    assert said.reasoning == representative
    assert said.metadata["repeated"]["aggregate"] == aggregate


@pytest.mark.parametrize(
    "aggregation", ["median", AggregationMethod.MEDIAN, MedianAggregationStrategy()]
)
def test_a_strategy_is_chosen_by_word_enum_or_object(aggregation: AggregationSelector) -> None:
    strategy = build_aggregation_strategy(aggregation)
    said = strategy.aggregate(rated(6, 8), total_judges=2)
    assert said.reasoning == "answer 2: 8 of 10"  # of an even number, the upper of the middle two


@pytest.mark.parametrize(
    ("aggregation", "refusal"), [("mode", ValueError), (MedianAggregationStrategy, TypeError)]
)
def test_what_is_no_strategy_is_refused(aggregation: str, refusal: type[Exception]) -> None:
    with pytest.raises(refusal, match="average, median, majority_vote"):
        build_aggregation_strategy(aggregation)


def test_runs_that_erred_are_told_and_do_not_count() -> None:
    runs = [Judgment.errored("the provider is overloaded"), *rated(8, 9)]
    said = RepeatedJudge(answers("quality", runs), 3, "median").judge(TASK)
    assert said.score == NumericalScore(9, 0, 10)
    assert said.metadata["repeated"]["valid_indices"] == (1, 2)
    assert said.metadata["repeated"]["errors"] == ("the provider is overloaded",)


class Lowest(BaseJudgeAggregator):
    """The worst answer stands for all."""

    strategy = "lowest"

    def aggregate(self, results: Sequence[Judgment], total_judges: int) -> Judgment:
        found = self.aggregate_repeated_results(results, total_judges)
        lowest = min(found.scores)
        return found.represent(found.scores.index(lowest), lowest, self.strategy)


def test_a_strategy_of_your_own() -> None:
    said = RepeatedJudge(answers("quality", rated(7, 3, 8)), 3, Lowest()).judge(TASK)
    assert said.reasoning == "answer 2: 3 of 10"
    assert said.metadata["repeated"]["strategy"] == "lowest"


def test_a_repeated_judge_is_a_judge_like_any_other() -> None:
    steady = RepeatedJudge(answers("quality", rated(7, 8, 9)), 3, "median")
    verdict = Jury.of(ConsensusVoting(), steady).vote(TASK)
    assert verdict.status is Status.PASS
    assert verdict.by_name["quality"].reasoning == "answer 2: 8 of 10"
