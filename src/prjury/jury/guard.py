"""Asking judges: each in a thread of its own, under one deadline, whatever they do.

One that raises, hangs or returns something else costs its own ballot, which becomes an error.
"""

from __future__ import annotations

import logging
import math
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol

from prjury.deadline import Deadline
from prjury.errors import PrJuryError
from prjury.jury.judge import AnswerT, ContextT, Judge, JudgeType, ask, type_of
from prjury.jury.judgment import Judgment
from prjury.jury.voting import Ballot

if TYPE_CHECKING:
    from prjury.jury.jury import Seat

_log = logging.getLogger(__name__)

#: Votes that may wait for one; deeper ones are a mistake, such as a judge that asks its own jury.
MAX_DEPTH = 10

#: Seconds, and share of the time left, by which an inner jury stops waiting before the outer one
#: does, so that its other ballots still count.
_HEAD_START, _HEAD_SHARE = 0.25, 0.1


@dataclass(frozen=True, slots=True)
class _Vote:
    """The vote that a judge is asked in: until when, and how many votes there are around it."""

    until: Deadline | None = None
    depth: int = 0


#: The vote that this thread works for; a jury within a jury asks here.
_vote: ContextVar[_Vote] = ContextVar("prjury_vote", default=_Vote())  # noqa: B039 - it is frozen


class Listener(Protocol):
    """Hears of judges while they work, from several threads; what it raises is not heard."""

    def judge_started(self, jury: str, judge: str) -> None:
        """A judge has been asked."""

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """A judge has answered, or its time is over."""


def limit_by_vote(timeout: float | None) -> Deadline | None:
    """The end of a vote: so many seconds, and within whatever vote it is part of."""
    seconds = None if timeout is None else _seconds(timeout)
    outer = _vote.get().until
    if outer is None:
        return None if seconds is None else Deadline.after(seconds)
    remaining = outer.remaining
    inner = remaining - min(_HEAD_START, remaining * _HEAD_SHARE)
    return Deadline.after(inner if seconds is None else min(inner, seconds))


def _seconds(timeout: float) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"a timeout is a number of seconds, not {timeout!r}")
    bounded = max(min(timeout, threading.TIMEOUT_MAX), 0.0)
    if math.isnan(bounded):
        raise ValueError("a timeout is a number of seconds, not nan")
    return bounded


def ask_seats(
    seats: Sequence[Seat[ContextT]],
    context: ContextT,
    *,
    jury: str,
    until: Deadline | None,
    listener: Listener | None = None,
    parallel: bool = True,
) -> tuple[Ballot, ...]:
    """The ballots of all seats in their order; asked in this thread without a deadline."""
    vote = _Vote(until, _vote.get().depth + 1)
    if vote.depth > MAX_DEPTH:
        raise ValueError(
            f"{MAX_DEPTH} votes wait for that of the jury {jury!r}; the limit is {MAX_DEPTH}. "
            "A judge must not ask the jury on which it sits"
        )
    answers = [_Answer(jury, seat, context, listener, vote) for seat in seats]
    if not parallel:
        return tuple(answer.ask_alone() for answer in answers)
    for answer in answers:
        answer.start_thread_or_record()
    return tuple(answer.wait() for answer in answers)


@dataclass
class _Answer(Generic[ContextT]):
    """One judge at work in its own thread. The thread is a daemon: if it hangs it is abandoned."""

    jury: str
    seat: Seat[ContextT]
    context: ContextT
    listener: Listener | None
    vote: _Vote
    kind: JudgeType = JudgeType.DETERMINISTIC
    ballot: Ballot | None = None
    started: float = 0.0
    thread: threading.Thread | None = None
    settling: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        return self.seat.title

    def ask_alone(self) -> Ballot:
        if self.vote.until is not None:
            self.start_thread_or_record()
            return self.wait()
        return self._announce_or_record_crash() or copy_context().run(self._work)

    def start_thread_or_record(self) -> None:
        if self._announce_or_record_crash():
            return
        if self.vote.until is not None and not self.vote.until.remaining:
            self._record_first(_not_asked("the time was over before", "timeout"))
            return
        label = f"prjury-{self.jury}-{self.name}"
        run = copy_context().run
        thread = threading.Thread(target=run, args=(self._work,), name=label, daemon=True)
        try:
            thread.start()
        except RuntimeError as refusal:  # the system has no more threads
            refused = f"the system refused a thread: {refusal}"
            self._record_first(_not_asked(refused, "no_thread"))
        else:
            self.thread = thread

    def wait(self) -> Ballot:
        until = self.vote.until
        if self.thread is not None:
            seconds = None if until is None else min(until.remaining, threading.TIMEOUT_MAX)
            self.thread.join(seconds)
        return self.ballot or self._record_first(self._overdue())

    def _announce_or_record_crash(self) -> Ballot | None:
        """Greet the judge; a ballot already if it cannot even say who it is."""
        self.started = time.monotonic()
        self._tell(lambda listener: listener.judge_started(self.jury, self.name))
        introduction = catch_crash(lambda: _introduce(self.seat.judge), itself)
        if isinstance(introduction, Judgment):
            return self._record_first(introduction)
        self.kind = introduction
        return None

    def _work(self) -> Ballot:
        _vote.set(self.vote)
        return self._record_first(catch_crash(lambda: ask(self.seat.judge, self.context), itself))

    def _record_first(self, judgment: Judgment) -> Ballot:
        """The first answer counts; what an abandoned thread says later is not heard."""
        with self.settling:
            if self.ballot:
                return self.ballot
            elapsed = round((time.monotonic() - self.started) * 1000)
            ballot = Ballot(self.name, judgment, self.seat.weight, self.kind, elapsed)
            self.ballot = ballot
        self._tell(lambda listener: listener.judge_finished(self.jury, ballot))
        return ballot

    def _tell(self, news: Callable[[Listener], None]) -> None:
        listener = self.listener
        if listener is not None:
            catch_crash(lambda: news(listener), lambda _: None)

    def _overdue(self) -> Judgment:
        allotted = self.vote.until.at - self.started if self.vote.until else math.inf
        thread = self.thread.name if self.thread else ""
        return Judgment.errored(
            f"did not answer within {round(allotted, 1):g} s; its thread {thread} was abandoned",
            metadata={"reason": "timeout"},
        )


def _introduce(judge: Judge[ContextT]) -> JudgeType | Judgment:
    str(judge.name)
    return type_of(judge)


def _not_asked(because: str, reason: str) -> Judgment:
    return Judgment.errored(f"was not asked, because {because}", metadata={"reason": reason})


def catch_crash(decide: Callable[[], AnswerT], failed: Callable[[Judgment], AnswerT]) -> AnswerT:
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
        return failed(convert_crash(crash))


def itself(judgment: Judgment) -> Judgment:
    """The judgment as the answer, for `catch_crash`."""
    return judgment


def convert_crash(crash: BaseException) -> Judgment:
    """An expected error in its own words, anything else as a crash with its type."""
    crash = unwrap_error(crash)
    if isinstance(crash, PrJuryError):
        expected = crash
        return catch_crash(lambda: _check_kind(expected), itself)
    _log.debug("a judge crashed", exc_info=crash)
    return Judgment.errored(f"crashed with {describe_error(crash)}", metadata={"reason": "crashed"})


def _check_kind(error: PrJuryError) -> Judgment:
    words = printable(str(error)) or f"crashed with {describe_error(error)}"
    return Judgment.errored(words, metadata={"reason": error.reason})


def unwrap_error(crash: BaseException) -> BaseException:
    """The crash itself, or the only one in a group, as task groups raise it."""
    while isinstance(crash, BaseExceptionGroup) and len(crash.exceptions) == 1:
        crash = crash.exceptions[0]
    return crash


def describe_error(crash: BaseException) -> str:
    """The exception's type and message."""
    return printable("".join(traceback.format_exception_only(crash)).strip())


def printable(text: str) -> str:
    """The text with lone surrogates, as undecodable file names have them, written as escapes."""
    return text.encode(errors="backslashreplace").decode()
