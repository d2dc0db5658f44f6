"""What is to be run: a build system, its steps, and why it was taken for that."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

StepName: TypeAlias = Literal["setup", "build", "test", "lint"]


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a build.

    Attributes:
        command: program and arguments, or one line for ``/bin/sh``.
    """

    name: StepName
    command: Sequence[str] | str

    @property
    def text(self) -> str:
        """The command as a person would type it."""
        return self.command if isinstance(self.command, str) else shlex.join(self.command)


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """The steps of one build, in order.

    Attributes:
        system: ``maven``, ``pytest``, … or ``command`` where the configuration names the steps.
        reasons: the files that made us think so, and what was decided by them.
        notes: what a reader should know, such as a second build system that is left out.
        env: variables that the steps get besides the shell's; ``{reports}`` stands for a directory
            for test reports.
        reported: whether the tests are told to write a report, so that one must be there.
        all_ran: the exit code that means that every test ran and some failed, None for a tool that
            may stop at a failure, or leave out what builds upon it.
    """

    system: str
    steps: tuple[Step, ...]
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    reported: bool = False
    all_ran: int | None = None

    @property
    def text(self) -> str:
        """All steps as a person would type them."""
        return " && ".join(step.text for step in self.steps)

    def is_like(self, other: BuildPlan) -> bool:
        """Whether both run the same commands; how dependencies are set up may differ."""
        ours, theirs = (
            [step for step in plan.steps if step.name != "setup"] for plan in (self, other)
        )
        return self.system == other.system and ours == theirs

    @property
    def tests(self) -> bool:
        """Whether tests are part of it, as far as one can tell."""
        return self.system == "command" or any(step.name == "test" for step in self.steps)
