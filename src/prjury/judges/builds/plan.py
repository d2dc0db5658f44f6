"""What is to be run: a build system, its steps, what part of the tree, and why. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from prjury.judges.builds.failure import Failure

StepName: TypeAlias = Literal["setup", "build", "test", "lint"]


@dataclass(frozen=True, slots=True)
class BuildStep:
    """One command of a build.

    Attributes:
        command: program and arguments, or one line for ``/bin/sh``.
        parts: the parts of the tree that it names, where it names every one that there is.
        form: what it does in each of them; empty where it names none.
    """

    name: StepName
    command: Sequence[str] | str
    parts: tuple[str, ...] = field(default=(), compare=False)
    form: str = field(default="", compare=False)

    @property
    def text(self) -> str:
        """The command as a person would type it."""
        return self.command if isinstance(self.command, str) else shlex.join(self.command)

    def covers(self, other: BuildStep) -> bool:
        """Whether it runs what the other runs, and perhaps the same in more parts of the tree."""
        if not self.form:
            return self == other
        alike = (self.name, self.form) == (other.name, other.form)
        return alike and set(self.parts) >= set(other.parts)


@dataclass(frozen=True, slots=True)
class BuildScope:
    """What part of a project is built.

    Attributes:
        modules: the modules that the change affects and that are built, as the build system names
            them; empty where everything is built.
        because: why everything is built, or how the modules were found; one clause.
    """

    modules: tuple[str, ...] = ()
    because: str = ""


#: From tests that failed to the steps that run those alone, once; None where that cannot be said.
Alone: TypeAlias = Callable[[Sequence[Failure]], tuple[BuildStep, ...] | None]


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """The steps of one build, in order.

    Attributes:
        system: ``maven``, ``pytest``, … or ``command`` where the configuration names the steps.
        directory: where the steps run, below the root of the tree; empty for the root itself.
        scope: what part of it is built.
        reasons: the files that made us think so, and what was decided by them.
        notes: what a reader should know, such as a second build system that is left out.
        env: variables that the steps get besides the shell's; ``{reports}`` stands for a directory
            for test reports.
        reported: whether the tests are told to write a report, so that one must be there.
        all_ran: the exit code that means that every test ran and some failed, None for a tool that
            may stop at a failure, or leave out what builds upon it.
        thorough: the same build told to go on after failures, so that what fails on the base as
            well can hide nothing; None where the steps go on by themselves, or cannot.
        afresh: the same build told to do again what it has done before in this tree; None where it
            does so anyway.
        alone: how to run single tests again, to tell flaky ones; None where that is not known.
    """

    system: str
    steps: tuple[BuildStep, ...]
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    reported: bool = False
    all_ran: int | None = None
    directory: str = ""
    scope: BuildScope = field(default_factory=BuildScope)
    thorough: BuildPlan | None = None
    afresh: BuildPlan | None = None
    alone: Alone | None = None

    @property
    def text(self) -> str:
        """All steps as a person would type them, from the root of the tree."""
        steps = " && ".join(step.text for step in self.steps)
        place = f"./{self.directory}" if self.directory.startswith("-") else self.directory
        return f"cd {shlex.quote(place)} && {steps}" if place else steps

    def covers(self, other: BuildPlan) -> bool:
        """Whether it runs all that the other runs, and perhaps more, such as another package.

        How dependencies are set up may differ.
        """
        same_place = (self.system, self.directory) == (other.system, other.directory)
        wanted = [step for step in other.steps if step.name != "setup"]
        return same_place and all(any(own.covers(step) for own in self.steps) for step in wanted)

    @property
    def once_more(self) -> BuildPlan:
        """The form in which it is run a second time in the same tree."""
        return self.thorough or self.afresh or self

    @property
    def tests(self) -> bool:
        """Whether tests are part of it, as far as one can tell."""
        return self.system == "command" or any(step.name == "test" for step in self.steps)
