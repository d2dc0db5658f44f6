"""A jury that asks again when it is not sure.

All judges answer independently. If they are not sure enough on average, the whole round is asked
again, word for word the same; no judge ever sees what another said, or what was said before,
because judges that see a majority give in to it. A chair may decide by the last round.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Generic, cast

from prjury.deadline import Deadline
from prjury.jury.compose import asking_confidence, kind_of
from prjury.jury.confidence import Confidence, confidence_of, title_of
from prjury.jury.count import aggregate_ballots, cap_by_deterministic, has_vote
from prjury.jury.guard import Listener, ask_seats, catch_crash, itself, limit_by_vote
from prjury.jury.judge import ContextT, Judge, JudgeLike, JudgeType, ask, judge_of, type_of
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Bench, Member, Seat, check_strategy, make_seats
from prjury.jury.score import finite, require_whole_number
from prjury.jury.verdicts import JuryVerdict
from prjury.jury.voting import Ballot, MajorityVoting, VotingStrategy

__all__ = ["JuryWithRetry", "RoundContext"]


#: Digits to which a mean and the threshold are rounded, so that three times 0.7 is 0.7.
_DIGITS = 12


@dataclass(frozen=True)
class RoundContext(Generic[ContextT]):
    """The question, and the last round of answers to it, as the chair reads them.

    Confidences are 0..1, None where nothing can be said; rounds count from 1.
    """

    context: ContextT
    ballots: tuple[Ballot, ...]
    confidences: Mapping[str, float | None]
    iteration: int
    mean_confidence: float | None
    met_threshold: bool
    confidence_errors: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        context: ContextT,
        seats: Sequence[Seat[ContextT]],
        ballots: tuple[Ballot, ...],
        iteration: int,
        threshold: float,
    ) -> RoundContext[ContextT]:
        """The round in which these seats cast these ballots, with its mean confidence."""
        outcomes = {
            b.judge: _take_outcome(s, b, ballots) for s, b in zip(seats, ballots, strict=True)
        }
        errors = {name: it.reasoning for name, it in outcomes.items() if isinstance(it, Judgment)}
        sure = {name: None if isinstance(it, Judgment) else it for name, it in outcomes.items()}
        mean = _mean([number for number in sure.values() if number is not None])
        met = mean is not None and mean >= round(threshold, _DIGITS)
        frozen = MappingProxyType(sure), MappingProxyType(errors)
        return cls(context, ballots, frozen[0], iteration, mean, met, frozen[1])

    @property
    def individual(self) -> tuple[Judgment, ...]:
        """The judgments alone, in the order of the roster."""
        return tuple(ballot.judgment for ballot in self.ballots)

    @property
    def by_name(self) -> Mapping[str, Judgment]:
        """The judgments by the names of their judges."""
        return MappingProxyType({ballot.judge: ballot.judgment for ballot in self.ballots})

    def evidence(self) -> dict[str, Any]:
        """The round as JSON: statuses and confidences by name."""
        return {
            "mean_confidence": self.mean_confidence,
            "confidences": dict(self.confidences),
            "confidence_errors": dict(self.confidence_errors),
            "statuses": {ballot.judge: ballot.judgment.status.value for ballot in self.ballots},
        }


def _take_outcome(
    seat: Seat[ContextT], ballot: Ballot, ballots: Sequence[Ballot]
) -> float | Judgment | None:
    return catch_crash(lambda: confidence_of(seat.confidence, ballot, ballots), itself)


def _mean(numbers: Sequence[float]) -> float | None:
    return round(math.fsum(numbers) / len(numbers), _DIGITS) if numbers else None


@dataclass(frozen=True)
class FlipCheckedJudge(Generic[ContextT]):
    """Asks a judge twice, the second time with the question turned round if it can be."""

    inner: Judge[ContextT]

    @property
    def name(self) -> str:
        """The judge's own name."""
        return self.inner.name

    @property
    def description(self) -> str:
        """The judge's own description."""
        return str(getattr(self.inner, "description", ""))

    @property
    def type(self) -> JudgeType:
        """The judge's own type."""
        return type_of(self.inner)

    def judge(self, context: ContextT, /) -> Judgment:
        """The first answer; its ``flipped`` says whether the second one differs."""
        first = ask(self.inner, context)
        if first.status not in {Status.PASS, Status.FAIL}:
            return first
        second = catch_crash(lambda: ask(self.inner, _turn_over(context)), itself)
        if second.status is Status.ERROR:
            return first.with_metadata(flipped=None, flip_error=second.reasoning)
        return first.with_metadata(flipped=first.status is not second.status)


def _turn_over(context: ContextT) -> ContextT:
    turn: object = getattr(context, "flipped", None)
    return cast("ContextT", turn()) if callable(turn) else context


#: The share of the time that is kept for the chair, so that a judge that hangs leaves it some.
_CHAIR_SHARE = 0.2


@dataclass(frozen=True)
class JuryWithRetry(Bench[ContextT]):
    """Judges that are asked again, all of them, while they are not sure.

    Args:
        judges: judges, seats or plain functions; a seat may say how its confidence is taken.
            Where nothing is said, a judge that asks a model or an agent also asks how sure it is.
        chair: who makes one judgment of the last round, if somebody voted; without one, `voting`
            does. With models among them it can lower what deterministic judges say, never lift it.
        confidence_threshold: the mean confidence, 0..1, at which the jury stops asking.
        max_iterations: rounds at most.
    """

    judges: Sequence[Member[ContextT]]
    chair: JudgeLike[RoundContext[ContextT]] | None = None
    confidence_threshold: float = 0.7
    max_iterations: int = 2
    voting: VotingStrategy = field(default_factory=MajorityVoting)
    name: str = "jury"
    parallel: bool = True

    def __post_init__(self) -> None:
        _check_numbers(self.confidence_threshold, self.max_iterations)
        check_strategy(self.voting)
        if self.chair is not None:
            object.__setattr__(self, "chair", judge_of(self.chair))
        seats = make_seats(self.judges, f"the jury {self.name!r}")
        object.__setattr__(self, "judges", tuple(map(_prepare_seat, seats)))

    @property
    def type(self) -> JudgeType:
        """The type of the members, the chair among them, where they agree, else a hybrid."""
        chair = () if self.chair is None else (self.chair,)
        return kind_of([*(seat.judge for seat in self.seats), *chair])

    @property
    def strategies(self) -> Mapping[str, str]:
        """The way in which each judge's confidence is taken, by name."""
        return MappingProxyType({seat.title: title_of(seat.confidence) for seat in self.seats})

    def vote(
        self,
        context: ContextT,
        *,
        timeout: float | None = None,
        listener: Listener | None = None,
    ) -> JuryVerdict:
        """Ask until the jury is sure, or the rounds or the time are used up.

        The metadata has ``iterations``, ``met_threshold`` and, in ``retry``, why it stopped and the
        confidences of every round. A fifth of the time is the chair's, if there is one.
        """
        until = limit_by_vote(timeout)
        rounds, stopped = self._ask_until_stopped(context, self._for_judges(until), listener)
        last = rounds[-1]
        message = self._ask_chair_or_aggregate(last, until, listener).with_metadata(
            iterations=last.iteration,
            met_threshold=last.met_threshold,
            retry=self._describe_rounds(rounds, stopped),
        )
        return JuryVerdict(message, last.ballots)

    def _for_judges(self, until: Deadline | None) -> Deadline | None:
        if until is None or self.chair is None:
            return until
        return Deadline(until.at - until.remaining * _CHAIR_SHARE)

    def _ask_until_stopped(
        self, context: ContextT, until: Deadline | None, listener: Listener | None
    ) -> tuple[list[RoundContext[ContextT]], str]:
        rounds: list[RoundContext[ContextT]] = []
        stopped = None
        while stopped is None:
            started = time.monotonic()
            rounds.append(self._ask_round(context, len(rounds) + 1, until, listener))
            stopped = self._find_stop_reason(rounds[-1], until, time.monotonic() - started)
        return rounds, stopped

    def _ask_round(
        self, context: ContextT, iteration: int, until: Deadline | None, listener: Listener | None
    ) -> RoundContext[ContextT]:
        ballots = ask_seats(
            self.seats,
            context,
            jury=self.name,
            until=until,
            listener=listener,
            parallel=self.parallel,
        )
        return RoundContext.of(context, self.seats, ballots, iteration, self.confidence_threshold)

    def _find_stop_reason(
        self, last: RoundContext[ContextT], until: Deadline | None, took: float
    ) -> str | None:
        """The reason for no other round; one with too little time would only lose the answers."""
        if last.met_threshold:
            return "met_threshold"
        if last.iteration == self.max_iterations:
            return "max_iterations"
        return "timeout" if until is not None and until.remaining <= took else None

    def _ask_chair_or_aggregate(
        self, last: RoundContext[ContextT], until: Deadline | None, listener: Listener | None
    ) -> Judgment:
        if self.chair is None or not has_vote(last.ballots):
            return catch_crash(lambda: aggregate_ballots(self.voting, last.ballots), itself)
        (ballot,) = ask_seats(
            [Seat(judge_of(self.chair), name="chair")],
            last,
            jury=self.name,
            until=until,
            listener=listener,
            parallel=self.parallel,
        )
        judgment = ballot.judgment
        if judgment.status is Status.ERROR:
            return replace(judgment, reasoning=f"chair: {judgment.reasoning}")
        return catch_crash(
            lambda: cap_by_deterministic(judgment, ballot.type, self.voting, last.ballots), itself
        )

    def _describe_rounds(
        self, rounds: Sequence[RoundContext[ContextT]], stopped: str
    ) -> dict[str, Any]:
        return {
            "confidence_threshold": self.confidence_threshold,
            "max_iterations": self.max_iterations,
            "stopped_because": stopped,
            "strategies": dict(self.strategies),
            "rounds": [each.evidence() for each in rounds],
        }


def _check_numbers(threshold: float, rounds: int) -> None:
    if not 0.0 <= finite(threshold, "confidence_threshold") <= 1.0:
        raise ValueError(f"confidence_threshold is in 0..1, not {threshold}")
    if require_whole_number(rounds, "max_iterations") < 1:
        raise ValueError(f"max_iterations is at least 1, not {rounds}")


def _prepare_seat(seat: Seat[ContextT]) -> Seat[ContextT]:
    judge = seat.judge
    if seat.confidence is Confidence.FLIP:
        judge = judge if isinstance(judge, FlipCheckedJudge) else FlipCheckedJudge(judge)
    elif seat.confidence in {None, Confidence.SELF_REPORT}:
        judge = asking_confidence(judge)
    return Seat(judge, seat.weight, seat.title, seat.confidence)
