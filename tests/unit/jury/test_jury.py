from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from fakes.unruly import BROKEN, FINE, LONG, PanicError
from prjury.jury.judge import JudgeType, type_of
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Jury, Seat
from prjury.jury.library.retry import JuryWithRetry
from prjury.jury.voting import (
    AverageVoting,
    ConsensusVoting,
    ErrorPolicy,
    MajorityVoting,
    VotingStrategy,
    WeightedAverageVoting,
)
from strategies import Says, seated

PROPAGATE = ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)


# The roster.


@pytest.mark.parametrize("nobody", [[], (), iter(())])
def test_a_jury_has_judges(nobody: Any) -> None:
    with pytest.raises(ValueError, match="'bench' has no judges"):
        Jury(nobody, MajorityVoting(), "bench")


def test_what_may_sit_on_a_bench() -> None:
    async def patient(context: object) -> Judgment:
        return FINE

    jury = Jury.of(
        MajorityVoting(),
        Says("says", FINE),
        lambda _: FINE,
        patient,
        Seat(Says("heavy", FINE), 2.0),
        Seat(Says("plain", FINE), name="renamed"),
    )
    verdict = jury.vote(None)
    names = ["says", "Judge#2", "patient", "heavy", "renamed"]
    assert [ballot.judge for ballot in verdict.ballots] == names
    assert verdict.individual == (FINE,) * 5
    assert dict(verdict.by_name) == dict.fromkeys(names, FINE)
    assert list(verdict.weights.values()) == [1.0, 1.0, 1.0, 2.0, 1.0]
    assert verdict.aggregated.status is Status.PASS


@pytest.mark.parametrize("member", ["build", 7, None])
def test_anything_else_may_not(member: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{member!r} is neither a judge nor a function$"):
        Jury([member], MajorityVoting())


def test_a_jury_sits_on_a_bench_as_a_judge_only() -> None:
    inner: Any = seated([Says("a", FINE)], MajorityVoting())
    with pytest.raises(TypeError, match=r"but a jury: seat what its as_judge\(\) returns$"):
        Jury([inner], MajorityVoting())


@pytest.mark.parametrize("judges", [Says("a", FINE), FINE, None, 3])
def test_the_judges_come_in_a_list(judges: Any) -> None:
    with pytest.raises(TypeError, match=r"^the jury 'bench' is made of a list of judges, not of "):
        Jury(judges, MajorityVoting(), "bench")


@pytest.mark.parametrize("voting", ["majority", MajorityVoting, None, max])
@pytest.mark.parametrize("kind", [Jury, JuryWithRetry])
def test_votes_are_counted_by_a_strategy(kind: Any, voting: Any) -> None:
    with pytest.raises(TypeError, match=r" is no voting strategy, such as MajorityVoting\(\) is$"):
        kind([Says("a", FINE)], voting=voting)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), 10**400])
def test_a_seat_has_a_sound_weight(weight: float) -> None:
    with pytest.raises(ValueError, match=r"^a seat's weight "):
        Seat(Says("a", FINE), weight)


def test_a_weight_is_a_number() -> None:
    with pytest.raises(TypeError, match=r"^a seat's weight must be a number, not True$"):
        Seat(Says("a", FINE), True)


@pytest.mark.parametrize("name", [7, b"a", ["a"]])
def test_a_seat_has_a_name_of_letters(name: Any) -> None:
    with pytest.raises(TypeError, match=r"^a judge's name is text, not "):
        Seat(Says("a", FINE), name=name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [(None, "Judge#1"), ("", "Judge#1"), (7, "Judge#1"), ("\udcff.py", r"\udcff.py")],
)
def test_odd_names_of_judges(name: Any, expected: str) -> None:
    jury = seated([Says(name, FINE), Says("b", FINE)], MajorityVoting())
    assert list(jury.vote(None).by_name) == [expected, "b"]
    said = seated([jury.as_judge()], MajorityVoting()).vote(None).individual[0]
    assert set(said.metadata["jury"]) == {expected, "b"}


@given(st.lists(strategies.judgments(evidence=False), min_size=1, max_size=5), st.booleans())
def test_every_judge_has_its_ballot_in_order(judgments: list[Judgment], parallel: bool) -> None:
    jury = seated([Says("same", said) for said in judgments], MajorityVoting(), parallel=parallel)
    assert list(jury.vote(None).individual) == judgments


# Side by side, or one after the other.


# The user's own interrupt.


class Interrupted:
    """A voting strategy that is interrupted, or does something else that is rude."""

    name = "interrupted"

    def __init__(self, crash: BaseException) -> None:
        self.crash = crash

    def aggregate(self, ballots: Any, /) -> Judgment:
        raise self.crash


@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is not signal.default_int_handler, reason="Ctrl-C is taken"
)
def test_ctrl_c_ends_the_wait_for_a_judge() -> None:
    released = threading.Event()

    def interrupts(context: object) -> Judgment:
        os.kill(os.getpid(), signal.SIGINT)
        released.wait(LONG)
        return FINE

    try:
        with pytest.raises(KeyboardInterrupt):
            seated([interrupts], MajorityVoting()).vote(None)
    finally:
        released.set()


@pytest.mark.parametrize("crash", [ValueError("odd"), SystemExit(0), PanicError("native")])
def test_a_strategy_that_raises_is_an_error(crash: BaseException) -> None:
    verdict = seated([Says("a", FINE)], Interrupted(crash)).vote(None)
    assert verdict.aggregated.status is Status.ERROR
    assert type(crash).__name__ in verdict.aggregated.reasoning
    assert verdict.individual == (FINE,)


def test_a_strategy_that_returns_nothing_is_an_error() -> None:
    class Silent:
        name = "silent"

        def aggregate(self, ballots: Any, /) -> Any:
            return None

    said = seated([Says("a", FINE)], Silent()).vote(None).aggregated
    assert said.status is Status.ERROR
    assert "silent voting returned a NoneType" in said.reasoning


# Juries of juries.


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ([[FINE, FINE], [FINE, BROKEN, FINE]], [Status.PASS, Status.PASS]),
        ([[FINE, BROKEN, BROKEN], [FINE]], [Status.FAIL, Status.PASS]),
        ([[Judgment.abstained("not mine", "x")], [FINE]], [Status.ABSTAIN, Status.PASS]),
    ],
)
def test_members_of_a_meta_jury_vote_by_their_aggregate(
    inner: list[list[Judgment]], expected: list[Status]
) -> None:
    members = [
        seated([Says("judge", said) for said in judgments], MajorityVoting(), f"jury{n}").as_judge()
        for n, judgments in enumerate(inner)
    ]
    verdict = seated(members, MajorityVoting()).vote(None)
    assert [said.status for said in verdict.individual] == expected
    assert [ballot.judge for ballot in verdict.ballots] == ["jury0", "jury1"]


@pytest.mark.parametrize(
    ("members", "label"),
    [
        ([("a", "not_applicable"), ("b", "not_applicable")], "not_applicable"),
        ([("a", "not_applicable"), ("b", "not_configured")], "not_configured"),
        ([("a", "not_applicable"), ("b", "budget")], None),
        ([("a", "not_applicable"), ("b", None)], None),
    ],
)
def test_a_meta_jury_is_excused_only_if_all_its_members_are(
    members: list[tuple[str, str | None]], label: str | None
) -> None:
    judges = [Says(name, Judgment.abstained("silent", word)) for name, word in members]
    said = seated(judges, MajorityVoting()).as_judge().judge(None)
    assert isinstance(said, Judgment)
    assert (said.status, said.label) == (Status.ABSTAIN, label)


def test_an_ignored_error_excuses_nobody() -> None:
    judges = [
        Says("a", Judgment.errored("crashed")),
        Says("b", Judgment.abstained("-", "not_applicable")),
    ]
    for policy in (ErrorPolicy.IGNORE, ErrorPolicy.TREAT_AS_ABSTAIN):
        said = seated(judges, MajorityVoting(on_error=policy)).vote(None).aggregated
        assert (said.status, said.label) == (Status.ABSTAIN, None)


@pytest.mark.parametrize(
    ("chair", "expected"),
    [
        (None, JudgeType.DETERMINISTIC),
        (Says("chair", FINE), JudgeType.DETERMINISTIC),
        (Says("chair", FINE, JudgeType.LLM_POWERED), JudgeType.HYBRID),
    ],
)
def test_the_type_of_a_meta_jury_that_has_a_chair(chair: Any, expected: JudgeType) -> None:
    jury: JuryWithRetry[object] = JuryWithRetry([Says("a", FINE)], chair)
    assert type_of(jury.as_judge()) is expected


def kept(said: Judgment) -> Any:
    return said.metadata["jury"]


def test_a_jury_as_a_judge_tells_what_its_members_say() -> None:
    inner = seated([Says("a", FINE), Says("b", BROKEN)], MajorityVoting(), "inner")
    judge = inner.as_judge("renamed")
    assert (judge.name, judge.description) == ("renamed", "the jury inner")
    assert inner.as_judge().name == "inner"
    said = judge.judge(None)
    assert said.reasoning == "a tie, which counts as fail: 1 of 2 passed"
    told = {name: (ballot["status"], ballot["reasoning"]) for name, ballot in kept(said).items()}
    assert told == {"a": ("pass", "fine"), "b": ("fail", "broken")}
    assert said.metadata["aggregation"]["input"] == 2


@pytest.mark.parametrize("voting", [MajorityVoting(), AverageVoting(), WeightedAverageVoting()])
def test_models_outvote_a_failing_build_only_where_they_may(voting: VotingStrategy) -> None:
    judges = [Says("build", BROKEN), *[Says("m", FINE, JudgeType.LLM_POWERED) for _ in range(3)]]
    for jury in (Jury(judges, voting), Jury.of(voting, *judges)):
        verdict = jury.vote(None)
        assert (verdict.status, len(verdict.ballots)) == (Status.PASS, 4)
        assert verdict.aggregated == voting.aggregate(verdict.ballots)
    assert Jury(judges, voting, models_lift=False).vote(None).status is Status.FAIL
