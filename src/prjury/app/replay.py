"""Judgments that are there already: replayed for another stage or run, and what people dismiss.

Only findings of patterns and of models can be dismissed; what a build or a program has proved
stands until the change is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from prjury.app.evidence import Records, SeatRecord
from prjury.app.registry import Casting, Make, PullJudge, Seating, SeatPosition
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.judge import NAME
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.jury.judge import MODEL_BACKED, JudgeType, ask, type_of
from prjury.jury.judgment import Judgment, Severity, Status
from prjury.jury.verdicts import JuryVerdict, Verdict
from prjury.policy.schema import Config
from prjury.ports import Ports
from prjury.report.model import Dismissal
from prjury.report.wording import pluralize
from prjury.rulepacks.applicability import at_least


@dataclass(frozen=True)
class StandInJudge:
    """Answers in the place of another judge, under its name."""

    record: SeatRecord
    answer: Callable[[PullRequestContext], Judgment]
    description: str

    @property
    def name(self) -> str:
        return self.record.title

    @property
    def type(self) -> JudgeType:
        return self.record.type

    @property
    def lowers_only(self) -> bool:
        return self.record.lowers_only

    def judge(self, context: PullRequestContext, /) -> Judgment:
        return self.answer(context)


def replay(record: SeatRecord) -> StandInJudge:
    """Make a judge that gives the recorded judgment; a missing one is an error."""
    judgment = record.judgment or Judgment.errored(
        "it was not asked in the job before this one", metadata={"reason": "not_asked"}
    )
    return StandInJudge(record, lambda _: judgment, "was asked in another job")


def _make_abstaining_stand_in(judge: PullJudge, recording_judge: PullJudge) -> StandInJudge:
    """Make a judge that abstains, and reads what the one of another stage will need."""

    def read(context: PullRequestContext) -> Judgment:
        if isinstance(recording_judge, ModelBackedJudge):
            recording_judge.prepare_case(context)
        return Judgment.abstained("asked in the next job", "waiting")

    record = structs.replace(record_of(judge), waits=True)
    return StandInJudge(record, read, "is asked in a job of its own")


def seat_stand_in_models(recording: Ports) -> Casting:
    """Seat deterministic judges as configured, and a placeholder for each model judge."""

    def cast(_place: SeatPosition, make: Make, ports: Ports) -> PullJudge:
        judge = make(ports)
        if type_of(judge) not in MODEL_BACKED:
            return judge
        return _make_abstaining_stand_in(judge, make(recording))

    return cast


def replay_records(records: Records, *, ask: bool = False) -> Casting:

    def cast(place: SeatPosition, make: Make, ports: Ports) -> PullJudge:
        record = records.get(place) or SeatRecord(place.name, JudgeType.DETERMINISTIC)
        return make(ports) if ask and record.waits else replay(record)

    return cast


def replay_models_only(judgments: Mapping[tuple[str, str], Judgment]) -> Casting:
    """Replay the models' judgments of an earlier run, and seat all other judges as named."""

    def cast(place: SeatPosition, make: Make, ports: Ports) -> PullJudge:
        judge = make(ports)
        judgment = judgments.get((place.tier, judge.name))
        if judgment is None or type_of(judge) not in MODEL_BACKED:
            return judge
        return replay(structs.replace(record_of(judge), judgment=judgment))

    return cast


def make_records(seating: Seating, verdict: Verdict) -> Records:
    """The record of each place, with a judgment where it was reached."""
    records = {place: record_of(judge) for place, judge in seating.judges.items()}
    places = {id(judge): place for place, judge in seating.judges.items()}
    for tier, attempt in zip(seating.cascade.tiers, verdict.attempts, strict=True):
        if tier.jury is None or attempt.verdict is None:
            continue
        for seat, ballot in zip(tier.jury.seats, attempt.verdict.ballots, strict=True):
            place = places[id(seat.judge)]
            judgment = None if records[place].waits else ballot.judgment
            records[place] = structs.replace(
                records[place], judgment=judgment, elapsed_ms=ballot.elapsed_ms
            )
    return records


def record_of(judge: PullJudge) -> SeatRecord:
    if isinstance(judge, StandInJudge):
        return judge.record
    lowers_only = bool(getattr(judge, "lowers_only", False))
    return SeatRecord(judge.name, type_of(judge), lowers_only)


def restore_recorded_times(seating: Seating, verdict: Verdict) -> Verdict:
    """The verdict of recorded answers alone, with the time that each of them really took."""
    attempts = []
    for tier, attempt in zip(seating.cascade.tiers, verdict.attempts, strict=True):
        restored = attempt
        if tier.jury and attempt.verdict:
            ballots = tuple(
                replace(ballot, elapsed_ms=record_of(seat.judge).elapsed_ms)
                for seat, ballot in zip(tier.jury.seats, attempt.verdict.ballots, strict=True)
            )
            elapsed = max([attempt.elapsed_ms, *(ballot.elapsed_ms for ballot in ballots)])
            counted = JuryVerdict(attempt.verdict.aggregated, ballots)
            restored = replace(attempt, verdict=counted, elapsed_ms=elapsed)
        attempts.append(restored)
    return replace(verdict, attempts=tuple(attempts))


def is_dismissible(judge: str, kind: JudgeType) -> bool:
    return kind in MODEL_BACKED or judge.partition("-")[0] == NAME


def pass_if_all_dismissed(
    judgment: Judgment, dismissals: Sequence[Dismissal], threshold: Severity = "warning"
) -> Judgment:
    """A judgment that passes if only dismissed findings fail it; else the judgment itself."""
    if judgment.status is not Status.FAIL:
        return judgment
    failed = [
        check
        for check in judgment.checks
        if not check.passed and at_least(check.severity, threshold)
    ]
    by_finding = {one.finding: one for one in dismissals}
    if not failed or not all(check.fingerprint in by_finding for check in failed):
        return judgment
    people = dict.fromkeys(f"@{by_finding[check.fingerprint].by}" for check in failed)
    dismissed = f"{pluralize(len(failed), 'finding')} dismissed by {', '.join(people)}"
    return replace(
        judgment,
        status=Status.PASS,
        reasoning=f"{dismissed}: {judgment.reasoning}",
        score=None,
        label=None,
    )


def honour_dismissals(cast: Casting, config: Config, dismissals: Sequence[Dismissal]) -> Casting:
    def cast_heeding_dismissals(place: SeatPosition, make: Make, ports: Ports) -> PullJudge:
        judge = cast(place, make, ports)
        if not is_dismissible(place.name, type_of(judge)):
            return judge
        tier = next(tier for tier in config.tiers if tier.name == place.tier)
        patterns = tier.judges[place.number].patterns
        threshold = patterns.severity if patterns else "warning"

        def judge_leniently(context: PullRequestContext) -> Judgment:
            return pass_if_all_dismissed(ask(judge, context), dismissals, threshold)

        return StandInJudge(record_of(judge), judge_leniently, getattr(judge, "description", ""))

    return cast_heeding_dismissals
