"""Checks of how the jobs of PR Jury belong together: modes, inputs, stages, files, events."""

from __future__ import annotations

from collections.abc import Iterator

from prjury.app.inputs import ALLOWED, INPUTS
from prjury.doctor.finding import Diagnosis, problem, unknown, warning
from prjury.doctor.setup import CONFLICTS, FROM_DEFAULT, JUDGING, Setup
from prjury.errors import did_you_mean

_AGAIN = "write the workflows with `prjury init --forks`"
#: The text in the workflows as `prjury init` writes them without `--action`.
_PLACEHOLDER = "OWNER/pr-jury@COMMIT"
_FILES = {
    "decide": ("PRJURY_EVIDENCE_SHA256",),
    "publish": ("PRJURY_EVIDENCE_SHA256", "PRJURY_VERDICT_SHA256"),
}
_NEEDED = {
    "opened": "a new pull request is not judged",
    "synchronize": "new commits are not judged",
    "reopened": "a reopened pull request is not judged",
    "edited": "a pull request that is moved to another base stays judged by the old one",
}


def check_use(setup: Setup) -> Iterator[Diagnosis]:
    """Tell whether PR Jury runs here at all."""
    if setup.uses:
        return
    for workflow in setup.workflows:
        if any("jury" in job.uses.lower() for job in workflow.jobs):
            yield unknown(
                workflow.path,
                "it calls a workflow elsewhere, and only this directory is looked at",
            )
            return
    yield problem(".github/workflows", "no workflow runs PR Jury; write one with `prjury init`")


def check_words(setup: Setup) -> Iterator[Diagnosis]:
    """Modes and inputs that do not exist, and the placeholder of `prjury init`."""
    for path in dict.fromkeys(s.about for s in setup.uses if s.step.uses == _PLACEHOLDER):
        text = f"it still holds `{_PLACEHOLDER}`; put the action's repository and commit there"
        yield problem(path, text)
    for use in setup.uses:
        if use.mode not in ALLOWED["mode"]:
            yield problem(
                use.about,
                f"there is no `mode: {use.mode}`; the modes are {', '.join(ALLOWED['mode'])}",
            )
        for name in use.step.inputs:
            if name not in INPUTS:
                meant = did_you_mean(name, INPUTS) or f"there are {', '.join(sorted(INPUTS))}"
                yield problem(
                    use.about,
                    f"the action has no input `{name}`, and nothing reads it; "
                    f"{meant[:1].lower()}{meant[1:]}",
                )


def check_stages(setup: Setup) -> Iterator[Diagnosis]:
    """A chain of jobs with a missing link."""
    builds, judging = setup.of_modes("build"), setup.of_modes(*JUDGING)
    if builds and not judging:
        yield problem(builds[0].about, f"it builds, and no job judges that; {_AGAIN}")
    if judging and not builds:
        yield problem(judging[0].about, f"it judges builds, and nothing builds; {_AGAIN}")
    modes = {use.mode for use in judging}
    for mode in JUDGING:
        if judging and mode not in modes:
            yield problem(judging[0].about, f"no job has `mode: {mode}`; {_AGAIN}")
    for use in setup.of_modes(*_FILES):
        for name in _FILES[use.mode]:
            if not use.variable(name):
                yield problem(
                    use.about,
                    f"the job `{use.job.id}` does not learn from `{name}` which file to take; "
                    "copy its `env` from what `prjury init --forks` writes",
                )
    yield from _check_waiting(setup)


def _check_waiting(setup: Setup) -> Iterator[Diagnosis]:
    builds = {use.workflow.name for use in setup.of_modes("build")}
    for workflow in {one.about: one.workflow for one in setup.of_modes(*JUDGING)}.values():
        trigger = workflow.triggers.get("workflow_run")
        if trigger is None:
            yield problem(
                workflow.path,
                f"it judges builds and does not wait for one by `workflow_run`; {_AGAIN}",
            )
            continue
        if trigger.types is not None and "completed" not in trigger.types:
            yield problem(
                workflow.path,
                "`workflow_run` lacks the type `completed`, so that it never judges; add it",
            )
        if builds and not builds & set(trigger.workflows):
            awaited = ", ".join(f"`{name}`" for name in trigger.workflows) or "nothing"
            yield problem(
                workflow.path,
                f"it waits for {awaited}, but the build is called `{min(builds)}`; put that name "
                "into `workflow_run.workflows`",
            )


def check_closing(setup: Setup) -> Iterator[Diagnosis]:
    """Tell whether a gate that is a status is closed for a new head until its verdict is there."""
    publishing = setup.of_modes("publish")
    watching = setup.of_modes(CONFLICTS)
    if publishing and not watching:
        yield warning(
            publishing[0].about,
            "nothing closes the gate of a new head until its verdict is there; write "
            "prjury-comment.yml with `prjury init --forks`",
        )
    for use in watching:
        by_status = use.variable("PRJURY_GATE") == "status"
        if bool(publishing) is not by_status:
            right = "status" if publishing else "job"
            yield problem(
                use.about,
                f"the gate is a {right} here; set `PRJURY_GATE: {right}` in the job `{use.job.id}`",
            )


def check_workflows_on_default_branch(setup: Setup) -> Iterator[Diagnosis]:
    """Tell whether the workflows that GitHub takes from the default branch are there."""
    for path in dict.fromkeys(one.about for one in setup.of_modes(*FROM_DEFAULT)):
        if setup.on_default is None:
            yield unknown(
                path,
                "GitHub starts it from the default branch only, and which branch that is is not "
                "known here; make sure that it is merged there",
            )
        elif path not in setup.on_default:
            yield warning(
                path,
                f"GitHub starts it from `{setup.default_branch}` only, where it is not; merge it",
            )


def check_triggers(setup: Setup) -> Iterator[Diagnosis]:
    """Events after which the verdict would be an old one, and filters that keep it from coming."""
    for use in setup.of_modes("review", "build"):
        if "pull_request" not in use.workflow.triggers:
            continue
        types = use.workflow.triggers["pull_request"].started_by
        for name, otherwise in _NEEDED.items():
            if name not in types:
                yield problem(use.about, _lacks(name, otherwise))
        if "ready_for_review" not in types:
            otherwise = "a draft is not judged when it becomes ready"
            yield warning(use.about, _lacks("ready_for_review", otherwise))
    for path, event, name in dict.fromkeys(
        (use.about, event, name)
        for use in setup.uses
        for event, trigger in use.workflow.triggers.items()
        for name in trigger.filters
        if event != "push"
    ):
        tell = problem if name.startswith("paths") or event == "workflow_run" else warning
        yield tell(
            path,
            f"`{event}` is filtered by `{name}`: where that leaves a change out, the required "
            "check never starts and blocks the merge; remove the filter",
        )


def _lacks(name: str, otherwise: str) -> str:
    return f"`pull_request` lacks the type `{name}`, so that {otherwise}; add it to `types`"
