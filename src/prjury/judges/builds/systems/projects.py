"""Several projects of one build system in a tree: which there are, which a change touches. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import PurePosixPath
from typing import Protocol, TypeAlias

from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems.outside_references import Taken, changes_in, no_references
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined, nearest
from prjury.snapshot.model import visible


class BuildProject(Protocol):
    """A root manifest with all that belongs to it. Directories are as seen from its own."""

    @property
    def outside(self) -> frozenset[str]:
        """Directories that it depends on and that are not its own, from the root of the tree."""
        ...

    @property
    def declares(self) -> bool:
        """Whether it says all that it needs: then projects below it are none of its business."""
        ...

    def owns(self, directory: str) -> bool:
        """Whether a manifest in that directory below is its own business."""
        ...

    def plans(self, changes: Changes | None) -> tuple[BuildPlan, ...]:
        """Its builds, as far as the change affects them; everything for None."""
        ...


#: From a part of the tree to the project whose manifest is in the root of that part.
Opened: TypeAlias = Callable[[SourceTree], BuildProject | None]
#: From the directory of a project to what its files take from outside by relative paths.
_TakenBy: TypeAlias = Callable[[str], frozenset[str]]


def plans_of(
    root: SourceTree,
    changes: Changes | None,
    places: Iterable[str],
    opened: Opened,
    taken: Taken = no_references,
) -> tuple[BuildPlan, ...]:
    """The builds of all projects of one system, those left out that the change cannot affect.

    Args:
        places: the directories that hold a manifest.
        opened: makes a project of a part of the tree.
        taken: what files of a part take from outside by relative paths.
    """
    projects = _projects(root, places, opened)
    if changes is None:
        every = (_all_of(project, directory) for directory, project in sorted(projects.items()))
        return tuple(plan for plans in every for plan in plans)
    reached = cache(lambda directory: taken(root.below(directory)))
    affected = (_affected(projects, place, changes, reached) for place in sorted(projects))
    return tuple(plan for plans in affected for plan in plans)


def _projects(root: SourceTree, places: Iterable[str], opened: Opened) -> dict[str, BuildProject]:
    """The projects by directory; what belongs to one above is none of its own."""
    found: dict[str, BuildProject] = {}
    own = filter(root.may_hold_project, places)
    for directory in sorted(own, key=lambda name: name.split("/")):
        above = [place for place in _above(directory) if place in found]
        owned = any(found[place].owns(_from(place, directory)) for place in above)
        if not owned and (project := opened(root.below(directory))):
            found[directory] = project
    return found


def _above(directory: str) -> list[str]:
    """The directories that hold it, the root among them."""
    parents = PurePosixPath(directory).parents if directory else ()
    return ["" if str(parent) == "." else str(parent) for parent in parents]


def _from(place: str, directory: str) -> str:
    return directory.removeprefix(f"{place}/") if place else directory


def _all_of(project: BuildProject, directory: str) -> Iterable[BuildPlan]:
    return (in_directory(plan, directory) for plan in project.plans(None))


def _affected(
    projects: Mapping[str, BuildProject], directory: str, changes: Changes, taken: _TakenBy
) -> Iterable[BuildPlan]:
    """The builds of one project.

    Its own changes are those that lie in no other project below, if it says all that it needs.
    """
    project = projects[directory]
    if place := _touched_elsewhere(projects, directory, changes, taken):
        because = f"{place} changes, on which it depends"
        every = _all_of(project, directory)
        return [replace(one, scope=replace(one.scope, because=because)) for one in every]
    below = [place for place in projects if project.declares and is_below(place, directory)]
    built = [place for place in below if projects[place].plans(None)]
    own = changes.outside(built).within(directory)
    return (in_directory(plan, directory) for plan in project.plans(own)) if own.paths else ()


def _touched_elsewhere(
    projects: Mapping[str, BuildProject], directory: str, changes: Changes, taken: _TakenBy
) -> str:
    """A place outside of a project that changes and that it depends on, as words; empty for none.

    Where a path leads to, everything counts, whatever project it belongs to.
    """
    if not directory or not changes.outside([directory]).paths:
        taken = frozenset  # there is nothing outside, or nothing that changes
    for place, by_path in sorted(_reach(projects, directory, taken).items()):
        touched = _touches(changes, place, frozenset(projects))
        if touched or (by_path and changes_in(changes, place, directory)):
            return visible(place) or "the root"
    return ""


def _touches(changes: Changes, place: str, directories: frozenset[str]) -> bool:
    """Whether something changes in a place, and not in another project below it."""
    owners = (nearest(path, directories) or "" for path in changes.below(place))
    return any(not is_below(owner, place) for owner in owners)


def _reach(
    projects: Mapping[str, BuildProject], directory: str, taken: _TakenBy
) -> Mapping[str, bool]:
    """What a project depends on elsewhere, directly or through others, and whether by a path."""
    found: dict[str, bool] = {}
    waiting = [*_wanted(projects, directory, taken)]
    while waiting:
        place, by_path = waiting.pop()
        if place == directory or found.get(place) in {True, by_path}:
            continue
        found[place] = by_path
        for owner in {place, *_above(place)} & projects.keys():
            waiting += _wanted(projects, owner, taken)
    return found


def _wanted(
    projects: Mapping[str, BuildProject], directory: str, taken: _TakenBy
) -> Iterable[tuple[str, bool]]:
    yield from ((place, False) for place in sorted(projects[directory].outside))
    yield from ((place, True) for place in sorted(taken(directory)))


def is_below(directory: str, other: str) -> bool:
    """Whether a directory lies in the other one, which it is not."""
    return directory != other and (not other or directory.startswith(f"{other}/"))


def in_directory(plan: BuildPlan, directory: str) -> BuildPlan:
    """The plan of a project in that directory, its thorough form as well."""
    if not directory:
        return plan
    where = joined(directory, plan.directory) or ""
    thorough = in_directory(plan.thorough, directory) if plan.thorough else None
    return replace(plan, directory=where, thorough=thorough)
