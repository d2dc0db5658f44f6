"""Checks of the care that a workflow takes: pinned actions, limits of time, one run at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prjury.doctor.finding import Diagnosis, DoctorCheck, problem, warning
from prjury.doctor.setup import INPUTS, OVERRIDE, Setup, Sitting
from prjury.doctor.workflow import Workflow, WorkflowJob, WorkflowStep
from prjury.errors import did_you_mean

#: What the workflows hold as `prjury init` writes them without `--action`.
_PLACEHOLDER = "OWNER/pr-jury@COMMIT"
#: An input of actions/checkout that has a check of its own, wherever it stands.
_OF_CHECKOUT = "allow-unsafe-pr-checkout"
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def pins(setup: Setup) -> Iterator[Diagnosis]:
    """Actions by a name that can be moved to other code."""
    used = ((flow.path, step) for flow, job in _jobs(setup) for step in job.steps)
    for path, uses in dict.fromkeys((path, s.uses) for path, s in used if not _is_pinned(s)):
        if uses == _PLACEHOLDER:
            yield problem(
                path, f"it holds `{uses}` still; put the action's repository and commit there"
            )
            continue
        yield warning(
            path,
            f"it uses `{uses}`, which can become other code at any time; pin it by its full commit "
            "id",
        )


def _is_pinned(step: WorkflowStep) -> bool:
    local = step.uses.startswith((".", "docker://")) or not step.uses
    return local or bool(_COMMIT.fullmatch(step.version))


def timeouts(setup: Setup) -> Iterator[Diagnosis]:
    """Jobs that may hang for six hours."""
    for workflow, job in _jobs(setup):
        if not job.has_timeout:
            yield warning(
                workflow.path,
                f"the job `{job.id}` has no `timeout-minutes` and may hang for six hours; set it",
            )


def concurrency(setup: Setup) -> Iterator[Diagnosis]:
    """Runs of one pull request beside each other."""
    for sitting in {one.about: one for one in setup.sittings}.values():
        if not _takes_turns(sitting):
            otherwise = (
                "a label that is taken off at once may open the gate for good"
                if sitting.part == OVERRIDE
                else "every push pays for a run that an earlier one is still in"
            )
            yield warning(
                sitting.about,
                f"it has no `concurrency`, so that {otherwise}; add it as `prjury init` does",
            )


def _takes_turns(sitting: Sitting) -> bool:
    return sitting.workflow.has_concurrency or sitting.job.has_concurrency


def runners(setup: Setup) -> Iterator[Diagnosis]:
    """Runners on which PR Jury does not run."""
    for workflow, job in _jobs(setup):
        if any(label.lower().startswith("windows") for label in job.runs_on):
            yield problem(
                workflow.path,
                f"the job `{job.id}` runs on Windows, where PR Jury does not; use `ubuntu-24.04`",
            )


def inputs(setup: Setup) -> Iterator[Diagnosis]:
    """Inputs that there are not; GitHub only warns of them, and runs the job without."""
    for sitting in setup.sittings:
        for name in sitting.step.inputs:
            if name not in {*INPUTS, _OF_CHECKOUT}:
                meant = did_you_mean(name, INPUTS) or f"there are {', '.join(sorted(INPUTS))}"
                yield problem(
                    sitting.about,
                    f"the action has no input `{name}`, and nothing obeys it; "
                    f"{meant[:1].lower()}{meant[1:]}",
                )


def _jobs(setup: Setup) -> Iterator[tuple[Workflow, WorkflowJob]]:
    """Each job with PR Jury in it, once."""
    found = {(one.about, one.job.id): (one.workflow, one.job) for one in setup.sittings}
    yield from found.values()


CHECKS: tuple[DoctorCheck[Setup], ...] = (
    DoctorCheck("every action is pinned by its commit", pins),
    DoctorCheck("every job has a limit of time", timeouts),
    DoctorCheck("a new push ends the run before it", concurrency),
    DoctorCheck("every input is one of the action's", inputs),
    DoctorCheck("every job has a runner that PR Jury runs on", runners),
)
