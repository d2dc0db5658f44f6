from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

import strategies
from prjury.jury.count import count
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import (
    AverageVoting,
    Ballot,
    ErrorPolicy,
    MajorityVoting,
    TiePolicy,
    VotingStrategy,
)

MODEL = JudgeType.LLM_POWERED
HEAVIEST_LAST = [Status.PASS, Status.ABSTAIN, Status.ERROR, Status.FAIL]


def sure(judgment: Judgment, name: str = "build") -> Ballot:
    return Ballot(name, judgment)


def model(judgment: Judgment, name: str = "quality") -> Ballot:
    return Ballot(name, judgment, type=MODEL)


@given(strategies.voting_strategies(), strategies.benches())
def test_models_lift_no_fail_and_no_error(voting: VotingStrategy, ballots: list[Ballot]) -> None:
    certain = [ballot for ballot in ballots if ballot.type is JudgeType.DETERMINISTIC]
    said = count(voting, ballots)
    if certain and (alone := voting.aggregate(certain)).status in {Status.FAIL, Status.ERROR}:
        assert said.status in {Status.FAIL, Status.ERROR, alone.status}
    else:
        assert said == voting.aggregate(ballots)


@pytest.mark.parametrize("kind", [JudgeType.LLM_POWERED, JudgeType.AGENT, JudgeType.HYBRID])
def test_many_models_do_not_outvote_a_broken_build(kind: JudgeType) -> None:
    praise = Judgment.passed("lovely")
    ballots = [sure(Judgment.failed("2 errors")), *(Ballot(n, praise, type=kind) for n in "abc")]
    said = count(MajorityVoting(), ballots)
    assert said.status is Status.FAIL
    assert "no model-backed judge can lift that" in said.reasoning
    assert said.metadata["held_down_from"] == "pass"
    assert said.metadata["aggregation"]["input"] == 4


def test_models_break_no_tie_upwards() -> None:
    ballots = [sure(Judgment.failed("broken")), model(Judgment.passed("lovely"))]
    assert count(MajorityVoting(TiePolicy.ABSTAIN), ballots).status is Status.FAIL


def test_models_lower_a_result() -> None:
    ballots = [sure(Judgment.passed("builds")), *(model(Judgment.failed("no"), n) for n in "ab")]
    assert count(MajorityVoting(), ballots) == MajorityVoting().aggregate(ballots)
    assert count(MajorityVoting(), ballots).status is Status.FAIL


def test_models_decide_where_nobody_else_does() -> None:
    ballots = [sure(Judgment.abstained("docs only", "not_applicable")), model(Judgment.passed(""))]
    assert count(AverageVoting(), ballots).status is Status.PASS


def test_an_error_keeps_its_reason() -> None:
    crash = Judgment.errored("crashed", metadata={"reason": "crashed"})
    broken = [sure(crash), model(Judgment.passed(""))]
    propagating = MajorityVoting(on_error=ErrorPolicy.PROPAGATE)
    assert count(propagating, broken).metadata["reason"] == "crashed"
    assert (
        count(
            MajorityVoting(),
            [sure(crash), model(Judgment.passed("")), model(Judgment.passed(""), "b")],
        ).status
        is Status.FAIL
    )


class Odd:
    name = "odd"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def aggregate(self, ballots: Any, /) -> Any:
        return self.answer


@pytest.mark.parametrize("answer", [None, True, "pass", Status.PASS])
def test_a_strategy_answers_with_a_judgment(answer: Any) -> None:
    with pytest.raises(TypeError, match="odd voting returned a"):
        count(Odd(answer), [sure(Judgment.passed(""))])
