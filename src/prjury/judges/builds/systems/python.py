"""Python: uv, tox, nox, pytest, unittest, or only the compiler if there are no tests. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.build_system import NATIVE, PYTHON, DocsRows, When
from prjury.judges.builds.systems.projects import (
    FoundProject,
    find_outside,
    in_directory,
    is_below,
    match_members,
    select_affected,
)
from prjury.judges.builds.systems.pytest import (
    PYTEST_ENV,
    TESTS_FAILED,
    PytestFiles,
    configuration,
    find_tests,
)
from prjury.judges.builds.systems.python_environment import find_version_variables
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    nearest,
    outermost_first,
    path_in,
)
from prjury.judges.builds.systems.tox import plan_tox, tox_settings
from prjury.judges.builds.systems.unittests import MANAGE, Unittests, django_places
from prjury.manifests.python import PyProject, read_pyproject

MANIFEST, LOCK, NOXFILE = "pyproject.toml", "uv.lock", "noxfile.py"
#: Files that make a directory below the root a project of its own.
MANIFESTS = (LOCK, "tox.ini", "tox.toml", MANIFEST, "setup.py")
COVERS = {
    **dict.fromkeys(("pytest", "unittest", "django", "python"), PYTHON),
    **dict.fromkeys(("uv", "tox", "nox"), PYTHON | NATIVE),
}
WHEN: When = "last_resort_if_untested"
DOCS: DocsRows = (
    (
        "`uv.lock`",
        (
            "`uv sync --frozen` with the options that its CI gives it, or else the extra or "
            "group that brings pytest, `uv run --no-sync pytest -q`; in a workspace without "
            "pytest's settings in its root for each member with tests"
        ),
    ),
    (
        "`tox.ini`, `tox.toml`, `[tool.tox]`, `[tox:tox]`, with commands that test",
        "`tox -e py`, or the listed environment with tests in its place",
    ),
    ("`noxfile.py` with a session `tests` or `test`", "`nox -s tests`"),
    (
        "pytest's settings, or `test_*.py`, `*_test.py`",
        "`python3 -m pytest -q`",
    ),
    (
        "`manage.py` of Django with `test*.py` in packages, nothing for pytest",
        "`python3 manage.py test`",
    ),
    (
        (
            "`unittest` in `tests.py`, `test.py`, `*_tests.py`, or below `tests/`, nothing for "
            "pytest"
        ),
        "`python3 -m unittest discover -v -s … -t … -p 'test*.py'`",
    ),
    (
        (
            "the same tests in directories of a tree that has no manifest and no Python file "
            "in its root"
        ),
        "the same, unless the root holds a build file of another language",
    ),
    ("Python without tests", "`python3 -m compileall -q .`"),
)

#: Files that mark Python in the root of a tree.
_MARKERS = (*MANIFESTS, "setup.cfg", "pytest.ini", "requirements.txt", NOXFILE)
#: Files in the root of projects in other languages, which often have helpers in Python.
_OTHERS = (
    "Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "meson.build", "configure",
    "configure.ac", "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle",
    "settings.gradle.kts", "package.json", "Cargo.toml", "go.mod", "Gemfile", "composer.json",
    "Makefile.PL", "Build.PL", "dist.ini", "cpanfile", "mix.exs", "Package.swift", "build.sbt",
)  # fmt: skip


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The projects that the change affects."""
    places = root.directories_with(*MANIFESTS)
    if root.has(*_MARKERS) or _has_modules(root) or _has_only_tests(root, places):
        places |= {""}
    places |= {place for place in django_places(root) if nearest(f"{place}/x", places) is None}
    projects: dict[str, FoundProject] = {}
    opened: dict[str, _Python] = {}
    for place in outermost_first(places):
        above = (one for one in opened if is_below(place, one))
        if not root.may_hold_project(place) or any(
            place in opened[one].member_directories for one in above
        ):
            continue
        project = _Python(root.below(place))
        if not project.is_described:
            continue  # only settings of tools
        opened[place] = project
        homes = ["", *project.members]
        outside = find_outside(project.root, homes, MANIFEST, read_pyproject)
        projects[place] = FoundProject(tuple(project.plans()), outside)
    return select_affected(projects, changes)


def _has_modules(root: SourceTree) -> bool:
    return any("/" not in path and path.endswith(".py") for path in root.files)


def _has_only_tests(root: SourceTree, places: frozenset[str]) -> bool:
    """Whether tests are the only sign of Python, and the root has no other build file."""
    if root.has(*_OTHERS):
        return False
    return bool(find_tests(root, places) or Unittests(root, places).plan())


@dataclass(frozen=True)
class _Python:
    root: SourceTree

    @cached_property
    def manifest(self) -> PyProject:
        return self.root.readable(MANIFEST, read_pyproject) or PyProject()

    @property
    def is_described(self) -> bool:
        """Whether a directory below the root is a project, not a place with settings of tools."""
        own = self.root.has("setup.py", LOCK, "tox.ini", "tox.toml")
        return bool(
            not self.root.place or own or self.manifest.is_described or self.root.has(MANAGE)
        )

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The directories of the members of uv's workspace."""
        manifest = self.manifest
        if not manifest.is_workspace or not self.root.has(LOCK):
            return ()
        patterns = [*manifest.members, *(f"!{pattern}" for pattern in manifest.excluded)]
        return tuple(sorted(match_members(patterns, self._below)))

    @property
    def member_directories(self) -> frozenset[str]:
        """Where the members lie, from the root of the tree."""
        return frozenset(path_in(self.root.place, place) for place in self.members)

    @cached_property
    def _below(self) -> frozenset[str]:
        """The directories below that have manifests of their own."""
        return self.root.directories_with(*MANIFESTS) - {""}

    def plans(self) -> Iterator[BuildPlan]:
        """The one build, or one for each member of a workspace that has tests."""
        settings, tests = tox_settings(self.root), find_tests(self.root, self._below)
        locked = self.root.has("poetry.lock", "pdm.lock")
        if self.root.has(LOCK) and (tests or self.members or not settings):
            yield from map(self._with_notes, self._by_uv(tests))
        elif settings and settings.tests and not (locked and tests):
            yield plan_tox(settings)
        elif session := self._session():
            yield BuildPlan(
                "nox",
                (BuildStep("test", ("nox", "--no-error-on-missing-interpreters", "-s", session)),),
                (f"{NOXFILE} has a session {session}",),
                env=PYTEST_ENV,
                programs=("nox",),
            )
        elif tests:
            command = BuildStep("test", ("python3", "-m", "pytest", "-q"), all_ran=TESTS_FAILED)
            yield self._with_notes(_plan_pytest("pytest", command, (self._marker(), tests)))
        else:
            yield self._plan_unittests("python3") or self._compiled()

    def _session(self) -> str:
        """The session of nox that runs the tests, where nothing else says what they need."""
        declared = (*self.manifest.groups, *self.manifest.extras)
        if any(name.startswith(("test", "dev")) for name in declared):
            return ""
        text = self.root.text(NOXFILE)
        return next((name for name in ("tests", "test") if f"def {name}(" in text), "")

    def _by_uv(self, tests: str | None) -> Iterator[BuildPlan]:
        """What has tests of the project and of its members, in the locked environment."""
        has_pytest = 'name = "pytest"' in self.root.text(LOCK)
        command = ("uv", "run", "--no-sync", *(() if has_pytest else ("--with", "pytest")))
        step = BuildStep("test", (*command, "pytest", "-q"), all_ran=TESTS_FAILED)
        if self.members and not configuration(self.root):
            files = PytestFiles.of(self.root)
            versions = dict.fromkeys(find_version_variables(self.root), "{version}")
            for place in self.members:
                inside = [
                    one.removeprefix(f"{place}/") for one in self._below if is_below(one, place)
                ]
                if test := files.first(self.root.below(place), frozenset(inside)):
                    reasons = (f"{LOCK} is there", f"{place}/{test} is a test")
                    yield in_directory(_plan_pytest("uv", step, reasons).with_env(versions), place)
            left = tuple(f"--ignore={place}" for place in self.members)
            step = replace(step, command=(*step.command, *left))
        if tests:
            yield _plan_pytest("uv", step, (f"{LOCK} is there", tests))
        elif not self.members:
            plan = self._plan_unittests("uv", "run", "--no-sync", "python") or self._compiled()
            yield replace(plan, system="uv")

    def _plan_unittests(self, *python: str) -> BuildPlan | None:
        """The tests for Django's runner or unittest."""
        plan = Unittests(self.root, self._below, python).plan()
        return plan and replace(plan, reasons=(self._marker(), *plan.reasons))

    def _with_notes(self, plan: BuildPlan) -> BuildPlan:
        settings = tox_settings(self.root)
        note = (f"{settings.file} configures tox, which is not run",) if settings else ()
        return replace(plan, notes=(*plan.notes, *note))

    def _marker(self) -> str:
        marker = self.root.has(*_MARKERS, MANAGE)
        if marker:
            return f"{marker} is there"
        in_root = _has_modules(self.root)
        return "there are Python files in the root" if in_root else "there are tests in Python"

    def _compiled(self) -> BuildPlan:
        own = ("-x", r"/\.venv/") if self.root.has(LOCK) else ()
        step = BuildStep("build", ("python3", "-m", "compileall", "-q", *own, "."))
        reasons = (self._marker(), "no tests were found, so it is only compiled")
        return BuildPlan("python", (step,), reasons)


def _plan_pytest(system: str, step: BuildStep, reasons: tuple[str, ...]) -> BuildPlan:
    return BuildPlan(system, (step,), reasons, env=PYTEST_ENV, reported=True)
