from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import CancelledError
from contextvars import ContextVar
from typing import Any
from unittest.mock import Mock

import pytest

from fakes.unruly import BROKEN, FINE, LONG, Shy
from prjury.jury.judge import FunctionJudge, JudgeType, ask, judge, judge_of
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Jury, Seat
from prjury.jury.threads import wait_for_awaitable
from prjury.jury.voting import MajorityVoting
from strategies import Says, seated

# What is a judge, and what becomes one.


def fine(context: object) -> Judgment:
    return FINE


class Own:
    name = "own"

    def judge(self, context: object, /) -> Judgment:
        return FINE


class Delegating:
    """A wrapper that knows what it wraps only when it is asked for it."""

    def __init__(self, inner: object) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)


class Calling:
    def __call__(self, context: object) -> Judgment:
        return BROKEN


@pytest.mark.parametrize(
    "member",
    [
        Own(),
        Says("a", FINE),
        judge()(fine),
        Delegating(Own()),
        Shy("name", ValueError()),
        Shy("name", AttributeError()),
        Seat(Own()).judge,
        Jury([Own()], MajorityVoting()).as_judge(),
        Mock(spec=Own),
        Mock(),
    ],
    ids=lambda member: type(member).__name__,
)
def test_a_judge_stays_what_it_is(member: Any) -> None:
    assert judge_of(member) is member


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (fine, "fine"),
        (lambda context: FINE, ""),
        (functools.partial(fine), ""),
        (Own().judge, "judge"),
        (Calling(), ""),
    ],
)
def test_a_function_becomes_a_judge(function: Callable[[object], Judgment], name: str) -> None:
    made = judge_of(function)
    assert made == FunctionJudge(function, name, "", JudgeType.DETERMINISTIC)
    assert ask(made, None) == function(None)


class Nameless:
    def judge(self, context: object, /) -> Judgment:
        return FINE


@pytest.mark.parametrize(
    "member", [None, 7, "fine", [fine], Nameless(), Seat(Own()), Seat(judge()(fine))]
)
def test_nothing_else_does(member: Any) -> None:
    with pytest.raises(TypeError) as told:
        judge_of(member)
    assert str(told.value) == f"{member!r} is neither a judge nor a function"


def test_a_jury_is_told_what_to_do() -> None:
    jury: Any = Jury([fine], MajorityVoting())
    with pytest.raises(TypeError) as told:
        judge_of(jury)
    assert str(told.value) == (
        f"{jury!r} is neither a judge nor a function but a jury: seat what its as_judge() returns"
    )


# Waiting for what is awaited.


async def patient(context: object) -> Judgment:
    await asyncio.sleep(0.01)
    return BROKEN


class Lazy:
    """Something that can be awaited but is no coroutine."""

    def __await__(self) -> Generator[Any, None, Judgment]:
        yield from asyncio.sleep(0).__await__()
        return FINE


def elsewhere(work: Callable[[], object]) -> object:
    """What the work comes to in a thread of its own."""
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join(LONG)
    return found[0]


async def in_a_loop(work: Callable[[], object]) -> object:
    return work()


@pytest.mark.parametrize(
    "run",
    [
        lambda work: work(),
        elsewhere,
        lambda work: asyncio.run(in_a_loop(work)),
        lambda work: elsewhere(lambda: asyncio.run(in_a_loop(work))),
    ],
    ids=["main thread", "another thread", "a running loop", "a running loop elsewhere"],
)
@pytest.mark.parametrize(
    ("make", "expected"),
    [(lambda: patient(None), BROKEN), (Lazy, FINE)],
    ids=["coroutine", "awaitable"],
)
def test_it_is_waited_for_in_any_thread(
    run: Callable[[Callable[[], object]], object],
    make: Callable[[], Awaitable[Judgment]],
    expected: Judgment,
) -> None:
    assert run(lambda: wait_for_awaitable(make())) == expected


@pytest.mark.parametrize(
    "crash", [ValueError("no"), asyncio.CancelledError("no"), KeyError("no"), SystemExit("no")]
)
@pytest.mark.parametrize("run", [lambda work: work(), lambda work: asyncio.run(in_a_loop(work))])
def test_what_it_raises_is_raised(run: Callable[..., object], crash: BaseException) -> None:
    async def crashes() -> Judgment:
        raise crash

    with pytest.raises(type(crash)) as raised:
        run(lambda: wait_for_awaitable(crashes()))
    assert raised.value.args in {crash.args, ()}


REQUEST: ContextVar[str] = ContextVar("request", default="none")


def test_the_loop_runs_in_a_daemon_that_is_named_after_who_waits() -> None:
    async def tells() -> tuple[str, bool]:
        thread = threading.current_thread()
        return thread.name, thread.daemon

    waiting = threading.current_thread().name
    assert wait_for_awaitable(tells()) == (f"{waiting}-aside", True)


def test_in_a_judges_own_thread_the_loop_needs_no_other() -> None:
    async def tells(context: object) -> Judgment:
        return Judgment.passed(threading.current_thread().name)

    verdict = seated([FunctionJudge(tells, "a")], MajorityVoting()).vote(None)
    assert verdict.individual[0].reasoning == "prjury-jury-a"


def test_what_belongs_to_another_loop_is_an_error_and_no_deadlock() -> None:
    async def outer() -> Judgment:
        foreign = asyncio.ensure_future(patient(None))
        jury = seated([FunctionJudge(lambda _: foreign, "a")], MajorityVoting())
        (said,) = jury.vote(None, timeout=LONG).individual
        foreign.cancel()
        return said

    said = asyncio.run(outer())
    assert said.status is Status.ERROR
    assert "attached to a different loop" in said.reasoning


def test_a_forgotten_await_is_told() -> None:
    async def forgetful(context: object) -> Any:
        return patient(context)

    with pytest.raises(TypeError, match=r"^odd returned a coroutine: is an await missing\?$"):
        ask(FunctionJudge(forgetful, "odd"), None)


# What a loop does aside.


def test_what_a_judge_does_aside_is_done_by_daemons() -> None:
    async def tells() -> list[bool]:
        daemons = [asyncio.to_thread(lambda: threading.current_thread().daemon) for _ in range(3)]
        return list(await asyncio.gather(*daemons))

    assert wait_for_awaitable(tells()) == [True, True, True]


def test_thirty_two_calls_are_worked_on_at_once() -> None:
    async def calls() -> str:
        loop = asyncio.get_running_loop()
        released, together = threading.Event(), threading.Barrier(33)

        def works() -> None:
            together.wait(LONG)
            released.wait(LONG)

        working = [loop.run_in_executor(None, works) for _ in range(32)]
        together.wait(LONG)
        another = loop.run_in_executor(None, lambda: "had its turn")
        try:
            done, _ = await asyncio.wait([another], timeout=0.2)
            assert done == set()
        finally:
            released.set()
        await asyncio.gather(*working)
        return await another

    assert wait_for_awaitable(calls()) == "had its turn"


def test_a_call_that_was_begun_cannot_be_cancelled() -> None:
    async def cancels() -> str:
        released = threading.Event()
        call = asyncio.ensure_future(asyncio.to_thread(released.wait, LONG))
        await asyncio.sleep(0)
        call.cancel()
        released.set()
        try:
            await call
        except (asyncio.CancelledError, CancelledError):
            return "cancelled"
        return "done"

    assert wait_for_awaitable(cancels()) == "cancelled"
