"""The stages of a review, each in a job of its own: collect, decide, publish, after a build.

* build (`builds`) runs what the change brings, and holds no secret.
* collect reads git and the policy, and asks every judge that needs no model.
* decide asks the models; it holds their key and nothing else.
* publish makes the report, and posts it with a token that may write.

What passes from one stage to the next is a file of JSON (`evidence`). No stage trusts such a file
for anything that it can find out itself.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

from msgspec import Struct, structs

from prjury.app import steps
from prjury.app.composition import make_panel, make_program_ports, withhold_draft_or_bot
from prjury.app.earning import let_tiers_block, read_base_record
from prjury.app.evidence import Opinions, RecordedFiles, RecordingFiles, SeatRecord, StageEvidence
from prjury.app.registry import SeatPosition, seat_judges
from prjury.app.release_branches import with_opinions
from prjury.app.replay import (
    honour_dismissals,
    make_records,
    replay_records,
    restore_recorded_times,
    seat_stand_in_models,
)
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, SourceError
from prjury.git.open_snapshot import Snapshot
from prjury.judges.context import LINKED_ISSUES
from prjury.jury.judgment import Judgment
from prjury.models.memory import memory_at
from prjury.ports import NoModels, Panel, Ports, SilentProgress
from prjury.ports.messages import Prompt, Reply
from prjury.report.assemble import assemble
from prjury.report.model import NO_REPAIR, Dismissal, Override, Report, Sandbox
from prjury.resources import program_version
from prjury.snapshot.model import visible


class RecordingModel:
    """Refuses every question (`prjury.ports.ChatModel`)."""

    name = "unasked"
    identity = "unasked"
    #: Tokens; more than any model has, for here nothing is laid out for one.
    room = 100_000_000

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:  # noqa: ARG002 - it refuses
        raise CannotJudgeError("models are asked in another job", reason="waiting")

    def price(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002 - as above
        return None


def collect_program_votes(
    request: ReviewRequest, environment: RunEnvironment, workflow: str | None = None
) -> StageEvidence:
    """Ask every judge that is a program; builds are taken from evidence, never run here."""
    started = time.monotonic()
    with steps.open_change(request) as opened:
        change = structs.replace(opened, policy=opened.policy.built_elsewhere)
        ports = make_program_ports(request, environment, change.config, change.snapshot.store)
        edited = _explain_workflow_edit(change.snapshot, workflow)
        evidence = Refused(edited) if edited else ports.evidence
        unasked = NoModels(Panel((RecordingModel(),)))
        ports = structs.replace(ports, models=unasked, evidence=evidence)
        reading = RecordingFiles(change.snapshot.store, change.pull.base.sha)
        casting = seat_stand_in_models(structs.replace(ports, repository=reading))
        seating = seat_judges(change.config, ports, change.unwanted, casting)
        context = change.add_call_site_and_issue_lookups(change.start_clock(), environment.environ)
        verdict = steps.vote(seating, context, ports.progress)
        chosen = change.choose_branches()
        panel = withhold_draft_or_bot(change.pull, change.config.pulls, request.actor)
        spares = (panel.missing, panel.label) if panel else None
        branches = change.branch_judges(ports)
        record = read_base_record(change.snapshot.store, change.pull.base.sha, change.config)
        unrepaired = (NO_REPAIR,) if change.config.fix.enabled else ()
        return StageEvidence(
            pull=change.pull,
            policy=change.policy,
            records=make_records(seating, verdict),
            files=reading.seen,
            version=program_version(),
            unwanted=change.unwanted,
            backports=branches.judge_or_skip_each(chosen.names, verdict.status, context.deadline),
            notes=(*change.notes, *chosen.notes, *unrepaired),
            spares=spares,
            trusted=request.trusts_policy or request.config is not None,
            level=ports.shell.level,
            seconds=change.seconds,
            call_sites=() if spares else tuple(context.find_call_sites()),
            issues=tuple(context.once.get(LINKED_ISSUES, tuple)),
            calibration=record,
            answers_commands=change.answers_commands,
            elapsed_ms=round((time.monotonic() - started) * 1000),
        )


class Refused(Struct, frozen=True):
    """Evidence that is not even read (`prjury.ports.Evidence`)."""

    why: str

    def read_evidence_bytes(self) -> bytes:
        raise CannotJudgeError(
            "the build's evidence does not count",
            why=self.why,
            remedy="Change the workflow in a pull request of its own, and have somebody look at it",
            reason="evidence_untrusted",
        )


def _explain_workflow_edit(snapshot: Snapshot, workflow: str | None) -> str:
    """Say why the evidence proves nothing: the merged tree has another workflow than the base."""
    if workflow is None:
        return ""
    pull = snapshot.pull
    ran = pull.merge.tree or pull.head.sha
    base, merged = (
        [entry.blob for entry in snapshot.store.files(tree) if entry.path == workflow]
        for tree in (pull.base.sha, ran)
    )
    if base == merged and base:
        return ""
    return f"The change edits {visible(workflow)}, the workflow that made it"


def ask_needed_models(
    evidence: StageEvidence,
    evidence_digest: str,
    request: ReviewRequest,
    environment: RunEnvironment,
) -> Opinions:
    """Ask the models that the evidence waits for, and no others; programs are replayed from it."""
    started = time.monotonic()
    trusting = structs.replace(request, trusts_policy=request.trusts_policy or evidence.trusted)
    panel = make_panel(trusting, environment, evidence.policy.config)
    ports = Ports(
        RecordedFiles(evidence.files),
        cast("Any", None),  # no program runs here
        environment.progress,
        models=NoModels(Panel((), *evidence.spares)) if evidence.spares else panel,
        memory=memory_at(environment.environ, panel.keys_digest),
        redact=environment.redact,
    )
    casting = replay_records(evidence.records, ask=True)
    seating = seat_judges(evidence.policy.config, ports, evidence.unwanted, casting)
    panel.start_loading_clients()
    seconds = evidence.seconds if request.timeout is None else request.timeout
    context = replace(
        steps.context_of(evidence.pull, seconds),
        find_call_sites=lambda: evidence.call_sites,
        read_issues=lambda: evidence.issues,
    )
    verdict = steps.vote(seating, context, ports.progress)
    asks = evidence.unwanted.model_backed is None
    opinion = steps.ask_opinion(evidence.backports, verdict, ports, context) if asks else None
    records = make_records(seating, verdict)
    waiting = [place for place, record in evidence.records.items() if record.waits]
    return Opinions(
        evidence_digest,
        {place: records[place] for place in waiting if place in records},
        steps.sum_costs(verdict, panel.spent, opinion),
        opinion,
        round((time.monotonic() - started) * 1000),
    )


def make_abstaining_opinions(evidence: StageEvidence, digest: str) -> Opinions:
    """The opinions where no model has a key: every judge that waits abstains."""
    answer = Judgment.abstained(Panel().missing, Panel().label)
    waiting = {place: record for place, record in evidence.records.items() if record.waits}
    return Opinions(
        digest,
        {place: structs.replace(record, judgment=answer) for place, record in waiting.items()},
    )


def derive_report(
    evidence: StageEvidence,
    digest: str,
    opinions: Opinions,
    override: Override | None = None,
    dismissals: Sequence[Dismissal] = (),
) -> Report:
    """Derive the verdict again; only opinions that the evidence waits for count."""
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
    casting = replay_records(_add_answers(evidence, opinions))
    casting = honour_dismissals(casting, config, dismissals)
    seating = seat_judges(config, ports, evidence.unwanted, casting)
    context = steps.context_of(evidence.pull, 60.0)  # seconds, more than replays ever take
    verdict = restore_recorded_times(seating, steps.vote(seating, context, ports.progress))
    earned, notes = let_tiers_block(verdict, config, evidence.calibration, datetime.now(UTC).date())
    return assemble(
        evidence.pull,
        earned,
        skipped=seating.skipped,
        policy=steps.origin_of(evidence.policy),
        sandbox=Sandbox(evidence.level, config.sandbox.network),
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
        place: structs.replace(record, judgment=answer.judgment, elapsed_ms=answer.elapsed_ms)
        if record.waits and (answer := opinions.records.get(place))
        else record
        for place, record in evidence.records.items()
    }
