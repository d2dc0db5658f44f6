"""The stage publish: from evidence and opinions to the report. It asks and reads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from prjury.app import steps
from prjury.app.dismissed import dismiss_in_records
from prjury.app.earning import earn_gate
from prjury.app.registry import SeatPosition, seat
from prjury.app.release_branches import with_opinions
from prjury.app.stages.evidence import Opinions, SeatRecord, StageEvidence
from prjury.app.stages.replay import replay_records, with_times
from prjury.errors import SourceError
from prjury.jury.judgment import Judgment
from prjury.ports import Panel, Ports, SilentProgress
from prjury.report.assemble import assemble
from prjury.report.model import Dismissal, Override, Report, Sandbox

#: More than replayed judges ever take.
_SECONDS = 60.0


def opinions_without_models(evidence: StageEvidence, digest: str) -> Opinions:
    """The opinions where no model has a key: every judge that waits abstains."""
    answer = Judgment.abstained(Panel().missing, Panel().label)
    waiting = {place: record for place, record in evidence.records.items() if record.waits}
    return Opinions(
        digest, {place: replace(record, judgment=answer) for place, record in waiting.items()}
    )


def publish_stage(
    evidence: StageEvidence,
    digest: str,
    opinions: Opinions,
    override: Override | None = None,
    dismissals: Sequence[Dismissal] = (),
) -> Report:
    """The report. The cascade derives its verdict again from what every judge said.

    Only opinions that the evidence waits for count: no model's key changes what programs said.
    """
    if opinions.evidence != digest:
        raise SourceError(
            "The verdict is about other evidence",
            why="The files come from different runs",
            remedy="Run all jobs of the workflow again",
            reason="evidence_mismatch",
        )
    absent: Any = None
    ports = Ports(absent, absent, SilentProgress())
    config = evidence.policy.config
    records = dismiss_in_records(_add_answers(evidence, opinions), config, dismissals)
    casting = replay_records(records)
    seating = seat(evidence.policy.config, ports, evidence.unwanted, casting)
    context = steps.context_of(evidence.pull, _SECONDS)
    verdict = with_times(seating, steps.vote(seating, context, ports.progress))
    earned, notes = earn_gate(verdict, config, evidence.calibration, datetime.now(UTC).date())
    return assemble(
        evidence.pull,
        earned,
        skipped=seating.skipped,
        policy=steps.origin_of(evidence.policy),
        sandbox=Sandbox(evidence.level, evidence.policy.config.sandbox.network),
        version=evidence.version,
        backports=with_opinions(evidence.backports, opinions.opinion),
        cost=opinions.cost,
        elapsed_ms=evidence.elapsed_ms + opinions.elapsed_ms,
        notes=(*evidence.notes, *notes),
        override=override,
        answers_commands=evidence.answers_commands,
    )


def _add_answers(evidence: StageEvidence, opinions: Opinions) -> dict[SeatPosition, SeatRecord]:
    """The records of all seats; who sits in a place is taken from the evidence alone."""
    return {
        place: replace(record, judgment=answer.judgment, elapsed_ms=answer.elapsed_ms)
        if record.waits and (answer := opinions.records.get(place))
        else record
        for place, record in evidence.records.items()
    }
