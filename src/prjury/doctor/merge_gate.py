"""Checks of the required check: that it cannot be green by itself, skipped or left hanging."""

from __future__ import annotations

from collections.abc import Iterator

from prjury.doctor.finding import Diagnosis, problem, warning
from prjury.doctor.setup import GATE, ActionUse, Setup
from prjury.manifests.workflow import WorkflowJob

_SKIPPED = "and a skipped job counts as success for a required check"


def check_skipping(setup: Setup) -> Iterator[Diagnosis]:
    """Gates that may be skipped, which GitHub takes for a success, and gates that may hang."""
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
        if gate.step.condition and not _is_idle(job, gate.step.condition):
            yield problem(
                gate.about,
                f"the step with PR Jury in the job `{job.name}` has an `if`, and without the step "
                "the job is green; remove the `if`",
            )
    for use in setup.of_modes("publish"):
        conditions = [one for one in (use.job.condition, use.step.condition) if one]
        if not use.job.condition or any("always()" not in one for one in conditions):
            yield problem(
                use.about,
                f"the job `{use.job.id}` lacks `if: always()`: where a job before it fails, "
                f"the status `{GATE}` never comes; add it",
            )


def _is_idle(job: WorkflowJob, condition: str) -> bool:
    """Tell whether the step is left out exactly where the job's name is not the gate's."""
    inner = condition.strip().removeprefix("${{").removesuffix("}}").strip()
    return bool(job.idle_if) and inner in {f"!{job.idle_if}", f"!({job.idle_if})"}


def check_outcome(setup: Setup) -> Iterator[Diagnosis]:
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


def check_names(setup: Setup) -> Iterator[Diagnosis]:
    """Gates of several names, with a matrix, or with a double."""
    names = setup.gate_names
    if len(names) > 1:
        other = next(gate for gate in setup.gates if gate.job.name != GATE)
        shown = ", ".join(f"`{name}`" for name in names)
        yield problem(
            other.about,
            f"the gate has several names, {shown}, and where one of them is required the others "
            f"never arrive; call every such job `{GATE}`",
        )
    for gate in setup.gates:
        if gate.job.has_matrix:
            yield problem(
                gate.about,
                f"the job `{gate.job.name}` has a matrix, whose checks have other names than the "
                "required one; remove the matrix",
            )
    gates = {(gate.about, gate.job.id) for gate in setup.gates}
    for workflow in setup.workflows:
        for job in workflow.jobs:
            if job.name in names and (workflow.path, job.id) not in gates:
                yield problem(
                    workflow.path,
                    f"the job `{job.id}` is called `{job.name}` like the required check and can "
                    "turn it green; give it another name",
                )
    yield from _check_single(setup)


def _check_single(setup: Setup) -> Iterator[Diagnosis]:
    alone = [one for one in setup.gates if one.on_pull_requests]
    others: list[ActionUse] = [*alone[1:], *setup.of_modes("publish")] if alone else []
    if others:
        yield problem(
            others[0].about,
            f"it judges pull requests, and {alone[0].about} does so too; keep the one that fits, "
            "for a pull request has one gate",
        )
