"""The modes ``build``, ``collect`` and ``decide``: three of the four stages."""

from __future__ import annotations

import json
from dataclasses import replace

from prjury.action.dependencies import request_of, with_inputs
from prjury.action.events import event_of
from prjury.action.job import Job, JobResult
from prjury.action.job_artifacts import EVIDENCE, EVIDENCE_DIGEST, VERDICT, download_artifacts
from prjury.action.logs import keep_logs
from prjury.app.artifact_file import sha256
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.app.stages.build import build as build_stage
from prjury.app.stages.codec import evidence_from_text, evidence_to_text, verdict_to_text
from prjury.app.stages.collect import collect as collect_stage
from prjury.app.stages.decide import decide as decide_stage
from prjury.app.stages.evidence import NoEvidence
from prjury.app.stages.publish import publish_stage
from prjury.errors import ExitCode, UsageError
from prjury.git.open_snapshot import NothingToReview
from prjury.github.artifacts import FILE, BuildArtifact
from prjury.github.event import Event, EventKind, Superseded, TriggeringRun, bound, read_event
from prjury.publishers.files import write_atomically


def build(job: Job) -> JobResult:
    """Builds what the event names, and leaves evidence behind, whatever came out."""
    if not job.inputs.build:
        return job.nothing("Nothing to do: the input build is false.")
    event = event_of(job)
    outcome = build_stage(_request(job, event), _environment(job))
    if isinstance(outcome, NothingToReview):
        return job.nothing(outcome.reason, is_open=not outcome.superseded)
    written = json.dumps(outcome.evidence, indent=1, allow_nan=False) + "\n"
    write_atomically(job.places.report_file(FILE), written)
    said = outcome.ballot.judgment
    keep_logs([said], job.places, job.log.redact)
    job.log.say(f"build: {said.status} - {said.reasoning}")
    return JobResult(ExitCode.OPEN)


def collect(job: Job) -> JobResult:
    """Finds the pull request of the build that has ended, and what can be known of it."""
    event, run = triggered(job)
    with job.dependencies.connect(event, job.inputs) as hub:
        pull = bound(hub, event.repo, run)
        if isinstance(pull, Superseded):
            return job.nothing(pull.reason)
        event = replace(event, pull=pull)
        artifact = BuildArtifact(hub, event.repo, run.id)
        request = replace(_request(job, event), evidence=artifact, actor=run.actor)
        found = collect_stage(request, _environment(job), run.path)
    if isinstance(found, NothingToReview) and found.superseded:
        return job.nothing(found.reason)
    outcome = (
        NoEvidence(found.reason, event.repo, pull.number, run.head_sha, pull.base.ref or "")
        if isinstance(found, NothingToReview)
        else found
    )
    write_atomically(job.places.report_file(EVIDENCE), evidence_to_text(outcome))
    return JobResult(ExitCode.OPEN)


def decide(job: Job) -> JobResult:
    """Asks the models about the evidence; nothing else is here to be asked."""
    content = download_artifacts(job, EVIDENCE, EVIDENCE_DIGEST)
    evidence = evidence_from_text(content)
    if isinstance(evidence, NoEvidence):
        return job.nothing(evidence.reason, is_open=True)
    digest = sha256(content)
    request = replace(_request(job, None), trusts_policy=evidence.trusted)
    opinions = decide_stage(evidence, digest, request, _environment(job))
    report = publish_stage(evidence, digest, opinions)
    job.log.say(report.headline)
    text = verdict_to_text(report, opinions, job.log.redact)
    write_atomically(job.places.report_file(VERDICT), text)
    return JobResult(ExitCode.OPEN)


def triggered(job: Job) -> tuple[Event, TriggeringRun]:
    """The event of a workflow run that has ended.

    Raises:
        UsageError: for another event.
    """
    event = read_event(job.environ)
    if event.kind is not EventKind.WORKFLOW_RUN or event.trigger is None:
        raise UsageError(
            f"The mode {job.inputs.mode} runs on workflow_run, not on {event.kind}",
            why="It must not be reached by what a pull request brings",
            remedy="Use the workflows that `prjury init --forks` writes",
        )
    return event, event.trigger


def _request(job: Job, event: Event | None) -> ReviewRequest:
    return request_of(event, job.inputs, job.dependencies.environment, job.dependencies.git)


def _environment(job: Job) -> RunEnvironment:
    return with_inputs(job.dependencies.environment, job.inputs)
