"""How the jobs of PR Jury belong together: action, inputs, modes, stages, files."""

from __future__ import annotations

from collections.abc import Iterator

from prjury.doctor.finding import Diagnosis, problem, unknown, warning
from prjury.doctor.setup import FROM_DEFAULT, INPUTS, JUDGING, MODES, ActionUse, Setup
from prjury.errors import did_you_mean

_AGAIN = "write the workflows with `prjury init --forks`"
#: What the workflows hold as `prjury init` writes them without `--action`.
_PLACEHOLDER = "OWNER/pr-jury@COMMIT"
#: An input of actions/checkout that has a check of its own, wherever it stands.
_OF_CHECKOUT = "allow-unsafe-pr-checkout"
_EVIDENCE, _VERDICT = "PRJURY_EVIDENCE_SHA256", "PRJURY_VERDICT_SHA256"


def used(setup: Setup) -> Iterator[Diagnosis]:
    """Whether PR Jury runs here at all."""
    if setup.uses:
        return
    called = next(
        (w.path for w in setup.workflows for job in w.jobs if "jury" in job.uses.lower()), None
    )
    if called:
        yield unknown(called, "it calls a workflow elsewhere, and only this directory is looked at")
        return
    yield problem(".github/workflows", "no workflow runs PR Jury; write one with `prjury init`")


def modes(setup: Setup) -> Iterator[Diagnosis]:
    """Modes that there are not."""
    for use in setup.uses:
        if use.mode not in MODES:
            yield problem(
                use.about,
                f"there is no `mode: {use.mode}`; the modes are {', '.join(MODES)}",
            )


def placeholders(setup: Setup) -> Iterator[Diagnosis]:
    """What `prjury init` writes without `--action`, still there."""
    for path in dict.fromkeys(s.about for s in setup.uses if s.step.uses == _PLACEHOLDER):
        text = f"it still holds `{_PLACEHOLDER}`; put the action's repository and commit there"
        yield problem(path, text)


def inputs(setup: Setup) -> Iterator[Diagnosis]:
    """Inputs that do not exist; GitHub only warns of them, and runs the job without."""
    for use in setup.uses:
        for name in use.step.inputs:
            if name not in {*INPUTS, _OF_CHECKOUT}:
                meant = did_you_mean(name, INPUTS) or f"there are {', '.join(sorted(INPUTS))}"
                yield problem(
                    use.about,
                    f"the action has no input `{name}`, and nothing reads it; "
                    f"{meant[:1].lower()}{meant[1:]}",
                )


def parts(setup: Setup) -> Iterator[Diagnosis]:
    """A build without a judge, a judge without a build, a chain with a missing link."""
    builds, judging = setup.parts("build"), setup.parts(*JUDGING)
    if builds and not judging:
        yield problem(builds[0].about, f"it builds, and no job judges that; {_AGAIN}")
    if judging and not builds:
        yield problem(judging[0].about, f"it judges builds, and nothing builds; {_AGAIN}")
    present = {use.part for use in judging}
    for mode in JUDGING:
        if judging and mode not in present:
            yield problem(judging[0].about, f"no job has `mode: {mode}`; {_AGAIN}")


def waiting(setup: Setup) -> Iterator[Diagnosis]:
    """Whether the judge waits for the build by the name that it has."""
    builds = {use.workflow.name for use in setup.parts("build")}
    for workflow in {one.about: one.workflow for one in setup.parts(*JUDGING)}.values():
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


def handed_over(setup: Setup) -> Iterator[Diagnosis]:
    """Whether each job knows what its file has to be."""
    wanted = {"decide": (_EVIDENCE,), "publish": (_EVIDENCE, _VERDICT)}
    for use in setup.parts(*wanted):
        for name in wanted[use.mode]:
            if not _is_given(use, name):
                yield problem(
                    use.about,
                    f"the job `{use.job.id}` does not learn from `{name}` which file to take; "
                    "copy its `env` from what `prjury init --forks` writes",
                )


def _is_given(use: ActionUse, name: str) -> bool:
    places = (use.step.env, use.job.env, use.workflow.env)
    return any(place.get(name) for place in places)


def on_default_branch(setup: Setup) -> Iterator[Diagnosis]:
    """Whether the workflows that GitHub takes from the default branch are there."""
    for path in dict.fromkeys(one.about for one in setup.parts(*FROM_DEFAULT)):
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
