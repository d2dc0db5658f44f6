"""A jury that asks again while it is not sure, and a chair who has the last word."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from fakes.opinions import answers
from prjury import (
    Judge,
    JudgeType,
    Judgment,
    JudgmentContext,
    JuryWithRetry,
    RoundContext,
    Seat,
    Status,
    judge,
)

QUESTION = JudgmentContext("does the change do what its description says?")
PROVIDERS = ("openai", "anthropic", "google")


def panel(*rounds: Iterable[float]) -> list[Judge[object]]:
    """Three judges of three providers and how sure each is, round by round; all say yes."""
    return [
        answers(name, [Judgment.passed("it does", confidence=sure) for sure in turn])
        for name, turn in zip(PROVIDERS, zip(*rounds, strict=True), strict=True)
    ]


@judge(name="chair", type=JudgeType.LLM_POWERED)
def chair(last: RoundContext[object]) -> Judgment:
    """Sums up the last round; a real one would be a model that reads the three answers."""
    passed = [ballot.judge for ballot in last.ballots if ballot.judgment.status is Status.PASS]
    told = f"{', '.join(passed)} agree; mean confidence {last.mean_confidence}"
    return Judgment.passed(told) if len(passed) == 3 else Judgment.failed(told)


@pytest.mark.parametrize(
    ("rounds", "iterations", "met"),
    [
        pytest.param([(0.9, 0.8, 0.7)], 1, True, id="sure at once"),
        pytest.param([(0.6, 0.7, 0.5), (0.8, 0.9, 0.7)], 2, True, id="sure when asked again"),
        pytest.param([(0.6, 0.7, 0.5), (0.6, 0.7, 0.8)], 2, False, id="never sure"),
    ],
)
def test_three_judges_and_a_chair(
    rounds: list[Iterable[float]], iterations: int, met: bool
) -> None:
    jury = JuryWithRetry(panel(*rounds), chair, confidence_threshold=0.75, max_iterations=2)
    verdict = jury.vote(QUESTION)
    assert verdict.status is Status.PASS
    assert verdict.aggregated.metadata["iterations"] == iterations
    assert verdict.aggregated.metadata["met_threshold"] is met
    assert list(verdict.by_name) == list(PROVIDERS)


def test_the_chair_reads_the_last_round_only() -> None:
    jury = JuryWithRetry(panel((0.6, 0.7, 0.5), (0.8, 0.9, 0.7)), chair, confidence_threshold=0.75)
    said = jury.vote(QUESTION).aggregated
    assert said.reasoning == "openai, anthropic, google agree; mean confidence 0.8"


def test_without_a_chair_the_votes_are_counted() -> None:
    verdict = JuryWithRetry(panel((0.9, 0.8, 0.7))).vote(QUESTION)
    assert verdict.aggregated.reasoning == "3 of 3 passed"


def test_a_chair_that_breaks_is_an_error() -> None:
    def absent(last: RoundContext[object]) -> Judgment:
        raise ConnectionError("no answer")

    said = JuryWithRetry(panel((0.9, 0.8, 0.7)), absent).vote(QUESTION).aggregated
    assert (said.status, said.metadata["reason"]) == (Status.ERROR, "crashed")


def test_agreement_is_a_better_sign_than_what_a_model_says_of_itself() -> None:
    def boastful(name: str, *said: Judgment) -> Seat[object]:
        return Seat(answers(name, said), confidence="agreement")

    yes = Judgment.passed("it does", confidence=0.95)
    no = Judgment.failed("it does not", confidence=0.95)
    seats = [
        boastful("openai", yes, yes),
        boastful("anthropic", yes, yes),
        boastful("google", no, yes),
    ]
    said = JuryWithRetry(seats, confidence_threshold=0.75).vote(QUESTION).aggregated
    assert said.metadata["iterations"] == 2
    first, second = said.metadata["retry"]["rounds"]
    assert first["mean_confidence"] == pytest.approx(1 / 3)
    assert second["mean_confidence"] == 1.0


def test_a_seat_may_have_a_confidence_of_its_own() -> None:
    def length(said: Judgment) -> float:
        return min(1.0, len(said.reasoning) / 100)

    seat = Seat(answers("terse", [Judgment.passed("fine")] * 2), confidence=length)
    said = JuryWithRetry([seat]).vote(QUESTION).aggregated
    assert said.metadata["retry"]["rounds"][0]["confidences"] == {"terse": 0.04}
