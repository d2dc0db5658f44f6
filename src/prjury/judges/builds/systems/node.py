"""Node: npm, pnpm, yarn and bun, single packages and workspaces. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.manifest import read_json
from prjury.judges.builds.systems.node_packages import (
    MANIFEST,
    NodeWorkspace,
    linked_places,
    read_packages,
)
from prjury.judges.builds.systems.node_scripts import (
    ScriptCommand,
    delegate_of,
    goes_through,
    has_script,
    last_command,
    node_options,
    script_of,
)
from prjury.judges.builds.systems.node_tool import NodeTool, other_locks, tool_of
from prjury.judges.builds.systems.outside_references import node_references
from prjury.judges.builds.systems.projects import plans_of
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined, nearest
from prjury.judges.builds.systems.workspace_graph import Member, needed_first, with_needs

#: What jest and vitest are told so that they name every test that they run.
NAMING = {"jest": ("--verbose", "--bail=0"), "vitest": ("--reporter=verbose",)}
#: What takes the names of the tests that are to be run, with those of the suites around them.
_CHOOSING = {"jest": "-t", "vitest": "-t", "mocha": "--grep"}
_CHOICES = ("-t", "--testNamePattern", "--grep", "-g", "--fgrep", "-f")
#: How the runners part a test's name from those of the suites around it, in what they print.
_PARTED = " [>›] "
_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|]")
#: Characters that not every package manager hands on as they are.
_FRAGILE = frozenset("\"'`$\\!%")


@dataclass(frozen=True)
class NodeAlone:
    """Runs failing tests again.

    Attributes:
        commands: what the test script runs, by the directory of the package.
        members: the packages below the root, by directory.
    """

    root: SourceTree
    tool: NodeTool
    commands: Mapping[str, ScriptCommand]
    members: Mapping[str, Member]

    def __call__(self, failures: Sequence[Failure]) -> tuple[BuildStep, ...] | None:
        """One step for each package, None where a test cannot be named exactly."""
        homes: dict[str, list[Failure]] = {}
        for failure in failures:
            home = self._home(failure)
            if home is None:
                return None
            homes.setdefault(home, []).append(failure)
        steps = [self._step(home, some) for home, some in sorted(homes.items())]
        return tuple(step for step in steps if step) if steps and all(steps) else None

    def _home(self, failure: Failure) -> str | None:
        """The directory of the package that the test is in."""
        if not self.members:
            return ""
        file = self._file(failure)
        own = {""} if "" in self.commands else set[str]()
        return nearest(file, frozenset(self.members) | own) if file else None

    def _file(self, failure: Failure) -> str | None:
        """The file as seen from the root of the project, if it is one of the tree."""
        place = f"{self.root.place}/"
        for path in (failure.suite or "", failure.path or ""):
            below = path.removeprefix(place) if self.root.place else path
            if below in self.root.files:
                return below
        return None

    def _step(self, home: str, failures: Sequence[Failure]) -> BuildStep | None:
        command, member = self.commands.get(home), self.members.get(home)
        names = [re.split(_PARTED, failure.name or "") for failure in failures]
        if command is None or not all(_is_plain(part) for name in names for part in name):
            return None
        if command.runner == "node":
            return self._by_node(home, command, {name[-1] for name in names}, failures)
        option = _CHOOSING.get(command.runner or "", "")
        if not option or command.has(*_CHOICES):
            return None
        full = sorted({_escaped(" ".join(name)) for name in names})
        naming = NAMING.get(command.runner or "", ())
        arguments = (*naming, option, f"^(?:{'|'.join(full)})$")
        if member:
            return self.tool.step("test", [member], "test", *arguments)
        return BuildStep("test", self.tool.run("test", *arguments))

    def _by_node(
        self, home: str, command: ScriptCommand, names: set[str], failures: Sequence[Failure]
    ) -> BuildStep | None:
        """Only the files with these tests; what the script says besides of files is left out.

        node takes the name of a test without those of the suites around it.
        """
        options = node_options(command.words) if command.alone else None
        files = {self._file(failure) for failure in failures}
        if options is None or None in files:
            return None
        patterns = (f"--test-name-pattern=^{_escaped(name)}$" for name in sorted(names))
        below = sorted(f"./{(file or '').removeprefix(f'{home}/')}" for file in files)
        argv = ("node", *options, *patterns, *below)
        if not home:
            return BuildStep("test", argv)
        place = shlex.quote(home)
        heading = shlex.quote(f"> {home.rpartition('/')[2]} test")
        return BuildStep("test", f"echo {heading}; cd {place} && {shlex.join(argv)}")


def _is_plain(name: str) -> bool:
    return bool(name) and name.isprintable() and not _FRAGILE & set(name)


def _escaped(name: str) -> str:
    """The name as a regular expression of JavaScript."""
    return _SPECIAL.sub(r"\\\g<0>", name)


#: The exit code of these runners where every test ran and some failed.
_TESTS_FAILED = 1
_ENDING_ALIKE = frozenset({"node", "jest", "vitest"})
#: Options by which a script says itself what is printed of its tests.
_PRINTING = ("--verbose", "--silent", "--reporter", "--reporters", "--json")
#: What makes turbo run everything, and print it as the packages do by themselves.
_TURBO_GOING_ON = ("--continue", "--log-order=grouped", "--log-prefix=none")
_OWN = "the root's own `test` script knows no packages"


@dataclass(frozen=True)
class NodeProject:
    """A package or a workspace with its manager.

    Attributes:
        package: the manifest of the root.
        workspace: the members below, None for a single package.
    """

    root: SourceTree
    package: Mapping[str, Any]
    tool: NodeTool
    workspace: NodeWorkspace | None

    @cached_property
    def members(self) -> dict[str, Member]:
        """The members by name."""
        members = self.workspace.members.members if self.workspace else ()
        return {member.name: member for member in members}

    def plan(self, scope: BuildScope) -> BuildPlan | None:
        """The build of what is in the scope, None where no script builds or tests anything."""
        scope = self._tested(scope)
        builds, tests = self._builds(scope), self._tests(scope)
        if not builds and not tests:
            return None
        setup = [BuildStep("setup", self.tool.install)] if self.tool.install else []
        commands = self._commands(scope)
        ends = _TESTS_FAILED if _all_end_alike(commands) else None
        plan = BuildPlan(
            self.tool.name,
            (*setup, *builds, *tests),
            (f"{MANIFEST} is there", self.tool.reason),
            tuple(f"{lock} is not used" for lock in other_locks(self.root, self.tool)),
            all_ran=None if len(tests) > 1 or self._stops(scope) else ends,
            scope=scope,
            alone=NodeAlone(self.root, self.tool, self._by_directory(commands), self._below(scope)),
        )
        thorough = self._thorough(scope) if tests else None
        if thorough is None:
            return plan
        steps = (*(step for step in plan.steps if step.name != "test"), thorough)
        return replace(plan, thorough=replace(plan, steps=steps, all_ran=ends))

    def _stops(self, scope: BuildScope) -> bool:
        """Whether another program goes through the packages, which may stop at a failure."""
        delegate = self._delegate("test")
        return delegate == "turbo" or (bool(delegate) and self._in_root("test", scope))

    def _tested(self, scope: BuildScope) -> BuildScope:
        """The scope, or everything where the tests cannot be parted by packages."""
        if not scope.modules:
            return scope
        if self._is_own("test"):
            if self._beside("test"):
                return BuildScope(scope.modules, f"{scope.because}; and {_OWN}")
            return BuildScope(because=_OWN)
        if self._having("test", self.members) and not self._having("test", scope.modules):
            return BuildScope(because="none of the packages that the change affects has tests")
        return scope

    def _is_own(self, script: str) -> bool:
        """Whether the root has a script that does more than to go through the packages."""
        return bool(script_of(self.package, script)) and not self._delegate(script)

    def _beside(self, script: str) -> bool:
        """Whether members have scripts that the root's own one does not run for all one knows."""
        if not self._is_own(script) or goes_through(self.package, script):
            return False
        return bool(self._having(script, self.members))

    def _delegate(self, script: str) -> str | None:
        return delegate_of(self.package, script) if self.members else None

    def _in_root(self, script: str, scope: BuildScope) -> bool:
        """Whether the root's own script is what is run."""
        there = bool(script_of(self.package, script))
        return there and (not scope.modules or not self._delegate(script))

    def _having(self, script: str, names: Iterable[str]) -> list[Member]:
        """Those of the members that have the script, in the order of their names here."""
        manifests = self.workspace.manifests if self.workspace else {}
        return [self.members[name] for name in names if script_of(manifests[name], script)]

    def _builds(self, scope: BuildScope) -> list[BuildStep]:
        """What is affected and what that needs, each package after those that it needs."""
        if self._in_root("build", scope):
            own = BuildStep("build", self.tool.run("build"))
            return [own, *self._build_apart(scope)] if self._beside("build") else [own]
        if self._delegate("build") == "turbo":
            return [BuildStep("build", self.tool.run("build", *_filters(scope)))]
        return self._build_apart(scope)

    def _build_apart(self, scope: BuildScope) -> list[BuildStep]:
        needs = {name: member.needs for name, member in self.members.items()}
        names = needed_first(with_needs(scope.modules or self.members, needs), needs)
        chosen = self._having("build", names)
        return [self.tool.step("build", chosen, "build")] if chosen else []

    def _tests(self, scope: BuildScope) -> list[BuildStep]:
        """The root's own script and the members' are two steps; else there is one at most."""
        if self._in_root("test", scope):
            own = BuildStep("test", self._own_test())
            return [own, *self._test_members(scope)] if self._beside("test") else [own]
        if self._delegate("test") == "turbo":
            return [BuildStep("test", self.tool.run("test", *_filters(scope)))]
        return self._test_members(scope)

    def _own_test(self, *arguments: str) -> tuple[str, ...]:
        named = () if self._delegate("test") else _naming([self._own_command()])
        return self.tool.run("test", *named, *arguments)

    def _test_members(self, scope: BuildScope) -> list[BuildStep]:
        step = (None if scope.modules else self._test_all()) or self._test_apart(scope)
        return [step] if step else []

    def _test_all(self) -> BuildStep | None:
        """The tests of all members by the manager's own command, if it would run nothing else."""
        manifests = self.workspace.manifests if self.workspace else {}
        real = self._having("test", self.members)
        if not real or len(real) < sum(has_script(one, "test") for one in manifests.values()):
            return None
        naming = _naming(self._member_commands(BuildScope()).values())
        command = self.tool.run_in_all("test", *naming)
        return BuildStep("test", command) if command else None

    def _test_apart(self, scope: BuildScope) -> BuildStep | None:
        chosen = self._having("test", scope.modules or self.members)
        arguments = _naming(self._member_commands(scope).values())
        return self.tool.step("test", chosen, "test", *arguments) if chosen else None

    def _thorough(self, scope: BuildScope) -> BuildStep | None:
        """The tests so that a failure stops none of them, where that needs other words."""
        delegate = self._delegate("test")
        if delegate == "turbo":
            return BuildStep("test", self.tool.run("test", *_filters(scope), *_TURBO_GOING_ON))
        if not self._in_root("test", scope) or delegate:
            apart = None if scope.modules else self._test_apart(scope)
            return apart if apart and [apart] != self._tests(scope) else None
        own = self._own_command()
        bailing = own is not None and own.runner == "vitest"
        command = self._own_test(*(["--bail=0"] if bailing else []))
        beside = self._test_apart(scope) if self._beside("test") else None
        if beside:
            return BuildStep("test", _both(command, beside))
        return BuildStep("test", command) if bailing else None

    def _commands(self, scope: BuildScope) -> dict[str, ScriptCommand | None]:
        """What runs the tests, by the member that has it; by ``""`` for the root itself."""
        if not self._in_root("test", scope) or self._delegate("test"):
            return self._member_commands(scope)
        beside = self._member_commands(scope) if self._beside("test") else {}
        return {"": self._own_command(), **beside}

    def _own_command(self) -> ScriptCommand | None:
        command = last_command(script_of(self.package, "test"))
        after = script_of(self.package, "posttest")
        return replace(command, alone=False) if command and after else command

    def _member_commands(self, scope: BuildScope) -> dict[str, ScriptCommand | None]:
        manifests = self.workspace.manifests if self.workspace else {}
        chosen = self._having("test", scope.modules or self.members)
        return {one.name: last_command(script_of(manifests[one.name], "test")) for one in chosen}

    def _by_directory(
        self, commands: Mapping[str, ScriptCommand | None]
    ) -> dict[str, ScriptCommand]:
        return {
            self.members[name].directory if name else "": command
            for name, command in commands.items()
            if command
        }

    def _below(self, scope: BuildScope) -> dict[str, Member]:
        """The members whose scripts run by themselves, by directory."""
        together = self._in_root("test", scope) and not self._delegate("test")
        if together and not self._beside("test"):
            return {}
        return {member.directory: member for member in self.members.values()}


def _naming(commands: Iterable[ScriptCommand | None]) -> tuple[str, ...]:
    """What makes the runner name every test, where it is the same one everywhere."""
    told = {
        NAMING.get(command.runner or "", ()) if command and not command.has(*_PRINTING) else ()
        for command in commands
    }
    return told.pop() if len(told) == 1 else ()


def _both(own: Sequence[str], members: BuildStep) -> str:
    """One line that runs the root's tests and the members', whatever becomes of either."""
    each = f"{shlex.join(own)} || failed=1; {members.text} || failed=1"
    return f"(failed=0; {each}; exit $failed)"


def _filters(scope: BuildScope) -> tuple[str, ...]:
    return tuple(f"--filter={name}" for name in scope.modules)


def _all_end_alike(commands: Mapping[str, ScriptCommand | None]) -> bool:
    runners = [
        command.runner if command and command.alone else None for command in commands.values()
    ]
    return bool(runners) and all(runner in _ENDING_ALIKE for runner in runners)


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The packages and workspaces with something to run, as far as the change affects them."""
    return plans_of(root, changes, root.directories_with(MANIFEST), _opened, node_references)


def _opened(root: SourceTree) -> _Node | None:
    package = read_json(root.text(MANIFEST))
    return None if package is None else _Node(root, package)


@dataclass(frozen=True)
class _Node:
    root: SourceTree
    package: Mapping[str, Any]

    @cached_property
    def project(self) -> NodeProject:
        tool = tool_of(self.root, self.package)
        workspace = read_packages(self.root, self.package, tool.name)
        return NodeProject(self.root, self.package, tool, workspace)

    @property
    def outside(self) -> frozenset[str]:
        workspace = self.project.workspace
        manifests = {
            member.directory: workspace.manifests[member.name]
            for member in self.project.members.values()
            if workspace
        } | {"": self.package}
        own = {place: joined(self.root.place, place) or "" for place in manifests}
        linked = {path for place in own for path in linked_places(own[place], manifests[place])}
        return frozenset(linked - set(own.values()))

    @property
    def declares(self) -> bool:
        return False  # scripts go where they like

    def owns(self, directory: str) -> bool:
        return any(member.directory == directory for member in self.project.members.values())

    def plans(self, changes: Changes | None) -> tuple[BuildPlan, ...]:
        workspace = self.project.workspace
        plan = self.project.plan(workspace.members.scope(changes) if workspace else BuildScope())
        return (plan,) if plan else ()
