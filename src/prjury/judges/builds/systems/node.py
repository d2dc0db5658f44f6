"""Node: npm, pnpm, yarn and bun, single packages and workspaces. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.build_system import JAVASCRIPT, SystemDocs, When
from prjury.judges.builds.systems.node_scripts import (
    NAMING,
    NodeRerun,
    NodeTool,
    ScriptCommand,
    delegate_of,
    goes_through,
    last_command,
    other_locks,
    script_of,
    tool_of,
)
from prjury.judges.builds.systems.projects import any_leads_out, leads_out, plans_of
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    is_aside,
    joined,
    path_in,
)
from prjury.judges.builds.systems.workspace_graph import (
    Member,
    WorkspaceGraph,
    matching,
    needed_first,
    with_needs,
)
from prjury.manifests.manifest import Manifest, ManifestError
from prjury.manifests.node import PackageJson, read_package_json, read_pnpm_workspace
from prjury.manifests.syntax import json_of
from prjury.snapshot.model import visible

MANIFEST = "package.json"
MANIFESTS = (MANIFEST,)
COVERS = dict.fromkeys(("npm", "pnpm", "yarn", "bun"), JAVASCRIPT)
WHEN: When = "always"
DOCS = SystemDocs(
    (
        (
            "`package.json` with a `build` or `test` script",
            (
                "npm, pnpm, yarn or bun by the lock file, of several by `packageManager`: install, "
                "`run build`, `run test`"
            ),
        ),
    ),
    "npm, pnpm, yarn, bun",
    "packages of `workspaces` or `pnpm-workspace.yaml`",
    "by all kinds of dependencies, by name, `workspace:`, `file:`, `link:`, `portal:`",
)

#: The exit code of these runners if every test ran and some failed.
_TESTS_FAILED = 1
_ENDING_ALIKE = frozenset({"node", "jest", "vitest"})
#: Options by which a script chooses how its tests are printed.
_PRINTING = ("--verbose", "--silent", "--reporter", "--reporters", "-R", "--json")
#: Options with which turbo runs everything, and prints it without prefixes.
_TURBO_GOING_ON = ("--continue", "--log-order=grouped", "--log-prefix=none")
#: Test scripts that need a browser.
_IN_BROWSER = re.compile(r"\b(?:karma|testem|playwright|cypress|wdio|web-test-runner|wtr)\b")
_OWN = "the root's own `test` script does not select packages"


@dataclass(frozen=True)
class NodeProject:
    """A package or a workspace with its manager.

    Attributes:
        package: the manifest of the root.
        workspace: the members below, None for a single package.
    """

    root: SourceTree
    package: PackageJson
    tool: NodeTool
    workspace: NodeWorkspace | None

    @property
    def manifests(self) -> Mapping[str, PackageJson]:
        """The manifests of the members by their names."""
        return self.workspace.manifests if self.workspace else {}

    @cached_property
    def members(self) -> dict[str, Member]:
        """The members by name."""
        members = self.workspace.members.members if self.workspace else ()
        return {member.name: member for member in members}

    def plan(self, scope: BuildScope) -> BuildPlan | None:
        """The build of the scope; None if no script builds or tests anything."""
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
            rerun_failed=NodeRerun(
                self.root, self.tool, self._by_directory(commands), self._below(scope)
            ),
        )
        keep_going = self._keep_going(scope) if tests else None
        if keep_going is None:
            return plan
        steps = (*(step for step in plan.steps if step.name != "test"), keep_going)
        return replace(plan, keep_going=replace(plan, steps=steps, all_ran=ends))

    def _stops(self, scope: BuildScope) -> bool:
        """Whether another program runs the packages' scripts, and may stop at a failure."""
        delegate = self._delegate("test")
        return delegate == "turbo" or (bool(delegate) and self._in_root("test", scope))

    def _tested(self, scope: BuildScope) -> BuildScope:
        """The scope, or everything if the tests cannot be run by package."""
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
        """Whether the root's script does more than run the packages' scripts."""
        return bool(script_of(self.package, script)) and not self._delegate(script)

    def _beside(self, script: str) -> bool:
        """Whether members have scripts that the root's script may not run."""
        if not self._is_own(script) or goes_through(self.package, script):
            return False
        return bool(self._having(script, self.members))

    def _delegate(self, script: str) -> str | None:
        return delegate_of(self.package, script) if self.members else None

    def _in_root(self, script: str, scope: BuildScope) -> bool:
        """Whether the root's script is run."""
        there = bool(script_of(self.package, script))
        return there and (not scope.modules or not self._delegate(script))

    def _having(self, script: str, names: Iterable[str]) -> list[Member]:
        """The members of these names that have the script."""
        return [self.members[name] for name in names if script_of(self.manifests[name], script)]

    def _builds(self, scope: BuildScope) -> list[BuildStep]:
        """Builds the affected packages and their dependencies, these first."""
        if self._in_root("build", scope):
            own = BuildStep("build", self.tool.run("build"))
            return [own, *self._build_beside(scope)] if self._beside("build") else [own]
        if self._delegate("build") == "turbo":
            return [BuildStep("build", self.tool.run("build", *_filters(scope)))]
        return self._build_apart(scope.modules or self.members)

    def _build_beside(self, scope: BuildScope) -> list[BuildStep]:
        """Builds members beside the root's script; sites and the like only where they change."""
        left = {
            name
            for name, member in self.members.items()
            if is_aside(member.directory) and member.directory not in self.root.around
        }
        return self._build_apart([n for n in scope.modules or self.members if n not in left])

    def _build_apart(self, wanted: Iterable[str]) -> list[BuildStep]:
        needs = {name: member.needs for name, member in self.members.items()}
        names = needed_first(with_needs(wanted, needs), needs)
        chosen = self._having("build", names)
        return [self.tool.step("build", chosen, "build")] if chosen else []

    def _tests(self, scope: BuildScope) -> list[BuildStep]:
        """The root's script and the members' scripts, as far as there are any."""
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
        """All members' tests by the manager's own command, if it runs nothing else."""
        real = self._having("test", self.members)
        if not real or len(real) < sum("test" in one.scripts for one in self.manifests.values()):
            return None
        naming = _naming(self._member_commands(BuildScope()).values())
        command = self.tool.run_in_all("test", *naming)
        return BuildStep("test", command) if command else None

    def _test_apart(self, scope: BuildScope) -> BuildStep | None:
        chosen = self._having("test", scope.modules or self.members)
        arguments = _naming(self._member_commands(scope).values())
        return self.tool.step("test", chosen, "test", *arguments) if chosen else None

    def _keep_going(self, scope: BuildScope) -> BuildStep | None:
        """The tests so that a failure stops none of them, if that takes another command."""
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
        """The commands that run the tests, by member; ``""`` is the root."""
        if not self._in_root("test", scope) or self._delegate("test"):
            return self._member_commands(scope)
        beside = self._member_commands(scope) if self._beside("test") else {}
        return {"": self._own_command(), **beside}

    def _own_command(self) -> ScriptCommand | None:
        command = last_command(script_of(self.package, "test"))
        after = script_of(self.package, "posttest")
        return replace(command, alone=False) if command and after else command

    def _member_commands(self, scope: BuildScope) -> dict[str, ScriptCommand | None]:
        chosen = self._having("test", scope.modules or self.members)
        return {
            one.name: last_command(script_of(self.manifests[one.name], "test")) for one in chosen
        }

    def _by_directory(
        self, commands: Mapping[str, ScriptCommand | None]
    ) -> dict[str, ScriptCommand]:
        return {
            self.members[name].directory if name else "": command
            for name, command in commands.items()
            if command
        }

    def _below(self, scope: BuildScope) -> dict[str, Member]:
        """The members whose scripts are run one by one, by directory."""
        together = self._in_root("test", scope) and not self._delegate("test")
        if together and not self._beside("test"):
            return {}
        return {member.directory: member for member in self.members.values()}


def _naming(commands: Iterable[ScriptCommand | None]) -> tuple[str, ...]:
    """The options that make the runner name every test, if all use the same runner."""
    options = {
        NAMING.get(command.runner or "", ()) if command and not command.has(*_PRINTING) else ()
        for command in commands
    }
    return options.pop() if len(options) == 1 else ()


def _both(own: Sequence[str], members: BuildStep) -> str:
    """One line that runs the root's tests and the members', even if the first fail."""
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
    """The affected packages and workspaces that have something to run."""
    return plans_of(root, changes, root.directories_with(MANIFEST), _opened, _uses_outside)


def unsuited(root: SourceTree) -> Mapping[str, str]:
    """Why packages whose manifest cannot be read are not built, by their directories."""
    found: dict[str, str] = {}
    for place in sorted(filter(root.may_hold_project, root.directories_with(MANIFEST))):
        path = path_in(place, MANIFEST)
        try:
            root.manifest(path, read_package_json)
        except ManifestError as error:
            found[place] = f"{visible(path)} cannot be read and is not built: {error}"
    return found


def _uses_outside(root: SourceTree) -> bool:
    """Whether sources, scripts or settings of TypeScript name paths outside of the project.

    Sites, measurements and tests in browsers count only where they change themselves.
    """
    package = root.readable(MANIFEST, read_package_json)
    if is_aside(root.place) or (package and _IN_BROWSER.search(script_of(package, "test"))):
        return False
    return any_leads_out(root, _is_read, _names_outside)


def _is_read(path: str) -> bool:
    return _READ.fullmatch(path.rpartition("/")[2]) is not None


def _names_outside(text: str, path: str) -> bool:
    """Paths of declared dependencies do not count: they are known."""
    if path.endswith(MANIFEST):
        with suppress(ManifestError):
            found = json_of(text)
            text = json.dumps({key: found[key] for key in found if not key.endswith(_DECLARED)})
    return leads_out(text, path)


def _opened(root: SourceTree) -> _Node | None:
    package = root.readable(MANIFEST, read_package_json)
    return None if package is None else _Node(root, package)


@dataclass(frozen=True)
class _Node:
    root: SourceTree
    package: PackageJson

    @cached_property
    def project(self) -> NodeProject:
        tool = tool_of(self.root, self.package)
        workspace = read_packages(self.root, self.package, tool.name)
        return NodeProject(self.root, self.package, tool, workspace)

    @property
    def outside(self) -> frozenset[str]:
        members = self.project.members.values()
        manifests = {one.directory: self.project.manifests[one.name] for one in members}
        manifests[""] = self.package
        own = {place: joined(self.root.place, place) or "" for place in manifests}
        linked = {path for place in own for path in _linked(own[place], manifests[place])}
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


_READ = re.compile(r"(?:package|[tj]sconfig[\w.-]*)\.json|.*\.(?:[cm]?[jt]sx?|vue|svelte|astro)")
_DECLARED = ("dependencies", "Dependencies")
PNPM_WORKSPACE = "pnpm-workspace.yaml"
_NAME = re.compile(r"(?:@[A-Za-z0-9~][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*")


@dataclass(frozen=True)
class NodeWorkspace:
    """The members of a workspace, without the root, and their manifests by name."""

    members: WorkspaceGraph
    manifests: Mapping[str, PackageJson] = field(default_factory=dict)


def read_packages(root: SourceTree, package: PackageJson, tool: str) -> NodeWorkspace | None:
    """The workspace in the root of this tree; None for a single package.

    Args:
        tool: the package manager, for pnpm has a file of its own for its members.
    """
    source: Manifest = package
    if tool == "pnpm":
        try:
            source = root.manifest(PNPM_WORKSPACE, read_pnpm_workspace)
        except ManifestError:
            return _unreadable(f"{PNPM_WORKSPACE} cannot be read")
    if source.unclear:
        where = PNPM_WORKSPACE if tool == "pnpm" else f"the workspaces in {MANIFEST}"
        return _unreadable(f"{where} cannot be read")
    if not source.members:
        return None
    places = root.directories_with(MANIFEST) - {""}
    chosen = matching(source.members, (one for one in places if "node_modules" not in one))
    if chosen is None:
        return _unreadable("its patterns are not understood")
    return _read(root, sorted(chosen))


def _unreadable(because: str) -> NodeWorkspace:
    return NodeWorkspace(WorkspaceGraph((), unreadable=because))


def _read(root: SourceTree, places: Sequence[str]) -> NodeWorkspace:
    manifests: dict[str, PackageJson] = {}
    names: dict[str, str] = {}
    for place in places:
        manifest = root.readable(f"{place}/{MANIFEST}", read_package_json)
        if manifest is None or not _NAME.fullmatch(manifest.name):
            return _unreadable(
                f"{visible(place)}/{MANIFEST} cannot be read, or gives no proper name"
            )
        names[place], manifests[manifest.name] = manifest.name, manifest
    members = tuple(
        Member(name, place, f"{place}/{MANIFEST}", _needs(place, manifests[name], names))
        for place, name in names.items()
    )
    return NodeWorkspace(WorkspaceGraph(members), manifests)


def _needs(place: str, manifest: PackageJson, names: Mapping[str, str]) -> frozenset[str]:
    """The members that a package depends on, by name or by path."""
    wanted = {each.artifact for each in manifest.own} & set(names.values())
    linked = {names[path] for path in _linked(place, manifest) if path in names}
    return frozenset(wanted | linked) - {names[place]}


def _linked(place: str, manifest: PackageJson) -> Iterator[str]:
    """The directories that a package links as dependencies."""
    return (path for name in manifest.local if (path := joined(place, name)) is not None)
