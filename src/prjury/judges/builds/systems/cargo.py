"""Cargo. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.cargo_manifest import MANIFEST, CargoWorkspace, read_workspace
from prjury.judges.builds.systems.projects import plans_of
from prjury.judges.builds.systems.source_tree import Changes, SourceTree
from prjury.judges.builds.systems.workspace_graph import WorkspaceGraph

#: Cargo's exit code where tests failed. Compiling is a step of its own, so that here it tells
#: nothing else, and with ``--no-fail-fast`` every test program runs.
_TESTS_FAILED = 101
_NEXTEST = ".config/nextest.toml"
_MOST_NAMED = 5

#: A test as libtest names it. Tests in documentation have names with blanks, which cannot be handed
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
            alone=CargoAlone(testing),
        )
        return (plan,)

    def _scope(self, changes: Changes | None) -> BuildScope:
        """What is affected; of what is not built by default only what the change itself touches."""
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
        """The packages in which something changes, also where everything is built for a reason."""
        known = (members.touched(one) for one in (changes, self.root.changed) if one)
        return frozenset().union(*known)

    def _which(self, scope: BuildScope) -> tuple[str, ...]:
        """Which packages are meant; without names the workspace's own word on them counts."""
        if scope.modules:
            return tuple(part for name in scope.modules for part in ("-p", name))
        whole = self.workspace.members is not None and not self.workspace.default
        return ("--workspace",) if whole else ()

    def _notes(self) -> tuple[str, ...]:
        if not self.root.has(_NEXTEST):
            return ()
        return (f"{_NEXTEST} is there, but `cargo test` runs the tests",)


def _besides(scope: BuildScope, members: WorkspaceGraph, wanted: frozenset[str]) -> BuildScope:
    """Everything that is built by default, and what the change touches besides."""
    listed = tuple(member.name for member in members.members if member.name in wanted)
    besides = "all default-members, and what the change touches besides"
    return BuildScope(listed, f"{scope.because}: {besides}" if scope.because else besides)


def _left_out(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    told = ", ".join(names[:_MOST_NAMED]) + more
    return f"; left out as none of the default-members: {told}" if names else ""


@dataclass(frozen=True)
class CargoAlone:
    """Runs failing tests again by their exact names, wherever the same packages have them."""

    testing: tuple[str, ...]

    def __call__(self, failures: Sequence[Failure]) -> tuple[BuildStep, ...] | None:
        """One step for all of them, None where one cannot be named exactly."""
        names = sorted({failure.name or "" for failure in failures})
        if not names or not all(map(_TEST.fullmatch, names)):
            return None
        return (BuildStep("test", (*self.testing, "--", "--exact", *names)),)
