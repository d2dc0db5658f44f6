"""The plan of the commands that the policy names. Pure."""

from __future__ import annotations

import re

from prjury.judges.builds.detect import PYTEST_ENV
from prjury.judges.builds.plan import BuildPlan, BuildStep, StepName
from prjury.policy.schema import Steps

SYSTEM = "command"

_NAMES: tuple[StepName, ...] = ("setup", "build", "test", "lint")
#: pytest and nothing else: it ends with exit code 1 only after it has run everything.
_PYTEST = re.compile(r"(?:python[\d.]*\s+-m\s+)?(?:pytest|py\.test)(?:\s+[\w./=:@,\[\]-]+)*")
_TESTS_FAILED = 1


def custom_plan(command: str | Steps) -> BuildPlan:
    """The one command, or the steps in their order."""
    if isinstance(command, Steps):
        named = ((name, getattr(command, name)) for name in _NAMES)
        return BuildPlan(
            SYSTEM, tuple(BuildStep(name, line) for name, line in named if line), env=PYTEST_ENV
        )
    ends = _TESTS_FAILED if _PYTEST.fullmatch(command.strip()) else None
    return BuildPlan(SYSTEM, (BuildStep("build", command),), env=PYTEST_ENV, all_ran=ends)
