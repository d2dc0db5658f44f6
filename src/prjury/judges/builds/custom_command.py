"""Commands that the policy names: their plan, and whether they can work at all. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prjury.judges.builds.detect import PYTEST_ENV
from prjury.judges.builds.outcome import PlanOutcome
from prjury.judges.builds.plan import BuildPlan, BuildStep, StepName
from prjury.policy.schema import Steps

SYSTEM = "command"

_NAMES: tuple[StepName, ...] = ("setup", "build", "test", "lint")
#: pytest and nothing else: it ends with exit code 1 only after it has run everything.
_PYTEST = re.compile(r"(?:python[\d.]*\s+-m\s+)?(?:pytest|py\.test)(?:\s+[\w./=:@,\[\]-]+)*")
_TESTS_FAILED = 1
_UNUSABLE = {126, 127}
#: What shells and tools say of a name that they do not know.
_UNKNOWN = re.compile(
    r"No module named ['\"]?(?P<module>[\w.]+)"
    r"|[Mm]issing script: ['\"]?(?P<script>[\w:.-]+)"
    r"|No rule to make target ['`‘\"](?P<target>[^'’\"]+)"
    r"|can't cd to (?P<place>\S+)"
    r"|cd: (?P<directory>[^\s:]+): No such file"
)


def custom_plan(command: str | Steps) -> BuildPlan:
    """The one command, or the steps in their order."""
    if isinstance(command, Steps):
        named = ((name, getattr(command, name)) for name in _NAMES)
        return BuildPlan(
            SYSTEM, tuple(BuildStep(name, line) for name, line in named if line), env=PYTEST_ENV
        )
    ends = _TESTS_FAILED if _PYTEST.fullmatch(command.strip()) else None
    return BuildPlan(SYSTEM, (BuildStep("build", command),), env=PYTEST_ENV, all_ran=ends)


def broken_command(plan: BuildPlan, outcome: PlanOutcome, base: PlanOutcome) -> str:
    """Why a command of the policy cannot work in this project, or nothing.

    It ended in the same way on both sides, and a name in it is known to neither of them.
    """
    if plan.system != SYSTEM or outcome.last.step != base.last.step:
        return ""
    ours, theirs = list(_complaints(outcome)), list(_complaints(base))
    return next((complaint for complaint in ours if complaint in theirs), "")


def _complaints(outcome: PlanOutcome) -> Iterator[str]:
    command, tail = outcome.last.step.text, outcome.last.tail
    for found in _UNKNOWN.finditer(tail):
        name = next(filter(None, found.groups()))
        if name in command:
            yield found[0].strip()
    if outcome.last.completed.exit_code in _UNUSABLE:
        lines = [line.strip() for line in tail.splitlines() if line.strip()]
        yield lines[-1] if lines else "it cannot be executed, or is not there"
