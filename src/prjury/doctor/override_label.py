"""Checks of the label with which a maintainer overrides the gate: is it heard, and is it the one.

Where a job is the gate, its own workflow hears the label. Where a status is, a workflow of its own
does, which tells the last verdict again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prjury.doctor.finding import Diagnosis, problem, warning
from prjury.doctor.setup import OVERRIDE, ActionUse, Setup
from prjury.doctor.triggers import lacking

_TYPES = {
    "labeled": "a maintainer's label cannot override the gate",
    "unlabeled": "the gate stays open when the label that opened it is removed",
}
_NAMED = re.compile(r"github\.event\.label\.name\s*[!=]=\s*'((?:[^']|'')*)'", re.IGNORECASE)
_AGAIN = "write it with `prjury init --forks`"


def heard(setup: Setup) -> Iterator[Diagnosis]:
    """Whether a label starts a run in which it counts, and another one when it is taken off."""
    for use, event in _listening(setup):
        types = use.workflow.triggers[event].started_by
        if "labeled" not in types:
            yield warning(use.about, lacking(event, "labeled", _TYPES["labeled"]))
        elif "unlabeled" not in types:
            yield problem(use.about, lacking(event, "unlabeled", _TYPES["unlabeled"]))
    yield from _unheard(setup)


def _unheard(setup: Setup) -> Iterator[Diagnosis]:
    """A status that no label can overrule, although the policy names one."""
    publishing = setup.parts("publish")
    if publishing and not setup.overruling:
        yield warning(
            publishing[0].about,
            f"no workflow listens to the label `{setup.label}`, which overrides the gate by the "
            f"policy; {_AGAIN}, or set `gate: {{override: {{label: null}}}}`",
        )


def named(setup: Setup) -> Iterator[Diagnosis]:
    """Whether the workflow waits for the label that the policy names; GitHub ignores its case."""
    label = setup.label or ""
    waiting = [one for one in setup.gates if one.job.idle_if]
    for use in [*setup.overruling, *waiting]:
        for name in _labels(use):
            if name.casefold() != label.casefold():
                yield warning(
                    use.about,
                    f"it waits for the label `{name}`, and by the policy `{label}` overrides the "
                    f"gate; put that one into its {_place(use)}",
                )


def _place(use: ActionUse) -> str:
    return "`if`, name and `concurrency`" if use.job.idle_if else "`if`"


def judged(setup: Setup) -> Iterator[Diagnosis]:
    """Whether there is a status to be overruled."""
    if setup.parts("publish"):
        return
    alone = [one for one in setup.gates if one.on_pull_requests]
    for use in setup.parts(OVERRIDE):
        fix = (
            f"{alone[0].about} listens to the label itself, so remove this one"
            if alone
            else "write the workflows with `prjury init --forks`"
        )
        yield problem(
            use.about, f"it overrides a status, and no job here judges and sets one; {fix}"
        )


def turns(setup: Setup) -> Iterator[Diagnosis]:
    """Whether runs for one pull request take turns: a label may be taken off at once."""
    for use in setup.parts(OVERRIDE):
        if not (use.workflow.has_concurrency or use.job.has_concurrency):
            yield warning(
                use.about,
                "it has no `concurrency`, so that a label that is taken off at once may open the "
                "gate for good; add it as `prjury init` does",
            )


def idle(setup: Setup) -> Iterator[Diagnosis]:
    """A workflow that waits for a label where none counts."""
    for use in setup.overruling:
        yield warning(
            use.about,
            "it waits for a label, and by `gate.override.label` of the policy none overrides the "
            "gate; remove it, or name the label there",
        )


def _listening(setup: Setup) -> Iterator[tuple[ActionUse, str]]:
    for use in setup.uses:
        if use.on_pull_requests:
            yield use, "pull_request"
        if use.overrules:
            yield use, "pull_request_target"


def _labels(use: ActionUse) -> list[str]:
    job = use.job
    conditions = (job.idle_if,) if job.idle_if else (job.condition, use.step.condition)
    found = [name for condition in conditions for name in _NAMED.findall(condition)]
    return [name.replace("''", "'") for name in found]
