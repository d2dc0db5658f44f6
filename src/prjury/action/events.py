"""The event of a job, completed by GitHub where it says too little, and by the inputs."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from prjury.action.job import Job
from prjury.errors import SourceError, UsageError
from prjury.github.event import Event, EventKind, read_event
from prjury.github.payload import PullFacts, Tip
from prjury.github.pulls import list_open_pulls, refuse_twins, twins_of
from prjury.publishers.factory import Target

#: In these a job holds the base repository's token and secrets, no matter who wrote the change.
_BESIDE_SECRETS = frozenset({EventKind.PULL_REQUEST_TARGET, EventKind.WORKFLOW_DISPATCH})

#: Events that other modes are for.
_ELSEWHERE = {
    EventKind.WORKFLOW_RUN: "the modes collect, decide and publish",
    EventKind.ISSUE_COMMENT: "the mode comment",
    EventKind.PUSH: "the mode conflicts",
}


def event_of(job: Job) -> Event:
    """The event that names a pull request or a comparison."""
    event = read_event(job.environ)
    if modes := _ELSEWHERE.get(event.kind):
        raise UsageError(
            f"The mode {job.inputs.mode} does not run on {event.kind}",
            why="That event names no commit of a pull request and must not build one",
            remedy=f"Use {modes} there",
        )
    pull = event.pull
    if event.kind is EventKind.WORKFLOW_DISPATCH and event.number:
        pull = _complete(event, job)
    if event.kind is EventKind.PULL_REQUEST and event.run and event.run.attempt > 1:
        pull = _refresh_pull(event, job)
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


def _complete(event: Event, job: Job) -> PullFacts:
    stated = event.pull
    with job.dependencies.connect(event, job.inputs) as client:
        pull = client.pull(stated.repo, stated.number or 0)
    base = stated.base if stated.base.named else pull.base
    return structs.replace(pull, base=base, head=stated.head)


def _refresh_pull(event: Event, job: Job) -> PullFacts:
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


def refuse_twin(event: Event, job: Job) -> None:
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
            every = list_open_pulls(client, event.repo, head, pull.head_repo, pull.head.ref)
            twins = twins_of(every, head)
        if any(twin.is_fork for twin in twins):
            refuse_twins(twins, head)
        elif len(twins) > 1:
            numbers = ", ".join(f"#{twin.number}" for twin in twins)
            job.log.say(f"{numbers} have the same head, and so the same check.")
    except SourceError as error:
        if error.reason != "permission":
            raise
        job.log.say(f"Whether another pull request has this head is not known: {error}")


def confirm_newer_head(event: Event, job: Job) -> None:
    """The newer head has a run of its own; without one, nothing would judge the event's head.

    Raises:
        SourceError: when GitHub still calls the event's head the current one.
    """
    with job.dependencies.connect(event, job.inputs) as client:
        pull = client.pull(event.repo, event.number or 0)
    if pull.head.sha == event.pull.head.sha:
        raise SourceError(
            f"The head of #{event.number} cannot be fetched",
            why="The server's refs/pull is not at the head that GitHub names; it may lag behind",
            remedy="Run the job again",
            reason="ref_lags",
        )


def target_of(event: Event, job: Job, files: str = "", *, by_status: bool = False) -> Target:
    """The place to which the report of an event goes.

    A job that only publishes runs on the default branch, so its own success is no gate.
    """
    by_status = by_status or job.inputs.mode == "publish"
    run, page = event.run, ""
    if run:
        page = f"{event.server_url}/{event.repo}/actions/runs/{run.id}/attempts/{run.attempt}"
    return Target(
        event.repo,
        event.number,
        event.pull.head.sha if event.of_pull_request or by_status else None,
        by_status,
        str(run) if run else None,
        page,
        files,
    )
