"""Five ways to count votes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fakes.opinions import rates, says
from prjury import (
    AverageVoting,
    BooleanScore,
    CategoricalScore,
    ConsensusVoting,
    ErrorPolicy,
    Judgment,
    JudgmentContext,
    Jury,
    MajorityVoting,
    MedianVoting,
    NumericalScore,
    Score,
    Seat,
    Status,
    TiePolicy,
    VotingStrategy,
    WeightedAverageVoting,
    named,
    to_boolean,
    to_numerical,
)

PASS, FAIL, ABSTAIN, ERROR = Status
TASK = JudgmentContext("build the feature")


def vote(voting: VotingStrategy, *statuses: Status) -> Status:
    jury = Jury.of(voting, *(says(f"judge {n}", said) for n, said in enumerate(statuses)))
    return jury.vote(TASK).status


def marks(voting: VotingStrategy, *values: float, best: float = 1.0) -> Judgment:
    jury = Jury.of(voting, *(rates(f"judge {n}", value, best) for n, value in enumerate(values)))
    return jury.vote(TASK).aggregated


def test_majority_of_build_files_and_quality() -> None:
    jury = Jury.of(MajorityVoting(), says("build"), says("files"), says("quality", FAIL))
    verdict = jury.vote(TASK)
    assert verdict.status is PASS
    assert verdict.aggregated.reasoning == "2 of 3 passed"
    assert {name: said.status for name, said in verdict.by_name.items()} == {
        "build": PASS,
        "files": PASS,
        "quality": FAIL,
    }


@pytest.mark.parametrize(
    ("tie", "expected"),
    [(TiePolicy.PASS, PASS), (TiePolicy.FAIL, FAIL), (TiePolicy.ABSTAIN, ABSTAIN)],
)
def test_a_tie_follows_the_tie_policy(tie: TiePolicy, expected: Status) -> None:
    assert vote(MajorityVoting(tie), PASS, FAIL) is expected


@pytest.mark.parametrize(
    ("on_error", "expected"),
    [
        (ErrorPolicy.TREAT_AS_FAIL, FAIL),  # one of two passed: a tie
        (ErrorPolicy.TREAT_AS_ABSTAIN, PASS),  # one of one passed
        (ErrorPolicy.IGNORE, PASS),
        (ErrorPolicy.PROPAGATE, ERROR),  # somebody could not judge, so nobody does
    ],
)
def test_an_error_follows_the_error_policy(on_error: ErrorPolicy, expected: Status) -> None:
    assert vote(MajorityVoting(on_error=on_error), PASS, ERROR) is expected


@pytest.mark.parametrize(
    ("voting", "tied", "erring"),
    [
        pytest.param(MajorityVoting(), FAIL, FAIL, id="default"),
        pytest.param(
            MajorityVoting(TiePolicy.PASS, ErrorPolicy.IGNORE), PASS, PASS, id="optimistic"
        ),
        pytest.param(
            MajorityVoting(TiePolicy.ABSTAIN, ErrorPolicy.TREAT_AS_ABSTAIN),
            ABSTAIN,
            PASS,
            id="neutral",
        ),
    ],
)
def test_default_optimistic_and_neutral(
    voting: VotingStrategy, tied: Status, erring: Status
) -> None:
    assert vote(voting, PASS, FAIL) is tied
    assert vote(voting, PASS, ERROR) is erring


def test_who_abstains_does_not_count() -> None:
    assert vote(MajorityVoting(), PASS, ABSTAIN, ABSTAIN) is PASS
    assert vote(MajorityVoting(), ABSTAIN, ABSTAIN) is ABSTAIN


def test_average_of_marks_out_of_ten() -> None:
    said = marks(AverageVoting(), 8, 7, 6, best=10)
    assert said.status is PASS
    assert said.score == NumericalScore(0.7)


def test_a_stricter_average() -> None:
    assert marks(AverageVoting(threshold=0.8), 8, 7, 6, best=10).status is FAIL


def test_in_the_undecided_band_nobody_decides() -> None:
    said = marks(AverageVoting(undecided=(0.45, 0.55)), 0.5, 0.5)
    assert said.status is ABSTAIN
    assert said.reasoning == "mean 0.50 of 2 lies in the undecided band 0.45 to 0.55"


@pytest.mark.parametrize("weights", [(0.5, 0.3, 0.2), (5, 3, 2)])
def test_weights_need_not_sum_to_one(weights: Sequence[float]) -> None:
    correct, fast, tidy = weights
    jury = Jury.of(
        WeightedAverageVoting(),
        Seat(rates("correct", 1.0), correct),
        Seat(rates("fast", 0.8), fast),
        Seat(rates("tidy", 0.6), tidy),
    )
    assert jury.vote(TASK).aggregated.score == NumericalScore(0.86)


@pytest.mark.parametrize(
    ("values", "median"),
    [
        pytest.param((0.2, 0.8, 0.9), 0.8, id="odd"),
        pytest.param((0.3, 0.7, 0.8, 0.9), 0.75, id="even: the mean of the middle pair"),
    ],
)
def test_median(values: Sequence[float], median: float) -> None:
    assert marks(MedianVoting(), *values).score == NumericalScore(median)


def test_the_median_shrugs_off_what_drags_the_mean_down() -> None:
    assert marks(AverageVoting(), 9, 8, 2, best=10).effective_score == pytest.approx(
        0.633, abs=0.001
    )
    assert marks(MedianVoting(), 9, 8, 2, best=10).effective_score == 0.8


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        pytest.param((PASS, PASS, PASS), PASS, id="all pass"),
        pytest.param((FAIL, FAIL, FAIL), FAIL, id="all fail"),
        pytest.param((PASS, PASS, FAIL), FAIL, id="one against"),
        pytest.param((PASS, FAIL, FAIL), FAIL, id="one in favour"),
    ],
)
def test_consensus_of_three(statuses: Sequence[Status], expected: Status) -> None:
    assert vote(ConsensusVoting(), *statuses) is expected


def test_a_disagreement_may_be_handed_to_a_person() -> None:
    assert vote(ConsensusVoting(on_disagreement=ABSTAIN), PASS, PASS, FAIL) is ABSTAIN


@pytest.mark.parametrize(
    ("score", "number"),
    [
        (BooleanScore.PASS, 1.0),
        (BooleanScore.FAIL, 0.0),
        (NumericalScore(8, 0, 10), 0.8),
        (NumericalScore(3.5, 0, 5), 0.7),
        (CategoricalScore("B", ("A", "B", "C"), {"A": 1.0, "B": 0.8, "C": 0.5}), 0.8),
    ],
)
def test_scores_are_converted(score: Score, number: float) -> None:
    assert to_numerical(score) == number
    assert to_boolean(score) is (number >= 0.5)


def test_a_word_without_a_weight_gets_one_when_it_is_converted() -> None:
    grade = CategoricalScore("B", ("A", "B", "C"))
    assert to_numerical(grade, {"A": 1.0, "B": 0.8}) == 0.8


def test_everything_that_was_said_can_be_logged() -> None:
    jury = Jury.of(AverageVoting(), rates("speed", 0.9), named(says("style", FAIL), "taste"))
    verdict = jury.vote(TASK)
    assert verdict.aggregated.metadata["aggregation"]["strategy"] == "average"
    assert verdict.aggregated.reasoning == "mean 0.45 of 2 is below the threshold 0.50"
    assert [
        f"{name}: {said.status} {said.effective_score}" for name, said in verdict.by_name.items()
    ] == ["speed: pass 0.9", "taste: fail 0.0"]
