"""Tests in Python for Django's runner and for unittest. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.source_tree import (
    SourceTree,
    find_excluded,
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
#: Directories with data, or with code of others.
_ASIDE = frozenset(
    "node_modules vendor third_party site-packages testdata test-data fixture fixtures "
    "__fixtures__".split()
)


def plan_unittests(
    root: SourceTree, others: frozenset[str], python: Sequence[str] = ("python3",)
) -> BuildPlan | None:
    """Django's runner if there is one, else unittest; None without tests.

    Args:
        others: the directories of projects below, whose files are their own.
        python: the program that runs them.
    """
    homes = others | {""}
    tests = [path for path in root.files if _may_test(path) and nearest(path, homes) == ""]
    return _plan_django(root, tests, homes, python) or _plan_discovery(root, tests, python)


def _may_test(path: str) -> bool:
    *parts, name = path.split("/")
    stem = name.removesuffix(".py")
    is_test = stem.startswith("test") or stem.endswith(("_test", "_tests"))
    aside = any(part in _ASIDE or part.startswith(".") for part in parts)
    return name.endswith(".py") and stem.isidentifier() and is_test and not aside


def django_places(root: SourceTree) -> frozenset[str]:
    """The directories with the script by which Django manages a project."""
    places = (place for place in root.directories_with(MANAGE) if find_excluded(place) is None)
    return frozenset(
        place for place in places if "django" in root.text(path_in(place, MANAGE)).lower()
    )


def _plan_django(
    root: SourceTree, tests: Sequence[str], homes: frozenset[str], python: Sequence[str]
) -> BuildPlan | None:
    for place in outermost_first(django_places(root)):
        prefix = f"{place}/" if place else ""
        below = [path for path in tests if path.rpartition("/")[2].startswith("test")]
        first = next((path for path in below if _find_top(path, root) == place), None)
        if first and nearest(f"{prefix}x", homes) == "":
            return BuildPlan(
                "django",
                (BuildStep("test", (*python, MANAGE, "test"), all_ran=_TESTS_FAILED),),
                (
                    f"{prefix}{MANAGE} is Django's",
                    f"{printable(first.removeprefix(prefix))} may hold tests",
                ),
                directory=place,
            )
    return None


def _plan_discovery(
    root: SourceTree, tests: Sequence[str], python: Sequence[str]
) -> BuildPlan | None:
    files = [
        path
        for path, text in root.texts(tests[:_MOST_READ])
        if "unittest" in text and "TestCase" in text
    ]
    searches = sorted({(_find_top(path, root), _find_pattern(path)) for path in files})
    if not searches:
        return None
    commands = []
    for top, pattern in searches:
        place = f"./{top}" if top else "."
        words = ("-m", "unittest", "discover", "-v", "-s", place, "-t", place, "-p", pattern)
        commands.append((*python, *words))
    each = "; ".join(f"{shlex.join(command)} || failed=1" for command in commands)
    command = commands[0] if len(commands) == 1 else f"(failed=0; {each}; exit $failed)"
    return BuildPlan(
        "unittest",
        (BuildStep("test", command, all_ran=_TESTS_FAILED),),
        (f"{printable(files[0])} has tests for unittest", "nothing is there for pytest"),
    )


def _find_pattern(path: str) -> str:
    name = path.rpartition("/")[2]
    return "test*.py" if name.startswith("test") else f"*_{name.rpartition('_')[2]}"


def _find_top(path: str, root: SourceTree) -> str:
    """The directory from which a file is imported: the nearest one that is no package."""
    place = parent_of(path)
    while place and f"{place}/__init__.py" in root.files:
        place = parent_of(place)
    return place
