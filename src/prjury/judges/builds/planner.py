"""Where a build comes from: the policy, a recipe, the base's own CI, or what is usual. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.ci import BaseCi, CiCommand, find_base_ci
from prjury.judges.builds.ci_options import is_extra, with_options
from prjury.judges.builds.detect import (
    PYTEST_ENV,
    Changes,
    DetectedBuilds,
    SourceTree,
    detect_builds,
)
from prjury.judges.builds.plan import CUSTOM, BuildPlan, BuildStep, StepName
from prjury.judges.builds.systems import SYSTEMS
from prjury.judges.builds.systems.python_environment import with_environment
from prjury.judges.builds.systems.recipes import RecipeSystem
from prjury.judges.builds.toolchains import Toolchains
from prjury.judges.builds.versions import TOOLS_OF, ToolChoice, choose_tools, wanted_versions
from prjury.manifests.workflow import Workflow, read_workflow
from prjury.policy.schema import BuildOptions, Steps
from prjury.sandbox.environment import is_refused
from prjury.snapshot.model import visible

WORKFLOWS = ".github/workflows/"

_STEP_NAMES: tuple[StepName, ...] = ("setup", "build", "test", "lint")
#: pytest and nothing else: it ends with exit code 1 only after it has run everything.
_ONLY_PYTEST = re.compile(r"(?:python[\d.]*\s+-m\s+)?(?:pytest|py\.test)(?:\s+[\w./=:@,\[\]-]+)*")
_TESTS_FAILED = 1
#: The family of build systems by the name of a plan.
_FAMILIES = {name: family for family, system in SYSTEMS.items() for name in system.COVERS}
_MAKE = re.compile(r"make(?:\s+(?:-\S+|\w+=\S+))*(?:\s+(?:test|check|all|ci))*")
_PIP = re.compile(r"\bpip3?\s+install\b")
#: An environment of its own for what ``pip install`` brings, and how steps find it.
_OWN_PYTHON = 'python3 -m venv "$HOME/venv"'
_OWN_PATH = "{home}/venv/bin"


def base_ci(root: SourceTree, here: Toolchains) -> BaseCi | None:
    """The job that tests pull requests in a tree's own workflows; None where none does.

    Args:
        root: the base's tree; what the change makes of it is not asked.
    """
    return find_base_ci(_workflows(root), here.distance)


def _workflows(root: SourceTree) -> Iterator[Workflow]:
    for path in sorted(root.files):
        below = path.removeprefix(WORKFLOWS)
        if below != path and "/" not in below and below.endswith((".yml", ".yaml")):
            try:
                yield read_workflow(root.text(path), path)
            except (ConfigError, CannotJudgeError):
                continue  # GitHub does not run it either, or a partial clone lacks it


@dataclass(frozen=True)
class BuildPlanner:
    """Finds the builds of trees.

    Attributes:
        ci: how the base's own CI tests it.
        here: the tools of this machine.
        own: the policy's own recipes.
    """

    options: BuildOptions
    here: Toolchains
    ci: BaseCi | None = None
    own: tuple[RecipeSystem, ...] = ()

    def plans(self, root: SourceTree, changes: Changes | None) -> DetectedBuilds:
        """The builds that the policy names, or those that the tree's files and its CI declare.

        Args:
            changes: what changes, to find the parts that it affects; None for everything.
        """
        command = self.options.command
        if command != "auto":
            plan = policy_plan(command, self.options.junit)
            return DetectedBuilds((self._equipped(root, plan),))
        systems = None if self.options.systems == "auto" else self.options.systems
        part = changes if self.options.affected else None
        found = detect_builds(root, part, systems, self.own)
        if systems is None and self._knows_better(root, found):
            found = DetectedBuilds((ci_plan(self.ci, self.here.path),) if self.ci else ())
        plans = tuple(self._equipped(root, self._with_extras(plan)) for plan in found.plans)
        plans = tuple(replace(plan, reports=(*plan.reports, *self.options.junit)) for plan in plans)
        return replace(found, plans=plans)

    def _knows_better(self, root: SourceTree, found: DetectedBuilds) -> bool:
        """Whether the CI says how to test what no recipe fits."""
        if self.ci is None or not self.ci.tests:
            return False
        if not found.plans:
            return not detect_builds(root, None, own=self.own).plans
        usual = all(plan.source == "convention" for plan in found.plans)
        tests = [one for one in self.ci.commands if one.kind == "test"]
        by_make = all(_MAKE.fullmatch(one.script) and not one.directory for one in tests)
        made = any(plan.system == "make" for plan in found.plans)
        return usual and not (by_make and made)

    def _with_extras(self, plan: BuildPlan) -> BuildPlan:
        """The plan of a recipe with the options and variables that the CI gives the same tool."""
        if self.ci is None or plan.source != "recipe" or plan.directory:
            return plan
        plan = with_options(plan, self.ci)
        env = {name: escaped(text) for name, text in self.ci.env.items() if is_extra(name)}
        return plan.with_env({name: text for name, text in env.items() if name not in plan.env})

    def _equipped(self, root: SourceTree, plan: BuildPlan) -> BuildPlan:
        """The plan with the versions of its tools, and with what its CI does besides."""
        wanted = wanted_versions(root, plan.directory, self.ci)
        tools = TOOLS_OF.get(_FAMILIES.get(plan.system, ""), ())
        if plan.source == "ci" and self.ci:
            tools = tuple(self.ci.versions)
        chosen = choose_tools(tools, wanted, self.here)
        env = self._path_of(plan, chosen)
        missing = "; ".join(one.missing for one in chosen if one.missing)
        notes = (*plan.notes, *(one.note for one in chosen if one.note), *self._services(plan))
        equipped = replace(
            plan,
            tools=tuple(filter(None, (one.text for one in chosen))),
            wants=tuple(version for one in chosen for version in one.wanted),
            missing="" if plan.source == "policy" else missing,
            notes=notes,
            not_taken=self.ci.left_out if self.ci and plan.source == "ci" else (),
        )
        equipped = equipped.with_env(env)
        if plan.source == "policy":
            return equipped
        path = equipped.env.get("PATH", escaped(self.here.path))
        return with_environment(equipped, root.below(plan.directory), path)

    def _path_of(self, plan: BuildPlan, chosen: Sequence[ToolChoice]) -> Mapping[str, str]:
        """The variables by which the steps find tools that PATH does not find anyway."""
        env, path = dict[str, str](), plan.env.get("PATH", escaped(self.here.path))
        for one in chosen:
            if one.toolchain and not one.toolchain.current:
                home = escaped(str(one.toolchain.home))
                env.update(one.toolchain.environment(home, env.get("PATH", path)))
        return env

    def _services(self, plan: BuildPlan) -> tuple[str, ...]:
        if self.ci is None or not self.ci.services or not plan.tests or plan.source == "policy":
            return ()
        named = ", ".join(map(visible, self.ci.services))
        return (f"its CI starts {named} beside the tests, which is not started here",)


def policy_plan(command: str | Steps, junit: Sequence[str] = ()) -> BuildPlan:
    """The plan of the commands that the policy names: one, or steps in their order.

    Args:
        junit: globs of the reports that they have to leave, if any.
    """
    return replace(_commands_plan(command), reports=tuple(junit), reported=bool(junit))


def _commands_plan(command: str | Steps) -> BuildPlan:
    if isinstance(command, Steps):
        named = ((name, getattr(command, name)) for name in _STEP_NAMES)
        steps = tuple(BuildStep(name, line) for name, line in named if line)
        return BuildPlan(CUSTOM, steps, env=PYTEST_ENV, source="policy")
    ends = _TESTS_FAILED if _ONLY_PYTEST.fullmatch(command.strip()) else None
    step = BuildStep("build", command)
    return BuildPlan(CUSTOM, (step,), env=PYTEST_ENV, all_ran=ends, source="policy")


def ci_plan(ci: BaseCi, path: str) -> BuildPlan:
    """The commands of the base's CI as a plan.

    What they install with pip goes into an environment of this run alone.
    """
    steps = [BuildStep(one.kind, _command(one)) for one in ci.commands]
    env = {name: escaped(text) for name, text in ci.env.items() if not is_refused(name)}
    if any(_PIP.search(one.script) for one in ci.commands):
        steps.insert(0, BuildStep("setup", _OWN_PYTHON))
        env["PATH"] = f"{_OWN_PATH}:{escaped(path)}"
    row = ", ".join(f"{name}: {value}" for name, value in ci.row.items())
    reasons = (ci.name, *([f"its row {row}"] if row else []))
    return BuildPlan(CUSTOM, tuple(steps), reasons, env={**PYTEST_ENV, **env}, source="ci")


def _command(one: CiCommand) -> str | Sequence[str]:
    """What runs it: a line as it is, else bash, which ends at the first error as GitHub's does."""
    place = f"cd {shlex.quote(one.directory)} && " if one.directory else ""
    sets = "".join(f"{name}={shlex.quote(value)} " for name, value in one.env.items())
    if "\n" not in one.script and not (sets and re.search(r"[;&|]", one.script)):
        return f"{place}{sets}{one.script}"
    export = f"export {sets.strip()}\n" if sets else ""
    return ("bash", "-e", "-c", f"{export}{place.removesuffix(' && ')}\n{one.script}".strip())


def escaped(text: str) -> str:
    """A value for `BuildPlan.env`, in which braces stand for places."""
    return text.replace("{", "{{").replace("}", "}}")
