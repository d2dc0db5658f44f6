from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from fakes.unruly import (
    BROKEN,
    FINE,
    LONG,
    Chatty,
    Deaf,
    PanicError,
    Shy,
    SilentError,
    finishing_in,
    hanging,
    raising,
)
from prjury.deadline import Deadline
from prjury.errors import PrJuryError
from prjury.jury.compose import all_of, any_of, named
from prjury.jury.guard import (
    ask_seats,
    catch_crash,
    convert_crash,
    itself,
    limit_by_vote,
    printable,
)
from prjury.jury.judge import FunctionJudge, Judge, JudgeType, ask
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Jury, Seat
from prjury.jury.voting import Ballot, ConsensusVoting, ErrorPolicy, MajorityVoting
from strategies import Says, seated

PROPAGATE = ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)
GOOD = Says("good", FINE)


def heard(*judges: Judge[object], **options: Any) -> tuple[Ballot, ...]:
    options = {"jury": "jury", "until": None, **options}
    return ask_seats([Seat(judge) for judge in judges], None, **options)


# How long a vote waits.


def deadline_within(until: Deadline | None, timeout: float | None = None) -> Deadline | None:
    """Until when a vote may take that is part of one with this deadline."""
    found: list[Deadline | None] = []

    def inner(context: object) -> Judgment:
        found.append(limit_by_vote(timeout))
        return FINE

    assert heard(FunctionJudge(inner, "inner"), until=until)[0].judgment == FINE
    return found[0]


@pytest.mark.parametrize(
    ("outer", "expected"), [(1000.0, 0.25), (2.6, 0.25), (2.0, 0.2), (1.0, 0.1)]
)
def test_a_vote_within_a_vote_ends_a_little_earlier(outer: float, expected: float) -> None:
    until = Deadline.after(outer)
    inner = deadline_within(until)
    assert inner
    assert until.at - inner.at == pytest.approx(expected, abs=0.04)


@pytest.mark.parametrize(("timeout", "expected"), [(2000, 999.75), (500, 500), (-1, 0)])
def test_it_may_end_much_earlier_but_never_later(timeout: float, expected: float) -> None:
    inner = deadline_within(Deadline.after(1000), timeout)
    assert inner
    assert inner.at - time.monotonic() == pytest.approx(expected, abs=0.2)


def test_the_deadline_of_a_vote_ends_with_it() -> None:
    heard(GOOD, until=Deadline.after(10), parallel=False)
    assert limit_by_vote(None) is None


@pytest.mark.parametrize("timeout", [True, "5", timedelta(seconds=5), [1]])
def test_a_timeout_is_a_number(timeout: Any) -> None:
    with pytest.raises(TypeError, match=r"^a timeout is a number of seconds, not "):
        seated([GOOD], MajorityVoting()).vote(None, timeout=timeout)


@pytest.mark.parametrize("timeout", [1e300, float("inf"), 10**400])
@pytest.mark.parametrize("parallel", [True, False])
def test_any_long_time_will_do(timeout: float, parallel: bool) -> None:
    jury = seated([GOOD, GOOD], MajorityVoting(), parallel=parallel)
    assert jury.vote(None, timeout=timeout).individual == (FINE, FINE)
    far = limit_by_vote(timeout)
    assert far
    assert far.remaining == pytest.approx(threading.TIMEOUT_MAX)


@pytest.mark.parametrize("timeout", [0, -1, float("-inf"), -(10**400)])
def test_no_time_at_all(timeout: float) -> None:
    verdict = seated([GOOD], PROPAGATE).vote(None, timeout=timeout)
    (said,) = verdict.individual
    assert said.reasoning == "was not asked, because the time was over before"
    assert said.metadata == {"reason": "timeout"}


# Judges that hang.


@pytest.mark.parametrize("parallel", [True, False])
def test_a_judge_that_hangs_costs_its_own_ballot(parallel: bool) -> None:
    with hanging() as stuck:
        verdict = seated([GOOD, stuck], PROPAGATE, "bench", parallel=parallel).vote(
            None, timeout=0.5
        )
        working = {thread.name: thread.daemon for thread in threading.enumerate()}
    good, late = verdict.individual
    assert good == FINE
    assert late.status is Status.ERROR
    assert late.reasoning == (
        "did not answer within 0.5 s; its thread prjury-bench-hanging was abandoned"
    )
    assert late.metadata == {"reason": "timeout"}
    assert working["prjury-bench-hanging"] is True
    assert 450 <= verdict.ballots[1].elapsed_ms < 20_000
    assert verdict.aggregated.metadata["reason"] == "timeout"


def test_in_a_sequential_jury_it_costs_the_ballots_of_those_after_it() -> None:
    with hanging() as stuck:
        verdict = seated([GOOD, stuck, GOOD], PROPAGATE, parallel=False).vote(None, timeout=0.5)
    assert [said.metadata.get("reason") for said in verdict.individual] == [
        None,
        "timeout",
        "timeout",
    ]
    assert verdict.individual[2].reasoning == "was not asked, because the time was over before"


@pytest.mark.parametrize("parallel", [True, False])
def test_what_is_said_too_late_is_not_heard(parallel: bool) -> None:
    listener, released, said = Chatty(), threading.Event(), threading.Event()

    def late(context: object) -> Judgment:
        released.wait(LONG)
        said.set()
        return FINE

    verdict = seated([late], MajorityVoting(), parallel=parallel).vote(
        None, timeout=0.05, listener=listener
    )
    before = verdict.ballots
    released.set()
    assert said.wait(LONG)
    for thread in threading.enumerate():
        if thread.name == "prjury-jury-late":
            thread.join(LONG)
    assert verdict.ballots == before
    assert verdict.individual[0].status is Status.ERROR
    assert listener.heard == [("started", "jury", "late"), ("finished", "jury", "late")]


# Votes within votes.


def voted_by(jury: Jury[Any]) -> Judge[object]:
    return FunctionJudge(lambda context: jury.vote(context).aggregated, "by a function")


def voted_in_a_loop(jury: Jury[Any]) -> Judge[object]:
    async def votes(context: object) -> Judgment:
        return jury.vote(context).aggregated

    return FunctionJudge(votes, "by an async function")


@pytest.mark.parametrize("parallel", [True, False])
def test_a_hanging_member_of_an_inner_jury_costs_its_own_ballot(parallel: bool) -> None:
    with hanging() as stuck:
        inner = seated([GOOD, stuck], MajorityVoting(), "inner", parallel=parallel)
        ways = [
            inner.as_judge(),
            all_of(inner.as_judge()),
            any_of(named(inner.as_judge(), "another")),
            voted_by(inner),
            voted_in_a_loop(inner),
            seated([inner.as_judge()], PROPAGATE, "middle").as_judge(),
        ]
        verdict = seated([*ways, GOOD], PROPAGATE, "outer").vote(None, timeout=2)
    *told, good = verdict.individual
    assert good == FINE
    assert [said.status for said in told] == [Status.FAIL] * 6
    middle = told[-1].metadata["jury"]["inner"]["reasoning"]
    for reasoning in [*(said.reasoning for said in told[:-1]), middle]:
        assert re.fullmatch(
            r"a tie, which counts as fail: 1 of 2 passed; hanging erred: did not answer within "
            r"1\.[1-8] s; its thread prjury-inner-hanging was abandoned",
            reasoning,
        )


def test_a_judge_that_asks_its_own_jury_is_stopped() -> None:
    votes: list[int] = []
    juries: list[Jury[object]] = []

    def asks_again(context: object) -> Judgment:
        votes.append(len(votes))
        return juries[0].vote(context).aggregated

    juries.append(Jury([asks_again], PROPAGATE, "ouroboros"))
    said = juries[0].vote(None).aggregated
    assert len(votes) == 10
    assert said.status is Status.ERROR
    assert (
        "crashed with ValueError: 10 votes wait for that of the jury 'ouroboros'; the limit is 10. "
        "A judge must not ask the jury on which it sits"
    ) in said.reasoning
    with pytest.raises(ValueError, match="10 votes wait"):
        within(10, lambda: juries[0].vote(None))


def within(votes: int, work: Callable[[], object]) -> None:
    """Does the work within so many votes, and raises what it raises."""
    raised: list[BaseException] = []

    def works(context: object) -> Judgment:
        if votes > 1:
            within(votes - 1, lambda: raised.extend(caught(work)))
        else:
            raised.extend(caught(work))
        return FINE

    heard(FunctionJudge(works, "works"))
    if raised:
        raise raised[0]


def caught(work: Callable[[], object]) -> list[BaseException]:
    try:
        work()
    except ValueError as refusal:
        return [refusal]
    return []


# Threads, contexts and the order of ballots.


def test_one_after_the_other_they_work_in_the_calling_thread() -> None:
    threads: list[int] = []

    def works(context: object) -> Judgment:
        threads.append(threading.get_ident())
        return FINE

    seated([works, works], MajorityVoting(), parallel=False).vote(None)
    assert threads == [threading.get_ident()] * 2


@pytest.mark.parametrize(("parallel", "timeout"), [(True, None), (True, 30), (False, 30)])
def test_otherwise_each_has_a_thread_of_its_own(parallel: bool, timeout: float | None) -> None:
    threads: list[tuple[str, bool]] = []

    def works(context: object) -> Judgment:
        thread = threading.current_thread()
        threads.append((thread.name, thread.daemon))
        return FINE

    judges = [FunctionJudge(works, name) for name in "ab"]
    seated(judges, MajorityVoting(), "bench", parallel=parallel).vote(None, timeout=timeout)
    assert sorted(threads) == [("prjury-bench-a", True), ("prjury-bench-b", True)]


REQUEST: ContextVar[str] = ContextVar("request", default="none")


@pytest.mark.parametrize(
    ("parallel", "timeout"), [(True, None), (True, 30), (False, None), (False, 30)]
)
def test_context_variables_reach_judges_but_not_each_other(
    parallel: bool, timeout: float | None
) -> None:
    seen: list[str] = []

    def plain(context: object) -> Judgment:
        seen.append(REQUEST.get())
        REQUEST.set("changed by a judge")
        return FINE

    async def patient(context: object) -> Judgment:
        return plain(context)

    jury = seated([plain, patient, all_of(plain), plain], PROPAGATE, parallel=parallel)
    token = REQUEST.set("number 7")
    try:
        assert jury.vote(None, timeout=timeout).individual == (FINE,) * 4
        assert seen == ["number 7"] * 4
        assert REQUEST.get() == "number 7"
    finally:
        REQUEST.reset(token)


@given(st.permutations(range(5)))
def test_ballots_keep_their_order_whoever_answers_first(order: list[int]) -> None:
    verdict = seated(finishing_in(order), MajorityVoting()).vote(None)
    assert [ballot.judge for ballot in verdict.ballots] == [f"turn {turn}" for turn in order]
    assert [said.reasoning for said in verdict.individual] == [
        f"answered as number {turn}" for turn in order
    ]


def test_two_hundred_judges_work_at_once() -> None:
    together = threading.Barrier(200)

    def meets(context: object) -> Judgment:
        return Judgment.passed(f"arrived with {together.wait(LONG) // 200} to come")

    verdict = seated([meets] * 200, MajorityVoting()).vote(None, timeout=LONG)
    assert {said.reasoning for said in verdict.individual} == {"arrived with 0 to come"}
    assert [ballot.judge for ballot in verdict.ballots][-2:] == ["meets-199", "meets-200"]


def test_two_hundred_judges_that_calculate_all_finish() -> None:
    def calculates(context: object) -> Judgment:
        return Judgment.passed(str(sum(n * n for n in range(3000))))

    verdict = seated([calculates] * 200, MajorityVoting()).vote(None, timeout=LONG)
    assert {said.reasoning for said in verdict.individual} == {"8995500500"}
    assert verdict.aggregated.reasoning == "200 of 200 passed"


def test_a_system_without_threads_gives_error_ballots() -> None:
    usual = threading.stack_size(2**46)
    try:
        ballots = heard(GOOD, GOOD)
    finally:
        threading.stack_size(usual)
    assert [ballot.judgment.status for ballot in ballots] == [Status.ERROR] * 2
    assert ballots[0].judgment.reasoning == (
        "was not asked, because the system refused a thread: can't start new thread"
    )
    assert ballots[0].judgment.metadata == {"reason": "no_thread"}


@given(st.lists(strategies.judgments(evidence=False), min_size=1, max_size=5), st.data())
def test_the_roster_is_complete_in_every_verdict(said: list[Judgment], data: st.DataObject) -> None:
    crashes = data.draw(st.lists(st.booleans(), min_size=len(said), max_size=len(said)))
    judges = [
        raising(PanicError("native"), name) if crash else Says(name, judgment)
        for name, judgment, crash in zip("abcde", said, crashes, strict=False)
    ]
    parallel = data.draw(st.booleans())
    verdict = seated(judges, data.draw(strategies.voting_strategies()), parallel=parallel).vote(0)
    assert [ballot.judge for ballot in verdict.ballots] == list("abcde"[: len(said)])
    for ballot, judgment, crash in zip(verdict.ballots, said, crashes, strict=True):
        assert ballot.judgment == judgment or crash
        assert ballot.judgment.status is Status.ERROR or not crash


# Judges that crash.


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize(
    ("crash", "told"),
    [
        (ValueError("no such thing"), "crashed with ValueError: no such thing"),
        (ValueError(), "crashed with ValueError"),
        (KeyError("x"), "crashed with KeyError: 'x'"),
        (SystemExit(0), "crashed with SystemExit: 0"),
        (GeneratorExit(), "crashed with GeneratorExit"),
        (PanicError("native"), "crashed with fakes.unruly.PanicError: native"),
        (asyncio.CancelledError(), "crashed with asyncio.exceptions.CancelledError"),
        (ValueError("\udc80"), r"crashed with ValueError: \udc80"),
        (SilentError(), "crashed with fakes.unruly.SilentError: <exception str() failed>"),
        (
            ExceptionGroup("unhandled", [ExceptionGroup("inner", [ValueError("the one")])]),
            "crashed with ValueError: the one",
        ),
        (
            ExceptionGroup("both failed", [ValueError("a"), ValueError("b")]),
            "crashed with ExceptionGroup: both failed (2 sub-exceptions)",
        ),
        (PrJuryError(""), "crashed with prjury.errors.PrJuryError"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_crash_is_an_error_in_words(crash: BaseException, told: str, parallel: bool) -> None:
    crashing, good = heard(raising(crash), GOOD, parallel=parallel)
    assert (crashing.judgment.status, good.judgment) == (Status.ERROR, FINE)
    assert crashing.judgment.reasoning == told
    reason = "internal" if isinstance(crash, PrJuryError) else "crashed"
    assert crashing.judgment.metadata == {"reason": reason}


def test_a_crash_is_logged_with_where_it_came_from(caplog: pytest.LogCaptureFixture) -> None:
    crash = ValueError("no")
    with caplog.at_level("DEBUG", "prjury.jury.guard"):
        assert convert_crash(ExceptionGroup("tasks", [crash])).reason == "crashed"
    (record,) = caplog.records
    assert (record.levelname, record.getMessage()) == ("DEBUG", "a judge crashed")
    assert record.exc_info is not None
    assert record.exc_info[1] is crash


def test_a_crash_is_told_with_its_notes() -> None:
    crash = ValueError("no such thing")
    crash.add_note("it was there yesterday")
    told = "crashed with ValueError: no such thing\nit was there yesterday"
    assert convert_crash(crash).reasoning == told


class MuteError(PrJuryError):
    def __str__(self) -> str:
        raise RuntimeError("not even this works")


def test_an_expected_error_that_cannot_be_told_is_a_crash() -> None:
    assert (
        convert_crash(MuteError("x")).reasoning == "crashed with RuntimeError: not even this works"
    )
    odd: Any = object()
    said = convert_crash(PrJuryError("x", reason=odd))
    assert said.reasoning == (
        "crashed with ValueError: metadata.reason is a object, which JSON cannot hold"
    )


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, "odd returned a NoneType instead of a Judgment"),
        (True, "odd returned a bool instead of a Judgment"),
        ("pass", "odd returned a str instead of a Judgment"),
        (Status.PASS, "odd returned a Status instead of a Judgment"),
        ([FINE], "odd returned a list instead of a Judgment"),
    ],
)
def test_an_answer_that_is_no_judgment_is_an_error(answer: Any, told: str) -> None:
    odd, good = heard(FunctionJudge(lambda _: answer, "odd"), GOOD)
    assert odd.judgment.reasoning == f"crashed with TypeError: {told}"
    assert good.judgment == FINE


def test_an_async_judge_that_is_cancelled_is_an_error() -> None:
    async def cancelled(context: object) -> Judgment:
        task = asyncio.current_task()
        assert task
        task.cancel()
        await asyncio.sleep(0)
        return FINE

    ballots = heard(FunctionJudge(cancelled, "a"), GOOD)
    assert [ballot.judgment.status for ballot in ballots] == [Status.ERROR, Status.PASS]
    assert "CancelledError" in ballots[0].judgment.reasoning


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("crash", [ValueError("no"), AttributeError("no"), SystemExit("no")])
@pytest.mark.parametrize(("hides", "name"), [("name", "Judge#1"), ("type", "shy")])
def test_a_judge_that_cannot_say_who_it_is_is_not_asked(
    hides: str, name: str, crash: BaseException, parallel: bool
) -> None:
    shy, listener = Shy(hides, crash), Chatty()
    jury = seated([shy, GOOD], PROPAGATE, parallel=parallel)
    verdict = jury.vote(None, listener=listener)
    told, good = verdict.ballots
    if hides == "type" and isinstance(crash, AttributeError):  # as if there were no type
        assert told.judgment == FINE
        return
    assert good.judgment == FINE
    assert (told.judge, told.type) == (name, JudgeType.DETERMINISTIC)
    assert told.judgment.reasoning == f"crashed with {type(crash).__name__}: no"
    assert shy.asked == 0
    assert verdict.status is Status.ERROR
    assert sorted(listener.heard) == sorted(
        [(word, "jury", judge) for word in ("started", "finished") for judge in (name, "good")]
    )


# The user's own interrupt.


def test_an_interrupt_in_another_thread_is_a_crash() -> None:
    interrupted, good = heard(raising(KeyboardInterrupt()), GOOD)
    assert interrupted.judgment.reasoning == "crashed with KeyboardInterrupt"
    assert good.judgment == FINE


def test_an_interrupt_in_the_main_thread_goes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        heard(raising(KeyboardInterrupt()), GOOD, parallel=False)
    with pytest.raises(KeyboardInterrupt):
        catch_crash(lambda: ask(raising(KeyboardInterrupt()), None), itself)


def test_an_exit_in_the_main_thread_is_a_crash() -> None:
    leaving, good = heard(raising(SystemExit(3)), GOOD, parallel=False)
    assert leaving.judgment.reasoning == "crashed with SystemExit: 3"
    assert good.judgment == FINE


# Listeners.


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("at", ["started", "finished"])
@pytest.mark.parametrize("crash", [ValueError("display"), SystemExit(1), PanicError("display")])
def test_a_listener_that_fails_changes_nothing(
    crash: BaseException, at: str, parallel: bool
) -> None:
    jury = seated(
        [GOOD, Says("bad", BROKEN), raising(ValueError("x"))], PROPAGATE, parallel=parallel
    )
    deaf = Deaf(crash, at)
    silent, watched = jury.vote(None), jury.vote(None, listener=deaf)
    assert watched.aggregated == silent.aggregated
    assert watched.individual == silent.individual
    assert len(deaf.heard) == 6


def test_a_listener_that_fails_keeps_nobody_waiting() -> None:
    with hanging() as stuck:
        jury = seated([GOOD, stuck], PROPAGATE)
        verdict = jury.vote(None, timeout=0.3, listener=Deaf(ValueError("display"), "finished"))
    assert [said.status for said in verdict.individual] == [Status.PASS, Status.ERROR]


# Texts that cannot be printed.


@given(st.text())
def test_printable_text_stays(text: str) -> None:
    assert printable(text) == text


def test_undecodable_names_are_escaped() -> None:
    assert printable("\udcff.py") == r"\udcff.py"
