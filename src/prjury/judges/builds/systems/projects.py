"""Several projects of one build system in a tree, and which of them a change affects. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan, BuildScope
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    is_within,
    join_path,
    path_in,
)
from prjury.manifests.manifest import Manifest

_OUTSIDE = BuildScope(because="it names places outside of it, on which it depends")


class FoundProject(Struct, frozen=True):
    """A project in a directory of the tree.

    Attributes:
        plans: its builds, as seen from its directory.
        leads_out: its manifests name places outside of it, on which it depends.
    """

    plans: tuple[BuildPlan, ...]
    leads_out: bool = False


def select_affected(
    projects: Mapping[str, FoundProject], changes: Changes | None
) -> tuple[BuildPlan, ...]:
    """The builds of the projects that a change affects, by directory; all of them for None.

    A project is affected by what changes in its directory, and one that depends on something
    outside of it by any change.
    """
    chosen: list[BuildPlan] = []
    for directory, project in sorted(projects.items()):
        plans = [move_to(plan, directory) for plan in project.plans]
        if changes is None or changes.below(directory):
            chosen += plans
        elif project.leads_out:
            chosen += [replace(plan, scope=_OUTSIDE) for plan in plans]
    return tuple(chosen)


def names_outside(
    root: SourceTree, directories: Iterable[str], name: str, reader: Callable[[bytes], Manifest]
) -> bool:
    """True if manifests of a project name directories beside it.

    Args:
        root: the project.
        directories: those of its manifests.
        name: of the manifests.
    """
    for directory in directories:
        manifest = root.readable(path_in(directory, name), reader)
        home = join_path(root.place, directory) or ""
        for local in manifest.local if manifest else ():
            place = join_path(home, local)
            if place is not None and not is_within(place, root.place):
                return True
    return False


def is_below(directory: str, other: str) -> bool:
    """Tell whether a directory lies in another one; false for the same directory."""
    return directory != other and is_within(directory, other)


def move_to(plan: BuildPlan, directory: str) -> BuildPlan:
    """The plan of a project in that directory."""
    place = join_path(directory, plan.directory) or ""
    return replace(plan, directory=place) if directory else plan


#: Patterns with more choices or steps of any depth than this fit nothing.
_MOST_OPEN = 4


def match_members(patterns: Sequence[str], directories: Iterable[str]) -> frozenset[str]:
    """The directories that a workspace's patterns name; a later pattern with ``!`` excludes."""
    chosen = set[str]()
    for directory in directories:
        for pattern in patterns:
            each = map(_split_steps, expand_choices(pattern.lstrip("!")))
            if any(_fits(directory.split("/"), steps) for steps in each):
                (chosen.discard if pattern.startswith("!") else chosen.add)(directory)
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
