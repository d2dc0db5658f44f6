"""Python: uv, tox, nox, pytest, unittest, or only the compiler if there are no tests. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.build_system import NATIVE, PYTHON, DocsRows, When
from prjury.judges.builds.systems.projects import (
    FoundProject,
    is_below,
    match_members,
    move_to,
    names_outside,
    select_affected,
)
from prjury.judges.builds.systems.pytest import (
    PYTEST_ENV,
    TESTS_FAILED,
    find_configuration,
    find_test_file,
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
from prjury.judges.builds.systems.tox import ToxSettings, plan_tox, tox_settings
from prjury.judges.builds.systems.unittests import MANAGE, django_places, plan_unittests
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
        "`uv sync --frozen`, `uv run --no-sync pytest -q`, in a workspace for each member",
    ),
    ("tox's settings, with commands that test", "`tox -e py`, or the listed one with tests"),
    ("`noxfile.py` with a session `tests` or `test`", "`nox -s tests`"),
    ("pytest's settings, or `test_*.py`, `*_test.py`", "`python3 -m pytest -q`"),
    ("`manage.py` of Django with `test*.py` in packages", "`python3 manage.py test`"),
    ("`unittest` in `test*.py`, `*_tests.py`", "`python3 -m unittest discover -v`"),
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
    opened: dict[str, _PythonProject] = {}
    for place in outermost_first(places):
        above = [one for one in opened if is_below(place, one)]
        owned = any(place in opened[one].member_places for one in above)
        project = _PythonProject(root.below(place))
        if owned or not root.may_hold_project(place) or not project.is_described:
            continue
        opened[place] = project
        homes = ["", *project.members]
        leads_out = names_outside(project.root, homes, MANIFEST, read_pyproject)
        projects[place] = FoundProject(tuple(project.plans()), leads_out)
    return select_affected(projects, changes)


def _has_modules(root: SourceTree) -> bool:
    return any("/" not in path and path.endswith(".py") for path in root.files)


def _has_only_tests(root: SourceTree, places: frozenset[str]) -> bool:
    if root.has(*_OTHERS):
        return False
    return bool(find_tests(root, places) or plan_unittests(root, places))


class _PythonProject:
    """A project in a directory."""

    def __init__(self, root: SourceTree) -> None:
        self.root = root
        self.manifest = root.readable(MANIFEST, read_pyproject) or PyProject()
        self.below = root.directories_with(*MANIFESTS) - {""}
        excluded = (f"!{pattern}" for pattern in self.manifest.excluded)
        patterns = (*self.manifest.members, *excluded)
        is_workspace = self.manifest.is_workspace and root.has(LOCK)
        #: The directories of the members of uv's workspace, also from the root of the tree.
        self.members = sorted(match_members(patterns, self.below)) if is_workspace else []
        self.member_places = {path_in(root.place, place) for place in self.members}
        #: False for a directory with settings of tools and nothing else.
        self.is_described = bool(
            not root.place
            or root.has("setup.py", LOCK, "tox.ini", "tox.toml", MANAGE)
            or self.manifest.is_described
        )

    def plans(self) -> Iterator[BuildPlan]:
        """The one build, or one for each member of a workspace that has tests."""
        root, settings = self.root, tox_settings(self.root)
        tests = find_tests(root, self.below)
        locked = root.has("poetry.lock", "pdm.lock")
        if root.has(LOCK) and (tests or self.members or not settings):
            yield from (_note_tox(plan, settings) for plan in self._list_uv_plans(tests))
        elif settings and settings.tests and not (locked and tests):
            yield plan_tox(settings)
        elif session := self._find_session():
            command = ("nox", "--no-error-on-missing-interpreters", "-s", session)
            reasons = (f"{NOXFILE} has a session {session}",)
            step = BuildStep("test", command)
            yield BuildPlan("nox", (step,), reasons, env=PYTEST_ENV, programs=("nox",))
        elif tests:
            step = BuildStep("test", ("python3", "-m", "pytest", "-q"), all_ran=TESTS_FAILED)
            yield _note_tox(_plan_pytest("pytest", step, (self._name_marker(), tests)), settings)
        else:
            yield self._plan_without_pytest("python3")

    def _find_session(self) -> str:
        groups = (*self.manifest.groups, *self.manifest.extras)
        if any(name.startswith(("test", "dev")) for name in groups):
            return ""
        text = self.root.text(NOXFILE)
        return next((name for name in ("tests", "test") if f"def {name}(" in text), "")

    def _list_uv_plans(self, tests: str | None) -> Iterator[BuildPlan]:
        has_pytest = 'name = "pytest"' in self.root.text(LOCK)
        command = ("uv", "run", "--no-sync", *(() if has_pytest else ("--with", "pytest")))
        step = BuildStep("test", (*command, "pytest", "-q"), all_ran=TESTS_FAILED)
        if self.members and not find_configuration(self.root):
            versions = dict.fromkeys(find_version_variables(self.root), "{version}")
            for place in self.members:
                if test := find_test_file(self.root.below(place), frozenset()):
                    reasons = (f"{LOCK} is there", f"{place}/{test} is a test")
                    yield move_to(_plan_pytest("uv", step, reasons).with_env(versions), place)
            others = (f"--ignore={place}" for place in self.members)
            step = replace(step, command=(*step.command, *others))
        if tests:
            yield _plan_pytest("uv", step, (f"{LOCK} is there", tests))
        elif not self.members:
            plan = self._plan_without_pytest("uv", "run", "--no-sync", "python")
            yield replace(plan, system="uv")

    def _plan_without_pytest(self, *python: str) -> BuildPlan:
        if plan := plan_unittests(self.root, self.below, python):
            return replace(plan, reasons=(self._name_marker(), *plan.reasons))
        own = ("-x", r"/\.venv/") if self.root.has(LOCK) else ()
        step = BuildStep("build", ("python3", "-m", "compileall", "-q", *own, "."))
        reasons = (self._name_marker(), "no tests were found, so it is only compiled")
        return BuildPlan("python", (step,), reasons)

    def _name_marker(self) -> str:
        if marker := self.root.has(*_MARKERS, MANAGE):
            return f"{marker} is there"
        in_root = _has_modules(self.root)
        return "there are Python files in the root" if in_root else "there are tests in Python"


def _note_tox(plan: BuildPlan, settings: ToxSettings | None) -> BuildPlan:
    note = (f"{settings.file} configures tox, which is not run",) if settings else ()
    return replace(plan, notes=(*plan.notes, *note))


def _plan_pytest(system: str, step: BuildStep, reasons: tuple[str, ...]) -> BuildPlan:
    return BuildPlan(system, (step,), reasons, env=PYTEST_ENV, reported=True)
