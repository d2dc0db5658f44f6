"""The jury: judges with weights, asked in parallel, counted by one voting strategy.

The roster is fixed before the vote. Whatever happens to a judge (it raises, hangs, returns
something else), its ballot is there, as an error with the reason, and the others are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, cast

from prjury.jury.codec import ballot_to_json
from prjury.jury.compose import kind_of, unique_names
from prjury.jury.confidence import ConfidenceStrategy, read_strategy
from prjury.jury.count import count
from prjury.jury.feedback import FEEDBACK_LIMIT, feedback_on
from prjury.jury.guard import Listener, catch_crash, hear, itself, patience, printable
from prjury.jury.judge import ContextT, Judge, JudgeLike, JudgeType, judge_of
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.nesting import Extent
from prjury.jury.score import finite
from prjury.jury.voting import Ballot, VotingStrategy

if TYPE_CHECKING:
    from prjury.jury.cascade import CascadedJury, Verdict


@dataclass(frozen=True, init=False)
class Seat(Generic[ContextT]):
    """A judge's place in a jury.

    Attributes:
        judge: who sits there; of a plain function, the judge that is made of it.
        weight: the weight of its vote; zero leaves it out of a weighted average.
        name: the name on its ballots; its own by default.
        confidence: how sure its answers are taken to be by a jury that asks again
            (`prjury.jury.confidence`); what it reports itself by default.

    Raises:
        ValueError: for a negative or infinite weight, or an unknown confidence strategy.
        TypeError: for something that is neither a judge nor a function, or a name that is not text.
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
        object.__setattr__(self, "confidence", read_strategy(confidence))

    @property
    def title(self) -> str:
        """The name on the ballots; empty for a judge that has none, or none that can be read."""
        return catch_crash(lambda: printable(self.name or self.judge.name), lambda _: "")


#: What a jury can be made of: judges, seats, and functions from a context to a judgment.
Member: TypeAlias = JudgeLike[ContextT] | Seat[ContextT]


@dataclass(frozen=True)
class JuryVerdict:
    """All ballots of one vote in the order of the roster, and what they add up to."""

    aggregated: Judgment
    ballots: tuple[Ballot, ...] = ()

    @property
    def status(self) -> Status:
        """The aggregated status."""
        return self.aggregated.status

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

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of all judges, in the order of the roster."""
        return tuple(check for judgment in self.individual for check in judgment.checks)

    @property
    def children(self) -> Mapping[str, JuryVerdict | Verdict]:
        """The verdicts of the juries and cascades that sit here as judges, by name."""
        from prjury.jury.verdicts import children_of  # noqa: PLC0415 - cascades are made of juries

        return MappingProxyType(children_of(self.ballots))

    @property
    def as_judgment(self) -> Judgment:
        """The result with all checks; ``metadata["jury"]`` keeps every ballot."""
        members = {ballot.judge: ballot_to_json(ballot) for ballot in self.ballots}
        judgment = self.aggregated.with_metadata(jury=members)
        return replace(judgment, checks=(*judgment.checks, *self.checks))

    def feedback(self, limit: int = FEEDBACK_LIMIT) -> str:
        """Return what is wrong, where, on what evidence, and what would make it pass, once each.

        Args:
            limit: the most characters; what does not fit is counted.
        """
        return feedback_on(self, limit)

    def __str__(self) -> str:
        """The result in the first line, then a line for each judge."""
        lines = [f"  {ballot.judge}: {ballot.judgment}" for ballot in self.ballots]
        return "\n".join([str(self.aggregated), *lines])


class Bench(Protocol[ContextT]):
    """Whatever votes: a jury, or a jury that asks again."""

    @property
    def name(self) -> str:
        """The name in progress displays and reports."""
        ...

    @property
    def seats(self) -> tuple[Seat[ContextT], ...]:
        """The roster."""
        ...

    @property
    def type(self) -> JudgeType:
        """Return where its answers come from."""
        ...

    def vote(
        self,
        context: ContextT,
        *,
        timeout: float | None = None,
        listener: Listener | None = None,
    ) -> JuryVerdict:
        """Asks every judge and counts."""
        ...


@dataclass(frozen=True)
class Jury(Generic[ContextT]):
    """Judges and the strategy that counts their votes.

    Args:
        judges: judges, seats (judges with weights) or plain functions; at least one. Repeated
            names get ``-2``, ``-3``; judges without one are called ``Judge#N``.
        voting: how the ballots become one judgment.
        name: the jury's own name.
        parallel: all judges at once, each in a thread, or one after the other.
        models_lift: whether judges that a model backs may outvote a failure of deterministic ones.

    Raises:
        ValueError: for a jury without judges, or one that is nested too deep or too large.
        TypeError: for a member that is neither a judge nor a function, or a voting strategy that
            is none.
    """

    judges: Sequence[Member[ContextT]]
    voting: VotingStrategy
    name: str = "jury"
    parallel: bool = True
    models_lift: bool = True
    extent: Extent = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        whose = f"the jury {self.name!r}"
        seats = roster(self.judges, whose)
        extent = Extent.around(seat.judge for seat in seats)
        check_strategy(self.voting)
        object.__setattr__(self, "judges", seats)
        object.__setattr__(self, "extent", extent.within_limits(whose))

    @classmethod
    def of(
        cls, voting: VotingStrategy, *judges: Member[ContextT], name: str = "jury"
    ) -> Jury[ContextT]:
        """A jury of these judges, seats or functions, named automatically."""
        return Jury(judges, voting, name)

    @property
    def seats(self) -> tuple[Seat[ContextT], ...]:
        """The roster."""
        return cast("tuple[Seat[ContextT], ...]", self.judges)

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
        """Asks every judge and counts.

        Args:
            timeout: seconds for the whole vote; a judge that takes longer is an error ballot. A
                jury within a jury keeps to the outer one's time as well.
            listener: hears of each judge's start and end.

        Raises:
            TypeError: for a timeout that is not a number.
            ValueError: for one that is NaN, or when a judge asks the jury on which it sits.
        """
        ballots = hear(
            self.seats,
            context,
            jury=self.name,
            until=patience(timeout),
            listener=listener,
            parallel=self.parallel,
        )
        counted = catch_crash(lambda: count(self.voting, ballots, lift=self.models_lift), itself)
        return JuryVerdict(counted, ballots)

    async def vote_async(
        self,
        context: ContextT,
        *,
        timeout: float | None = None,
        listener: Listener | None = None,
    ) -> JuryVerdict:
        """The same as `vote`, in a thread of its own, while the event loop goes on."""
        from prjury.jury.threads import in_background  # noqa: PLC0415 - only for event loops

        return await in_background(lambda: self.vote(context, timeout=timeout, listener=listener))

    def as_judge(self, name: str | None = None) -> JuryJudge[ContextT]:
        """The whole jury as one judge, for juries of juries."""
        return JuryJudge(self, self.extent, name or self.name)


@dataclass(frozen=True)
class JuryJudge(Generic[ContextT]):
    """A whole jury or cascade as one judge: it votes by what its members add up to."""

    bench: Bench[ContextT] | CascadedJury[ContextT]
    extent: Extent
    name: str

    @property
    def description(self) -> str:
        """Which jury it is."""
        return f"the jury {self.bench.name}"

    @property
    def type(self) -> JudgeType:
        """The jury's own type."""
        return self.bench.type

    def judge(self, context: ContextT, /) -> Judgment:
        """Return what the members' votes add up to."""
        return self.bench.vote(context).as_judgment


def roster(members: Sequence[Member[ContextT]], whose: str) -> tuple[Seat[ContextT], ...]:
    """The seats of these members, each with a name of its own.

    Raises:
        ValueError: for no members.
        TypeError: for one that is neither a judge nor a function, or that is not in a list.
    """
    if not isinstance(members, Iterable):
        raise TypeError(f"{whose} is made of a list of judges, not of {members!r}")
    seats = [member if isinstance(member, Seat) else Seat(judge_of(member)) for member in members]
    if not seats:
        raise ValueError(f"{whose} has no judges")
    names = unique_names(seat.title for seat in seats)
    return tuple(
        Seat(seat.judge, seat.weight, name, seat.confidence)
        for seat, name in zip(seats, names, strict=True)
    )


def check_strategy(voting: VotingStrategy) -> None:
    """Refuses what is no strategy."""
    if isinstance(voting, type) or not callable(getattr(voting, "aggregate", None)):
        raise TypeError(f"{voting!r} is no voting strategy, such as MajorityVoting() is")
