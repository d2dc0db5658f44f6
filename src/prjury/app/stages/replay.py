"""Judges of another stage: their judgments are replayed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from prjury.app.registry import MODEL_BACKED, Seating, SeatPosition
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.jury.cascade import TierAttempt, Verdict
from prjury.jury.judge import Judge, JudgeType, type_of
from prjury.jury.judgment import Judgment
from prjury.jury.jury import JuryVerdict
from prjury.jury.voting import Ballot
from prjury.ports import Ports

#: The label of a judge that is asked in another stage.
WAITING = "waiting"

PullJudge = Judge[PullRequestContext]
Make = Callable[[Ports], PullJudge]


@dataclass(frozen=True)
class SeatRecord:
    """The judgment of one seat, and what has to be known about its judge.

    Attributes:
        title: the name on its ballots.
        judgment: None if it was not asked.
        waits: whether it is asked in another stage.
    """

    title: str
    type: JudgeType
    lowers_only: bool = False
    judgment: Judgment | None = None
    elapsed_ms: int = 0
    waits: bool = False


#: What was said in which place.
Records = Mapping[SeatPosition, SeatRecord]


@dataclass(frozen=True)
class RecordedJudge:
    """Replay the judgment of another stage; a missing one is an error."""

    record: SeatRecord
    description: str = "was asked in another job"

    @property
    def name(self) -> str:
        """The judge's name."""
        return self.record.title

    @property
    def type(self) -> JudgeType:
        """Where its answers come from."""
        return self.record.type

    @property
    def lowers_only(self) -> bool:
        """Whether its approval must not lift what others say."""
        return self.record.lowers_only

    def judge(self, _context: PullRequestContext, /) -> Judgment:
        """What was said."""
        if self.record.judgment is None:
            return Judgment.errored(
                "it was not asked in the job before this one",
                metadata={"reason": "not_asked"},
            )
        return self.record.judgment


@dataclass(frozen=True)
class DeferredJudge:
    """A placeholder for a judge of another stage; it reads what that one will need."""

    judge_to_be: PullJudge
    description: str = "is asked in a job of its own"

    @property
    def name(self) -> str:
        """The judge's name."""
        return self.judge_to_be.name

    @property
    def type(self) -> JudgeType:
        """Where its answers come from."""
        return type_of(self.judge_to_be)

    @property
    def lowers_only(self) -> bool:
        """Whether its approval must not lift what others say."""
        return bool(getattr(self.judge_to_be, "lowers_only", False))

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Read the input; the abstention neither accepts nor rejects anything."""
        if isinstance(self.judge_to_be, ModelBackedJudge):
            self.judge_to_be.case(context)
        return Judgment.abstained("asked in the next job", WAITING)


@dataclass
class DeferredJudges:
    """Seat deterministic judges as configured, and a placeholder for each model judge.

    Attributes:
        along: the ports through which waiting judges read.
        places: where each judge sits, by the judge's identity.
        seats: the judge of each place, whether asked or not.
    """

    along: Ports
    places: dict[int, SeatPosition] = field(default_factory=dict)
    seats: dict[SeatPosition, SeatRecord] = field(default_factory=dict)

    def __call__(self, place: SeatPosition, make: Make, ports: Ports) -> PullJudge:
        """The judge for the place."""
        judge = make(ports)
        if type_of(judge) in MODEL_BACKED:
            judge = DeferredJudge(make(self.along))
        self.places[id(judge)] = place
        self.seats[place] = _seat(judge)
        return judge


@dataclass
class Asking:
    """Seat the judges that have waited, and replay all others.

    Attributes:
        places: where each judge sits, by the judge's identity.
    """

    records: Records
    places: dict[int, SeatPosition] = field(default_factory=dict)

    def __call__(self, place: SeatPosition, make: Make, ports: Ports) -> PullJudge:
        """The judge for the place."""
        record = self.records.get(place)
        judge = make(ports) if record and record.waits else RecordedJudge(record or _unknown(place))
        self.places[id(judge)] = place
        return judge


@dataclass(frozen=True)
class ReplayedJudges:
    """Replay all judges."""

    records: Records

    def __call__(self, place: SeatPosition, _make: Make, _ports: Ports) -> PullJudge:
        """The judge for the place."""
        return RecordedJudge(self.records.get(place) or _unknown(place))


@dataclass(frozen=True)
class ReusedVotes:
    """Replay the models' judgments of an earlier run, and seat all other judges as named."""

    judgments: Mapping[tuple[str, str], Judgment]

    def __call__(self, place: SeatPosition, make: Make, ports: Ports) -> PullJudge:
        """The judge for the place."""
        judge = make(ports)
        said = self.judgments.get((place.tier, judge.name))
        if said is None or type_of(judge) not in MODEL_BACKED:
            return judge
        lowers_only = bool(getattr(judge, "lowers_only", False))
        return RecordedJudge(SeatRecord(judge.name, type_of(judge), lowers_only, said))


def _unknown(place: SeatPosition) -> SeatRecord:
    return SeatRecord(place.name, JudgeType.DETERMINISTIC)


def records_of(seating: Seating, seated: Mapping[int, SeatPosition], verdict: Verdict) -> Records:
    """The judgment of each place that was reached.

    Args:
        seated: the place of each judge, by the judge's identity.
    """
    found: dict[SeatPosition, SeatRecord] = {}
    for tier, attempt in zip(seating.cascade.tiers, verdict.attempts, strict=True):
        if tier.jury is None or attempt.verdict is None:
            continue
        for seat, ballot in zip(tier.jury.seats, attempt.verdict.ballots, strict=True):
            found[seated[id(seat.judge)]] = _record(seat.judge, ballot)
    return found


def _record(judge: PullJudge, ballot: Ballot) -> SeatRecord:
    seat = _seat(judge)
    said = None if seat.waits else ballot.judgment
    return replace(seat, judgment=said, elapsed_ms=ballot.elapsed_ms)


def _seat(judge: PullJudge) -> SeatRecord:
    """The seat without its judgment."""
    lowers_only = bool(getattr(judge, "lowers_only", False))
    waits = isinstance(judge, DeferredJudge)
    return SeatRecord(judge.name, type_of(judge), lowers_only, waits=waits)


def with_times(seating: Seating, verdict: Verdict) -> Verdict:
    """The verdict with the time that each recorded answer really took."""

    def told(tier: Sequence[PullJudge], attempt: TierAttempt) -> TierAttempt:
        if attempt.verdict is None:
            return attempt
        ballots = tuple(
            replace(ballot, elapsed_ms=judge.record.elapsed_ms)
            if isinstance(judge, RecordedJudge)
            else ballot
            for judge, ballot in zip(tier, attempt.verdict.ballots, strict=True)
        )
        elapsed = max([attempt.elapsed_ms, *(ballot.elapsed_ms for ballot in ballots)])
        counted = JuryVerdict(attempt.verdict.aggregated, ballots)
        return replace(attempt, verdict=counted, elapsed_ms=elapsed)

    judges = [
        [s.judge for s in tier.jury.seats] if tier.jury else [] for tier in seating.cascade.tiers
    ]
    attempts = tuple(map(told, judges, verdict.attempts))
    return replace(verdict, attempts=attempts)
