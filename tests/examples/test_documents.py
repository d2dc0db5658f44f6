"""The examples that the voting strategies are explained with, as programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from prjury import (
    AverageVoting,
    Ballot,
    BooleanScore,
    CascadedJury,
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
    Tier,
    TierPolicy,
    Verdict,
    VotingStrategy,
    WeightedAverageVoting,
    judge,
    named,
    to_boolean,
    to_numerical,
)

PASS, FAIL, ABSTAIN, ERROR = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR
OPTIMISTIC = MajorityVoting(TiePolicy.PASS, ErrorPolicy.IGNORE)
NEUTRAL = MajorityVoting(TiePolicy.ABSTAIN, ErrorPolicy.TREAT_AS_ABSTAIN)


def says(name: str, status: Status = PASS, score: Score | None = None) -> Any:
    """A judge with a fixed opinion."""
    return judge(name=name)(lambda _: Judgment(status, f"{name} says {status}", score))


def rates(name: str, value: float, best: float = 1.0) -> Any:
    """A judge that gives marks."""
    return says(name, PASS, NumericalScore(value, 0, best))


def opinion(voting: VotingStrategy, *statuses: Status) -> Status:
    ballots = [Ballot(f"judge{n}", Judgment(said, "-")) for n, said in enumerate(statuses)]
    return voting.aggregate(ballots).status


def marks(voting: VotingStrategy, *values: float, best: float = 1.0) -> Judgment:
    jury = Jury.of(voting, *(rates(f"judge{n}", value, best) for n, value in enumerate(values)))
    return jury.vote(JudgmentContext("rate it")).aggregated


@pytest.mark.parametrize(
    ("score", "number"),
    [
        (BooleanScore(value=True), 1.0),
        (BooleanScore(value=False), 0.0),
        (NumericalScore(8, 0, 10), 0.8),
        (NumericalScore(3.5, 0, 5), 0.7),
        (CategoricalScore("B", ("A", "B", "C"), {"A": 1.0, "B": 0.8, "C": 0.5}), 0.8),
    ],
)
def test_scores_are_converted(score: Score, number: float) -> None:
    assert to_numerical(score) == number
    assert to_boolean(score) is (number >= 0.5)


def test_majority_of_build_files_and_quality() -> None:
    jury = Jury.of(MajorityVoting(), says("build"), says("files"), says("quality", FAIL))
    verdict = jury.vote(JudgmentContext("build the feature"))
    assert verdict.aggregated.status is PASS
    assert {name: said.status for name, said in verdict.by_name.items()} == {
        "build": PASS,
        "files": PASS,
        "quality": FAIL,
    }


@pytest.mark.parametrize(
    ("voting", "tie", "error"),
    [(MajorityVoting(), FAIL, FAIL), (OPTIMISTIC, PASS, PASS), (NEUTRAL, ABSTAIN, PASS)],
    ids=["default", "optimistic", "neutral"],
)
def test_ties_and_errors(voting: VotingStrategy, tie: Status, error: Status) -> None:
    assert opinion(voting, PASS, FAIL) is tie
    assert opinion(voting, PASS, ERROR) is error


@pytest.mark.parametrize(("broken", "expected"), [(0, PASS), (1, PASS), (2, FAIL), (3, FAIL)])
def test_a_deployment_gate_of_commands(tmp_path: Path, broken: int, expected: Status) -> None:
    def command(name: str, exit_code: int) -> Any:
        @judge(name=name)
        def run(context: JudgmentContext) -> Judgment:
            program = f"raise SystemExit({exit_code})"
            argv = [sys.executable, "-c", program]
            done = subprocess.run(argv, cwd=context.workspace, check=False)
            told = f"exit code {done.returncode}"
            return Judgment.failed(told) if done.returncode else Judgment.passed(told)

        return run

    names = ("build", "tests", "security")
    commands = [command(name, 3 if place < broken else 0) for place, name in enumerate(names)]
    verdict = Jury.of(MajorityVoting(), *commands).vote(JudgmentContext("deploy", tmp_path))
    assert verdict.aggregated.status is expected
    assert [said.reasoning for said in verdict.individual].count("exit code 3") == broken


def test_average() -> None:
    said = marks(AverageVoting(), 8, 7, 6, best=10)
    assert said.status is PASS
    assert said.effective_score == pytest.approx(0.70)


@pytest.mark.parametrize("weights", [(0.5, 0.3, 0.2), (5, 3, 2)])
def test_weighted_average(weights: Sequence[float]) -> None:
    judges = [rates("correct", 1.0), rates("fast", 0.8), rates("tidy", 0.6)]
    seats = [Seat(one, weight) for one, weight in zip(judges, weights, strict=True)]
    said = Jury.of(WeightedAverageVoting(), *seats).vote(JudgmentContext("rate it")).aggregated
    assert said.status is PASS
    assert said.effective_score == pytest.approx(0.86)


@pytest.mark.parametrize(
    ("build", "tests", "docs", "expected"),
    [(PASS, PASS, FAIL, PASS), (PASS, FAIL, FAIL, PASS), (FAIL, PASS, FAIL, FAIL)],
)
def test_production_validation(
    build: Status, tests: Status, docs: Status, expected: Status
) -> None:
    jury = Jury.of(
        WeightedAverageVoting(),
        Seat(says("build", build), 0.5),  # nothing can be deployed that does not build
        Seat(says("tests", tests), 0.3),  # a failing test is a known defect
        Seat(says("docs", docs), 0.2),  # a gap in the documentation can wait a day
        name="production",
    )
    verdict = jury.vote(JudgmentContext("release 2.0"))
    assert verdict.aggregated.status is expected
    assert dict(verdict.weights) == {"build": 0.5, "tests": 0.3, "docs": 0.2}


@pytest.mark.parametrize(
    ("values", "best", "median"),
    [((9, 8, 2), 10, 0.8), ((0.2, 0.8, 0.9), 1, 0.8), ((0.3, 0.7, 0.8, 0.9), 1, 0.75)],
)
def test_median(values: Sequence[float], best: float, median: float) -> None:
    said = marks(MedianVoting(), *values, best=best)
    assert said.status is PASS
    assert said.effective_score == pytest.approx(median)


def test_the_median_shrugs_off_what_drags_the_mean_down() -> None:
    assert marks(AverageVoting(), 9, 8, 2, best=10).effective_score == pytest.approx(0.63, abs=0.01)
    assert marks(MedianVoting(), 9, 8, 2, best=10).effective_score == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((PASS, PASS, PASS), PASS),
        ((FAIL, FAIL, FAIL), FAIL),
        ((PASS, PASS, FAIL), FAIL),
        ((PASS, FAIL, FAIL), FAIL),
    ],
)
def test_consensus_of_three(statuses: Sequence[Status], expected: Status) -> None:
    assert opinion(ConsensusVoting(), *statuses) is expected


@pytest.mark.parametrize(
    "aspects", [("SQL injection", "XSS", "CSRF", "secrets"), ("GDPR", "HIPAA", "SOX")]
)
def test_gates_that_take_every_aspect(aspects: Sequence[str]) -> None:
    def gate(found: str | None) -> Status:
        judges = [says(aspect, FAIL if aspect == found else PASS) for aspect in aspects]
        return Jury.of(ConsensusVoting(), *judges).vote(JudgmentContext("check")).aggregated.status

    assert gate(None) is PASS
    assert [gate(aspect) for aspect in aspects] == [FAIL] * len(aspects)


def layered(secrets: Status, quality: float) -> Verdict:
    """Security by consensus first, then quality by weight."""
    security = Jury.of(ConsensusVoting(), says("injection"), says("secrets", secrets))
    weighed = Seat(rates("readable", quality), 0.6), Seat(rates("tested", quality), 0.4)
    tiers = [
        Tier("security", security, TierPolicy.REJECT_ON_ANY_FAIL),
        Tier("quality", Jury.of(WeightedAverageVoting(), *weighed), TierPolicy.FINAL_TIER),
    ]
    return CascadedJury(tiers).vote(JudgmentContext("review it"))


@pytest.mark.parametrize(
    ("secrets", "quality", "expected", "decided_by"),
    [
        (PASS, 0.8, PASS, "quality"),
        (PASS, 0.3, FAIL, "quality"),
        (FAIL, 0.8, FAIL, "security"),
    ],
)
def test_security_comes_before_quality(
    secrets: Status, quality: float, expected: Status, decided_by: str
) -> None:
    verdict = layered(secrets, quality)
    assert (verdict.status, verdict.decided_by) == (expected, decided_by)
    assert verdict.attempts[1].ran is (secrets is PASS)


def test_self_consistency() -> None:
    answers = iter([0.9, 0.2, 0.8])

    @judge(name="quality")
    def unsteady(context: JudgmentContext) -> Judgment:
        return Judgment.passed("rated", score=NumericalScore(next(answers)))

    jury: Jury[JudgmentContext] = Jury([unsteady] * 3, MedianVoting(), parallel=False)
    verdict = jury.vote(JudgmentContext("rate it"))
    assert verdict.aggregated.effective_score == pytest.approx(0.8)
    assert list(verdict.by_name) == ["quality", "quality-2", "quality-3"]


def test_progressive_strictness() -> None:
    ballots = [
        Ballot("build", Judgment.passed("", score=NumericalScore(0.9)), 1.0),
        Ballot("tests", Judgment.passed("", score=NumericalScore(0.6)), 1.0),
        Ballot("style", Judgment.failed("", score=NumericalScore(0.2)), 3.0),
    ]
    by_iteration: list[VotingStrategy] = [
        MajorityVoting(),
        AverageVoting(),
        WeightedAverageVoting(),
        ConsensusVoting(),
    ]
    statuses = [voting.aggregate(ballots).status for voting in by_iteration]
    assert statuses == [PASS, PASS, FAIL, FAIL]


@pytest.mark.parametrize(("stage", "expected"), [("production", FAIL), ("development", PASS)])
def test_dynamic_weights(stage: str, expected: Status) -> None:
    weights: Mapping[str, float] = {"production": 0.7, "development": 0.3}
    security = Seat(says("security", FAIL), weights[stage])
    features = Seat(says("features", PASS), 1 - weights[stage])
    jury = Jury.of(WeightedAverageVoting(), security, features)
    assert jury.vote(JudgmentContext("ship it")).aggregated.status is expected


def test_everything_that_was_said_can_be_logged() -> None:
    jury = Jury.of(AverageVoting(), rates("speed", 0.9), named(says("style", FAIL), "taste"))
    verdict = jury.vote(JudgmentContext("rate it"))
    assert verdict.aggregated.metadata["aggregation"]["strategy"] == "average"
    assert verdict.aggregated.reasoning == "mean 0.45 of 2 is below the threshold 0.50"
    lines = [
        f"{name}: {said.status} {said.effective_score}" for name, said in verdict.by_name.items()
    ]
    assert lines == ["speed: pass 0.9", "taste: fail 0.0"]
