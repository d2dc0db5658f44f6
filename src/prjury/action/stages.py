"""The modes ``review``, and ``build``, ``collect``, ``decide`` and ``publish``: its four stages.

A review is everything in one job, for a repository that trusts its authors. The last stage holds
the token that may write and nothing else. It always ends with a visible result: if an earlier job
has failed, the status of the head becomes an error, so that no gate stays green and none hangs.
"""

from __future__ import annotations

import json
from dataclasses import replace

from msgspec import structs

from prjury.action.dependencies import Beforehand, request_of, with_inputs
from prjury.action.directories import keep_logs
from prjury.action.events import confirm_newer_head, event_of, refuse_twin
from prjury.action.job import Job, JobResult
from prjury.action.job_artifacts import (
    EVIDENCE,
    EVIDENCE_DIGEST,
    MODELS_ASKED,
    VERDICT,
    VERDICT_DIGEST,
    download_artifacts,
    refuse_other,
)
from prjury.action.publishing import Publication
from prjury.app.artifact_file import sha256
from prjury.app.builds import build as build_stage
from prjury.app.builds import junit_evidence, read_junit
from prjury.app.evidence import (
    NoEvidence,
    evidence_from_text,
    evidence_to_text,
    opinions_from_text,
    verdict_to_text,
)
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.stages import ask_needed_models, opinions_without_models, publish_stage
from prjury.app.stages import collect as collect_stage
from prjury.errors import ExitCode, UsageError
from prjury.git.open_snapshot import NothingToReview
from prjury.github.artifacts import FILE, BuildArtifact
from prjury.github.event import (
    ENDED,
    Event,
    EventKind,
    Superseded,
    find_pull,
    read_event,
)
from prjury.github.workflow_runs import WorkflowRun, has_newer_run
from prjury.judges.builds.stage import BuiltEvidence
from prjury.jury.judgment import Judgment, Status
from prjury.publishers.files import write_atomically
from prjury.report.model import Report

_BUILD_CODES = {Status.FAIL: ExitCode.REJECTED, Status.ERROR: ExitCode.NOT_JUDGED}


def review(job: Job) -> JobResult:
    """Judge the event's pull request and publish the report everywhere."""
    event = event_of(job)
    if event.of_pull_request and event.action == "closed":
        return job.end_idle(f"Nothing to review: #{event.number} is closed.", is_open=True)
    job.dependencies.connect(event, job.inputs).close()  # fails early for a wrong token
    refuse_twin(event, job)
    with Publication(job, event) as publication:
        dismissals = publication.earlier.dismissals
        commands, votes = publication.read_standing_commands(), publication.read_votes()
        before = Beforehand(commands, dismissals, votes, publication.begin)
        judged = job.dependencies.judge(event, job.inputs, before)
        if isinstance(judged, Report):
            return publication.finish(judged)
    if judged.superseded:
        confirm_newer_head(event, job)
        return job.end_idle(judged.reason)
    if event.of_pull_request and (job.inputs.base or job.inputs.head):
        # Nothing is known of the pull request's own head where the workflow names other sides.
        return job.end_idle(judged.reason)._replace(code=ExitCode.NOT_JUDGED)
    return job.end_idle(judged.reason, is_open=True)


def build(job: Job) -> JobResult:
    """Builds what the event names, and leaves evidence behind, whatever came out."""
    if not job.inputs.build:
        return job.end_idle("Nothing to do: the input build is false.")
    event = event_of(job)
    outcome = _build(job, event)
    if isinstance(outcome, NothingToReview):
        return job.end_idle(outcome.reason, is_open=not outcome.superseded)
    written = json.dumps(outcome.evidence, indent=1, allow_nan=False) + "\n"
    write_atomically(job.places.report_file(FILE), written)
    keep_logs([one.judgment for one in outcome.ballots], job.places, job.log.redact)
    for one in outcome.ballots:
        job.log.say(f"{one.judge}: {one.judgment.status} - {one.judgment.reasoning}")
    return _build_result(outcome.ballot.judgment)


def _build_result(judgment: Judgment) -> JobResult:
    code = _BUILD_CODES.get(judgment.status, ExitCode.OPEN)
    return JobResult(code, judgment.reasoning if code else None)


def _build(job: Job, event: Event) -> BuiltEvidence | NothingToReview:
    request, environment = _make_request(job, event), _make_environment(job)
    if not job.inputs.junit:
        return build_stage(request, environment)
    places = read_junit(job.inputs.junit, job.environ)
    return junit_evidence(request, environment, places)


def collect(job: Job) -> JobResult:
    """Finds the pull request of the build that has ended, and what can be known of it."""
    event, run = _read_trigger(job)
    if run.conclusion not in ENDED - {"cancelled"}:
        return job.end_idle(_not_run(run))
    with job.dependencies.connect(event, job.inputs) as client:
        pull = find_pull(client, event.repo, run)
        if isinstance(pull, Superseded):
            return job.end_idle(pull.reason)
        event = replace(event, pull=pull)
        artifact = BuildArtifact(client, event.repo, run.id)
        request = structs.replace(_make_request(job, event), evidence=artifact, actor=run.actor)
        collected = collect_stage(request, _make_environment(job), run.path)
    if isinstance(collected, NothingToReview) and collected.superseded:
        return job.end_idle(collected.reason)
    outcome = (
        NoEvidence(collected.reason, event.repo, pull.number, run.head_sha, pull.base.ref or "")
        if isinstance(collected, NothingToReview)
        else collected
    )
    write_atomically(job.places.report_file(EVIDENCE), evidence_to_text(outcome))
    return JobResult(ExitCode.OPEN)


def decide(job: Job) -> JobResult:
    """Asks the models about the evidence; nothing else is here to be asked."""
    content = download_artifacts(job, EVIDENCE, EVIDENCE_DIGEST)
    evidence = evidence_from_text(content)
    if isinstance(evidence, NoEvidence):
        return job.end_idle(evidence.reason, is_open=True)
    digest = sha256(content)
    opinions = ask_needed_models(evidence, digest, _make_request(job, None), _make_environment(job))
    report = publish_stage(evidence, digest, opinions)
    job.log.say(report.headline)
    text = verdict_to_text(report, opinions, job.log.redact)
    write_atomically(job.places.report_file(VERDICT), text)
    return JobResult(ExitCode.OPEN)


def publish(job: Job) -> JobResult:
    """Find the pull request again, make the report, and publish it everywhere."""
    event, run = _read_trigger(job)
    if run.conclusion not in ENDED:
        return job.end_idle(_not_run(run))
    with Publication(job, event) as publication:
        pull = find_pull(publication.client, event.repo, run)
        if isinstance(pull, Superseded):
            publication.mark_superseded()
            return job.end_idle(pull.reason)
        publication.event = event = replace(event, pull=pull)
        if run.conclusion == "cancelled":
            return _end_cancelled(job, run, publication)
        content = download_artifacts(job, EVIDENCE, EVIDENCE_DIGEST)
        evidence = evidence_from_text(content)
        refuse_other(evidence, event)
        if isinstance(evidence, NoEvidence):
            return _open_gate(job, evidence.reason, publication)
        verdict = _read_verdict(job)
        digest = sha256(content)
        opinions = (
            opinions_from_text(verdict) if verdict else opinions_without_models(evidence, digest)
        )
        if run.attempt > 1:
            publication.close("Judging")  # what the earlier attempt said counts no longer
        override = publication.read_standing_commands().override
        report = publish_stage(evidence, digest, opinions, override, publication.earlier.dismissals)
        return publication.finish(report)


def _read_verdict(job: Job) -> bytes | None:
    models_asked = job.environ.get(MODELS_ASKED, "true") != "false"
    return download_artifacts(job, VERDICT, VERDICT_DIGEST) if models_asked else None


def _not_run(run: WorkflowRun) -> str:
    if run.conclusion == "action_required":
        return f"Nothing to do: run {run.id} waits for the approval of a maintainer."
    return f"Nothing to do: run {run.id} has run nothing ({run.conclusion or 'no conclusion'})."


def _end_cancelled(job: Job, run: WorkflowRun, publication: Publication) -> JobResult:
    """A build that was cancelled is no evidence and no error: the gate waits for another one."""
    publication.mark_superseded()
    if has_newer_run(publication.client.repo(publication.event.repo), run):
        return job.end_idle("The build was cancelled, and there is a newer one.")
    publication.close("The build was cancelled: run it again")
    return job.end_idle("The build was cancelled, so that there is nothing to judge.")


def _open_gate(job: Job, reason: str, publication: Publication) -> JobResult:
    complaints = publication.open(reason)
    ended = job.end_idle(reason, is_open=True)
    code = ExitCode.NOT_PUBLISHED if complaints else ended.code
    return JobResult(code, " ".join(complaints) or None)


def _read_trigger(job: Job) -> tuple[Event, WorkflowRun]:
    event = read_event(job.environ)
    if event.kind is not EventKind.WORKFLOW_RUN or event.trigger is None:
        raise UsageError(
            f"The mode {job.inputs.mode} runs on workflow_run, not on {event.kind}",
            why="It must not be reached by what a pull request brings",
            remedy="Use the workflows that `prjury init --forks` writes",
        )
    return event, event.trigger


def _make_request(job: Job, event: Event | None) -> ReviewRequest:
    return request_of(event, job.inputs, job.dependencies.environment, job.dependencies.git)


def _make_environment(job: Job) -> RunEnvironment:
    return with_inputs(job.dependencies.environment, job.inputs)
