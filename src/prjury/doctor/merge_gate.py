"""Checks of the required check: that it cannot be green by itself, skipped or left hanging."""

from __future__ import annotations

from collections.abc import Iterator

from prjury.doctor.finding import Diagnosis, problem, warning
from prjury.doctor.setup import FROM_DEFAULT, GATE, Setup
from prjury.manifests.workflow import WorkflowJob

_SKIPPED = "and a skipped job counts as success for a required check"


def skippable(setup: Setup) -> Iterator[Diagnosis]:
    """Gates that may be skipped: GitHub takes that for a success."""
    for gate in setup.gates:
        job = gate.job
        if job.condition:
            yield problem(
                gate.about, f"the job `{job.name}` has an `if`, {_SKIPPED}; remove the `if`"
            )
        if job.needs:
            yield problem(
                gate.about,
                f"the job `{job.name}` needs `{', '.join(job.needs)}`: if that fails it is "
                f"skipped, {_SKIPPED}; remove `needs`",
            )
        if gate.step.condition and not _only_idle(job, gate.step.condition):
            yield problem(
                gate.about,
                f"the step with PR Jury in the job `{job.name}` has an `if`, and without the step "
                "the job is green; remove the `if`",
            )


def _only_idle(job: WorkflowJob, condition: str) -> bool:
    """Whether the step is left out exactly where the job's name is not the gate's."""
    inner = condition.strip().removeprefix("${{").removesuffix("}}").strip()
    return bool(job.idle_if) and inner == f"!{job.idle_if}"


def always_green(setup: Setup) -> Iterator[Diagnosis]:
    """Gates that stay green whatever the verdict is."""
    for gate in setup.gates:
        if gate.job.continues or gate.step.continues:
            yield problem(
                gate.about,
                f"the job `{gate.job.name}` is green whatever the verdict is, because of "
                "`continue-on-error`; remove it",
            )
        if gate.step.inputs.get("fail-on") == "never":
            yield warning(
                gate.about,
                f"`fail-on: never` keeps the job `{gate.job.name}` green, so that it is not "
                "gating; remove it when the verdict is to count",
            )


def unfinished(setup: Setup) -> Iterator[Diagnosis]:
    """A last job that does not run where an earlier one failed: the status would hang."""
    for use in setup.parts("publish"):
        conditions = [one for one in (use.job.condition, use.step.condition) if one]
        if not use.job.condition or any("always()" not in one for one in conditions):
            yield problem(
                use.about,
                f"the job `{use.job.id}` lacks `if: always()`: where a job before it fails, "
                f"the status `{GATE}` never comes; add it",
            )


def names(setup: Setup) -> Iterator[Diagnosis]:
    """Gates that are called differently from each other, or otherwise than their job says."""
    names = setup.gate_names
    if len(names) > 1:
        found = ", ".join(f"`{name}`" for name in names)
        other = next(gate for gate in setup.gates if gate.job.name != GATE)
        yield problem(
            other.about,
            f"the gate has several names, {found}, and where one of them is required the others "
            f"never arrive; call every such job `{GATE}`",
        )
    for gate in setup.gates:
        if gate.job.has_matrix:
            yield problem(
                gate.about,
                f"the job `{gate.job.name}` has a matrix, whose checks have other names than the "
                "required one; remove the matrix",
            )


def imitations(setup: Setup) -> Iterator[Diagnosis]:
    """Other jobs whose check has the name of the gate."""
    reviews = [one for one in setup.uses if one.mode not in {"build", *FROM_DEFAULT}]
    gates = {(one.workflow.path, one.job.id) for one in reviews}
    for workflow in setup.workflows:
        for job in workflow.jobs:
            if job.name in setup.gate_names and (workflow.path, job.id) not in gates:
                yield problem(workflow.path, _imitates(job))


def _imitates(job: WorkflowJob) -> str:
    return (
        f"the job `{job.id}` is called `{job.name}` like the required check and can turn it "
        "green; give it another name"
    )


def twice(setup: Setup) -> Iterator[Diagnosis]:
    """Both ways to judge pull requests at once."""
    alone = [one for one in setup.gates if one.on_pull_requests]
    apart = setup.parts("publish")
    if alone and apart:
        yield problem(
            alone[0].about,
            f"it judges pull requests, and {apart[0].about} does so too; keep the one that fits, "
            "for a pull request has one gate",
        )
    if len(alone) > 1:
        yield warning(
            alone[1].about,
            f"it judges pull requests, and so does {alone[0].about}; one of them is enough",
        )
