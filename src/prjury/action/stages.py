"""The modes ``review``, and ``build``, ``collect``, ``decide`` and ``publish``: its four stages.

A review is everything in one job, for a repository that trusts its authors. The last stage holds
the token that may write and nothing else. It always ends with a visible result: if an earlier job
has failed, the status of the head becomes an error, so that no gate stays green and none hangs.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from prjury.action.dependencies import make_environment, make_request
from prjury.action.job import Job, JobResult, PriorState, copy_logs
from prjury.action.publishing import Publication
from prjury.app.builds import build as build_stage
from prjury.app.builds import make_junit_evidence, parse_junit_input
from prjury.app.evidence import (
    NoEvidence,
    StageEvidence,
    dump_evidence_or_part,
    evidence_from_text,
    opinions_from_text,
    read_artifact_file,
    sha256,
    verdict_to_text,
)
from prjury.app.stages import ask_needed_models, derive_report, make_abstaining_opinions
from prjury.app.stages import collect_program_votes as collect_stage
from prjury.errors import ExitCode, SourceError, UsageError
from prjury.git.open_snapshot import SUPERSEDED, NothingToReview
from prjury.github.artifacts import FILE, BuildArtifact
from prjury.github.event import ENDED, Event, EventKind, Superseded, find_only_pull, read_event
from prjury.github.payload import PullFacts, Tip
from prjury.github.pulls import list_all_or_found_pulls, refuse_shared_head, twins_of
from prjury.github.workflow_runs import WorkflowRun, has_newer_run
from prjury.jury.judgment import Status
from prjury.publishers.files import write_atomically
from prjury.snapshot.model import visible


def review_and_publish(job: Job) -> JobResult:
    event = read_and_complete_event(job)
    if event.of_pull_request and event.action == "closed":
        return job.end_idle(f"Nothing to review: #{event.number} is closed.", is_open=True)
    job.dependencies.connect(event, job.inputs).close()  # fails early for a wrong token
    refuse_head_shared_with_fork(event, job)
    with Publication(job, event) as publication:
        dismissals = publication.earlier.dismissals
        commands, votes = publication.read_standing_commands(), publication.read_queued_votes()
        before = PriorState(commands, dismissals, votes, publication.begin)
        try:
            return publication.publish_and_end(job.dependencies.judge(job, event, before))
        except NothingToReview as error:
            nothing = error
    if nothing.reason == SUPERSEDED:
        refuse_head_still_current(event, job)
        return job.end_idle(nothing.what)
    if event.of_pull_request and (job.inputs.base or job.inputs.head):
        # Nothing is known of the pull request's own head where the workflow names other sides.
        return job.end_idle(nothing.what)._replace(code=ExitCode.NOT_JUDGED)
    return job.end_idle(nothing.what, is_open=True)


def build_and_write_evidence(job: Job) -> JobResult:
    if not job.inputs.build:
        return job.end_idle("Nothing to do: the input build is false.")
    event = read_and_complete_event(job)
    request, environment = make_request(job, event), make_environment(job)
    try:
        if job.inputs.junit:
            places = parse_junit_input(job.inputs.junit, job.environ)
            outcome = make_junit_evidence(request, environment, places)
        else:
            outcome = build_stage(request, environment)
    except NothingToReview as nothing:
        return job.end_idle(nothing.what, is_open=nothing.reason != SUPERSEDED)
    written = json.dumps(outcome.evidence, indent=1, allow_nan=False) + "\n"
    write_atomically(job.places.make_directory_and_path(FILE), written)
    copy_logs([one.judgment for one in outcome.ballots], job.places, job.log.redact)
    for one in outcome.ballots:
        job.log.say(f"{one.judge}: {one.judgment.status} - {one.judgment.reasoning}")
    judgment = outcome.ballot.judgment
    codes = {Status.FAIL: ExitCode.REJECTED, Status.ERROR: ExitCode.NOT_JUDGED}
    code = codes.get(judgment.status, ExitCode.OPEN)
    return JobResult(code, judgment.reasoning if code else None)


def collect_and_write_evidence(job: Job) -> JobResult:
    event, run = _require_workflow_run(job)
    if run.conclusion not in ENDED - {"cancelled"}:
        return job.end_idle(_explain_no_run(run))
    with job.dependencies.connect(event, job.inputs) as client:
        pull = find_only_pull(client, event.repo, run)
        if isinstance(pull, Superseded):
            return job.end_idle(pull.reason)
        event = replace(event, pull=pull)
        artifact = BuildArtifact(client, event.repo, run.id)
        request = structs.replace(make_request(job, event), evidence=artifact, actor=run.actor)
        outcome: StageEvidence | NoEvidence
        try:
            outcome = collect_stage(request, make_environment(job), run.path)
        except NothingToReview as nothing:
            if nothing.reason == SUPERSEDED:
                return job.end_idle(nothing.what)
            sides = (event.repo, pull.number, run.head_sha, pull.base.ref or "")
            outcome = NoEvidence(nothing.what, *sides)
    write_atomically(job.places.make_directory_and_path(EVIDENCE), dump_evidence_or_part(outcome))
    return JobResult(ExitCode.OPEN)


def ask_models_and_write_verdict(job: Job) -> JobResult:
    content = read_checked_artifact(job, EVIDENCE, EVIDENCE_DIGEST)
    evidence = evidence_from_text(content)
    if isinstance(evidence, NoEvidence):
        return job.end_idle(evidence.reason, is_open=True)
    digest = sha256(content)
    opinions = ask_needed_models(evidence, digest, make_request(job, None), make_environment(job))
    report = derive_report(evidence, digest, opinions)
    job.log.say(report.headline)
    text = verdict_to_text(report, opinions, job.log.redact)
    write_atomically(job.places.make_directory_and_path(VERDICT), text)
    return JobResult(ExitCode.OPEN)


def publish_verdict(job: Job) -> JobResult:
    event, run = _require_workflow_run(job)
    if run.conclusion not in ENDED:
        return job.end_idle(_explain_no_run(run))
    with Publication(job, event) as publication:
        pull = find_only_pull(publication.client, event.repo, run)
        if isinstance(pull, Superseded):
            publication.gates = False
            return job.end_idle(pull.reason)
        publication.event = event = replace(event, pull=pull)
        if run.conclusion == "cancelled":
            return _end_cancelled(job, run, publication)
        content = read_checked_artifact(job, EVIDENCE, EVIDENCE_DIGEST)
        evidence = evidence_from_text(content)
        refuse_foreign_evidence(evidence, event)
        if isinstance(evidence, NoEvidence):
            with publication.collect_errors():
                publication.set_gate("success", evidence.reason)
            job.end_idle(evidence.reason, is_open=True)
            return job.report_end((), publication.complaints)
        models_asked = job.environ.get(MODELS_ASKED, "true") != "false"
        verdict = read_checked_artifact(job, VERDICT, VERDICT_DIGEST) if models_asked else None
        digest = sha256(content)
        opinions = (
            opinions_from_text(verdict) if verdict else make_abstaining_opinions(evidence, digest)
        )
        if run.attempt > 1:
            # What the earlier attempt said counts no longer.
            publication.set_gate("pending", "Judging")
        override = publication.read_standing_commands().override
        report = derive_report(evidence, digest, opinions, override, publication.earlier.dismissals)
        return publication.publish_and_end(report)


def _explain_no_run(run: WorkflowRun) -> str:
    if run.conclusion == "action_required":
        return f"Nothing to do: run {run.id} waits for the approval of a maintainer."
    return f"Nothing to do: run {run.id} has run nothing ({run.conclusion or 'no conclusion'})."


def _end_cancelled(job: Job, run: WorkflowRun, publication: Publication) -> JobResult:
    """A build that was cancelled is no evidence and no error: the gate waits for another one."""
    publication.gates = False
    if has_newer_run(publication.client.repo(publication.event.repo), run):
        return job.end_idle("The build was cancelled, and there is a newer one.")
    publication.set_gate("pending", "The build was cancelled: run it again")
    return job.end_idle("The build was cancelled, so that there is nothing to judge.")


def _require_workflow_run(job: Job) -> tuple[Event, WorkflowRun]:
    event = read_event(job.environ)
    if event.kind is not EventKind.WORKFLOW_RUN or event.trigger is None:
        raise UsageError(
            f"The mode {job.inputs.mode} runs on workflow_run, not on {event.kind}",
            why="It must not be reached by what a pull request brings",
            remedy="Use the workflows that `prjury init --forks` writes",
        )
    return event, event.trigger


#: In these a job holds the base repository's token and secrets, no matter who wrote the change.
_BESIDE_SECRETS = frozenset({EventKind.PULL_REQUEST_TARGET, EventKind.WORKFLOW_DISPATCH})

#: Events that other modes are for.
_ELSEWHERE = {
    EventKind.WORKFLOW_RUN: "the modes collect, decide and publish",
    EventKind.ISSUE_COMMENT: "the mode comment",
    EventKind.PUSH: "the mode conflicts",
}


def read_and_complete_event(job: Job) -> Event:
    event = read_event(job.environ)
    if modes := _ELSEWHERE.get(event.kind):
        raise UsageError(
            f"The mode {job.inputs.mode} does not run on {event.kind}",
            why="That event names no commit of a pull request and must not build one",
            remedy=f"Use {modes} there",
        )
    pull = event.pull
    if event.kind is EventKind.WORKFLOW_DISPATCH and event.number:
        with job.dependencies.connect(event, job.inputs) as client:
            pull = client.pull(pull.repo, event.number)
        stated = event.pull
        base = stated.base if stated.base.named else pull.base
        pull = structs.replace(pull, base=base, head=stated.head)
    if event.kind is EventKind.PULL_REQUEST and event.run and event.run.attempt > 1:
        pull = _refresh_title_and_base(event, job)
    if job.inputs.base:
        pull = structs.replace(pull, base=Tip(job.inputs.base))
    if job.inputs.head:
        pull = structs.replace(pull, head=Tip(job.inputs.head))
    if event.kind in _BESIDE_SECRETS and pull.is_fork and job.inputs.build:
        raise UsageError(
            f"A fork's code is not built under {event.kind}",
            why="The job holds the base repository's token and secrets",
            remedy="Run on pull_request, or set `build: false`",
        )
    for note in event.notes:
        job.log.say(note)
    return replace(event, pull=pull)


def _refresh_title_and_base(event: Event, job: Job) -> PullFacts:
    """With title, text and base of today: a run that is started again has its event's."""
    if not job.inputs.github_token:
        return event.pull
    try:
        with job.dependencies.connect(event, job.inputs) as client:
            pull = client.pull(event.repo, event.number or 0)
    except SourceError as error:
        if error.reason != "permission":
            raise
        job.log.say(f"Title, text and base are those of the first attempt: {error}")
        return event.pull
    return structs.replace(event.pull, title=pull.title, body=pull.body, base=pull.base)


def refuse_head_shared_with_fork(event: Event, job: Job) -> None:
    """The job is the check of a commit, so that commit must be the head of one pull request alone.

    A branch of this repository may well go to two others at once: its pushers can do worse,
    so that is noted and no more. A token that may not list pull requests says so as well.

    Raises:
        SourceError: ``not_bound``, where another one has it as well, and one of them is a fork's.
    """
    head = event.pull.head.sha
    if not (event.of_pull_request and job.inputs.github_token and head):
        return
    try:
        with job.dependencies.connect(event, job.inputs) as client:
            pull = event.pull
            every = list_all_or_found_pulls(client, event.repo, head, pull.head_repo, pull.head.ref)
            twins = twins_of(every, head)
        if any(twin.is_fork for twin in twins):
            refuse_shared_head(twins, head)
        elif len(twins) > 1:
            numbers = ", ".join(f"#{twin.number}" for twin in twins)
            job.log.say(f"{numbers} have the same head, and so the same check.")
    except SourceError as error:
        if error.reason != "permission":
            raise
        job.log.say(f"Whether another pull request has this head is not known: {error}")


def refuse_head_still_current(event: Event, job: Job) -> None:
    """Refuse a head that GitHub still calls current: no other run would judge it."""
    with job.dependencies.connect(event, job.inputs) as client:
        pull = client.pull(event.repo, event.number or 0)
    if pull.head.sha == event.pull.head.sha:
        raise SourceError(
            f"The head of #{event.number} cannot be fetched",
            why="The server's refs/pull is not at the head that GitHub names; it may lag behind",
            remedy="Run the job again",
            reason="ref_lags",
        )


EVIDENCE, VERDICT = "evidence.json", "verdict.json"
#: Where the jobs before say which file they have made; empty where they have made none.
EVIDENCE_DIGEST, VERDICT_DIGEST = "PRJURY_EVIDENCE_SHA256", "PRJURY_VERDICT_SHA256"
#: Whether a job before has asked models; "false" where there is no key for them.
MODELS_ASKED = "PRJURY_MODELS_ASKED"


def read_checked_artifact(job: Job, name: str, digest_variable: str) -> bytes:
    digest = job.environ.get(digest_variable)
    if digest is None:
        raise UsageError(
            f"{digest_variable} is not set",
            why="The job that made the file tells its sha256, so that no other is taken for it",
            remedy="Use the workflows that `prjury init --forks` writes",
        )
    return read_artifact_file(job.places.make_directory_and_path(name), Path(name).stem, digest)


def refuse_foreign_evidence(evidence: StageEvidence | NoEvidence, event: Event) -> None:
    pull = event.pull
    if isinstance(evidence, NoEvidence):
        identity = (evidence.repo, evidence.number, evidence.head_sha)
        base = evidence.base_ref
    else:
        identity = (evidence.pull.repo, evidence.pull.number, evidence.pull.head.sha)
        base = evidence.pull.base.ref
    if identity == (pull.repo, pull.number, pull.head.sha) and base != pull.base.ref:
        raise SourceError(
            f"#{pull.number} was judged against {visible(base)}, and its base is another one now",
            why="It was moved to another base meanwhile",
            remedy="The move has started a run of its own; otherwise push again",
            reason="evidence_mismatch",
        )
    if identity != (pull.repo, pull.number, pull.head.sha):
        raise SourceError(
            f"The evidence is about #{identity[1]} at {identity[2][:12]}, and this run about "
            f"#{pull.number} at {str(pull.head.sha)[:12]}",
            why="The files come from another run, or were forged",
            remedy="Run all jobs of the workflow again",
            reason="evidence_mismatch",
        )
