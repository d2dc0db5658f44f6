"""A jury that asks again when it is not sure.

All judges answer independently. If they are not sure enough on average, the whole round is asked
again, word for word the same; no judge ever sees what another said, or what was said before,
because judges that see a majority give in to it. A chair, if there is one, reads the last round
and decides; without one the votes are counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, cast

from prjury.deadline import Deadline
from prjury.jury.asking import Listener, guarded, hear, itself, patience
from prjury.jury.bench import JuryJudge, JuryVerdict, Member, Seat, roster
from prjury.jury.confidence import Confidence, confidence, title_of
from prjury.jury.count import count, hold_down
from prjury.jury.extent import Extent
from prjury.jury.judge import ContextT, Judge, JudgeType, Opinion, ask, judge_of, type_of
from prjury.jury.judgment import Judgment, Status
from prjury.jury.population import Ballot
from prjury.jury.score import finite
from prjury.jury.voting import MajorityVoting, VotingStrategy


@dataclass(frozen=True)
class RoundContext(Generic[ContextT]):
    """What the chair reads: the question and the last round of answers to it.

    Attributes:
        context: what the judges were asked about.
        ballots: their answers, in the order of the roster.
        confidences: how sure each is taken to be, 0..1, by name; None where nothing can be said.
        iteration: which round it is, from 1.
        mean_confidence: the mean of those that have a number; None if none has.
        met_threshold: whether that was enough.
    """

    context: ContextT
    ballots: tuple[Ballot, ...]
    confidences: Mapping[str, float | None]
    iteration: int
    mean_confidence: float | None
    met_threshold: bool

    @property
    def individual(self) -> tuple[Judgment, ...]:
        """The judgments alone, in the order of the roster."""
        return tuple(ballot.judgment for ballot in self.ballots)

    @property
    def by_name(self) -> Mapping[str, Judgment]:
        """The judgments by the names of their judges."""
        return MappingProxyType({ballot.judge: ballot.judgment for ballot in self.ballots})


@dataclass(frozen=True)
class JuryWithRetry(Generic[ContextT]):
    """Judges that are asked again, all of them, while they are not sure.

    Args:
        judges: judges, seats or plain functions; a seat may say how its confidence is taken.
        chair: who makes one judgment of the last round; without one, `voting` does. It is asked
            only if somebody voted. A chair that is backed by a model, or that reads answers of
            models, can lower what the deterministic judges say among themselves, never lift it.
        confidence_threshold: the mean confidence, 0..1, at which the jury stops asking.
        max_iterations: rounds at most.
        voting: counts the last round where there is no chair.
        name: the jury's own name.
        parallel: all judges at once, each in a thread, or one after the other.

    Raises:
        ValueError: without judges, for a threshold outside 0..1, less than one round, or a jury
            that is nested too deep or too large.
        TypeError: for members that are neither judges nor functions, or numbers that are none.
    """

    judges: Sequence[Member[ContextT]]
    chair: Judge[RoundContext[ContextT]] | Callable[[RoundContext[ContextT]], Opinion] | None = None
    confidence_threshold: float = 0.7
    max_iterations: int = 2
    voting: VotingStrategy = field(default_factory=MajorityVoting)
    name: str = "jury"
    parallel: bool = True
    extent: Extent = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        whose = f"the jury {self.name!r}"
        if not 0.0 <= finite(self.confidence_threshold, "confidence_threshold") <= 1.0:
            raise ValueError(f"confidence_threshold is in 0..1, not {self.confidence_threshold}")
        rounds = self.max_iterations
        if isinstance(rounds, bool) or not isinstance(rounds, int):
            raise TypeError(f"max_iterations is a whole number, not {rounds!r}")
        if rounds < 1:
            raise ValueError(f"max_iterations is at least 1, not {rounds}")
        seats = tuple(_twice_where_flipped(seat) for seat in roster(self.judges, whose))
        extent = Extent.around((seat.judge for seat in seats), runs=rounds)
        object.__setattr__(self, "judges", seats)
        object.__setattr__(self, "extent", extent.within_limits(whose))

    @property
    def seats(self) -> tuple[Seat[ContextT], ...]:
        """The roster."""
        return cast("tuple[Seat[ContextT], ...]", self.judges)

    @property
    def strategies(self) -> Mapping[str, str]:
        """How each judge's confidence is taken, by name."""
        return MappingProxyType({seat.title: title_of(seat.confidence) for seat in self.seats})

    def vote(
        self,
        context: ContextT,
        *,
        timeout: float | None = None,
        listener: Listener | None = None,
    ) -> JuryVerdict:
        """Asks until the jury is sure, or the rounds or the time are used up.

        The judgment's metadata has ``iterations``, ``met_threshold`` and, in ``retry``, the
        threshold and the confidences of every round. The ballots are those of the last round.

        Args:
            timeout: seconds for everything, the chair included.
            listener: hears of each judge's start and end.
        """
        until = patience(timeout)
        rounds = [self._round(context, 1, until, listener)]
        while self._goes_on(rounds[-1], until):
            rounds.append(self._round(context, len(rounds) + 1, until, listener))
        last = rounds[-1]
        decided = self._decide(last, until, listener)
        told = decided.told(
            iterations=last.iteration,
            met_threshold=last.met_threshold,
            retry=self._evidence(rounds),
        )
        return JuryVerdict(told, last.ballots)

    def as_judge(self, name: str | None = None) -> JuryJudge[ContextT]:
        """The whole jury as one judge, for juries of juries."""
        return JuryJudge(self, self.extent, name or self.name)

    def _round(
        self, context: ContextT, iteration: int, until: Deadline | None, listener: Listener | None
    ) -> RoundContext[ContextT]:
        ballots = hear(
            self.seats,
            context,
            jury=self.name,
            until=until,
            listener=listener,
            parallel=self.parallel,
        )
        sure = {
            ballot.judge: _confidence(seat, ballot, ballots)
            for seat, ballot in zip(self.seats, ballots, strict=True)
        }
        numbers = [number for number in sure.values() if number is not None]
        mean = round(math.fsum(numbers) / len(numbers), 12) if numbers else None
        met = mean is not None and mean >= self.confidence_threshold
        return RoundContext(context, ballots, MappingProxyType(sure), iteration, mean, met)

    def _goes_on(self, last: RoundContext[ContextT], until: Deadline | None) -> bool:
        """Whether there is another round; one without any time would only lose the answers."""
        in_time = until is None or until.remaining > 0
        return not last.met_threshold and last.iteration < self.max_iterations and in_time

    def _decide(
        self, last: RoundContext[ContextT], until: Deadline | None, listener: Listener | None
    ) -> Judgment:
        votes = {Status.PASS, Status.FAIL}
        if self.chair is None or not any(said.status in votes for said in last.individual):
            return guarded(lambda: count(self.voting, last.ballots), itself)
        seat = Seat(judge_of(self.chair), name="chair")
        (ballot,) = hear([seat], last, jury=self.name, until=until, listener=listener)
        said = ballot.judgment
        return guarded(lambda: hold_down(said, ballot.type, self.voting, last.ballots), itself)

    def _evidence(self, rounds: Sequence[RoundContext[ContextT]]) -> dict[str, Any]:
        return {
            "confidence_threshold": self.confidence_threshold,
            "max_iterations": self.max_iterations,
            "strategies": dict(self.strategies),
            "rounds": [
                {
                    "mean_confidence": asked.mean_confidence,
                    "confidences": dict(asked.confidences),
                    "statuses": {b.judge: b.judgment.status.value for b in asked.ballots},
                }
                for asked in rounds
            ],
        }


def _confidence(seat: Seat[ContextT], ballot: Ballot, ballots: Sequence[Ballot]) -> float | None:
    """The ballot's confidence; one that cannot be taken is none, and so lifts nothing."""
    return guarded(lambda: confidence(seat.confidence, ballot, ballots), lambda _: None)


@dataclass(frozen=True)
class _Twice(Generic[ContextT]):
    """Asks the same judge twice, the second time with the question turned round if it can be."""

    inner: Judge[ContextT]
    runs: int = 2

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def type(self) -> JudgeType:
        return type_of(self.inner)

    @property
    def members(self) -> tuple[Judge[ContextT]]:
        return (self.inner,)

    def judge(self, context: ContextT, /) -> Judgment:
        """The first answer; ``metadata["flipped"]`` says whether the second one differs."""
        first = ask(self.inner, context)
        if first.status is Status.ERROR:
            return first
        second = guarded(lambda: ask(self.inner, _turned(context)), itself)
        if second.status is Status.ERROR:
            return first
        return first.told(flipped=first.status is not second.status)


def _turned(context: ContextT) -> ContextT:
    """The question turned round where it knows how, else as it is."""
    turn: object = getattr(context, "flipped", None)
    return cast("ContextT", turn()) if callable(turn) else context


def _twice_where_flipped(seat: Seat[ContextT]) -> Seat[ContextT]:
    if seat.confidence is not Confidence.FLIP:
        return seat
    return Seat(_Twice(seat.judge), seat.weight, seat.title, seat.confidence)
