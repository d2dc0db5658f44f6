"""Cascades: cheap and certain tiers first, dear ones only where they can still matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.opinions import rates, says
from prjury import (
    CascadedJury,
    Check,
    CommandJudge,
    ConsensusVoting,
    CoverageJudge,
    ErrorPolicy,
    Judgment,
    JudgmentContext,
    Jury,
    Location,
    ModelJudge,
    Seat,
    Status,
    Tier,
    TierPolicy,
    Verdict,
    WeightedAverageVoting,
    judge,
)

PASS, FAIL, ABSTAIN, ERROR = Status
TASK = JudgmentContext("review the change")


def asked(verdict: Verdict) -> list[str]:
    """The tiers that ran."""
    return [attempt.name for attempt in verdict.attempts if attempt.ran]


# Layered: security by consensus first, then quality by weight.


def layered(secrets: Status, quality: float) -> Verdict:
    security = Jury.of(ConsensusVoting(), says("injection"), says("secrets", secrets))
    worth = Jury.of(
        WeightedAverageVoting(),
        Seat(rates("readable", quality), 0.6),
        Seat(rates("tested", quality), 0.4),
    )
    return CascadedJury(
        [
            Tier("security", security, TierPolicy.REJECT_ON_ANY_FAIL),
            Tier("quality", worth, TierPolicy.FINAL_TIER),
        ]
    ).vote(TASK)


@pytest.mark.parametrize(
    ("secrets", "quality", "expected", "tiers"),
    [
        (PASS, 0.8, PASS, ["security", "quality"]),
        (PASS, 0.3, FAIL, ["security", "quality"]),
        (FAIL, 0.8, FAIL, ["security"]),  # quality is not even asked
    ],
)
def test_security_comes_before_quality(
    secrets: Status, quality: float, expected: Status, tiers: list[str]
) -> None:
    verdict = layered(secrets, quality)
    assert (verdict.status, verdict.decided_by, asked(verdict)) == (expected, tiers[-1], tiers)


# An accepting tier: who is sure may say yes at once, who is not sends the matter on.


@pytest.mark.parametrize(
    ("confidence", "tiers"), [(0.95, ["small model"]), (0.6, ["small model", "large model"])]
)
def test_only_doubts_reach_the_large_model(confidence: float, tiers: list[str]) -> None:
    @judge(name="small")
    def small(_: JudgmentContext) -> Judgment:
        return Judgment.passed("looks fine", confidence=confidence)

    verdict = CascadedJury[JudgmentContext](
        [
            Tier(
                "small model",
                Jury.of(ConsensusVoting(), small),
                TierPolicy.ACCEPT_ON_ALL_PASS,
                min_confidence=0.9,
            ),
            Tier("large model", Jury.of(ConsensusVoting(), says("large")), TierPolicy.FINAL_TIER),
        ]
    ).vote(TASK)
    assert (verdict.status, asked(verdict)) == (PASS, tiers)


# Three stories of one pull request pipeline: build, then version patterns, then quality.


def pipeline(build: Judgment, imports: Status, quality: float) -> Verdict:
    strict = ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)

    @judge(name="build")
    def built(_: JudgmentContext) -> Judgment:
        return build

    return CascadedJury[JudgmentContext](
        [
            Tier("build", Jury.of(strict, says("rebase"), built), TierPolicy.REJECT_ON_ANY_FAIL),
            Tier(
                "version patterns",
                Jury.of(strict, says("imports", imports)),
                TierPolicy.REJECT_ON_ANY_FAIL,
                continue_on_reject=True,  # the author gets the reviewer's advice all the same
            ),
            Tier(
                "quality",
                Jury.of(WeightedAverageVoting(threshold=0.7), rates("reviewer", quality)),
                TierPolicy.FINAL_TIER,
            ),
        ]
    ).vote(TASK)


BUILT = Judgment.passed("the build and its tests pass")
BROKEN = Judgment.failed(
    "4 errors after the rebase",
    checks=[
        Check(
            "compiles",
            passed=False,
            message=f"cannot find symbol: method {method}()",
            location=Location("src/test/java/ChatTests.java", line),
            fix=f"call {method}WithOptions(options)",
        )
        for line, method in ((17, "prompt"), (23, "call"), (31, "stream"), (40, "close"))
    ],
)


def test_reject_at_no_cost() -> None:
    verdict = pipeline(BROKEN, imports=PASS, quality=0.9)
    assert (verdict.status, verdict.decided_by) == (FAIL, "build")
    assert asked(verdict) == ["build"]  # the model was never asked
    assert verdict.attempts[-1].skipped_because == "build failed"


def test_rejected_but_advised() -> None:
    verdict = pipeline(BUILT, imports=FAIL, quality=0.9)
    assert (verdict.status, verdict.decided_by) == (FAIL, "version patterns")
    assert asked(verdict) == ["build", "version patterns", "quality"]


def test_recover() -> None:
    first = pipeline(BROKEN, imports=PASS, quality=0.7)
    assert first.attempts[0].verdict
    build = first.attempts[0].verdict.by_name["build"]
    repaired = {
        check.location.line for check in build.failed_checks if check.location and check.fix
    }
    assert repaired == {17, 23, 31, 40}  # feedback that is this specific can be acted on

    second = pipeline(BUILT, imports=PASS, quality=0.7)
    assert second.attempts[0].status is PASS


def test_approve() -> None:
    verdict = pipeline(BUILT, imports=PASS, quality=0.7)
    assert (verdict.status, verdict.decided_by) == (PASS, "quality")
    assert verdict.aggregated.reasoning == (
        "quality: weighted mean 0.70 of 1 reaches the threshold 0.70"
    )


# The coverage experiment: an agent was asked to raise the coverage of a project from 50 % to 85 %.


def project(workspace: Path, covered: int, *, builds: bool) -> Path:
    """A project in miniature: its build runs the tests and leaves a JaCoCo report."""
    counter = f'<counter type="LINE" missed="{100 - covered}" covered="{covered}"/>'
    (workspace / "report.xml").write_text(f'<report name="it">{counter}</report>')
    (workspace / "build.sh").write_text(
        "set -e\n"
        "mkdir -p target/site/jacoco\n"
        "cp report.xml target/site/jacoco/jacoco.xml\n"
        f"exit {0 if builds else 1}\n"
    )
    return workspace


@pytest.mark.parametrize(
    ("builds", "covered", "reply", "expected", "tiers"),
    [
        (False, 90, "YES", FAIL, ["build"]),
        (True, 84, "YES", FAIL, ["build", "coverage"]),
        (True, 85, "NO", FAIL, ["build", "coverage", "test quality"]),
        (True, 85, "YES", PASS, ["build", "coverage", "test quality"]),
    ],
)
def test_the_coverage_experiment(
    tmp_path: Path, builds: bool, covered: int, reply: str, expected: Status, tiers: list[str]
) -> None:
    report = "target/site/jacoco/jacoco.xml"
    worth = ModelJudge(
        "Do the tests in {workspace} check behaviour, or do they only run lines? YES or NO.",
        model=lambda prompt: f"Answer: {reply}\nReasoning: read all of them",
        name="test quality",
    )
    strict = ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)
    cascade = CascadedJury[JudgmentContext](
        [
            Tier("build", Jury.of(strict, CommandJudge("sh build.sh"))),
            Tier("coverage", Jury.of(strict, CoverageJudge(report, minimum=85, baseline=50))),
            Tier("test quality", Jury.of(strict, worth), TierPolicy.FINAL_TIER),
        ]
    )
    context = JudgmentContext("raise the coverage", project(tmp_path, covered, builds=builds))
    verdict = cascade.vote(context)
    assert (verdict.status, verdict.decided_by, asked(verdict)) == (expected, tiers[-1], tiers)
