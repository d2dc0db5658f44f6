"""Recipes: common ways to put judges, strategies and weights together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fakes.opinions import answers, rates, says
from prjury import (
    AverageVoting,
    ConsensusVoting,
    Judgment,
    JudgmentContext,
    Jury,
    MajorityVoting,
    MedianVoting,
    NumericalScore,
    Seat,
    Status,
    VotingStrategy,
    WeightedAverageVoting,
)

PASS, FAIL, ABSTAIN, ERROR = Status
TASK = JudgmentContext("ship the feature")


# Self-consistency: the same judge several times, and the median of what it says.


def test_self_consistency_of_five_runs() -> None:
    unsteady = answers(
        "quality",
        [
            Judgment.passed("rated", score=NumericalScore(mark, 0, 10))
            for mark in (8, 7, 2, 8, 9)  # the third run went astray
        ],
    )
    jury = Jury([unsteady] * 5, MedianVoting(), parallel=False)
    verdict = jury.vote(TASK)
    assert verdict.aggregated.score == NumericalScore(0.8)
    assert list(verdict.by_name) == ["quality", "quality-2", "quality-3", "quality-4", "quality-5"]


# Progressive strictness: a first draft may have flaws, a last one may not.

STRICTNESS: Sequence[VotingStrategy] = (
    MajorityVoting(),
    AverageVoting(),
    WeightedAverageVoting(),
    ConsensusVoting(),
)


def strategy_for(iteration: int) -> VotingStrategy:
    """The first iterations are judged kindly, the fourth and all later ones strictly."""
    return STRICTNESS[min(iteration, len(STRICTNESS)) - 1]


def test_progressive_strictness_by_iteration() -> None:
    bench = [
        Seat(rates("build", 0.9)),
        Seat(rates("tests", 0.6)),
        Seat(rates("security", 0.2), weight=3),
    ]
    statuses = [Jury(bench, strategy_for(n)).vote(TASK).status for n in (1, 2, 3, 4, 5)]
    assert statuses == [PASS, PASS, FAIL, FAIL, FAIL]


# Dynamic weights: what matters depends on where it runs.

SECURITY_WEIGHT = {"production": 0.7, "development": 0.3}


@pytest.mark.parametrize(
    ("environment", "score", "expected"), [("production", 0.3, FAIL), ("development", 0.7, PASS)]
)
def test_dynamic_weights_by_environment(environment: str, score: float, expected: Status) -> None:
    weight = SECURITY_WEIGHT[environment]
    jury = Jury.of(
        WeightedAverageVoting(),
        Seat(says("security", FAIL), weight),
        Seat(says("features", PASS), 1 - weight),
    )
    said = jury.vote(TASK).aggregated
    assert said.status is expected
    assert said.effective_score == pytest.approx(score)


# Production validation: every weight has a reason, written next to it.


@pytest.mark.parametrize(
    ("build", "tests", "docs", "score", "expected"),
    [
        (PASS, PASS, PASS, 1.0, PASS),
        (PASS, PASS, FAIL, 0.8, PASS),
        (PASS, FAIL, FAIL, 0.5, PASS),
        (FAIL, PASS, FAIL, 0.3, FAIL),
        (FAIL, PASS, PASS, 0.5, PASS),  # a build that must pass belongs into a tier before
    ],
)
def test_production_validation(
    build: Status, tests: Status, docs: Status, score: float, expected: Status
) -> None:
    jury = Jury.of(
        WeightedAverageVoting(),
        Seat(says("build", build), 0.5),  # what does not build cannot be deployed at all
        Seat(
            says("tests", tests), 0.3
        ),  # a failing test is a defect that is known before users meet it
        Seat(says("docs", docs), 0.2),  # a gap in the documentation can be closed a day later
        name="production",
    )
    verdict = jury.vote(TASK)
    assert verdict.status is expected
    assert verdict.aggregated.effective_score == pytest.approx(score)
    assert dict(verdict.weights) == {"build": 0.5, "tests": 0.3, "docs": 0.2}


# A deployment jury: the same idea with marks, a stricter threshold and an audit log.


def deployment_jury(build: float, tests: float, security: float, latency: float) -> Jury[object]:
    return Jury.of(
        WeightedAverageVoting(threshold=0.8),
        Seat(rates("build", build), 4),  # without an artefact there is nothing to roll back to
        Seat(rates("tests", tests), 3),  # regressions cost a release, but can be reverted
        Seat(rates("security", security), 2),  # scanned again every night; a finding is rarely new
        Seat(rates("latency", latency), 1),  # watched in production anyway
        name="deployment",
    )


def test_a_deployment_jury_with_documented_weights() -> None:
    verdict = deployment_jury(build=1, tests=1, security=0.5, latency=0.4).vote(TASK)
    assert verdict.status is PASS
    assert verdict.aggregated.reasoning == "weighted mean 0.84 of 4 reaches the threshold 0.80"
    assert [
        f"{ballot.judge} x{ballot.weight:g}: {ballot.judgment.effective_score:g}"
        for ballot in verdict.ballots
    ] == ["build x4: 1", "tests x3: 1", "security x2: 0.5", "latency x1: 0.4"]


def test_the_same_jury_says_no_when_tests_are_flaky() -> None:
    assert deployment_jury(build=1, tests=0.8, security=0.5, latency=0.4).vote(TASK).status is FAIL


# A meta-jury: juries that vote as one judge each.


@pytest.mark.parametrize(("secrets", "expected"), [(PASS, PASS), (FAIL, FAIL)])
def test_a_meta_jury_of_two_juries(secrets: Status, expected: Status) -> None:
    security = Jury.of(
        ConsensusVoting(), says("injection"), says("secrets", secrets), name="security"
    )
    quality = Jury.of(
        MajorityVoting(), says("readable"), says("tested"), says("named", FAIL), name="quality"
    )
    verdict = Jury.of(ConsensusVoting(), security.as_judge(), quality.as_judge()).vote(TASK)
    assert verdict.status is expected
    assert list(verdict.by_name) == ["security", "quality"]
    assert verdict.by_name["quality"].reasoning == "2 of 3 passed"
