from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from prjury.errors import CannotJudgeError
from prjury.jury.bench import Jury, JuryVerdict, Seat
from prjury.jury.judge import FunctionJudge, JudgeType, judge, type_of
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import (
    AverageVoting,
    Ballot,
    ConsensusVoting,
    ErrorPolicy,
    MajorityVoting,
    VotingStrategy,
    WeightedAverageVoting,
)
from strategies import Says, seated

FINE = Judgment.passed("fine")
BROKEN = Judgment.failed("broken")
PROPAGATE = ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)


class PanicError(BaseException):
    """What a native parser raises."""


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this works")


class Chatty:
    """A listener that writes everything down."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, str]] = []

    def judge_started(self, jury: str, judge: str) -> None:
        self.heard.append(("started", jury, judge))

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        self.heard.append(("finished", jury, ballot.judge))


def raising(crash: BaseException) -> FunctionJudge[object]:
    def crashes(context: object) -> Judgment:
        raise crash

    return FunctionJudge(crashes, "crashing")


def vote_beside_a_good_one(judge: Any, **options: Any) -> JuryVerdict:
    jury = seated([judge, Says("good", FINE)], PROPAGATE)
    return jury.vote(None, **options)


@contextmanager
def hanging() -> Iterator[FunctionJudge[object]]:
    """A judge that says nothing until the test is over."""
    released = threading.Event()

    def hangs(context: object) -> Judgment:
        released.wait(30)
        return FINE

    try:
        yield FunctionJudge(hangs, "hanging")
    finally:
        released.set()


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
    with pytest.raises(TypeError, match="neither a judge nor a function"):
        Jury([member], MajorityVoting())


def test_repeated_names_get_numbers() -> None:
    names = ["lint", "lint", "unit", "lint"]
    jury = seated([Says(name, FINE) for name in names], MajorityVoting())
    expected = ["lint", "lint-2", "unit", "lint-3"]
    assert [seat.name for seat in jury.seats] == expected
    assert list(jury.vote(None).by_name) == expected


def test_the_roster_is_fixed() -> None:
    judges: list[Any] = [Says("a", FINE)]
    jury = seated(judges, MajorityVoting())
    judges.append(Says("b", BROKEN))
    assert jury.vote(None).individual == (FINE,)
    with pytest.raises(TypeError):
        jury.vote(None).by_name["b"] = BROKEN  # type: ignore[index]


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), 10**400])
def test_a_seat_has_a_sound_weight(weight: float) -> None:
    with pytest.raises(ValueError, match="weight"):
        Seat(Says("a", FINE), weight)


@given(st.lists(strategies.judgments(evidence=False), min_size=1, max_size=5), st.booleans())
def test_every_judge_has_its_ballot_in_order(judgments: list[Judgment], parallel: bool) -> None:
    jury = seated([Says("same", said) for said in judgments], MajorityVoting(), parallel=parallel)
    assert list(jury.vote(None).individual) == judgments


def test_slow_judges_keep_their_place() -> None:
    def after(seconds: float) -> Callable[[object], Judgment]:
        def answer(context: object) -> Judgment:
            time.sleep(seconds)
            return Judgment.passed(f"after {seconds}")

        return answer

    verdict = seated([after(0.05), after(0.0), after(0.02)], MajorityVoting()).vote(None)
    assert [said.reasoning for said in verdict.individual] == [
        "after 0.05",
        "after 0.0",
        "after 0.02",
    ]
    assert verdict.ballots[0].elapsed_ms >= 45


def test_ballots_know_weight_and_type() -> None:
    model = Says("model", FINE, JudgeType.LLM_POWERED)
    ballot = seated([Seat(model, 0.5)], MajorityVoting()).vote(None).ballots[0]
    assert (ballot.weight, ballot.type) == (0.5, JudgeType.LLM_POWERED)


# Whatever happens to a judge.


@pytest.mark.parametrize(
    ("crash", "told"),
    [
        (ValueError("no such thing"), "crashed with ValueError: no such thing"),
        (ValueError(), "crashed with ValueError"),
        (KeyError("x"), "crashed with KeyError: 'x'"),
        (SystemExit(0), "crashed with SystemExit: 0"),
        (KeyboardInterrupt(), "crashed with KeyboardInterrupt"),
        (PanicError("native"), "PanicError: native"),
        (asyncio.CancelledError(), "CancelledError"),
        (ValueError("\udc80"), r"crashed with ValueError: \udc80"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "UnicodeDecodeError"),
        (SilentError(), "SilentError"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_judge_that_crashes_is_an_error_ballot(crash: BaseException, told: str) -> None:
    verdict = vote_beside_a_good_one(raising(crash))
    crashed, good = verdict.individual
    assert (crashed.status, good) == (Status.ERROR, FINE)
    assert told in crashed.reasoning
    assert crashed.metadata == {"reason": "crashed"}
    assert verdict.aggregated.status is Status.ERROR
    assert verdict.aggregated.metadata["reason"] == "crashed"


def test_an_expected_error_keeps_its_words_and_reason() -> None:
    refusal = CannotJudgeError("No Maven here", remedy="Install it", reason="tool_missing")
    crashed = vote_beside_a_good_one(raising(refusal)).individual[0]
    assert crashed.reasoning == "No Maven here. Install it."
    assert crashed.metadata == {"reason": "tool_missing"}


@pytest.mark.parametrize("answer", [None, True, "pass", Status.PASS, [FINE]])
def test_a_judge_that_returns_something_else_is_an_error_ballot(answer: Any) -> None:
    verdict = vote_beside_a_good_one(FunctionJudge(lambda _: answer, "odd"))
    odd, good = verdict.individual
    assert (odd.status, good) == (Status.ERROR, FINE)
    assert f"odd returned a {type(answer).__name__}" in odd.reasoning


def test_an_async_judge_is_waited_for() -> None:
    @judge()
    async def patient(context: object) -> Judgment:
        await asyncio.sleep(0.01)
        return BROKEN

    assert vote_beside_a_good_one(patient).individual == (BROKEN, FINE)


def test_an_async_judge_that_raises_is_an_error_ballot() -> None:
    @judge()
    async def impatient(context: object) -> Judgment:
        await asyncio.sleep(0)
        raise ValueError("too late")

    crashed, good = vote_beside_a_good_one(impatient).individual
    assert (crashed.status, good) == (Status.ERROR, FINE)
    assert "ValueError: too late" in crashed.reasoning


def test_a_judge_that_hangs_is_abandoned_and_named() -> None:
    with hanging() as judge:
        started = time.monotonic()
        verdict = vote_beside_a_good_one(judge, timeout=0.5)
        assert time.monotonic() - started < 5
        late, good = verdict.individual
        assert (late.status, good) == (Status.ERROR, FINE)
        assert late.metadata == {"reason": "timeout"}
        assert "prjury-jury-hanging was abandoned" in late.reasoning
        abandoned = [t for t in threading.enumerate() if t.name == "prjury-jury-hanging"]
        assert [thread.daemon for thread in abandoned] == [True]


def test_a_late_answer_is_not_heard() -> None:
    listener, released, said = Chatty(), threading.Event(), threading.Event()

    def late(context: object) -> Judgment:
        released.wait(30)
        said.set()
        return FINE

    verdict = seated([FunctionJudge(late, "late")], MajorityVoting()).vote(
        None, timeout=0.05, listener=listener
    )
    before = verdict.ballots
    released.set()
    assert said.wait(30)
    for thread in threading.enumerate():
        if thread.name == "prjury-jury-late":
            thread.join(30)
    assert verdict.ballots == before
    assert verdict.individual[0].status is Status.ERROR
    assert listener.heard == [("started", "jury", "late"), ("finished", "jury", "late")]


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("timeout", [0, -1, float("-inf")])
def test_when_the_time_is_over_nobody_is_asked(timeout: float, parallel: bool) -> None:
    asked: list[object] = []

    def remembers(context: object) -> Judgment:
        asked.append(context)
        return FINE

    jury = seated([remembers, remembers], MajorityVoting(), parallel=parallel)
    verdict = jury.vote("it", timeout=timeout)
    assert [said.metadata["reason"] for said in verdict.individual] == ["timeout", "timeout"]
    assert verdict.aggregated.status is Status.FAIL
    assert asked == []


@pytest.mark.parametrize("timeout", [None, 1e300, float("inf")])
def test_a_very_long_time(timeout: float | None) -> None:
    assert vote_beside_a_good_one(Says("a", FINE), timeout=timeout).individual == (FINE, FINE)


def test_a_system_without_threads_gives_error_ballots() -> None:
    usual = threading.stack_size(2**46)
    try:
        verdict = vote_beside_a_good_one(Says("a", FINE))
    finally:
        threading.stack_size(usual)
    assert {said.status for said in verdict.individual} == {Status.ERROR}
    assert "can't start new thread" in verdict.individual[0].reasoning


def test_judges_work_side_by_side() -> None:
    together = threading.Barrier(3)

    def meets(context: object) -> Judgment:
        together.wait(30)
        return FINE

    verdict = seated([meets, meets, meets], MajorityVoting()).vote(None)
    assert verdict.individual == (FINE, FINE, FINE)


@pytest.mark.parametrize("hang", [True, False])
def test_judges_work_one_after_the_other(hang: bool) -> None:
    working: list[str] = []
    most: list[int] = []

    def works(context: object) -> Judgment:
        working.append("x")
        most.append(len(working))
        time.sleep(0.005)
        working.pop()
        return FINE

    with hanging() as stuck:
        judges = [works, works, works, *([stuck, works] if hang else [])]
        jury = seated(judges, PROPAGATE, parallel=False)
        verdict = jury.vote(None, timeout=1.0 if hang else 30)
    assert max(most) == 1
    assert len(most) == 3
    statuses = [said.status for said in verdict.individual]
    assert statuses == [Status.PASS] * 3 + [Status.ERROR] * (len(judges) - 3)


@pytest.mark.parametrize("parallel", [True, False])
def test_a_listener_hears_of_each_judge_once(parallel: bool) -> None:
    listener = Chatty()
    with hanging() as stuck:
        judges = [Says("a", FINE), raising(SystemExit()), Says("a", BROKEN), stuck]
        jury = seated(judges, MajorityVoting(), "tier", parallel=parallel)
        jury.vote(None, timeout=0.2, listener=listener)
    names = ["a", "crashing", "a-2", "hanging"]
    expected = sorted((word, "tier", name) for word in ("started", "finished") for name in names)
    assert sorted(listener.heard) == expected
    for name in names:
        started = listener.heard.index(("started", "tier", name))
        assert started < listener.heard.index(("finished", "tier", name))


# The user's own interrupt.


class Interrupted:
    """A voting strategy that is interrupted, or does something else that is rude."""

    name = "interrupted"

    def __init__(self, crash: BaseException) -> None:
        self.crash = crash

    def aggregate(self, ballots: Any, /) -> Judgment:
        raise self.crash


def test_an_interrupt_in_the_main_thread_goes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        seated([Says("a", FINE)], Interrupted(KeyboardInterrupt())).vote(None)


@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is not signal.default_int_handler, reason="Ctrl-C is taken"
)
def test_ctrl_c_ends_the_wait_for_a_judge() -> None:
    released = threading.Event()

    def interrupts(context: object) -> Judgment:
        os.kill(os.getpid(), signal.SIGINT)
        released.wait(30)
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


def test_an_error_rises_through_a_meta_jury() -> None:
    timeout = Judgment.errored("too slow", metadata={"reason": "timeout"})
    inner = seated([Says("a", timeout), Says("b", FINE)], PROPAGATE, "inner")
    said = seated([inner.as_judge(), Says("c", FINE)], PROPAGATE).vote(None).aggregated
    assert (said.status, said.metadata["reason"]) == (Status.ERROR, "timeout")


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


def test_the_type_of_a_meta_jury() -> None:
    sure, model = Says("a", FINE), Says("b", FINE, JudgeType.LLM_POWERED)
    assert type_of(seated([sure, sure], MajorityVoting()).as_judge()) is JudgeType.DETERMINISTIC
    assert type_of(seated([model], MajorityVoting()).as_judge("m")) is JudgeType.LLM_POWERED
    assert type_of(seated([sure, model], MajorityVoting()).as_judge()) is JudgeType.HYBRID


@pytest.mark.parametrize("voting", [MajorityVoting(), AverageVoting(), WeightedAverageVoting()])
def test_model_backed_judges_do_not_outvote_a_failing_build(voting: VotingStrategy) -> None:
    praise = [Says("m", FINE, JudgeType.LLM_POWERED) for _ in range(3)]
    verdict = seated([Says("build", BROKEN), *praise], voting).vote(None)
    assert verdict.aggregated.status is Status.FAIL
    assert len(verdict.ballots) == 4
