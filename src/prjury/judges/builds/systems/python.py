"""Python: uv, tox, pytest, unittest, or only a compiler where there are no tests. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems import tox, uv
from prjury.judges.builds.systems.manifest import read_toml, table
from prjury.judges.builds.systems.outside_references import python_references
from prjury.judges.builds.systems.projects import plans_of
from prjury.judges.builds.systems.pytest import PYTEST_ENV, TESTS_FAILED, PytestAlone, what_tests
from prjury.judges.builds.systems.python_manifest import MANIFEST, local_sources, read_members
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined, nearest
from prjury.judges.builds.systems.unittests import MANAGE, Unittests, django_places
from prjury.judges.builds.systems.workspace_graph import WorkspaceGraph

#: Files that say that there is Python in the root of a tree.
_MARKERS = (
    "uv.lock", "tox.ini", "tox.toml", MANIFEST, "setup.py", "setup.cfg", "pytest.ini",
    "requirements.txt",
)  # fmt: skip
#: Files that make a directory below it a project of its own.
PROJECTS = ("uv.lock", "tox.ini", "tox.toml", MANIFEST, "setup.py")
#: Files in the root of projects in other languages, in which Python is often a helper.
_OTHERS = (
    "Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "meson.build", "configure",
    "configure.ac", "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle",
    "settings.gradle.kts", "package.json", "Cargo.toml", "go.mod", "Gemfile", "composer.json",
)  # fmt: skip
_PYTEST = ("python3", "-m", "pytest", "-q")


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The projects, as far as the change affects them."""
    places = root.directories_with(*PROJECTS)
    in_root = any("/" not in path and path.endswith(".py") for path in root.files)
    if root.has(*_MARKERS) or in_root or _has_only_tests(root, places):
        places |= {""}
    places |= {place for place in django_places(root) if nearest(f"{place}/x", places) is None}
    locked = root.has(uv.LOCK) is not None
    opened = partial(_opened, uv_is_used=locked)
    return plans_of(root, changes, places, opened, python_references)


def _has_only_tests(root: SourceTree, places: frozenset[str]) -> bool:
    """Whether tests alone say that there is Python, and nothing in the root that it is not."""
    if root.has(*_OTHERS):
        return False
    return bool(what_tests(root, places) or Unittests(root, places).plan())


def _opened(root: SourceTree, *, uv_is_used: bool) -> _Python | None:
    if root.place and not root.has("setup.py", "uv.lock", "tox.ini", "tox.toml"):
        manifest = read_toml(root.text(MANIFEST)) or {}
        about = ("project", "build-system", "dependency-groups")
        told = any(key in manifest for key in about) or table(manifest, "tool", "poetry")
        if not told and "" not in django_places(root):
            return None  # settings of tools
    return _Python(root, uv_is_used)


@dataclass(frozen=True)
class _Python:
    root: SourceTree
    uv_is_used: bool

    @cached_property
    def workspace(self) -> WorkspaceGraph | None:
        return read_members(self.root) if self.root.has(uv.LOCK) else None

    @cached_property
    def _members(self) -> frozenset[str]:
        members = self.workspace.members if self.workspace else ()
        return frozenset(member.directory for member in members)

    @property
    def _below(self) -> frozenset[str]:
        """The directories below that have manifests of their own."""
        return self.root.directories_with(*PROJECTS) - {""}

    @property
    def outside(self) -> frozenset[str]:
        own = {joined(self.root.place, place) for place in self._members | {""}}
        found = (local_sources(self.root, place) for place in self._members | {""})
        return frozenset().union(*found) - own

    @property
    def declares(self) -> bool:
        return False  # paths are set and files are read from anywhere

    def owns(self, directory: str) -> bool:
        return directory in self._members

    def plans(self, changes: Changes | None) -> tuple[BuildPlan, ...]:
        if self.workspace and self.workspace.members:
            found = uv.UvWorkspace(self.root, self.workspace, self._below).plans(changes)
            if found:
                return tuple(map(self._noted, found))
        because = self.workspace.unreadable if self.workspace and changes else ""
        return (replace(self._plan(), scope=BuildScope(because=because)),)

    def _plan(self) -> BuildPlan:
        tests = what_tests(self.root, self._below)
        settings = tox.settings(self.root)
        if self.root.has(uv.LOCK) and (tests or not settings):
            single = uv.single_plan(self.root, tests) if tests else self._other(*uv.PYTHON)
            return self._noted(single or uv.compiled_plan())
        if settings:
            return tox.plan_of(settings)
        managed = self.uv_is_used and "project" in (read_toml(self.root.text(MANIFEST)) or {})
        if tests:
            return uv.unlocked_plan(self.root, tests) if managed else self._tested(tests)
        return self._other(*(uv.UNLOCKED_PYTHON if managed else ("python3",))) or self._compiled()

    def _other(self, *python: str) -> BuildPlan | None:
        """The tests for other runners than pytest."""
        plan = Unittests(self.root, self._below, python).plan()
        return plan and replace(plan, reasons=(self._marker(), *plan.reasons))

    def _noted(self, plan: BuildPlan) -> BuildPlan:
        settings = tox.settings(self.root)
        note = (f"{settings.file} configures tox, which is not run",) if settings else ()
        return replace(plan, notes=(*plan.notes, *note))

    def _marker(self) -> str:
        marker = self.root.has(*_MARKERS, MANAGE)
        return f"{marker} is there" if marker else "there are Python files in the root"

    def _tested(self, tests: str) -> BuildPlan:
        return BuildPlan(
            "pytest",
            (BuildStep("test", _PYTEST),),
            (self._marker(), tests),
            env=PYTEST_ENV,
            reported=True,
            all_ran=TESTS_FAILED,
            alone=PytestAlone(_PYTEST, self.root),
        )

    def _compiled(self) -> BuildPlan:
        step = BuildStep("build", ("python3", "-m", "compileall", "-q", "."))
        reasons = (self._marker(), "no tests were found, so it is only compiled")
        return BuildPlan("python", (step,), reasons)
