from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

import strategies
from fakes.refusals import refused
from prjury.jury.count import count, hold_down
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import NumericalScore
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
    voted = {ballot.judgment.status for ballot in ballots} & {Status.PASS, Status.FAIL}
    if not voted and voting.aggregate(ballots).status is Status.PASS:
        assert said.metadata["reason"] == "nobody_voted"
    elif certain and (alone := voting.aggregate(certain)).status in {Status.FAIL, Status.ERROR}:
        assert said.status in {Status.FAIL, Status.ERROR, alone.status}
    else:
        whole = voting.aggregate(ballots)
        undecided = certain and voting.aggregate(certain).status is Status.ABSTAIN
        assert said == whole or (undecided and (said.status, whole.status) == _HELD_BACK)


#: Programs that voted and came to no result are not lifted to a PASS by models either.
_HELD_BACK = (Status.ABSTAIN, Status.PASS)


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


class Scripted:
    """A strategy that says the same of the whole bench, and another thing of the certain ones."""

    name = "scripted"

    def __init__(self, of_all: Any, of_the_certain: Any = None) -> None:
        self.answers = {3: of_all, 1: of_the_certain}
        self.asked: list[int] = []

    def aggregate(self, ballots: Any, /) -> Any:
        self.asked.append(len(ballots))
        return self.answers[len(ballots)]


ONE_CERTAIN = [sure(Judgment.passed("")), model(Judgment.passed("")), model(Judgment.passed(""))]
ALL_CERTAIN = [sure(Judgment.passed(""), name) for name in "abc"]
TIED = Judgment(Status.ABSTAIN, "a tie", label="x", metadata={"reason": "tie", "count": 3})


@pytest.mark.parametrize(
    ("alone", "reason"),
    [
        (Judgment.failed("broken", score=NumericalScore(0.2)), {}),
        (Judgment.failed("broken", metadata={"reason": "tests", "count": 1}), {"reason": "tests"}),
        (Judgment.errored("broken", metadata={"reason": "timeout"}), {"reason": "timeout"}),
    ],
)
def test_what_is_held_down_has_the_reason_of_the_certain_and_the_counts_of_all(
    alone: Judgment, reason: dict[str, str]
) -> None:
    assert count(Scripted(TIED, alone), ONE_CERTAIN) == Judgment(
        alone.status,
        "broken; no model-backed judge can lift that: a tie",
        metadata={"count": 3, "held_down_from": "abstain", **reason},
    )


@pytest.mark.parametrize("alone", [Judgment.passed("fine"), Judgment.abstained("not mine")])
def test_what_the_certain_do_not_reject_stands(alone: Judgment) -> None:
    assert count(Scripted(TIED, alone), ONE_CERTAIN) is TIED


@pytest.mark.parametrize("said", [Judgment.failed("no"), Judgment.errored("crashed")])
def test_what_is_low_already_is_not_held_down(said: Judgment) -> None:
    voting = Scripted(said, Judgment.failed("broken"))
    assert count(voting, ONE_CERTAIN) is said
    assert voting.asked == [3]


def test_where_no_model_sits_the_strategy_is_asked_once() -> None:
    voting = Scripted(Judgment.passed("fine"))
    assert count(voting, ALL_CERTAIN) is voting.answers[3]
    assert voting.asked == [3]


def test_somebody_certain_who_read_certain_answers_is_taken_at_their_word() -> None:
    voting = MajorityVoting()
    said = Judgment.passed("good enough")
    broken = [sure(Judgment.failed("broken"), name) for name in "abc"]
    assert hold_down(said, JudgeType.DETERMINISTIC, voting, broken) is said
    for kind in (JudgeType.LLM_POWERED, JudgeType.HYBRID, JudgeType.AGENT):
        held = hold_down(said, kind, voting, broken)
        assert held.status is Status.FAIL
        assert held.reasoning == "0 of 3 passed; no model-backed judge can lift that: good enough"


def test_somebody_certain_who_read_a_models_answer_may_be_wrong() -> None:
    said, bench = Judgment.passed("good"), [sure(Judgment.failed("broken")), *ONE_CERTAIN[1:]]
    held = hold_down(said, JudgeType.DETERMINISTIC, MajorityVoting(), bench)
    assert (held.status, held.metadata["held_down_from"]) == (Status.FAIL, "pass")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(None, "NoneType"), (True, "bool"), ("pass", "str"), (Status.PASS, "Status")],
)
def test_a_strategy_answers_with_a_judgment(answer: Any, kind: str) -> None:
    words = f"scripted voting returned a {kind}, not a Judgment"
    with refused(TypeError, words):
        count(Scripted(answer), ALL_CERTAIN)
    with refused(TypeError, words):
        count(Scripted(Judgment.passed(""), answer), ONE_CERTAIN)
