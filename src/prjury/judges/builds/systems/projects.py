"""Several projects of one build system in a tree, and which of them a change affects. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan, BuildScope
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    is_within,
    joined,
    parents_of,
)
from prjury.manifests.manifest import Manifest
from prjury.snapshot.model import visible


@dataclass(frozen=True)
class FoundProject:
    """A project in a directory of the tree.

    Attributes:
        plans: its builds, as seen from its directory.
        outside: places that its manifests name outside of it, from the root of the tree.
    """

    plans: tuple[BuildPlan, ...]
    outside: frozenset[str] = frozenset()


def select_affected(
    projects: Mapping[str, FoundProject], changes: Changes | None
) -> tuple[BuildPlan, ...]:
    """The builds of the projects that a change affects, by directory; all of them for None.

    A project is affected by what changes in its directory, and by what changes in places that it
    names, or that those name in turn.
    """
    chosen: list[BuildPlan] = []
    for directory in sorted(projects):
        project = projects[directory]
        plans = [in_directory(plan, directory) for plan in project.plans]
        if changes is None or changes.below(directory):
            chosen += plans
        elif place := _changed_outside(projects, directory, changes):
            scope = BuildScope(because=f"{visible(place)} changes, on which it depends")
            chosen += [replace(plan, scope=scope) for plan in plans]
    return tuple(chosen)


def _changed_outside(
    projects: Mapping[str, FoundProject], directory: str, changes: Changes
) -> str | None:
    """The first place with changes that a project names, directly or through other projects."""
    seen, waiting = set[str](), sorted(projects[directory].outside)
    while waiting:
        place = waiting.pop(0)
        if place in seen:
            continue
        seen.add(place)
        if place in changes.paths or changes.below(place):
            return place
        for owner in {place, *parents_of(place)} & projects.keys() - {directory}:
            waiting += sorted(projects[owner].outside)
    return None


def find_outside(
    root: SourceTree, directories: Iterable[str], name: str, reader: Callable[[bytes], Manifest]
) -> frozenset[str]:
    """The directories beside a project that its manifests name, from the root of the tree.

    Args:
        root: the project.
        directories: those of its manifests.
        name: of the manifests.
    """
    outside = set[str]()
    for directory in directories:
        path = f"{directory}/{name}" if directory else name
        manifest = root.readable(path, reader)
        home = joined(root.place, directory) or ""
        for local in manifest.local if manifest else ():
            place = joined(home, local)
            if place is not None and not is_within(place, root.place):
                outside.add(place)
    return frozenset(outside)


def is_below(directory: str, other: str) -> bool:
    """Whether a directory lies in another one; false for the same directory."""
    return directory != other and is_within(directory, other)


def in_directory(plan: BuildPlan, directory: str) -> BuildPlan:
    """The plan of a project in that directory."""
    return replace(plan, directory=joined(directory, plan.directory) or "") if directory else plan


#: Patterns with more choices or steps of any depth than this fit nothing.
_MOST_OPEN = 4


def match_members(patterns: Sequence[str], directories: Iterable[str]) -> frozenset[str]:
    """The directories that a workspace's patterns name; a later pattern with ``!`` excludes."""
    chosen = set[str]()
    for directory in directories:
        for pattern in patterns:
            each = map(_split_steps, expand_choices(pattern.lstrip("!")))
            if not any(_fits(directory.split("/"), steps) for steps in each):
                continue
            if pattern.startswith("!"):
                chosen.discard(directory)
            else:
                chosen.add(directory)
    return frozenset(chosen)


def expand_choices(pattern: str) -> list[str]:
    """The pattern for each of its choices such as ``{a,b}``."""
    before, opened, rest = pattern.partition("{")
    choices, closed, after = rest.partition("}")
    if not (opened and closed) or pattern.count("{") > _MOST_OPEN:
        return [pattern]
    each = (f"{before}{choice.strip()}{after}" for choice in choices.split(","))
    return [one for choice in each for one in expand_choices(choice)]


def _split_steps(pattern: str) -> list[str]:
    """The steps of a pattern; one with too many steps of any depth names nothing."""
    steps = [step for step in pattern.split("/") if step not in {"", "."}]
    return steps if steps.count("**") < _MOST_OPEN else ["/"]


def _fits(path: Sequence[str], steps: Sequence[str]) -> bool:
    if not steps:
        return path in ([], [""])
    if steps[0] == "**":
        return any(_fits(path[start:], steps[1:]) for start in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], steps[0]) and _fits(path[1:], steps[1:])
