"""Cargo. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from prjury.judges.build.failure import Failure
from prjury.judges.build.plan import BuildPlan, Scope, Step
from prjury.judges.build.systems.cargo_manifest import MANIFEST, CargoWorkspace, read_workspace
from prjury.judges.build.systems.projects import plans_of
from prjury.judges.build.systems.root import Changes, Root

#: Cargo's exit code where tests failed. Compiling is a step of its own, so that here it tells
#: nothing else, and with ``--no-fail-fast`` every test program runs.
_TESTS_FAILED = 101
_NEXTEST = ".config/nextest.toml"

#: A test as libtest names it. Tests in documentation have names with blanks, which cannot be handed
#: to the program that runs them.
_TEST = re.compile(r"[A-Za-z_][\w:]*")


def plans(root: Root, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The workspaces and packages, as far as the change affects them."""
    return plans_of(root, changes, root.directories_with(MANIFEST), _Cargo.opened)


@dataclass(frozen=True)
class _Cargo:
    root: Root
    workspace: CargoWorkspace

    @classmethod
    def opened(cls, root: Root) -> _Cargo:
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
            (Step("build", compiling), Step("test", testing)),
            (f"{MANIFEST} is there",),
            self._notes(),
            all_ran=_TESTS_FAILED,
            scope=scope,
            alone=CargoAlone(testing),
        )
        return (plan,)

    def _scope(self, changes: Changes | None) -> Scope:
        if self.workspace.members is None:
            return Scope()
        scope = self.workspace.members.scope(changes)
        default = self.workspace.default
        if not scope.modules or not default:
            return scope
        listed = tuple(name for name in scope.modules if name in default)
        if listed:
            return Scope(listed, scope.because)
        return Scope(because="the change affects no package of the workspace's default-members")

    def _which(self, scope: Scope) -> tuple[str, ...]:
        """Which packages are meant; the workspace's own word on what is built by default counts."""
        if scope.modules:
            return tuple(part for name in scope.modules for part in ("-p", name))
        whole = self.workspace.members is not None and not self.workspace.default
        return ("--workspace",) if whole else ()

    def _notes(self) -> tuple[str, ...]:
        if not self.root.has(_NEXTEST):
            return ()
        return (f"{_NEXTEST} is there, but `cargo test` runs the tests",)


@dataclass(frozen=True)
class CargoAlone:
    """Runs failing tests again by their exact names, wherever the same packages have them."""

    testing: tuple[str, ...]

    def __call__(self, failures: Sequence[Failure]) -> tuple[Step, ...] | None:
        """One step for all of them, None where one cannot be named exactly."""
        names = sorted({failure.name or "" for failure in failures})
        if not names or not all(map(_TEST.fullmatch, names)):
            return None
        return (Step("test", (*self.testing, "--", "--exact", *names)),)
