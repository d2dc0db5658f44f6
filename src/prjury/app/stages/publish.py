"""SETTLE: from evidence and opinions to the report. Pure: it asks nobody and reads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prjury.app import backports, terms
from prjury.app.registry import SeatPosition, seat
from prjury.app.stages.evidence import Opinions, StageEvidence
from prjury.app.stages.replay import ReplayedJudges, SeatRecord, with_times
from prjury.errors import SourceError
from prjury.ports import Ports, SilentProgress
from prjury.report.assemble import assemble
from prjury.report.model import Override, PolicyOrigin, Report, Sandbox

#: Nobody takes time: everything has been said.
_SECONDS = 60.0


def publish_stage(
    evidence: StageEvidence, digest: str, opinions: Opinions, override: Override | None = None
) -> Report:
    """The report, whose verdict is found again by the cascade from what everybody said.

    Of the opinions only those count that the evidence waits for; whoever holds a model's key cannot
    change what programs said.

    Args:
        digest: sha256 of the evidence's file.
        override: a maintainer's word on this head.

    Raises:
        SourceError: for opinions on other evidence.
    """
    if opinions.evidence != digest:
        raise SourceError(
            "The verdict is about other evidence",
            why="The files come from different runs",
            remedy="Run all jobs of the workflow again",
            reason="evidence_mismatch",
        )
    config = evidence.policy.config
    nobody: Any = None
    ports = Ports(nobody, nobody, SilentProgress())
    records = _together(evidence.records, opinions.records)
    seating = seat(config, ports, evidence.unwanted, ReplayedJudges(records))
    context = terms.context_of(evidence.pull, _SECONDS)
    verdict = with_times(seating, terms.vote(seating, context, ports.progress))
    policy = evidence.policy
    return assemble(
        evidence.pull,
        verdict,
        gate_policy=terms.gate_policy(config),
        skipped=seating.skipped,
        policy=PolicyOrigin(policy.source, policy.hash, policy.resolved),
        sandbox=Sandbox(evidence.level, config.sandbox.network),
        version=evidence.version,
        backports=backports.with_opinions(evidence.backports, opinions.opinion),
        cost=opinions.cost,
        elapsed_ms=evidence.elapsed_ms + opinions.elapsed_ms,
        notes=evidence.notes,
        override=override,
    )


def _answered(record: SeatRecord, opinion: SeatRecord | None) -> SeatRecord:
    """The seat with its answer; who sits there, the evidence alone says."""
    if opinion is None:
        return record
    return replace(record, judgment=opinion.judgment, elapsed_ms=opinion.elapsed_ms)


def _together(
    records: Mapping[SeatPosition, SeatRecord], opinions: Mapping[SeatPosition, SeatRecord]
) -> Mapping[SeatPosition, SeatRecord]:
    return {
        place: _answered(record, opinions.get(place)) if record.waits else record
        for place, record in records.items()
    }
