"""Checks of when workflows start, and with what in their hands."""

from __future__ import annotations

from collections.abc import Iterator

from prjury.doctor.finding import Diagnosis, problem, warning
from prjury.doctor.setup import ActionUse, Setup
from prjury.manifests.workflow import Trigger, Workflow, WorkflowStep

_RUNS_CODE = ("review", "build")
#: Events that bring secrets and a token that can write, no matter who opened the pull request.
_PRIVILEGED = ("pull_request_target", "workflow_run")
_FOR_FORKS = "for forks there is `prjury init --forks`"

_NEEDED = {
    "opened": "a new pull request is not judged",
    "synchronize": "new commits are not judged",
    "reopened": "a reopened pull request is not judged",
    "edited": "a pull request that is moved to another base stays judged by the old one",
}


def missing_types(setup: Setup) -> Iterator[Diagnosis]:
    """Events of a pull request after which the verdict would be an old one."""
    for use in _on_pull_requests(setup):
        types = use.workflow.triggers["pull_request"].started_by
        for name, otherwise in _NEEDED.items():
            if name not in types:
                yield problem(use.about, lacking("pull_request", name, otherwise))
        if "ready_for_review" not in types:
            otherwise = "a draft is not judged when it becomes ready"
            yield warning(use.about, lacking("pull_request", "ready_for_review", otherwise))


def lacking(event: str, name: str, otherwise: str) -> str:
    """What is so where a type of an event does not start a workflow, and the fix."""
    return f"`{event}` lacks the type `{name}`, so that {otherwise}; add it to `types`"


def filters(setup: Setup) -> Iterator[Diagnosis]:
    """Filters under which the required check never starts."""
    seen: set[tuple[str, str]] = set()
    for use in setup.uses:
        for event, trigger in use.workflow.triggers.items():
            if (use.about, event) not in seen and event != "push":
                yield from _of_filters(use.about, event, trigger)
            seen.add((use.about, event))


def _of_filters(about: str, event: str, trigger: Trigger) -> Iterator[Diagnosis]:
    for name in trigger.filters:
        tell = problem if name.startswith("paths") or event == "workflow_run" else warning
        yield tell(
            about,
            f"`{event}` is filtered by `{name}`: where that leaves a change out, the required "
            "check never starts and blocks the merge; remove the filter",
        )


def never_started(setup: Setup) -> Iterator[Diagnosis]:
    """Workflows that no pull request starts."""
    known = {"pull_request", "merge_group", "workflow_call", *_PRIVILEGED}
    for use in setup.parts(*_RUNS_CODE):
        if not known & use.workflow.triggers.keys():
            yield warning(use.about, "no pull request starts it; add `pull_request` to its `on`")


def privileged_builds(setup: Setup) -> Iterator[Diagnosis]:
    """The change's code where a token can write."""
    for use in setup.parts(*_RUNS_CODE):
        for event in _PRIVILEGED:
            if event in use.workflow.triggers:
                yield problem(
                    use.about,
                    f"`mode: {use.mode}` runs the change's code, and `{event}` gives it "
                    f"secrets and a token that can write; use `pull_request`, {_FOR_FORKS}",
                )


def privileged_checkouts(setup: Setup) -> Iterator[Diagnosis]:
    """Checkouts of a pull request's head under events that bring secrets, in any workflow."""
    ours = {use.workflow.path for use in setup.uses}
    for workflow in setup.workflows:
        tell = problem if workflow.path in ours else warning
        event = next((name for name in _PRIVILEGED if name in workflow.triggers), None)
        if event and any(map(_takes_head, _steps(workflow))):
            yield tell(
                workflow.path,
                f"it checks out what a pull request brings under `{event}`, where secrets are; "
                "do that under `pull_request`, and hand results over as an artifact",
            )
        if any(_is_unsafe(step) for step in _steps(workflow)):
            yield tell(
                workflow.path,
                "it sets `allow-unsafe-pr-checkout`, which lets a stranger's code run beside "
                "secrets; remove it",
            )


def _on_pull_requests(setup: Setup) -> Iterator[ActionUse]:
    for use in setup.parts(*_RUNS_CODE):
        if "pull_request" in use.workflow.triggers:
            yield use


def _steps(workflow: Workflow) -> Iterator[WorkflowStep]:
    for job in workflow.jobs:
        yield from job.steps


def _takes_head(step: WorkflowStep) -> bool:
    if "gh pr checkout" in step.run:
        return True
    wanted = f"{step.inputs.get('ref', '')} {step.inputs.get('repository', '')}"
    return step.action == "actions/checkout" and any(
        word in wanted for word in ("head", "refs/pull/", "pull_request.number")
    )


def _is_unsafe(step: WorkflowStep) -> bool:
    return step.inputs.get("allow-unsafe-pr-checkout", "false") not in {"", "false"}
