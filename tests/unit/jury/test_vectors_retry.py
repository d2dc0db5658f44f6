"""Language-neutral cases of a jury that asks again."""

from __future__ import annotations

import pytest

from prjury.jury.confidence import Confidence, ConfidenceStrategy
from prjury.jury.judge import FunctionJudge
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Seat
from prjury.jury.library.retry import JuryWithRetry
from vectors import Case, cases

CASES = cases("library", "confidence_retry")

#: What the cases call an answer; all that matters of it is how sure it is.
STATUSES = {"ok": Status.PASS}


def answering(name: str, rounds: list[Case]) -> FunctionJudge[object]:
    said = iter(rounds)

    def answer(context: object) -> Judgment:
        case = next(said)
        return Judgment(STATUSES[case["status"]], "as given", confidence=case["confidence"])

    return FunctionJudge(answer, name)


def strategy_of(name: str | None) -> ConfidenceStrategy | None:
    """Ours by that name; where we have none, a user's function of that name."""
    if name is None or name in set(Confidence):
        return name

    def own(judgment: Judgment) -> float | None:
        return judgment.confidence

    own.__name__ = name
    return own


def votes(given: Case) -> Case:
    rounds: list[list[Case]] = given["rounds"]
    seats = [
        answering(f"judge{place}", list(column))
        for place, column in enumerate(zip(*rounds, strict=True))
    ]
    jury: JuryWithRetry[object] = JuryWithRetry(
        seats,
        confidence_threshold=given["confidence_threshold"],
        max_iterations=given["max_iterations"],
    )
    verdict = jury.vote(None)
    found = verdict.aggregated.metadata
    last = [[case["confidence"] for case in answers] for answers in rounds]
    return {
        "iterations": found["iterations"],
        "met_threshold": found["met_threshold"],
        "final_round": last.index([said.confidence for said in verdict.individual]),
    }


def names_strategies(given: Case) -> Case:
    seats = [
        Seat(answering(member["id"], []), confidence=strategy_of(member.get("confidence")))
        for member in given["members"]
    ]
    jury: JuryWithRetry[object] = JuryWithRetry(seats)
    return {"strategies": dict(jury.strategies)}


@pytest.mark.skipif(not CASES, reason="the semantics cases are not beside the repository")
def test_there_are_cases_of_both_kinds() -> None:
    assert {tuple(sorted(case["input"])) for case in CASES} == {
        ("confidence_threshold", "max_iterations", "rounds"),
        ("members",),
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_replay(case: Case) -> None:
    replay = votes if "rounds" in case["input"] else names_strategies
    assert replay(case["input"]) == case["expect"]
