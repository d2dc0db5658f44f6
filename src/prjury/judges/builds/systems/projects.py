"""Several projects of one build system in a tree, and which of them a change affects. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol, TypeAlias

from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    is_within,
    joined,
    nearest,
    parents_of,
)
from prjury.snapshot.model import visible


class BuildProject(Protocol):
    """A root manifest with all that belongs to it. Directories are relative to its own."""

    @property
    def outside(self) -> frozenset[str]:
        """Directories outside of the project that it depends on, from the root of the tree."""
        ...

    @property
    def declares(self) -> bool:
        """Whether its manifests name all that it needs; then projects below it are not its own."""
        ...

    def owns(self, directory: str) -> bool:
        """Whether a manifest in that directory below belongs to this project."""
        ...

    def plans(self, changes: Changes | None) -> tuple[BuildPlan, ...]:
        """The builds that the change affects; all of them for None."""
        ...


#: From a part of the tree to the project whose manifest is in the root of that part.
OpenProject: TypeAlias = Callable[[SourceTree], BuildProject | None]
#: Whether the files of a part of the tree use anything outside of it that no manifest declares.
UsesOutside: TypeAlias = Callable[[SourceTree], bool]


def _never(_root: SourceTree) -> bool:
    return False


def plans_of(
    root: SourceTree,
    changes: Changes | None,
    places: Iterable[str],
    opened: OpenProject,
    uses_outside: UsesOutside = _never,
) -> tuple[BuildPlan, ...]:
    """The builds of all projects of one system, without those that the change cannot affect.

    Args:
        places: the directories that hold a manifest.
        opened: makes a project of a part of the tree.
        uses_outside: whether a project is affected by any change outside of it.
    """
    projects = _projects(root, places, opened)
    if changes is None:
        every = (_all_of(project, directory) for directory, project in sorted(projects.items()))
        return tuple(plan for plans in every for plan in plans)
    selection = _Selection(projects, changes, cache(lambda place: uses_outside(root.below(place))))
    affected = (selection.plans(place) for place in sorted(projects))
    return tuple(plan for plans in affected for plan in plans)


def _projects(
    root: SourceTree, places: Iterable[str], opened: OpenProject
) -> dict[str, BuildProject]:
    """The projects by directory, without directories that belong to a project above."""
    found: dict[str, BuildProject] = {}
    own = filter(root.may_hold_project, places)
    for directory in sorted(own, key=lambda name: name.split("/")):
        above = [place for place in parents_of(directory) if place in found]
        owned = any(found[place].owns(_from(place, directory)) for place in above)
        if not owned and (project := opened(root.below(directory))):
            found[directory] = project
    return found


def _from(place: str, directory: str) -> str:
    return directory.removeprefix(f"{place}/") if place else directory


def _all_of(project: BuildProject, directory: str) -> Iterable[BuildPlan]:
    return (in_directory(plan, directory) for plan in project.plans(None))


@dataclass(frozen=True)
class _Selection:
    """Which builds of which projects a change affects.

    Attributes:
        uses_outside: whether the project in a directory is affected by any change outside of it.
    """

    projects: Mapping[str, BuildProject]
    changes: Changes
    uses_outside: Callable[[str], bool]

    def plans(self, directory: str) -> Iterable[BuildPlan]:
        """The builds of one project.

        A change in another project below counts only if the project may use undeclared files.
        """
        project = self.projects[directory]
        if because := self._outside(directory):
            every = _all_of(project, directory)
            return [replace(one, scope=replace(one.scope, because=because)) for one in every]
        below = [
            place for place in self.projects if project.declares and is_below(place, directory)
        ]
        built = [place for place in below if self.projects[place].plans(None)]
        own = self.changes.outside(built).within(directory)
        return (in_directory(plan, directory) for plan in project.plans(own)) if own.paths else ()

    def _outside(self, directory: str) -> str:
        """Why a change outside of the project affects all of it, or nothing."""
        reached = self._reach(directory)
        for place in sorted(reached):
            if self._is_touched(place):
                return f"{visible(place) or 'the root'} changes, on which it depends"
        if not directory or not self.changes.outside([directory]).paths:
            return ""
        owners = (self.projects.keys() & {place, *parents_of(place)} for place in reached)
        users = sorted({directory}.union(*owners))
        if any(self.uses_outside(place) for place in users if place):
            return "files outside of it change, and its own files name paths that lead there"
        return ""

    def _is_touched(self, place: str) -> bool:
        """Whether something changes in a place, and not in another project below it."""
        directories = frozenset(self.projects)
        owners = (nearest(path, directories) or "" for path in self.changes.below(place))
        return any(not is_below(owner, place) for owner in owners)

    def _reach(self, directory: str) -> frozenset[str]:
        """The places outside that a project declares, directly or through other projects."""
        found = set[str]()
        waiting = [*self.projects[directory].outside]
        while waiting:
            place = waiting.pop()
            if place == directory or place in found:
                continue
            found.add(place)
            for owner in {place, *parents_of(place)} & self.projects.keys():
                waiting += self.projects[owner].outside
        return frozenset(found)


#: In projects with more files than this no file is read: anything may be used.
_MOST_READ = 2_000
#: Directories with code of others.
_ASIDE = frozenset({"node_modules", "vendor", "third_party", "site-packages"})
#: A path from its first step upwards on, also if its parts are arguments of their own.
_UPWARDS = re.compile(r"(?<![\w.])\.\.(?![\w.])(?:(?:/+|[\"'`]\s{0,20},\s{0,20}[\"'`])[\w.@-]+)*")
_PART = re.compile(r"[\w.@-]+")


def leads_out(text: str, path: str) -> bool:
    """Whether a file of a project names a relative path that may lead out of the project."""
    if ".." not in text:
        return False
    inside = path.count("/")
    return any(_steps_up(found[0]) > inside for found in _UPWARDS.finditer(text))


def _steps_up(path: str) -> int:
    """How many directories a path climbs at most above its start."""
    level = highest = 0
    for part in _PART.findall(path):
        level += {"..": 1, ".": 0}.get(part, -1)
        highest = max(highest, level)
    return highest


def any_leads_out(
    root: SourceTree,
    wanted: Callable[[str], object],
    check: Callable[[str, str], bool] = leads_out,
) -> bool:
    """Whether any file of a project uses what lies outside of it.

    Args:
        wanted: tells by a path whether the file is read.
        check: whether a text, at a path, uses what lies outside.
    """
    if not root.place:
        return False
    paths = [path for path in root.files if wanted(path) and _ASIDE.isdisjoint(path.split("/"))]
    if len(paths) > _MOST_READ:
        return True
    return any(check(text, path) for path, text in root.texts(paths))


def is_below(directory: str, other: str) -> bool:
    """Whether a directory lies in another one; false for the same directory."""
    return directory != other and is_within(directory, other)


def in_directory(plan: BuildPlan, directory: str) -> BuildPlan:
    """The plan of a project in that directory, its thorough form as well."""
    if not directory:
        return plan
    where = joined(directory, plan.directory) or ""
    keep_going = in_directory(plan.keep_going, directory) if plan.keep_going else None
    return replace(plan, directory=where, keep_going=keep_going)
