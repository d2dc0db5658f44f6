"""Tests in Python for Django's runner and for unittest. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.source_tree import (
    SourceTree,
    left_out,
    nearest,
    outermost_first,
    parent_of,
    path_in,
)
from prjury.snapshot.model import printable

MANAGE = "manage.py"

#: The exit code of both runners if all tests ran and some failed.
_TESTS_FAILED = 1
#: The most files that are read to find tests.
_MOST_READ = 2_000
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
                    (BuildStep("test", (*self.python, MANAGE, "test"), all_ran=_TESTS_FAILED),),
                    (f"{prefix}{MANAGE} is Django's", f"{printable(found)} may hold tests"),
                    directory=place,
                )
        return None

    def _plain(self) -> BuildPlan | None:
        """One search for each directory and pattern, which together find all tests."""
        files = list(self._with_tests())
        searches = sorted({_search(path, self.root) for path in files})
        if not searches:
            return None
        commands = [(*self.python, *_discover(*search)) for search in searches]
        each = "; ".join(f"{shlex.join(command)} || failed=1" for command in commands)
        command = commands[0] if len(commands) == 1 else f"(failed=0; {each}; exit $failed)"
        return BuildPlan(
            "unittest",
            (BuildStep("test", command, all_ran=_TESTS_FAILED),),
            (f"{printable(files[0])} has tests for unittest", "nothing is there for pytest"),
        )

    def _with_tests(self) -> Iterator[str]:
        """The files that define tests, by their names and texts."""
        candidates = list(islice(self._candidates(), _MOST_READ))
        for path, text in self.root.texts(candidates):
            if "unittest" in text and (_is_certain(path) or "TestCase" in text):
                yield path

    def _candidates(self) -> Iterator[str]:
        homes = self.others | {""}
        for path in self.root.files:
            module, dot, suffix = _name(path).rpartition(".")
            if (dot, suffix) != (".", "py") or not module.isidentifier() or module == "__init__":
                continue
            parts = path.split("/")[:-1]
            aside = any(part in _ASIDE or part.startswith(".") for part in parts)
            named = _is_named(path) or not _TEST_PLACES.isdisjoint(parts)
            if named and not aside and nearest(path, homes) == "":
                yield path


def django_places(root: SourceTree) -> frozenset[str]:
    """The directories with the script by which Django manages a project."""
    places = (place for place in root.directories_with(MANAGE) if left_out(place) is None)
    return frozenset(
        place for place in places if "django" in root.text(path_in(place, MANAGE)).lower()
    )


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
