"""Asking judges: each in a thread of its own, under one deadline, whatever they do.

A judge that raises, hangs or returns something else costs its ballot, which becomes an error with
the reason; it never costs the others theirs.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Generic, Protocol

from prjury.deadline import Deadline
from prjury.errors import PrJuryError
from prjury.jury.judge import AnswerT, ContextT, ContextT_contra, Judge, ask, type_of
from prjury.jury.judgment import Judgment
from prjury.jury.population import Ballot

#: Until when the judge that runs in this thread is waited for; a jury within a jury asks here.
_waited_for: ContextVar[Deadline | None] = ContextVar("prjury_waited_for", default=None)

#: Seconds, and share of the time left, by which an inner jury stops waiting before the outer one
#: does, so that its other ballots still count.
_HEAD_START, _HEAD_SHARE = 0.25, 0.1


class Listener(Protocol):
    """Hears of judges while they work, for progress displays; called from several threads."""

    def judge_started(self, jury: str, judge: str) -> None:
        """A judge has been asked."""

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """A judge has answered, or its time is over."""


class Asked(Protocol[ContextT_contra]):
    """A seat, as far as asking is concerned."""

    @property
    def judge(self) -> Judge[ContextT_contra]:
        """Who is asked."""
        ...

    @property
    def weight(self) -> float:
        """The weight of the vote."""
        ...

    @property
    def title(self) -> str:
        """The name on the ballot."""
        ...


def patience(timeout: float | None) -> Deadline | None:
    """Until when a vote may take: so many seconds, and within whatever vote it is part of."""
    outer = _waited_for.get()
    if outer is None:
        return None if timeout is None else Deadline.after(timeout)
    left = outer.remaining
    inner = left - min(_HEAD_START, left * _HEAD_SHARE)
    return Deadline.after(inner if timeout is None else min(inner, timeout))


def hear(
    seats: Sequence[Asked[ContextT]],
    context: ContextT,
    *,
    jury: str,
    until: Deadline | None,
    listener: Listener | None = None,
    parallel: bool = True,
) -> tuple[Ballot, ...]:
    """The ballots of all seats, in their order, whoever answers first.

    One after the other and without a deadline, they are asked in the calling thread.
    """
    answers = [_Answer(jury, seat, context, listener, until) for seat in seats]
    if not parallel:
        return tuple(answer.alone() for answer in answers)
    for answer in answers:
        answer.start()
    return tuple(answer.wait() for answer in answers)


@dataclass
class _Answer(Generic[ContextT]):
    """One judge at work in its own thread. The thread is a daemon: if it hangs it is abandoned."""

    jury: str
    seat: Asked[ContextT]
    context: ContextT
    listener: Listener | None
    until: Deadline | None
    ballot: Ballot | None = None
    started: float = 0.0
    thread: threading.Thread | None = None
    settling: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        return self.seat.title

    def alone(self) -> Ballot:
        """Asks while nobody else is asked."""
        if self.until is not None:
            self.start()
            return self.wait()
        self._begin()
        self._work()
        return self.wait()

    def start(self) -> None:
        """Asks the judge, unless the time is over already."""
        self._begin()
        if self.until is not None and not self.until.remaining:
            told = "was not asked, because the time was over before"
            self._settle(Judgment.errored(told, metadata={"reason": "timeout"}))
            return
        label = f"prjury-{self.jury}-{self.name}"
        run = copy_context().run
        self.thread = threading.Thread(target=run, args=(self._work,), name=label, daemon=True)
        try:
            self.thread.start()
        except RuntimeError as refusal:  # the system has no more threads
            self._settle(crashed(refusal))

    def wait(self) -> Ballot:
        """The ballot, at the latest when the time is over."""
        if self.thread is not None and self.thread.ident is not None:
            left = None if self.until is None else self.until.remaining
            self.thread.join(left if left is None else min(left, threading.TIMEOUT_MAX))
        return self._settle(self.ballot.judgment if self.ballot else self._overdue())

    def _begin(self) -> None:
        self.started = time.monotonic()
        if self.listener:
            self.listener.judge_started(self.jury, self.name)

    def _work(self) -> None:
        token = _waited_for.set(self.until)
        try:
            self._settle(guarded(lambda: ask(self.seat.judge, self.context), itself))
        finally:
            _waited_for.reset(token)

    def _settle(self, judgment: Judgment) -> Ballot:
        """The first answer counts; what an abandoned thread says later is not heard."""
        with self.settling:
            if self.ballot:
                return self.ballot
            elapsed = round((time.monotonic() - self.started) * 1000)
            kind = type_of(self.seat.judge)
            self.ballot = Ballot(self.name, judgment, self.seat.weight, kind, elapsed)
        if self.listener:
            self.listener.judge_finished(self.jury, self.ballot)
        return self.ballot

    def _overdue(self) -> Judgment:
        seconds = time.monotonic() - self.started
        thread = self.thread.name if self.thread else ""
        return Judgment.errored(
            f"did not answer within {seconds:.0f} s; its thread {thread} was abandoned",
            metadata={"reason": "timeout"},
        )


def guarded(decide: Callable[[], AnswerT], failed: Callable[[Judgment], AnswerT]) -> AnswerT:
    """The one place where a crash becomes a judgment, and `failed` makes an answer of that.

    BaseException, because native parsers raise panics that are not Exceptions; only the user's
    own Ctrl-C, which reaches no other thread than the main one, goes on.
    """
    try:
        return decide()
    except BaseException as crash:
        interrupted = threading.current_thread() is threading.main_thread()
        if interrupted and isinstance(crash, KeyboardInterrupt):
            raise
        return failed(crashed(crash))


def itself(judgment: Judgment) -> Judgment:
    """The judgment as the answer, for `guarded`."""
    return judgment


def crashed(crash: BaseException) -> Judgment:
    """An expected error in its own words, anything else as a crash with its type."""
    if isinstance(crash, PrJuryError) and str(crash):
        return Judgment.errored(_printable(str(crash)), metadata={"reason": crash.reason})
    told = "".join(traceback.format_exception_only(crash)).strip()
    return Judgment.errored(_printable(f"crashed with {told}"), metadata={"reason": "crashed"})


def _printable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
