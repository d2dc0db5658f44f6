"""Where a build comes from: the policy, a recipe, the base's own CI, or what is usual. Pure."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import TypeAlias

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.ci import BaseCi, CiCommand, find_base_ci
from prjury.judges.builds.detect import (
    PYTEST_ENV,
    WRAPPED,
    Changes,
    DetectedBuilds,
    SourceTree,
    detect_builds,
)
from prjury.judges.builds.git_version import with_repository
from prjury.judges.builds.plan import CUSTOM, BuildPlan, BuildStep, StepName
from prjury.judges.builds.systems import SYSTEMS
from prjury.judges.builds.systems.affected import narrow_to_affected
from prjury.judges.builds.systems.python_environment import with_environment
from prjury.judges.builds.systems.recipes import RecipeSystem
from prjury.judges.builds.toolchains import Toolchains
from prjury.judges.builds.versions import TOOLS_OF, ToolChoice, choose_tools, wanted_versions
from prjury.manifests.cargo import read_cargo_toml
from prjury.manifests.workflow import Workflow, read_workflow
from prjury.policy.schema import BuildOptions, Steps
from prjury.sandbox.environment import is_refused
from prjury.snapshot.model import visible

#: Makes the words of a command those of the same command with more options.
_Change: TypeAlias = Callable[[Sequence[str]], Sequence[str]]

#: Variables that say how strict or how loud a tool is, or where this machine has its own word.
_NOT_TAKEN = re.compile(
    r"PATH|HOME|TMPDIR|SHELL|(?:LD|DYLD)_.*|CI|TERM|(?:FORCE|NO|CLICOLOR|PY)_?COLORS?.*|.*FLAGS|"
    r"CC|CXX|CPP|AR|LD|CHOST|MAVEN_(?:ARGS|OPTS|CLI_OPTS)|GRADLE_OPTS|.*_(?:CACHE|DIR|HOME)(?:_.*)?"
)
#: Properties that leave tests out, or let them fail.
_SKIPS_TESTS = re.compile(
    r"-D(?:skip\w*Tests?|skipITs|maven\.test\.(?:skip|failure)[\w.]*|test|it\.test|groups)(?:=.*)?",
    re.IGNORECASE,
)
_GOALS = frozenset({"test", "package", "verify", "install"})


def is_extra(name: str) -> bool:
    """Whether a variable of the CI belongs to the project, not to its machine."""
    return _NOT_TAKEN.fullmatch(name) is None and not is_refused(name)


def with_options(plan: BuildPlan, ci: BaseCi, root: SourceTree) -> BuildPlan:
    """The plan with the options that the CI gives the same tool; the steps stay what they are."""
    change = _CHANGES.get(plan.system)
    tests = [words for one in ci.commands if one.kind == "test" for words in _commands(one.script)]
    tools = WRAPPED.get(plan.system, (plan.system,))
    calls = [words for words in tests if words[0].rpartition("/")[2] in tools]
    if change is None or not calls:
        return plan
    usual = [words for words in calls if not _GOALS.isdisjoint(words)] or calls
    called = max(usual, key=_breadth)
    steps = tuple(_changed(step, change(called, root)) for step in plan.steps)
    keep_going = plan.keep_going and with_options(plan.keep_going, ci, root)
    note = f"options as in {ci.path}" if steps != plan.steps else ""
    reasons = (*plan.reasons, *([note] if note else []))
    return replace(plan, steps=steps, keep_going=keep_going, reasons=reasons)


def _commands(script: str) -> Iterator[Sequence[str]]:
    """The commands of one line, in words."""
    for part in re.split(r"&&|\|\||;|\n", script):
        try:
            words = shlex.split(part)
        except ValueError:
            continue
        if words:
            yield words


def _changed(step: BuildStep, change: Callable[[Sequence[str]], Sequence[str]]) -> BuildStep:
    if isinstance(step.command, str):
        return step
    return replace(step, command=tuple(change(step.command)))


def _maven(called: Sequence[str], _root: SourceTree) -> _Change:
    """Properties and profiles, and the goal where it is an earlier one than ours.

    What skips tests is left out.
    """
    given = [
        word for word in called if re.match(r"-[DP]\S", word) and not _SKIPS_TESTS.fullmatch(word)
    ]
    short = {"-P": "-P", "--activate-profiles": "-P", "-D": "-D", "--define": "-D"}
    pairs = (f"{short[one]}{text}" for one, text in pairwise(called) if one in short)
    given += [word for word in pairs if not _SKIPS_TESTS.fullmatch(word)]
    goals = [word for word in called if word in _GOALS]
    goal = goals[-1] if goals and goals[-1] in {"test", "package"} else "verify"

    def change(own: Sequence[str]) -> Sequence[str]:
        return [*(goal if word == "verify" else word for word in own), *given]

    return change


def _options(*names: str, flags: Sequence[str] = ()) -> Callable[[Sequence[str]], _Change]:
    """Options with a value, and flags, behind the tool's first word."""

    def read(called: Sequence[str]) -> _Change:
        before = called[: called.index("--")] if "--" in called else called
        found = [
            word
            for word in before
            if word in flags or word.startswith(tuple(f"{n}=" for n in names))
        ]
        found += [word for pair in pairwise(before) if pair[0] in names for word in pair]
        return lambda own: [*own[:2], *(word for word in found if word not in own), *own[2:]]

    return read


_features = _options(
    "--features", "-F", flags=("--all-features", "--no-default-features", "--locked")
)


def _breadth(called: Sequence[str]) -> int:
    """How many features a call of Cargo asks for, or whether one of Go looks for races, in all."""
    if "--all-features" in called:
        return sys.maxsize
    options = ("--features", "-F")
    named = [word.partition("=")[2] for word in called if word.startswith("--features=")]
    named += [following for word, following in pairwise(called) if word in options]
    return (
        len(re.findall(r"[^\s,]+", " ".join(named)))
        + ("-race" in called)
        - ("--no-default-features" in called)
        - 2 * ("-short" in called)
    )


def _cargo(called: Sequence[str], root: SourceTree) -> _Change:
    """Cargo's features; of the sets that ``cargo hack`` goes through the largest one."""
    if called[1:2] != ["hack"]:
        return _features(called)
    named = " ".join(
        word.partition("=")[2] or following
        for word, following in zip_longest(called, called[1:], fillvalue="")
        if word.partition("=")[0] in {"--exclude-features", "--skip"}
    )
    left_out = set(re.split(r"[,\s]+", named)) - {""}
    manifest = root.readable("Cargo.toml", read_cargo_toml) if left_out else None
    features = manifest.features if manifest else ()
    taken = [one for one in features if one not in {"default", *left_out}]
    if taken and "--feature-powerset" in called:
        words = ["--features", ",".join(taken)]
    else:
        each = {"--feature-powerset", "--each-feature"}.intersection(called)
        words = ["--all-features"] if each and not left_out else []
    return lambda own: [*own[:2], *words, *own[2:]]


def _go(called: Sequence[str], _root: SourceTree) -> _Change:
    """Build tags, and the race detector for the tests."""
    tagged = _options("-tags", "--tags")(called)
    flags = [word for word in ("-race", "-short") if word in called]

    def change(own: Sequence[str]) -> Sequence[str]:
        own = tagged(own)
        return [*own[:2], *flags, *own[2:]] if own[1:2] == ["test"] else own

    return change


_CHANGES: Mapping[str, Callable[[Sequence[str], SourceTree], _Change]] = {
    "maven": _maven,
    "cargo": _cargo,
    "go": _go,
}


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
    paths = [path for path in sorted(root.files) if _is_workflow(path)]
    for path, text in root.texts(paths):
        try:
            yield read_workflow(text, path)
        except (ConfigError, CannotJudgeError):
            continue  # GitHub does not run it either, or a partial clone lacks it


def _is_workflow(path: str) -> bool:
    below = path.removeprefix(WORKFLOWS)
    return below != path and "/" not in below and below.endswith((".yml", ".yaml"))


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
        called = self.ci.called if self.ci else frozenset()
        found = detect_builds(root, part, systems, self.own, called)
        if systems is None and self._knows_better(root, found):
            found = DetectedBuilds((ci_plan(self.ci, self.here.path),) if self.ci else ())
        elif systems is None and not found.plans:
            found = detect_builds(replace(root, allowed=_TESTS_ALONE), part, None, self.own)
        plans = tuple(self._equipped(root, self._with_extras(root, plan)) for plan in found.plans)
        plans = tuple(replace(plan, reports=(*plan.reports, *self.options.junit)) for plan in plans)
        return replace(found, plans=plans)

    def _knows_better(self, root: SourceTree, found: DetectedBuilds) -> bool:
        """Whether the CI says how to test what no recipe fits."""
        if self.ci is None or not self.ci.tests:
            return False
        if not found.plans:
            return not detect_builds(root, None, own=self.own).plans
        usual = all(plan.source == "convention" for plan in found.plans)
        untested = all(map(_is_untested, found.plans))
        tests = [one for one in self.ci.commands if one.kind == "test"]
        by_make = all(_MAKE.fullmatch(one.script) and not one.directory for one in tests)
        made = any(plan.system == "make" for plan in found.plans)
        return (usual or untested) and not (by_make and made)

    def _with_extras(self, root: SourceTree, plan: BuildPlan) -> BuildPlan:
        """The plan of a recipe with the options and variables that the CI gives the same tool."""
        if self.ci is None or plan.source != "recipe" or plan.directory:
            return plan
        plan = with_options(plan, self.ci, root)
        if "-race" in plan.text.split() and not any(map(self.here.has, ("gcc", "clang"))):
            plan = _without_races(plan)
        plan = replace(plan, notes=(*plan.notes, *_not_run(root, plan, self.ci)))
        env = {name: escaped(text) for name, text in self.ci.env.items() if is_extra(name)}
        return plan.with_env({name: text for name, text in env.items() if name not in plan.env})

    def _equipped(self, root: SourceTree, plan: BuildPlan) -> BuildPlan:
        """The plan with the versions of its tools, and with what its CI does besides."""
        wanted = wanted_versions(root, plan.directory, self.ci, plan.system)
        tools = TOOLS_OF.get(_FAMILIES.get(plan.system, ""), ())
        if plan.source == "ci" and self.ci:
            tools = tuple(self.ci.versions)
        chosen = choose_tools(tools, wanted, self.here, plan.system)
        env = self._path_of(plan, chosen)
        missing = "; ".join(one.missing for one in chosen if one.missing)
        notes = (*plan.notes, *(one.note for one in chosen if one.note), *self._services(plan))
        equipped = replace(
            plan,
            tools=tuple(filter(None, (one.text for one in chosen))),
            wants=tuple(version for one in chosen for version in one.wanted),
            missing="" if plan.source == "policy" else missing,
            older="; ".join(one.older for one in chosen if one.older),
            notes=notes,
            not_taken=self.ci.left_out if self.ci and plan.source == "ci" else (),
        )
        equipped = equipped.with_env(env)
        if plan.source == "policy":
            return equipped
        path = equipped.env.get("PATH", escaped(self.here.path))
        equipped = with_repository(equipped, root)
        ci = [one.script for one in self.ci.commands] if self.ci else ()
        return narrow_to_affected(with_environment(equipped, root.below(plan.directory), path, ci))

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


def _not_run(root: SourceTree, plan: BuildPlan, ci: BaseCi) -> Iterator[str]:
    """Scripts of the tree that the CI runs before its tests, and builds without features."""
    bare, tools = "--no-default-features", WRAPPED.get(plan.system, (plan.system,))
    scripts = [
        words
        for line in (*ci.unclear, *(one.script for one in ci.commands if one.kind != "test"))
        for words in _commands(line)
        if "/" in (path := _script(words)) and root.has(path)
    ]
    calls = [words for one in ci.commands for words in _commands(one.script)]
    others = [words for words in calls if words[0] in tools and bare in words]
    if found := [*scripts, *(others if bare not in plan.text else ())]:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield f"its CI also runs `{visible(' '.join(found[0]))}`{more}, which is not done here"


def _script(words: Sequence[str]) -> str:
    """The path of the script that a command runs, if it runs one."""
    script = words[1] if words[0] in _INTERPRETERS and len(words) > 1 else words[0]
    return script.removeprefix("./")


_INTERPRETERS = frozenset({"sh", "bash", "python", "python3", "perl", "node"})


def _without_races(plan: BuildPlan) -> BuildPlan:
    """The plan for a machine without a C compiler, which Go's race detector wants."""
    steps = tuple(
        _changed(s, lambda own: [one for one in own if one != "-race"]) for s in plan.steps
    )
    note = "its CI tests with -race, which wants a C compiler; none is here"
    keep_going = plan.keep_going and _without_races(plan.keep_going)
    return replace(plan, steps=steps, keep_going=keep_going, notes=(*plan.notes, note))


#: Where code without a build of its own, such as a header, may have one of its tests.
_TESTS_ALONE = frozenset({"test", "tests"})


def _is_untested(plan: BuildPlan) -> bool:
    """Whether it is a recipe's for the whole tree, which knows no tests."""
    recipe = isinstance(SYSTEMS.get(plan.system), RecipeSystem)
    return recipe and not plan.tests and not plan.directory


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
    if any("GITHUB_WORKSPACE" in one.script for one in ci.commands):
        env["GITHUB_WORKSPACE"] = "{tree}"
    row = ", ".join(f"{name}: {value}" for name, value in ci.row.items())
    reasons = (ci.name, *([f"its row {row}"] if row else []))
    return BuildPlan(CUSTOM, tuple(steps), reasons, env={**PYTEST_ENV, **env}, source="ci")


#: Compilers, formatters and the like, for which this machine has its own word.
_COMPILERS = re.compile(
    r"(?:(?:^|(?<=\s))(?:CC|CXX)=|-DCMAKE_C(?:XX)?_COMPILER=)[\w.+-]+(?:\s+|$)"
    r"|(?:-DCMAKE_TOOLCHAIN_FILE=|--formatter\s+TAP::)\S+(?:\s+|$)"
)


def _command(one: CiCommand) -> str | Sequence[str]:
    """What runs it: a line as it is, else bash, which ends at the first error as GitHub's does."""
    plain = {name: value for name, value in one.env.items() if name not in {"CC", "CXX"}}
    one = replace(one, script=_COMPILERS.sub("", one.script).strip(), env=plain)
    place = f"cd {shlex.quote(one.directory)} && " if one.directory else ""
    sets = "".join(f"{name}={shlex.quote(value)} " for name, value in one.env.items())
    if "\n" not in one.script and not (sets and re.search(r"[;&|]", one.script)):
        return f"{place}{sets}{one.script}"
    export = f"export {sets.strip()}\n" if sets else ""
    return ("bash", "-e", "-c", f"{export}{place.removesuffix(' && ')}\n{one.script}".strip())


def escaped(text: str) -> str:
    """A value for `BuildPlan.env`, in which braces stand for places."""
    return text.replace("{", "{{").replace("}", "}}")
