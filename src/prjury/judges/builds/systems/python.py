"""Python: uv, tox, pytest, unittest, or only the compiler if there are no tests. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice

from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems import uv
from prjury.judges.builds.systems.build_system import NATIVE, PYTHON, SystemDocs, When
from prjury.judges.builds.systems.projects import any_leads_out, leads_out, plans_of
from prjury.judges.builds.systems.pytest import (
    PYTEST_ENV,
    TESTS_FAILED,
    PytestRerun,
    tox_plan,
    tox_settings,
    what_tests,
)
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    joined,
    left_out,
    nearest,
    outermost_first,
    parent_of,
    path_in,
)
from prjury.judges.builds.systems.uv import MANIFEST, read_members
from prjury.judges.builds.systems.workspace_graph import WorkspaceGraph
from prjury.manifests.manifest import ManifestError
from prjury.manifests.python import read_pyproject
from prjury.manifests.syntax import table, toml_of
from prjury.snapshot.model import printable

MANAGE = "manage.py"
#: Files that make a directory below the root a project of its own.
MANIFESTS = ("uv.lock", "tox.ini", "tox.toml", MANIFEST, "setup.py")
COVERS = {
    **dict.fromkeys(("pytest", "unittest", "django", "python"), PYTHON),
    **dict.fromkeys(("uv", "tox"), PYTHON | NATIVE),
}
WHEN: When = "last_resort_if_untested"
DOCS = SystemDocs(
    (
        (
            "`uv.lock`",
            (
                "`uv run --frozen pytest -q`, with the extra or group that brings pytest, or "
                "`--with pytest` where the lock has none"
            ),
        ),
        (
            "`tox.ini`, `tox.toml`, `[tool.tox]`, `[tox:tox]`",
            (
                "`tox --skip-missing-interpreters true`, with `-e` and the one environment of the "
                "interpreter that is here, where `env_list` names such environments; those "
                "for types, lint or documentation are no such"
            ),
        ),
        (
            "pytest's settings, or `test_*.py`, `*_test.py`",
            "`python3 -m pytest -q`; below a root with `uv.lock`: `uv run pytest -q`",
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
    ),
    "uv",
    "members of `[tool.uv.workspace]`",
    "by requirements, extras, groups and build requirements",
)

#: The exit code of both runners if all tests ran and some failed.
_TESTS_FAILED = 1
#: The most files that are read to find tests.
_MOST_READ = 2_000
_DJANGO = re.compile(r"\bdjango\b", re.IGNORECASE)
_MODULE = re.compile(r"[A-Za-z_]\w*\.py")
_TEST_PLACES = frozenset({"test", "tests"})
#: Directories with data, or with code of others.
_ASIDE = frozenset(
    "node_modules vendor third_party site-packages testdata test-data fixture fixtures "
    "__fixtures__".split()
)


@dataclass(frozen=True)
class Unittests:
    """The tests of a project for Django's runner or unittest.

    Attributes:
        others: the directories of projects below, whose files are their own.
        python: the program that runs them.
    """

    root: SourceTree
    others: frozenset[str]
    python: tuple[str, ...] = ("python3",)

    def plan(self) -> BuildPlan | None:
        """Django's runner if there is one, else unittest; None without tests."""
        return self._django() or self._plain()

    def _django(self) -> BuildPlan | None:
        """One run of all tests that Django finds below its script."""
        tests = [path for path in self._candidates() if _name(path).startswith("test")]
        for place in outermost_first(django_places(self.root)):
            part = self.root.below(place)
            prefix = f"{place}/" if place else ""
            below = (path.removeprefix(prefix) for path in tests if path.startswith(prefix))
            found = next((path for path in below if _top(path, part) == ""), None)
            if found and nearest(f"{prefix}x", self.others | {""}) == "":
                return BuildPlan(
                    "django",
                    (BuildStep("test", (*self.python, MANAGE, "test")),),
                    (f"{prefix}{MANAGE} is Django's", f"{printable(found)} may hold tests"),
                    all_ran=_TESTS_FAILED,
                    directory=place,
                )
        return None

    def _plain(self) -> BuildPlan | None:
        """One search for each directory and pattern, which together find all tests."""
        found = list(self._with_tests())
        searches = sorted({_search(path, self.root) for path in found})
        if not searches:
            return None
        steps = tuple(BuildStep("test", (*self.python, *_discover(*search))) for search in searches)
        plan = BuildPlan(
            "unittest",
            steps,
            (f"{printable(found[0])} has tests for unittest", "nothing is there for pytest"),
            all_ran=_TESTS_FAILED if len(steps) == 1 else None,
        )
        if len(steps) == 1:
            return plan
        each = "; ".join(f"{step.text} || failed=1" for step in steps)
        together = BuildStep("test", f"(failed=0; {each}; exit $failed)")
        keep_going = replace(plan, steps=(together,), all_ran=_TESTS_FAILED)
        return replace(plan, keep_going=keep_going)

    def _with_tests(self) -> Iterator[str]:
        """The files that define tests, by their names and texts."""
        candidates = list(islice(self._candidates(), _MOST_READ))
        for path, text in self.root.texts(candidates):
            if "unittest" in text and (_is_certain(path) or "TestCase" in text):
                yield path

    def _candidates(self) -> Iterator[str]:
        homes = self.others | {""}
        for path in self.root.files:
            if not _MODULE.fullmatch(_name(path)) or _name(path) == "__init__.py":
                continue
            parts = path.split("/")[:-1]
            aside = any(part in _ASIDE or part.startswith(".") for part in parts)
            named = _is_named(path) or not _TEST_PLACES.isdisjoint(parts)
            if named and not aside and nearest(path, homes) == "":
                yield path


def django_places(root: SourceTree) -> frozenset[str]:
    """The directories with the script by which Django manages a project."""
    places = (place for place in root.directories_with(MANAGE) if left_out(place) is None)
    return frozenset(place for place in places if _DJANGO.search(root.text(path_in(place, MANAGE))))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _is_certain(path: str) -> bool:
    """Whether the name is one of files with nothing but tests."""
    return _name(path) in {"test.py", "tests.py"} or path.endswith("_tests.py")


def _is_named(path: str) -> bool:
    """Whether the name is one of files that may have tests."""
    return _name(path).startswith("test") or _name(path).endswith(("_tests.py", "_test.py"))


def _top(path: str, root: SourceTree) -> str:
    """The directory from which a file is imported: the nearest one that is no package."""
    place = parent_of(path)
    while place and f"{place}/__init__.py" in root.files:
        place = parent_of(place)
    return place


def _search(path: str, root: SourceTree) -> tuple[str, str, str]:
    """The start directory, top-level directory and pattern with which a file is found."""
    top = _top(path, root)
    if _name(path).startswith("test"):
        return top, top, "test*.py"
    if _is_named(path):
        return top, top, f"*_{_name(path).rpartition('_')[2]}"
    return _outermost(path, top), top, "*.py"


def _outermost(path: str, top: str) -> str:
    """The outermost directory of tests around a file, within its top-level directory."""
    parts = parent_of(path).split("/")
    first = len(top.split("/")) if top else 1
    for length in range(max(first, 1), len(parts) + 1):
        if parts[length - 1] in _TEST_PLACES:
            return "/".join(parts[:length])
    return parent_of(path)


def _discover(start: str, top: str, pattern: str) -> Sequence[str]:
    """The arguments of one search; ``-v`` names every test."""
    places = ("-s", _relative(start), "-t", _relative(top))
    return ("-m", "unittest", "discover", "-v", *places, "-p", pattern)


def _relative(place: str) -> str:
    return f"./{place}" if place else "."


#: Files that mark Python in the root of a tree.
_MARKERS = (
    "uv.lock", "tox.ini", "tox.toml", MANIFEST, "setup.py", "setup.cfg", "pytest.ini",
    "requirements.txt",
)  # fmt: skip
#: Files in the root of projects in other languages, which often have helpers in Python.
_OTHERS = (
    "Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "meson.build", "configure",
    "configure.ac", "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle",
    "settings.gradle.kts", "package.json", "Cargo.toml", "go.mod", "Gemfile", "composer.json",
    "Makefile.PL", "Build.PL", "dist.ini", "cpanfile", "mix.exs", "Package.swift", "build.sbt",
)  # fmt: skip
_SETTINGS = re.compile(
    r"pytest\.ini|setup\.cfg|tox\.ini|tox\.toml|pyproject\.toml|Pipfile|"
    r".*(?:requirements|constraints).*\.(?:txt|in)|.*/requirements/.*\.(?:txt|in)"
)
_CLIMBING = re.compile(r"\.parent\b|\bdirname\b|\bpardir\b|(?<![\w.])\.\.(?![\w.])")
_PARENTS = re.compile(r"\.parents\[(\d{1,2})\]")
_PYTEST = ("python3", "-m", "pytest", "-q")


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The affected projects."""
    places = root.directories_with(*MANIFESTS)
    if root.has(*_MARKERS) or _has_modules(root) or _has_only_tests(root, places):
        places |= {""}
    places |= {place for place in django_places(root) if nearest(f"{place}/x", places) is None}
    locked = root.has(uv.LOCK) is not None
    opened = partial(_opened, uv_is_used=locked)
    return plans_of(root, changes, places, opened, _uses_outside)


def _has_modules(root: SourceTree) -> bool:
    return any("/" not in path and path.endswith(".py") for path in root.files)


def _uses_outside(root: SourceTree) -> bool:
    """Whether settings, requirements or ``sys.path`` name places outside of the project."""
    return any_leads_out(root, _is_read, _names_outside)


def _is_read(path: str) -> bool:
    return path.endswith(".py") or bool(
        _SETTINGS.fullmatch(path) or _SETTINGS.fullmatch(_name(path))
    )


def _names_outside(text: str, path: str) -> bool:
    if not path.endswith(".py"):
        return leads_out(_undeclared(text) if path.endswith(MANIFEST) else text, path)
    if "sys.path" not in text and "addsitedir" not in text:
        return False
    return _steps_up(text) > (path.count("/") if "__file__" in text else 0)


def _undeclared(text: str) -> str:
    """The text of a manifest without the dependencies that it declares."""
    try:
        document = toml_of(text.replace("\r\n", "\n"))
    except ManifestError:
        return text
    table(document, "tool", "uv").pop("sources", None)
    for key in ("dependencies", "dev-dependencies", "group"):
        table(document, "tool", "poetry").pop(key, None)
    return json.dumps(document, default=str)


def _steps_up(text: str) -> int:
    """How many directories a source climbs at most; the first step only leaves the file itself."""
    steps = len(_CLIMBING.findall(text))
    steps += sum(1 + int(number) for number in _PARENTS.findall(text))
    return steps - bool(re.search(r"\.parents?\b|\bdirname\b", text))


def _has_only_tests(root: SourceTree, places: frozenset[str]) -> bool:
    """Whether tests are the only sign of Python, and the root has no other build file."""
    if root.has(*_OTHERS):
        return False
    return bool(what_tests(root, places) or Unittests(root, places).plan())


def _opened(root: SourceTree, *, uv_is_used: bool) -> _Python | None:
    if root.place and not root.has("setup.py", "uv.lock", "tox.ini", "tox.toml"):
        manifest = root.readable(MANIFEST, read_pyproject)
        described = manifest is not None and manifest.is_described
        if not described and "" not in django_places(root):
            return None  # only settings of tools
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
        return self.root.directories_with(*MANIFESTS) - {""}

    @property
    def outside(self) -> frozenset[str]:
        own = {joined(self.root.place, place) or "" for place in self._members | {""}}
        found = set[str | None]()
        for place in self._members | {""}:
            manifest = self.root.readable(path_in(place, MANIFEST), read_pyproject)
            home = joined(self.root.place, place) or ""
            found.update(joined(home, path) for path in (manifest.local if manifest else ()))
        return frozenset(place for place in found if place is not None) - own

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
        settings = tox_settings(self.root)
        if self.root.has(uv.LOCK) and (tests or not settings):
            single = uv.single_plan(self.root, tests) if tests else self._other(*uv.PYTHON)
            return self._noted(single or uv.compiled_plan())
        locked = self.root.has("poetry.lock", "pdm.lock")
        if settings and not (locked and tests):
            return tox_plan(settings)
        manifest = self.root.readable(MANIFEST, read_pyproject)
        managed = self.uv_is_used and manifest is not None and manifest.is_project
        if tests:
            plan = uv.unlocked_plan(self.root, tests) if managed else self._tested(tests)
            return self._noted(plan)
        return self._other(*(uv.UNLOCKED_PYTHON if managed else ("python3",))) or self._compiled()

    def _other(self, *python: str) -> BuildPlan | None:
        """The tests for Django's runner or unittest."""
        plan = Unittests(self.root, self._below, python).plan()
        return plan and replace(plan, reasons=(self._marker(), *plan.reasons))

    def _noted(self, plan: BuildPlan) -> BuildPlan:
        settings = tox_settings(self.root)
        note = (f"{settings.file} configures tox, which is not run",) if settings else ()
        return replace(plan, notes=(*plan.notes, *note))

    def _marker(self) -> str:
        marker = self.root.has(*_MARKERS, MANAGE)
        if marker:
            return f"{marker} is there"
        in_root = _has_modules(self.root)
        return "there are Python files in the root" if in_root else "there are tests in Python"

    def _tested(self, tests: str) -> BuildPlan:
        return BuildPlan(
            "pytest",
            (BuildStep("test", _PYTEST),),
            (self._marker(), tests),
            env=PYTEST_ENV,
            reported=True,
            all_ran=TESTS_FAILED,
            rerun_failed=PytestRerun(_PYTEST, self.root),
        )

    def _compiled(self) -> BuildPlan:
        step = BuildStep("build", ("python3", "-m", "compileall", "-q", "."))
        reasons = (self._marker(), "no tests were found, so it is only compiled")
        return BuildPlan("python", (step,), reasons)
