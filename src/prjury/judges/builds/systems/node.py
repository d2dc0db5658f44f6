"""Node: npm, pnpm, yarn and bun, single packages and workspaces. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from prjury.judges.builds.plan import BuildPlan, BuildStep, StepName
from prjury.judges.builds.systems.build_system import JAVASCRIPT, DocsRows, When
from prjury.judges.builds.systems.node_scripts import ScriptCommand, last_command, script_of
from prjury.judges.builds.systems.projects import (
    FoundProject,
    find_outside,
    is_below,
    match_members,
    select_affected,
)
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, outermost_first, path_in
from prjury.manifests.manifest import Manifest, ManifestError
from prjury.manifests.node import PackageJson, read_package_json, read_pnpm_workspace
from prjury.snapshot.model import visible

MANIFEST = "package.json"
MANIFESTS = (MANIFEST,)
COVERS = dict.fromkeys(("npm", "pnpm", "yarn", "bun"), JAVASCRIPT)
WHEN: When = "always"
DOCS: DocsRows = (
    (
        "`package.json` with a `build` or `test` script",
        (
            "npm, pnpm, yarn or bun by the lock file, of several by `packageManager`: install, "
            "`run build`, `run test`; without such scripts in the root those of all packages "
            "of the workspace"
        ),
    ),
)

#: The exit code of these runners if every test ran and some failed.
_TESTS_FAILED = 1
_ENDING_ALIKE = frozenset({"node", "jest", "vitest"})
#: Options by which a script chooses how its tests are printed.
_PRINTING = ("--verbose", "--silent", "--reporter", "--reporters", "-R", "--json")
#: Options with which the runners name every test that they run, and run all of them.
_NAMING: Mapping[str, tuple[str, ...]] = {
    "jest": ("--verbose", "--bail=0"),
    "vitest": ("--reporter=default", "--reporter=tap-flat", "--bail=0"),
    "mocha": ("--reporter=tap",),
}
_PNPM_WORKSPACE = "pnpm-workspace.yaml"


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The packages and workspaces with something to run that the change affects."""
    projects: dict[str, FoundProject] = {}
    packages: dict[str, _Package] = {}
    for directory in outermost_first(root.directories_with(MANIFEST)):
        above = [place for place in packages if is_below(directory, place)]
        owned = any(directory in packages[place].member_directories for place in above)
        manifest = root.readable(path_in(directory, MANIFEST), read_package_json)
        if owned or manifest is None or not root.may_hold_project(directory):
            continue
        package = packages[directory] = _Package(root.below(directory), manifest)
        if plan := package.plan():
            homes = ["", *package.members]
            outside = find_outside(package.root, homes, MANIFEST, read_package_json)
            projects[directory] = FoundProject((plan,), outside)
    return select_affected(projects, changes)


def unsuited(root: SourceTree) -> Mapping[str, str]:
    """Why packages whose manifest cannot be read are not built, by their directories."""
    reasons: dict[str, str] = {}
    for place in sorted(filter(root.may_hold_project, root.directories_with(MANIFEST))):
        path = path_in(place, MANIFEST)
        try:
            root.manifest(path, read_package_json)
        except ManifestError as error:
            reasons[place] = f"{visible(path)} cannot be read and is not built: {error}"
    return reasons


@dataclass(frozen=True)
class _Package:
    """A package, or the root of a workspace."""

    root: SourceTree
    manifest: PackageJson

    @cached_property
    def tool(self) -> NodeTool:
        return find_tool(self.root, self.manifest)

    @cached_property
    def members(self) -> dict[str, PackageJson]:
        """The packages of the workspace, by directory."""
        source: Manifest | None = self.manifest
        if self.tool.name == "pnpm":  # which has a file of its own for its members
            source = self.root.readable(_PNPM_WORKSPACE, read_pnpm_workspace)
        places = self.root.directories_with(MANIFEST) - {""}
        own = [place for place in places if "node_modules" not in place]
        chosen = match_members(source.members if source else (), own)
        read = {
            place: self.root.readable(path_in(place, MANIFEST), read_package_json)
            for place in sorted(chosen)
        }
        return {place: manifest for place, manifest in read.items() if manifest}

    @property
    def member_directories(self) -> frozenset[str]:
        """Where the members lie, from the root of the tree."""
        return frozenset(path_in(self.root.place, place) for place in self.members)

    def plan(self) -> BuildPlan | None:
        """Its build; None if no script builds or tests anything."""
        build, test = self._step("build"), self._step("test")
        if not build and not test:
            return None
        setup = BuildStep("setup", self.tool.install) if self.tool.install else None
        locks = (lock for lock, name in _LOCKS.items() if name != self.tool.name)
        return BuildPlan(
            self.tool.name,
            tuple(step for step in (setup, build, test) if step),
            (f"{MANIFEST} is there", self.tool.reason),
            tuple(f"{lock} is not used" for lock in locks if self.root.has(lock)),
        )

    def _step(self, script: StepName) -> BuildStep | None:
        """The root's own script, or that of all members that have one."""
        commands = self._commands(script) if script == "test" else []
        naming = _naming(commands)
        ends_alike = commands and all(
            one and one.alone and one.runner in _ENDING_ALIKE for one in commands
        )
        all_ran = _TESTS_FAILED if ends_alike else None
        if script_of(self.manifest, script):
            return BuildStep(script, self.tool.run(script, *naming), all_ran=all_ran)
        real = [one for one in self.members.values() if script_of(one, script)]
        if not real:
            return None
        several = len(real) < sum(script in one.scripts for one in self.members.values())
        places = [place for place, one in self.members.items() if one in real]
        names = [one.name or f"./{place}" for place, one in zip(places, real, strict=True)]
        command = self.tool.run_in_all(script, names, naming, only=several)
        form = " ".join(self.tool.run_in_all(script, (), naming, only=False))
        return BuildStep(script, command, tuple(names), form, all_ran=all_ran)

    def _commands(self, script: str) -> list[ScriptCommand | None]:
        """What the scripts run in the end."""
        if script_of(self.manifest, script):
            command = last_command(script_of(self.manifest, script))
            return [None if script_of(self.manifest, f"post{script}") else command]
        texts = (script_of(one, script) for one in self.members.values())
        return [last_command(text) for text in texts if text]


def _naming(commands: Iterable[ScriptCommand | None]) -> tuple[str, ...]:
    """The options that make the runner name every test, if all use the same runner."""
    options = {
        _NAMING.get(command.runner or "", ()) if command and not command.has(*_PRINTING) else ()
        for command in commands
    }
    return options.pop() if len(options) == 1 else ()


_LOCKS = {
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
}


@dataclass(frozen=True)
class NodeTool:
    """A package manager as a project uses it.

    Attributes:
        install: how dependencies are set up; empty where there are none.
        reason: what decided for it.
    """

    name: str
    install: tuple[str, ...]
    reason: str

    def run(self, script: str, *arguments: str) -> tuple[str, ...]:
        """The command that runs a script of the root."""
        return (self.name, "run", script, *self._pass_on(arguments))

    def run_in_all(
        self, script: str, names: Sequence[str], arguments: Sequence[str], *, only: bool
    ) -> tuple[str, ...] | str:
        """The command that runs a script in all members, also after failures.

        It names none of them where all are meant, so that it stays the same when members come
        and go. Yarn 1 has no such command.
        """
        forms = {
            "npm": (("npm", "run", script), "--workspace", ("--workspaces", "--if-present")),
            "pnpm": (("pnpm", "-r", "--no-bail"), "--filter", ()),
            "yarn": (("yarn", "workspaces", "foreach", "--all"), "--include", ()),
            "bun": (("bun", "run"), "--filter", ("--filter", "*")),
        }
        if self.name == "yarn" and "--immutable" not in self.install:
            line = shlex.join(["run", script, *arguments])
            each = f'yarn workspace "$name" {line} || failed=1'
            return f"(failed=0; for name in {shlex.join(names)}; do {each}; done; exit $failed)"
        start, option, every = forms[self.name]
        chosen = [word for name in names for word in (option, name)] if only else every
        end = {"npm": (), "pnpm": ("run", "--if-present", script), "bun": (script,)}
        last = end.get(self.name, ("run", script))
        return (*start, *chosen, *last, *self._pass_on(arguments))

    def _pass_on(self, arguments: Sequence[str]) -> tuple[str, ...]:
        return ("--", *arguments) if arguments and self.name == "npm" else tuple(arguments)


def find_tool(root: SourceTree, package: PackageJson) -> NodeTool:
    """The package manager that has a lock file, of several the named one, or else the first.

    Without lock files it is the one in ``packageManager``, then npm.
    """
    manager, locks = package.manager, [lock for lock in _LOCKS if root.has(lock)]
    by_name = [lock for lock in locks if manager.startswith(f"{_LOCKS[lock]}@")]
    lock = next(iter([*by_name, *locks]), "")
    chosen = _LOCKS.get(lock) or manager.partition("@")[0]
    if lock and chosen == "npm":
        return NodeTool("npm", ("npm", "ci", "--no-audit", "--no-fund"), f"{lock} is there")
    if chosen == "pnpm":
        install = ("pnpm", "install", "--frozen-lockfile")
        return NodeTool("pnpm", install, "pnpm-lock.yaml or packageManager says pnpm")
    if chosen == "yarn":
        flag = "--immutable" if _is_modern_yarn(root, manager) else "--frozen-lockfile"
        return NodeTool("yarn", ("yarn", "install", flag), "yarn.lock or packageManager says yarn")
    if lock and chosen == "bun":
        return NodeTool("bun", ("bun", "install", "--frozen-lockfile"), "bun's lock file is there")
    needs = package.own or package.members or package.unclear
    fresh = ("npm", "install", "--no-audit", "--no-fund")
    return NodeTool("npm", fresh if needs else (), "no lock file, so it is npm")


def _is_modern_yarn(root: SourceTree, manager: str) -> bool:
    """Whether it is not yarn 1."""
    major = manager.removeprefix("yarn@").partition(".")[0]
    named = manager.startswith("yarn@") and major.isdigit() and major != "1"
    return (
        named
        or root.has(".yarnrc.yml") is not None
        or "\n__metadata:" in root.text("yarn.lock")[:2_000]
    )
