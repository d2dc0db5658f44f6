"""Projects that a change touches and that are never built for themselves, for their names. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TypeAlias

from prjury.judges.builds.systems.source_tree import SourceTree, joined, left_out, nearest
from prjury.snapshot.model import visible

#: Code of others: nobody expects it to be built here.
_VENDORED = frozenset("node_modules vendor third_party third-party thirdparty deps".split())
#: In a project this is what its tests work with, or they themselves.
_OF_TESTS = frozenset(
    "test tests __tests__ testdata test-data fixture fixtures __fixtures__".split()
)
_WORDS: Mapping[str, str] = {
    **dict.fromkeys(_OF_TESTS, "tests and their data"),
    **dict.fromkeys(("example", "examples"), "examples"),
    **dict.fromkeys(("sample", "samples"), "samples"),
    **dict.fromkeys(("template", "templates", "resources"), "templates"),
    **dict.fromkeys(("doc", "docs"), "directories of documentation"),
    "fuzz": "fuzz tests",
}
_MOST_NAMED = 5

#: From directories, as if they had other names, to those of them that would be built.
Tried: TypeAlias = Callable[[frozenset[str]], frozenset[str]]


def excluded_projects(
    root: SourceTree, manifests: Sequence[str], built: frozenset[str], tried: Tried
) -> tuple[str, ...]:
    """The nearest project around each changed file that is left out for its name.

    A directory whose manifest belongs to a workspace is built with it, and is none of them.

    Args:
        manifests: the names of the files that tell of a project.
        built: the directories of the projects that are known.
        tried: which of the directories are projects of their own.
    """
    places = root.directories_with(*manifests)
    paths = root.changed.paths if root.changed else frozenset[str]()
    chains = [_chain(path, places, built) for path in sorted(paths)]
    candidates = frozenset(place for chain in chains for place in chain)
    projects = tried(candidates) if candidates else candidates
    first = (next(filter(projects.__contains__, chain), None) for chain in chains)
    return tuple(sorted({place for place in first if place is not None}))


def _chain(path: str, places: frozenset[str], built: frozenset[str]) -> list[str]:
    """The directories with manifests around a file that are left out, the nearest one first.

    It ends at the first that may be a project: what lies in it is its own.
    """
    found: list[str] = []
    for parent in PurePosixPath(path).parents:
        place = "" if str(parent) == "." else str(parent)
        if place not in places:
            continue
        if left_out(place) is None or _is_material(place, built):
            break
        found.append(place)
    return found


def _is_material(place: str, built: frozenset[str]) -> bool:
    """Whether it is code of others, or lies among the tests of a project that is built."""
    parts = place.lower().split("/")
    if not _VENDORED.isdisjoint(parts):
        return True
    of_tests = next((index for index, part in enumerate(parts) if part in _OF_TESTS), None)
    if of_tests is None:
        return False
    above = "/".join([*place.split("/")[:of_tests], "x"])
    return nearest(above, built) is not None


def excluded_notes(root: SourceTree, manifests: Sequence[str], places: Iterable[str]) -> list[str]:
    """What a reader should know of projects that are not built; one clause each."""
    listed = list(places)
    clauses = [_clause(root, manifests, place) for place in listed[:_MOST_NAMED]]
    left = len(listed) - _MOST_NAMED
    return [*clauses, f"{left} more projects like these were not built"] if left > 0 else clauses


def _clause(root: SourceTree, manifests: Sequence[str], place: str) -> str:
    manifest = root.has(*(joined(place, name) or "" for name in manifests)) or place
    part = left_out(place) or ""
    lower = part.lower()
    hidden = "hidden directories" if part.startswith(".") else "such names"
    kind = _WORDS.get(lower) or _WORDS.get(lower.lstrip("_-"), hidden)
    name = manifest.rpartition("/")[2]
    return f"{visible(place)} has a {name} and was not built, because {kind} are left out"
