"""The part of a Maven build that a change affects: Maven itself says which modules need which."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan, BuildStep

#: Lists the modules that a run of Maven goes through, as ``group:artifact``, by words of the shell.
_LIST = "while read -r _ mark module _; do case $mark in *-'<') printf %s, \"$module\";; esac; done"
#: Runs no plugin, whatever a project binds to other phases.
_IDLE_PHASE = "pre-clean"
#: Options that silence the list, or that go on after failures that an idle phase has not.
_NOT_ASKED = frozenset({"-q", "--quiet", "--fail-at-end", "-fae"})
_PHASES = frozenset({"test", "package", "verify", "install", "integration-test"})


def narrow_to_affected(plan: BuildPlan) -> BuildPlan:
    """Build only the modules that change, those that depend on them, and what all of these need.

    Maven leaves out what a dependent needs where ``-am`` and ``-amd`` are given at once, so it is
    asked for the dependents first. Where it does not answer, everything is built.
    """
    if plan.system != "maven" or not plan.scope.modules:
        return plan
    modules = plan.scope.modules
    steps = (step.change(lambda form: _narrow_step(form, modules)) for step in plan.steps)
    return replace(plan, steps=tuple(steps))


def _narrow_step(step: BuildStep, modules: Sequence[str]) -> BuildStep:
    if isinstance(step.command, str):
        return step
    asked = [word for word in step.command if word not in _NOT_ASKED | _PHASES]
    question = shlex.join([*asked, "-pl", ",".join(modules), "-amd", _IDLE_PHASE])
    line = (
        f'modules=$({question} | {_LIST}); echo "Maven builds: ${{modules:-every module}}"; '
        f'{step.text} ${{modules:+-pl "${{modules%,}}" -am}}'
    )
    return replace(step, command=line, parts=tuple(modules), form=step.text)
