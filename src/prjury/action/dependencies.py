"""The parts that the action works with; tests bring their own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from msgspec import structs

from prjury.action.job import Dependencies, GitAccess, Inputs, Job, PriorState
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.git.open_snapshot import Landed, SnapshotRequest
from prjury.github.client import ACTIONS_BOT, Connection, GitHub
from prjury.github.event import Event, EventKind
from prjury.policy import POLICY_PATH
from prjury.publishers.terminal import PlainProgress
from prjury.report.model import Report
from prjury.report.render import Renderer
from prjury.report.sanitise import Redact
from prjury.resources import program_version

if TYPE_CHECKING:
    from prjury.app.backport import Picks


def make_dependencies(
    environ: Mapping[str, str], stream: TextIO, redact: Redact, git: GitAccess | None = None
) -> Dependencies:
    return Dependencies(
        judge=_judge_and_journal_event,
        picks=_judge_and_pick,
        connect=connect_to_github,
        renderer=Renderer(redact),
        environment=RunEnvironment(environ, PlainProgress(stream, redact), redact),
        git=git or GitAccess(),
    )


#: What the modes that write to a pull request take as a whole; the others read.
_POST_PERMISSIONS = frozenset({"pull-requests: write", "checks: write"})
_PERMISSIONS = {
    "collect": frozenset[str](),
    "backport": frozenset({"contents: write", "pull-requests: write"}),
    "publish": _POST_PERMISSIONS | {"statuses: write"},
    "conflicts": _POST_PERMISSIONS | {"statuses: write"},
    "comment": _POST_PERMISSIONS | {"statuses: write", "actions: write"},
}


def connect_to_github(event: Event, inputs: Inputs) -> GitHub:
    takes = _PERMISSIONS.get(inputs.mode, _POST_PERMISSIONS)
    reads = event.kind is EventKind.MERGE_GROUP
    return GitHub(
        Connection(
            event.api_url,
            inputs.github_token or None,
            takes=frozenset() if reads else takes,
            account=ACTIONS_BOT if inputs.is_job_token else "",
        )
    )


def _judge_and_journal_event(job: Job, event: Event, prior: PriorState) -> Report:
    from prjury.app.review import run  # noqa: PLC0415 - everything that judges; tests do without
    from prjury.journal.write import RecordedProgress, RunJournal  # noqa: PLC0415 - as above

    request, environment = make_request(job, event), make_environment(job)
    place = {"XDG_STATE_HOME": str(job.places.report_directory)}
    journal = RunJournal(place, "action", version=program_version(), redact=environment.redact)
    progress = RecordedProgress(environment.progress, journal)
    environment = structs.replace(environment, journal=journal, progress=progress)
    if job.inputs.junit:
        from prjury.app.builds import JunitEvidence, parse_junit_input  # noqa: PLC0415 - as above

        places = parse_junit_input(job.inputs.junit, job.environ)
        request = structs.replace(request, evidence=JunitEvidence(request, environment, places))
    request = structs.replace(
        request,
        override=prior.commands.override,
        asks_fix=prior.commands.fix,
        dismissals=prior.dismissals,
        earlier_votes=prior.earlier_votes,
    )
    report = run(request, structs.replace(environment, begun=prior.begun))
    journal.record("end", exit=report.gate.exit_code)
    return report


def _judge_and_pick(job: Job, event: Event, branches: Sequence[str]) -> Picks:
    """Judge the merged change for release branches; nothing of it is ever run here."""
    from prjury.app.backport import Picks, judge_and_pick  # noqa: PLC0415 - everything that judges

    # The change is taken as it came in, whatever the pull request's own branch holds. No model is
    # asked where a token may write.
    request, pull = make_request(job, event), event.pull
    landed, sha = Landed(pull.commits or 1, pull.head.sha), pull.merge_sha
    target = structs.replace(request.target, head=sha, head_sha=sha, landed=landed)
    request = structs.replace(
        request, target=target, backport_to=tuple(branches), build=False, models=False
    )
    if pull.merge_sha is None:
        return Picks(None, reason=f"GitHub does not say by which commit #{pull.number} came in.")
    return judge_and_pick(request, make_environment(job))


def make_request(job: Job, event: Event | None) -> ReviewRequest:
    inputs, only_merges = job.inputs, job.inputs.mode == "conflicts"
    # GitHub takes the workflow's file from a pull request's own commit.
    file = re.search(
        r"\.github/workflows/[^@]+(?=@refs/pull/)", job.environ.get("GITHUB_WORKFLOW_REF", "")
    )
    return ReviewRequest(
        target=_make_snapshot_request(job, event) if event else SnapshotRequest(),
        policy_path=inputs.config or POLICY_PATH,
        build=inputs.build and not only_merges,
        models=not only_merges,
        model=_choose_model_unless_key_withheld(event, inputs, job.environ),
        trusts_policy=event is not None and is_owners_policy(event),
        actor=event.sender if event else None,
        workflow=file[0] if file and event and event.of_pull_request else None,
    )


def _choose_model_unless_key_withheld(
    event: Event | None, inputs: Inputs, environ: Mapping[str, str]
) -> str | None:
    """The model that the workflow names; none where GitHub withholds its key: forks, Dependabot."""
    model = inputs.model or None
    if event is None or event.kind is not EventKind.PULL_REQUEST:
        return model
    secrets = _with_secrets(environ, inputs)
    keyless = inputs.model.startswith(("command:", "scripted:"))
    key = secrets.get(_name_key_variable(inputs))
    reachable = keyless or key or secrets.get("OPENAI_BASE_URL")
    withheld = event.pull.is_fork or event.sender == "dependabot[bot]"
    return None if withheld and not reachable else model


def is_owners_policy(event: Event) -> bool:
    """Tell whether the base's policy is the owner's, and may say where keys go.

    Those who may push a branch write its policy; only the default branch speaks for the repository.
    """
    return event.default_branch is not None and event.pull.base.ref == event.default_branch


def make_environment(job: Job) -> RunEnvironment:
    """The surroundings in which a model and a token are looked for: the inputs count more."""
    environ = _with_secrets(job.environ, job.inputs)
    return structs.replace(job.dependencies.environment, environ=environ)


#: What an event, or GitHub, says of a pull request.
_FACTS = ("repo", "title", "body", "author", "draft", "url", "labels", "milestone")


def _make_snapshot_request(job: Job, event: Event) -> SnapshotRequest:
    inputs, git = job.inputs, job.dependencies.git
    pull, group = event.pull, event.kind is EventKind.MERGE_GROUP
    of_head = event.of_pull_request or event.kind is EventKind.WORKFLOW_RUN
    return SnapshotRequest(
        number=pull.number,
        # A queue tests one commit on another; everything else is merged into the branch of today.
        base=(pull.base.sha if group else None) or pull.base.ref or pull.base.sha,
        head=inputs.head or (None if of_head else pull.head.sha or pull.head.ref),
        url=git.url(event),
        transport=git.transport(event, job.environ, inputs.github_token),
        facts={name: getattr(pull, name) for name in _FACTS},
        local=False,
        head_sha=pull.head.sha if of_head else None,
    )


def _with_secrets(environ: Mapping[str, str], inputs: Inputs) -> dict[str, str]:
    own = {
        _name_key_variable(inputs): inputs.model_api_key,
        "OPENAI_BASE_URL": inputs.model_base_url,
        "GITHUB_TOKEN": inputs.github_token,
    }
    return {**environ, **{name: value for name, value in own.items() if value}}


#: Variables of keys, by how a provider is called and by how its keys begin.
_BY_PROVIDER = {
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GEMINI_API_KEY",
    "gemini": "GEMINI_API_KEY",
}
_BY_SHAPE = {"sk-ant-": "ANTHROPIC_API_KEY", "AIza": "GEMINI_API_KEY"}


def _name_key_variable(inputs: Inputs) -> str:
    provider, colon, _ = inputs.model.partition(":")
    if colon:
        return _BY_PROVIDER.get(provider, "OPENAI_API_KEY")
    shapes = (name for start, name in _BY_SHAPE.items() if inputs.model_api_key.startswith(start))
    return "OPENAI_API_KEY" if inputs.model_base_url else next(shapes, "OPENAI_API_KEY")
