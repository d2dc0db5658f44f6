"""The jury: judges with weights, asked in parallel, counted by one voting strategy.

The roster is fixed before the vote. Whatever happens to a judge (it raises, hangs, returns
something else), its ballot is there, as an error with the reason, and the others are kept.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar, cast

from prjury.errors import PrJuryError
from prjury.jury.compose import unique_names
from prjury.jury.count import count
from prjury.jury.judge import ContextT, FunctionJudge, Judge, JudgeType, ask, type_of
from prjury.jury.judgment import Judgment
from prjury.jury.population import Ballot
from prjury.jury.score import finite
from prjury.jury.voting import VotingStrategy

AnswerT = TypeVar("AnswerT")


class Listener(Protocol):
    """Hears of judges while they work, for progress displays; called from several threads."""

    def judge_started(self, jury: str, judge: str) -> None:
        """A judge has been asked."""

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """A judge has answered, or its time is over."""


@dataclass(frozen=True)
class Seat(Generic[ContextT]):
    """A judge's place on the bench, with the weight of its vote."""

    judge: Judge[ContextT]
    weight: float = 1.0
    name: str | None = None

    def __post_init__(self) -> None:
        if finite(self.weight, "a seat's weight") < 0:
            raise ValueError(f"a seat's weight is negative: {self.weight}")


@dataclass(frozen=True)
class JuryVerdict:
    """All ballots of one vote in the order of the roster, and what they add up to."""

    aggregated: Judgment
    ballots: tuple[Ballot, ...] = ()

    @property
    def individual(self) -> tuple[Judgment, ...]:
        """The judgments alone, in the order of the roster."""
        return tuple(ballot.judgment for ballot in self.ballots)

    @property
    def by_name(self) -> Mapping[str, Judgment]:
        """The judgments by the names of their judges."""
        return MappingProxyType({ballot.judge: ballot.judgment for ballot in self.ballots})

    @property
    def weights(self) -> Mapping[str, float]:
        """The weights by the names of their judges."""
        return MappingProxyType({ballot.judge: ballot.weight for ballot in self.ballots})


@dataclass
class _Answer(Generic[ContextT]):
    """One judge at work in its own thread. The thread is a daemon: if it hangs it is abandoned."""

    jury: str
    seat: Seat[ContextT]
    context: ContextT
    listener: Listener | None
    ballot: Ballot | None = None
    started: float = 0.0
    thread: threading.Thread = field(init=False)
    settling: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        label = f"prjury-{self.jury}-{self.name}"
        self.thread = threading.Thread(target=self._work, name=label, daemon=True)

    @property
    def name(self) -> str:
        return self.seat.name or self.seat.judge.name

    def start(self, until: float | None) -> None:
        """Asks the judge, unless the time is over already."""
        self.started = time.monotonic()
        if self.listener:
            self.listener.judge_started(self.jury, self.name)
        if until is not None and self.started >= until:
            told = "was not asked, because the time was over before"
            self._settle(Judgment.errored(told, metadata={"reason": "timeout"}))
            return
        try:
            self.thread.start()
        except RuntimeError as refusal:  # the system has no more threads
            self._settle(_crashed(refusal))

    def wait(self, until: float | None) -> Ballot:
        """The ballot, at the latest when the time is over."""
        if self.thread.ident is not None:
            left = None if until is None else max(0.0, until - time.monotonic())
            self.thread.join(left if left is None else min(left, threading.TIMEOUT_MAX))
        return self._settle(self.ballot.judgment if self.ballot else self._overdue())

    def _work(self) -> None:
        self._settle(guarded(lambda: ask(self.seat.judge, self.context), _itself))

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
        return Judgment.errored(
            f"did not answer within {seconds:.0f} s; its thread {self.thread.name} was abandoned",
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
        return failed(_crashed(crash))


def _itself(judgment: Judgment) -> Judgment:
    return judgment


def _crashed(crash: BaseException) -> Judgment:
    """An expected error in its own words, anything else as a crash with its type."""
    if isinstance(crash, PrJuryError) and str(crash):
        return Judgment.errored(_printable(str(crash)), metadata={"reason": crash.reason})
    told = "".join(traceback.format_exception_only(crash)).strip()
    return Judgment.errored(_printable(f"crashed with {told}"), metadata={"reason": "crashed"})


def _printable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


@dataclass(frozen=True)
class Jury(Generic[ContextT]):
    """Judges and the strategy that counts their votes.

    Args:
        judges: judges, seats (judges with weights) or plain functions; at least one. Repeated
            names get ``-2``, ``-3``; judges without one are called ``Judge#N``.
        voting: how the ballots become one judgment.
        name: the jury's own name.
        parallel: all judges at once, each in a thread, or one after the other.

    Raises:
        ValueError: for a jury without judges.
    """

    judges: Sequence[Any]
    voting: VotingStrategy
    name: str = "jury"
    parallel: bool = True

    def __post_init__(self) -> None:
        seats = [_seat(member) for member in self.judges]
        if not seats:
            raise ValueError(f"the jury {self.name!r} has no judges")
        names = unique_names(seat.name or _name_of(seat.judge) for seat in seats)
        fixed = tuple(
            Seat(_named(seat.judge, name), seat.weight, name)
            for seat, name in zip(seats, names, strict=True)
        )
        object.__setattr__(self, "judges", fixed)

    @classmethod
    def of(cls, voting: VotingStrategy, *judges: Any, name: str = "jury") -> Jury[Any]:  # noqa: ANN401
        """A jury of these judges, seats or functions, named automatically."""
        return Jury(judges, voting, name)

    @property
    def seats(self) -> tuple[Seat[ContextT], ...]:
        """The roster."""
        return cast("tuple[Seat[ContextT], ...]", self.judges)

    def vote(
        self,
        context: ContextT,
        *,
        timeout: float | None = None,
        listener: Listener | None = None,
    ) -> JuryVerdict:
        """Asks every judge and counts.

        Args:
            timeout: seconds for the whole vote; a judge that takes longer is an error ballot.
            listener: hears of each judge's start and end.
        """
        until = None if timeout is None else time.monotonic() + timeout
        answers = [_Answer(self.name, seat, context, listener) for seat in self.seats]
        ballots = self._gather(answers, until)
        return JuryVerdict(guarded(lambda: count(self.voting, ballots), _itself), ballots)

    def _gather(
        self, answers: Sequence[_Answer[ContextT]], until: float | None
    ) -> tuple[Ballot, ...]:
        if self.parallel:
            for answer in answers:
                answer.start(until)
            return tuple(answer.wait(until) for answer in answers)
        ballots = []
        for answer in answers:
            answer.start(until)
            ballots.append(answer.wait(until))
        return tuple(ballots)

    def as_judge(self, name: str | None = None) -> Judge[ContextT]:
        """The whole jury as one judge, for juries of juries."""
        kinds = {type_of(seat.judge) for seat in self.seats}
        kind = kinds.pop() if len(kinds) == 1 else JudgeType.HYBRID
        return FunctionJudge(self._decide, name or self.name, f"the jury {self.name}", kind)

    def _decide(self, context: ContextT) -> Judgment:
        return self.vote(context).aggregated


def _seat(member: object) -> Seat[Any]:
    return member if isinstance(member, Seat) else Seat(cast("Judge[Any]", member))


def _name_of(judge: object) -> str | None:
    name = getattr(judge, "name", None) or getattr(judge, "__name__", None)
    return name if isinstance(name, str) and name and name != "<lambda>" else None


def _named(judge: object, name: str) -> Judge[Any]:
    if isinstance(judge, Judge):
        return judge
    if callable(judge):
        return FunctionJudge(judge, name)
    raise TypeError(f"{judge!r} is neither a judge nor a function")
