"""The jury: judges with weights, asked in parallel, counted by one voting strategy.

The roster is fixed before the vote. Whatever happens to a judge (it raises, hangs, returns
something else), its ballot is there, as an error with the reason, and the others are kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar, cast

from prjury.jury.compose import disambiguate_names, kind_of
from prjury.jury.confidence import ConfidenceStrategy, validate_strategy
from prjury.jury.count import aggregate_ballots
from prjury.jury.guard import Listener, ask_seats, catch_crash, itself, limit_by_vote, printable
from prjury.jury.judge import ContextT, Judge, JudgeLike, JudgeType, judge_of
from prjury.jury.judgment import Judgment
from prjury.jury.score import finite
from prjury.jury.verdicts import JuryVerdict, Verdict
from prjury.jury.voting import VotingStrategy

VerdictT = TypeVar("VerdictT", bound=JuryVerdict | Verdict)


@dataclass(frozen=True, init=False)
class Seat(Generic[ContextT]):
    """A judge's place in a jury; a plain function is taken as a judge.

    Attributes:
        weight: of its vote, finite and not negative; zero leaves it out of a weighted average.
        name: on its ballots; the judge's own by default.
        confidence: how sure its answers are taken to be by a jury that asks again
            (`prjury.jury.confidence`); what it reports itself by default.
    """

    judge: Judge[ContextT]
    weight: float
    name: str | None
    confidence: ConfidenceStrategy | None

    def __init__(
        self,
        judge: JudgeLike[ContextT],
        weight: float = 1.0,
        name: str | None = None,
        confidence: ConfidenceStrategy | None = None,
    ) -> None:
        if finite(weight, "a seat's weight") < 0:
            raise ValueError(f"a seat's weight is negative: {weight}")
        stated: object = name
        if not isinstance(stated, str | None):
            raise TypeError(f"a judge's name is text, not {name!r}")
        # The class is frozen, and takes functions where it holds judges.
        object.__setattr__(self, "judge", judge_of(judge))
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "confidence", validate_strategy(confidence))

    @property
    def title(self) -> str:
        """The name on the ballots; empty for a judge that has none, or none that can be read."""
        return catch_crash(lambda: printable(self.name or self.judge.name), lambda _: "")


#: What a jury can be made of: judges, seats, and functions from a context to a judgment.
Member: TypeAlias = JudgeLike[ContextT] | Seat[ContextT]


class Voter(ABC, Generic[ContextT, VerdictT]):
    """Whatever votes: a jury, a jury that asks again, or a cascade."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in progress displays and reports."""

    @property
    @abstractmethod
    def type(self) -> JudgeType:
        """The origin of its answers."""

    @abstractmethod
    def vote(
        self,
        context: ContextT,
        *,
        timeout: float | None = None,
        listener: Listener | None = None,
    ) -> VerdictT:
        """Ask every judge and count; ValueError when a judge asks the jury on which it sits.

        Args:
            timeout: seconds for the whole vote; a judge that takes longer is an error ballot. A
                jury within a jury keeps to the outer one's time as well.
            listener: hears of each judge's start and end.
        """

    async def vote_async(
        self,
        context: ContextT,
        *,
        timeout: float | None = None,
        listener: Listener | None = None,
    ) -> VerdictT:
        """Vote in a thread of its own, while the event loop goes on."""
        from prjury.jury.threads import run_async  # noqa: PLC0415 - only for event loops

        return await run_async(lambda: self.vote(context, timeout=timeout, listener=listener))

    def as_judge(self, name: str | None = None) -> JuryJudge[ContextT]:
        """All of it as one judge, for a seat on another jury."""
        return JuryJudge(self, name or self.name)


class Bench(Voter[ContextT, JuryVerdict]):
    """A jury, or a jury that asks again."""

    judges: Sequence[Member[ContextT]]

    @property
    def seats(self) -> tuple[Seat[ContextT], ...]:
        """The roster."""
        return cast("tuple[Seat[ContextT], ...]", self.judges)


@dataclass(frozen=True)
class Jury(Bench[ContextT]):
    """Judges and the strategy that counts their votes; ValueError without any.

    Args:
        judges: judges, seats or plain functions. Repeated names get ``-2``, ``-3``; judges without
            one are called ``Judge#N``.
        models_lift: whether judges that a model backs may outvote a failure of deterministic ones.
    """

    judges: Sequence[Member[ContextT]]
    voting: VotingStrategy
    name: str = "jury"
    parallel: bool = True
    models_lift: bool = True

    def __post_init__(self) -> None:
        check_strategy(self.voting)
        object.__setattr__(self, "judges", make_seats(self.judges, f"the jury {self.name!r}"))

    @classmethod
    def of(
        cls, voting: VotingStrategy, *judges: Member[ContextT], name: str = "jury"
    ) -> Jury[ContextT]:
        """A jury of these judges, seats or functions, named automatically."""
        return Jury(judges, voting, name)

    @property
    def type(self) -> JudgeType:
        """The members' type where they agree, else a hybrid."""
        return kind_of(seat.judge for seat in self.seats)

    def vote(
        self,
        context: ContextT,
        *,
        timeout: float | None = None,
        listener: Listener | None = None,
    ) -> JuryVerdict:
        """Ask every judge and count."""
        ballots = ask_seats(
            self.seats,
            context,
            jury=self.name,
            until=limit_by_vote(timeout),
            listener=listener,
            parallel=self.parallel,
        )
        counted = catch_crash(
            lambda: aggregate_ballots(self.voting, ballots, models_lift=self.models_lift), itself
        )
        return JuryVerdict(counted, ballots)


@dataclass(frozen=True)
class JuryJudge(Generic[ContextT]):
    """A whole jury or cascade as one judge: it votes by what its members add up to."""

    bench: Voter[ContextT, Any]
    name: str

    @property
    def description(self) -> str:
        """The name of the jury."""
        return f"the jury {self.bench.name}"

    @property
    def type(self) -> JudgeType:
        """The jury's own type."""
        return self.bench.type

    def judge(self, context: ContextT, /) -> Judgment:
        """The judgment that the members' votes add up to."""
        verdict: JuryVerdict | Verdict = self.bench.vote(context)
        return verdict.as_judgment


def make_seats(members: Sequence[Member[ContextT]], whose: str) -> tuple[Seat[ContextT], ...]:
    """The seats of these members, each with a name of its own."""
    if not isinstance(members, Iterable):
        raise TypeError(f"{whose} is made of a list of judges, not of {members!r}")
    seats = [member if isinstance(member, Seat) else Seat(judge_of(member)) for member in members]
    if not seats:
        raise ValueError(f"{whose} has no judges")
    names = disambiguate_names(seat.title for seat in seats)
    return tuple(
        Seat(seat.judge, seat.weight, name, seat.confidence)
        for seat, name in zip(seats, names, strict=True)
    )


def check_strategy(voting: VotingStrategy) -> None:
    """Refuse what is no strategy."""
    if isinstance(voting, type) or not callable(getattr(voting, "aggregate", None)):
        raise TypeError(f"{voting!r} is no voting strategy, such as MajorityVoting() is")
