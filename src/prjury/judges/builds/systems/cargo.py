"""Cargo: packages and workspaces with their affected packages. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.build_system import NATIVE, SystemDocs, When
from prjury.judges.builds.systems.projects import plans_of
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    is_within,
    joined,
    parent_of,
    path_in,
)
from prjury.judges.builds.systems.workspace_graph import Member, WorkspaceGraph, matching
from prjury.manifests.cargo import CargoToml, read_cargo_toml
from prjury.snapshot.model import visible

MANIFEST = "Cargo.toml"
MANIFESTS = (MANIFEST,)
COVERS = {"cargo": NATIVE | {".rs"}}
WHEN: When = "always"
DOCS = SystemDocs(
    (
        (
            "`Cargo.toml`",
            (
                "`cargo test --no-run --message-format=json --workspace`, "
                "`cargo test --no-fail-fast --workspace`"
            ),
        ),
    ),
    "Cargo",
    "members, their path dependencies; of those that are no `default-members` only what the change "
    "itself touches",
    "by `path`, `workspace = true` and `[patch]`, for tests, builds and targets too",
)

#: Cargo's exit code if tests failed. Compiling is a step of its own, so it means nothing else here,
#: and with ``--no-fail-fast`` every test program runs.
_TESTS_FAILED = 101
_NEXTEST = ".config/nextest.toml"
_MOST_NAMED = 5

#: A test as libtest names it. Tests in documentation have names with blanks, which cannot be passed
#: to the program that runs them.
_TEST = re.compile(r"[A-Za-z_][\w:]*")


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The workspaces and packages, as far as the change affects them."""
    return plans_of(root, changes, root.directories_with(MANIFEST), _Cargo.opened)


@dataclass(frozen=True)
class _Cargo:
    root: SourceTree
    workspace: CargoWorkspace

    @classmethod
    def opened(cls, root: SourceTree) -> _Cargo:
        return cls(root, read_workspace(root))

    @property
    def outside(self) -> frozenset[str]:
        return self.workspace.outside

    @property
    def declares(self) -> bool:
        return True

    def owns(self, directory: str) -> bool:
        return self.workspace.owns(directory)

    def plans(self, changes: Changes | None) -> tuple[BuildPlan, ...]:
        scope = self._scope(changes)
        which = self._which(scope)
        compiling = ("cargo", "test", "--no-run", "--message-format=json", *which)
        testing = ("cargo", "test", "--no-fail-fast", *which)
        plan = BuildPlan(
            "cargo",
            (BuildStep("build", compiling), BuildStep("test", testing)),
            (f"{MANIFEST} is there",),
            self._notes(),
            all_ran=_TESTS_FAILED,
            scope=scope,
            rerun_failed=CargoRerun(testing),
        )
        return (plan,)

    def _scope(self, changes: Changes | None) -> BuildScope:
        """The affected packages; of those not built by default only what the change touches."""
        members, default = self.workspace.members, self.workspace.default
        scope = members.scope(changes) if members else BuildScope()
        if members is None or not default:
            return scope
        wanted = default | self._touched(members, changes)
        if not scope.modules:
            return scope if wanted == default else _besides(scope, members, wanted)
        listed = tuple(name for name in scope.modules if name in wanted)
        left = [name for name in scope.modules if name not in wanted]
        return BuildScope(listed, f"{scope.because}{_left_out(left)}")

    def _touched(self, members: WorkspaceGraph, changes: Changes | None) -> frozenset[str]:
        """The packages in which something changes, also if everything is built."""
        known = (members.touched(one) for one in (changes, self.root.changed) if one)
        return frozenset().union(*known)

    def _which(self, scope: BuildScope) -> tuple[str, ...]:
        """The options that choose the packages; without any, the workspace's defaults are built."""
        if scope.modules:
            return tuple(part for name in scope.modules for part in ("-p", name))
        whole = self.workspace.members is not None and not self.workspace.default
        return ("--workspace",) if whole else ()

    def _notes(self) -> tuple[str, ...]:
        if not self.root.has(_NEXTEST):
            return ()
        return (f"{_NEXTEST} is there, but `cargo test` runs the tests",)


def _besides(scope: BuildScope, members: WorkspaceGraph, wanted: frozenset[str]) -> BuildScope:
    """Everything that is built by default, and what the change touches."""
    listed = tuple(member.name for member in members.members if member.name in wanted)
    besides = "all default-members, and what the change touches besides"
    return BuildScope(listed, f"{scope.because}: {besides}" if scope.because else besides)


def _left_out(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    listed = ", ".join(names[:_MOST_NAMED]) + more
    return f"; left out as none of the default-members: {listed}" if names else ""


@dataclass(frozen=True)
class CargoRerun:
    """Runs failing tests again by their exact names in the same packages."""

    testing: tuple[str, ...]

    def __call__(self, failures: Sequence[Failure]) -> tuple[BuildStep, ...] | None:
        """One step for all tests; None if one cannot be named exactly."""
        names = sorted({failure.name or "" for failure in failures})
        if not names or not all(map(_TEST.fullmatch, names)):
            return None
        return (BuildStep("test", (*self.testing, "--", "--exact", *names)),)


#: What belongs to the package in the root of a workspace by Cargo's conventions.
_OWN = ("src", "tests", "benches", "examples", "build.rs")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class CargoWorkspace:
    """The packages of a root manifest. Directories are relative to its own.

    Attributes:
        members: the workspace; None for a single package.
        directories: the directories of its packages.
        excluded: directories that it excludes.
        default: the names of the packages that Cargo builds by default; empty for all.
        outside: the directories of other packages that it depends on, from the root of the tree.
    """

    members: WorkspaceGraph | None
    directories: frozenset[str] = frozenset({""})
    excluded: tuple[str, ...] = ()
    default: frozenset[str] = frozenset()
    outside: frozenset[str] = frozenset()

    def owns(self, directory: str) -> bool:
        """Whether a package there belongs to it, or cannot be built by itself.

        Cargo refuses to build a package below a workspace that neither has it nor excludes it.
        """
        if self.members is None:
            return False
        return directory in self.directories or not _is_in(directory, self.excluded)


def read_workspace(root: SourceTree) -> CargoWorkspace:
    """The workspace or the package whose manifest is in the root of this tree."""
    manifest = root.readable(MANIFEST, read_cargo_toml)
    if manifest is None:
        return _unreadable(f"{MANIFEST} cannot be read")
    if not manifest.is_workspace:
        return CargoWorkspace(None, outside=_Packages(root, manifest).outside({"": manifest}))
    if manifest.unclear:
        return _unreadable(f"the workspace in {MANIFEST} cannot be read")
    places = root.directories_with(MANIFEST)
    named, chosen = matching(manifest.members, places), matching(manifest.default, places)
    if named is None or chosen is None:
        return _unreadable(f"the patterns in {MANIFEST} are not understood")
    packages = _Packages(root, manifest)
    literal = {joined("", pattern) for pattern in manifest.members}
    start = {path for path in named if path in literal or not _is_in(path, packages.excluded)}
    found = packages.reached(start | ({""} if manifest.has_package else set()))
    if isinstance(found, str):
        return _unreadable(found)
    targets = (joined("", path) for path in manifest.targets)
    members = tuple(packages.member(path, found) for path in sorted(found))
    return CargoWorkspace(
        WorkspaceGraph(members, (*_OWN, *(parent_of(one) or one for one in targets if one))),
        frozenset(found),
        packages.excluded,
        frozenset(member.name for member in members if member.directory in chosen),
        packages.outside(found),
    )


def _unreadable(because: str) -> CargoWorkspace:
    return CargoWorkspace(WorkspaceGraph((), unreadable=because))


def _is_in(path: str, directories: tuple[str, ...]) -> bool:
    return any(is_within(path, place) for place in directories)


@dataclass(frozen=True)
class _Packages:
    """The packages that a root manifest leads to."""

    root: SourceTree
    manifest: CargoToml

    @cached_property
    def excluded(self) -> tuple[str, ...]:
        return tuple(filter(None, (joined("", path) for path in self.manifest.excluded)))

    def reached(self, start: set[str]) -> dict[str, CargoToml] | str:
        """The members' manifests by directory; their path dependencies are members, too.

        Returns:
            The reason instead, if a manifest cannot be read.
        """
        found: dict[str, CargoToml] = {}
        waiting = sorted(start)
        while waiting:
            directory = waiting.pop()
            if directory in found:
                continue
            path = path_in(directory, MANIFEST)
            manifest = self.root.readable(path, read_cargo_toml)
            if manifest is None or not _NAME.fullmatch(manifest.name):
                return f"{visible(path)} cannot be read"
            found[directory] = manifest
            waiting += sorted(filter(self._is_member, self._below(directory, manifest)))
        return found

    def _is_member(self, directory: str) -> bool:
        there = path_in(directory, MANIFEST) in self.root.files
        return there and not _is_in(directory, self.excluded)

    def member(self, directory: str, found: Mapping[str, CargoToml]) -> Member:
        """The package in a directory, with the other members that it needs."""
        manifest = found[directory]
        needs = {found[path].name for path in self._below(directory, manifest) & found.keys()}
        path = path_in(directory, MANIFEST)
        return Member(manifest.name, directory, path, frozenset(needs - {manifest.name}))

    def outside(self, found: Mapping[str, CargoToml]) -> frozenset[str]:
        """The directories of path dependencies that are no members, from the root of the tree."""
        local = (self._local(place, manifest) for place, manifest in found.items())
        return frozenset().union(*local) - {joined(self.root.place, place) for place in found}

    def _below(self, directory: str, manifest: CargoToml) -> set[str]:
        prefix = f"{self.root.place}/" if self.root.place else ""
        local = self._local(directory, manifest)
        return {place.removeprefix(prefix) for place in local if place.startswith(prefix)}

    def _local(self, directory: str, manifest: CargoToml) -> frozenset[str]:
        """The directories of a package's path dependencies, from the root of the tree."""
        offered = self.manifest.offered
        shared = [offered[key] for key in manifest.wanted & offered.keys()]
        paths = [*((directory, path) for path in manifest.local), *(("", path) for path in shared)]
        places = (joined(joined(self.root.place, start) or "", path) for start, path in paths)
        return frozenset(place for place in places if place is not None)
