"""uv: projects and workspaces whose environment is locked. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.projects import is_below
from prjury.judges.builds.systems.pytest import (
    PYTEST_ENV,
    TESTS_FAILED,
    PytestFiles,
    PytestRerun,
    configuration,
    configured_paths,
    what_tests,
)
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    nearest,
    parents_of,
    path_in,
)
from prjury.judges.builds.systems.workspace_graph import Member, WorkspaceGraph, matching
from prjury.manifests.python import PyProject, read_pyproject
from prjury.manifests.requirements import normalised
from prjury.snapshot.model import visible

LOCK = "uv.lock"
#: Python in the locked environment, and in that of a project without a lock file.
PYTHON = ("uv", "run", "--frozen", "python")
UNLOCKED_PYTHON = ("uv", "run", "python")
_NO_TESTS = "the change affects no package that has tests"


def single_plan(root: SourceTree, tests: str) -> BuildPlan:
    """The tests of a single project."""
    return _plan(root, _pytest(root, root), (), (f"{LOCK} is there", tests))


def unlocked_plan(root: SourceTree, tests: str) -> BuildPlan:
    """The tests of a project without a lock file of its own, below one that uv manages."""
    manifest = root.readable(MANIFEST, read_pyproject) or PyProject()
    extra = where_pytest_is(manifest) if "pytest" in manifest.asked else ("--with", "pytest")
    command = ("uv", "run", *extra, "pytest", "-q")
    return _plan(root, command, (), (f"{LOCK} is in the root", tests))


def compiled_plan() -> BuildPlan:
    """A project without tests: sets up its environment and compiles its sources."""
    steps = (
        BuildStep("setup", ("uv", "sync", "--frozen")),
        BuildStep("build", ("python3", "-m", "compileall", "-q", "-x", r"/\.venv/", ".")),
    )
    return BuildPlan("uv", steps, (f"{LOCK} is there", "no tests were found"))


def _pytest(root: SourceTree, locked: SourceTree, *options: str) -> tuple[str, ...]:
    """The command for pytest, which is added if the lock file does not have it."""
    manifest = root.readable(MANIFEST, read_pyproject) or PyProject()
    has_it = 'name = "pytest"' in locked.text(LOCK)
    extra = where_pytest_is(manifest) if has_it else ("--with", "pytest")
    return ("uv", "run", "--frozen", *options, *extra, "pytest", "-q")


def _plan(
    root: SourceTree,
    command: tuple[str, ...],
    arguments: tuple[str, ...],
    reasons: tuple[str, ...],
    scope: BuildScope | None = None,
    directory: str = "",
) -> BuildPlan:
    return BuildPlan(
        "uv",
        (BuildStep("test", (*command, *arguments)),),
        reasons,
        env=PYTEST_ENV,
        reported=True,
        all_ran=TESTS_FAILED,
        directory=directory,
        scope=scope or BuildScope(),
        rerun_failed=PytestRerun(command, root),
    )


@dataclass(frozen=True)
class UvWorkspace:
    """Several projects under one lock file.

    Attributes:
        places: every directory below with a project, also outside of the workspace.
    """

    root: SourceTree
    members: WorkspaceGraph
    places: frozenset[str]

    def plans(self, changes: Changes | None) -> tuple[BuildPlan, ...]:
        """One run of pytest if the root configures it, else one for each member with tests."""
        scope = self.members.scope(changes)
        if configuration(self.root):
            return (self._together(scope),)
        own = [member for member in self.members.members if self._tests(member)]
        wanted = [member for member in own if not scope.modules or member.name in scope.modules]
        if own and not wanted:
            wanted, scope = own, BuildScope(because=_NO_TESTS)
        return tuple(self._apart(member, scope) for member in wanted)

    @cached_property
    def _names(self) -> dict[str, str]:
        """The members' names by directory."""
        return {member.directory: member.name for member in self.members.members}

    def _below(self, place: str) -> frozenset[str]:
        """The directories of the projects in a directory, relative to it."""
        inner = (other for other in self.places | self._names.keys() if is_below(other, place))
        return frozenset(other.removeprefix(place).strip("/") for other in inner)

    def _tests(self, member: Member) -> str | None:
        place = member.directory
        return what_tests(self.root.below(place), self._below(place))

    def _apart(self, member: Member, scope: BuildScope) -> BuildPlan:
        part = self.root.below(member.directory)
        chosen = () if member.directory else self._own_places()
        ignored = [f"--ignore={place}" for place in sorted(self._below(member.directory))]
        named = BuildScope((member.name,), scope.because) if scope.modules else scope
        reasons = (f"{LOCK} is there", self._tests(member) or "")
        command = _pytest(part, self.root)
        if not chosen:
            return _plan(part, (*command, *ignored), (), reasons, named, member.directory)
        return _plan(part, command, chosen, reasons, named, member.directory)

    def _own_places(self) -> tuple[str, ...]:
        """The root's own tests; empty if members lie among them."""
        loose = sorted(self._loose())
        places = [one for one in loose if self._first(one, self._below(one))]
        if any(map(self._below, places)):
            return ()
        return tuple(map(_as_argument, (*filter(self._is_loose_test, self.root.files), *places)))

    def _together(self, scope: BuildScope) -> BuildPlan:
        arguments = tuple(sorted(set(self._affected_places(scope)))) if scope.modules else ()
        if scope.modules and not arguments:
            scope = BuildScope(because=_NO_TESTS)
        file = configuration(self.root) or ""
        reasons = (f"{LOCK} is there", f"{file} configures pytest")
        # named, so that a member's own settings do not take the place of the root's
        command = (*_pytest(self.root, self.root, "--all-packages"), "-c", file)
        return _plan(self.root, command, arguments, reasons, scope)

    def _affected_places(self, scope: BuildScope) -> Iterator[str]:
        """The places of the tests of affected members, and of those of no member."""
        for place in self._with_tests():
            home = nearest(f"{place}/x", frozenset(self._names))
            if not home or self._names[home] in scope.modules:
                yield _as_argument(place)

    def _with_tests(self) -> Iterator[str]:
        """The places with tests: the configured ones, or the members."""
        patterns = configured_paths(self.root)
        chosen = self._named(patterns) if patterns else frozenset(self._names) | self._loose()
        for place in sorted(chosen - {""}):
            inner = self._below(place)
            if self._first(place, inner):
                yield place
            else:
                members = self._names.keys() & {f"{place}/{other}" for other in inner}
                yield from (other for other in sorted(members) if self._has_tests(other))
        if not patterns:
            yield from filter(self._is_loose_test, self.root.files)

    def _named(self, patterns: tuple[str, ...]) -> frozenset[str]:
        sources = (path for path in self.root.files if path.endswith(".py"))
        return (
            matching(patterns, {above for path in sources for above in parents_of(path)})
            or frozenset()
        )

    def _has_tests(self, place: str) -> bool:
        return self._first(place, frozenset()) is not None

    def _first(self, place: str, inner: frozenset[str]) -> str | None:
        """The first file with tests in a directory, without the inner ones."""
        return self._files.first(self.root.below(place), inner)

    @cached_property
    def _files(self) -> PytestFiles:
        return PytestFiles.of(self.root)

    def _is_loose_test(self, path: str) -> bool:
        return "/" not in path and self._files.has(path)

    def _loose(self) -> frozenset[str]:
        """The directories in the root with Python of no project below."""
        homes = self.places | self._names.keys() | {""}
        return frozenset(
            path.partition("/")[0]
            for path in self.root.files
            if "/" in path and path.endswith(".py") and nearest(path, homes) == ""
        )


def _as_argument(place: str) -> str:
    return f"./{place}" if place.startswith("-") else place


MANIFEST = "pyproject.toml"
#: What belongs to the project in the root of a workspace by convention.
_OWN = ("src", "tests", "test", "setup.py")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def read_members(root: SourceTree) -> WorkspaceGraph | None:
    """The members of uv's workspace in the root, with the root; None if there is none."""
    manifest = root.readable(MANIFEST, read_pyproject)
    if manifest is None or not manifest.is_workspace:
        return None
    if manifest.unclear:
        return _unreadable(f"the workspace in {MANIFEST} cannot be read")
    patterns = [*manifest.members, *(f"!{pattern}" for pattern in manifest.excluded)]
    chosen = matching(patterns, root.directories_with(MANIFEST))
    if chosen is None:
        return _unreadable(f"the patterns in {MANIFEST} are not understood")
    return _members(root, sorted(chosen | ({""} if manifest.is_project else set())))


def _unreadable(because: str) -> WorkspaceGraph:
    return WorkspaceGraph((), unreadable=because)


def _members(root: SourceTree, places: Sequence[str]) -> WorkspaceGraph:
    found: dict[str, PyProject] = {}
    for place in places:
        path = path_in(place, MANIFEST)
        manifest = root.readable(path, read_pyproject)
        if not manifest or not manifest.is_project or not _NAME.fullmatch(manifest.name):
            return _unreadable(f"{visible(path)} cannot be read")
        if manifest.is_dynamic:
            return _unreadable(f"{visible(path)} computes its dependencies")
        found[place] = manifest
    names = {place: normalised(manifest.name) for place, manifest in found.items()}
    known = frozenset(names.values())
    members = [
        Member(names[place], place, path_in(place, MANIFEST), manifest.asked & known)
        for place, manifest in found.items()
    ]
    return WorkspaceGraph(members, (*_OWN, names.get("", "").replace("-", "_")))


def where_pytest_is(manifest: PyProject) -> tuple[str, ...]:
    """The option that makes uv install the group or the extra that brings pytest.

    Empty where the project has it anyway, or nowhere.
    """
    if "pytest" in manifest.installed:
        return ()
    for option, named in (("--group", manifest.groups), ("--extra", manifest.extras)):
        for name, wanted in named.items():
            if "pytest" in wanted and _NAME.fullmatch(name):
                return (option, name)
    return ()
