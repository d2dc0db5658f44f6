"""The projects of a Gradle build, who needs whom, and which of them a change affects. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from prjury.judges.builds.plan import BuildScope
from prjury.judges.builds.systems.gradle_mentions import Mentions, ProjectNames
from prjury.judges.builds.systems.gradle_settings import (
    BUILD_SCRIPTS,
    SETTINGS,
    GradleSettings,
    SettingsError,
    read_settings,
)
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined, nearest, parent_of
from prjury.judges.builds.systems.workspace_graph import MOST_NAMED, with_dependents
from prjury.snapshot.model import visible

_SCRIPTS = (".gradle", ".gradle.kts")
#: What conventions for all projects are written in, below ``buildSrc`` and in included builds.
_SOURCES = (*_SCRIPTS, ".kt", ".kts", ".groovy", ".java")
_NEARLY_ALL = 0.9
_LARGE = 10
_ROOT = ""


@dataclass(frozen=True)
class Projects:
    """The projects of the settings in the root of a tree.

    Attributes:
        root: the tree as seen from the settings.
        unreadable: why the projects are not known for certain; empty where they are.
    """

    root: SourceTree
    settings: GradleSettings = field(default_factory=GradleSettings)
    unreadable: str = ""

    @cached_property
    def directories(self) -> Mapping[str, str]:
        """The projects by directory, the root's among them under the empty path."""
        return {"": _ROOT, **{place: path for path, place in self.settings.projects.items()}}

    @cached_property
    def builds(self) -> frozenset[str]:
        """The directories of other builds that take part, as seen from here."""
        return frozenset(filter(None, (joined("", place) for place in self.settings.builds)))

    @cached_property
    def places(self) -> frozenset[str]:
        """All directories that hold anything."""
        found = {""}
        for path in self.root.files:
            place = parent_of(path)
            while place not in found:
                found.add(place)
                place = parent_of(place)
        return frozenset(found)

    def scope(self, changes: Changes) -> BuildScope:
        """The projects that the change affects and that can be built, or why all of them."""
        if self.unreadable:
            return BuildScope(because=self.unreadable)
        if not self.settings.projects:
            return BuildScope()
        if because := self._orphan or self._everything(changes):
            return BuildScope(because=because)
        return self._of(with_dependents(self._touched(changes), self.needs))

    def _of(self, affected: frozenset[str]) -> BuildScope:
        shared = self._said[_ROOT]
        if shared.every:
            return BuildScope(because="the scripts of the whole build may name any project")
        if meant := min(shared.needed & affected, default=""):
            return BuildScope(because=f"the scripts of the whole build name {meant}")
        projects = (path for path in self.settings.projects if path in affected)
        listed = tuple(filter(self._can_be_built, projects))
        if because := _too_much(len(listed), len(self.settings.projects)):
            return BuildScope(because=because)
        return BuildScope(listed, "projects that the change touches, and those that depend on them")

    @cached_property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """The projects that each one names, and those that it lies in and may be set up by."""
        every = frozenset(self.settings.projects)
        return {
            path: ((every if said.every else said.named) | self._above(path)) - {path}
            for path, said in self._said.items()
            if path != _ROOT
        }

    def _above(self, path: str) -> frozenset[str]:
        above = path.rpartition(":")[0]
        return frozenset({above} if above else ())

    @cached_property
    def _scripts(self) -> list[str]:
        """Every script, and whatever else may be one for all projects."""
        return [
            path
            for path in self.root.files
            if path not in SETTINGS
            and path.endswith(_SOURCES if self._is_elsewhere(path) else _SCRIPTS)
        ]

    @cached_property
    def _said(self) -> Mapping[str, Mentions]:
        """What the scripts say by the project that they lie in.

        The root's, and those that set up other projects than their own, count for all of them.
        """
        names = ProjectNames(frozenset(self.settings.projects))
        found = dict.fromkeys(self.directories.values(), Mentions())
        for file, text in self.root.texts(self._scripts):
            owner = self.directories[self._home(file)]
            said = names.mentions(text, owner)
            if self._is_elsewhere(file):
                said = replace(said, needed=said.named)  # a program may do anything with a name
            for place in {owner, _ROOT if said.configures else owner}:
                found[place] |= said
        return found

    def _home(self, path: str) -> str:
        """The directory of the project that a path lies in; nothing of other builds is in one."""
        if self._is_elsewhere(path):
            return ""
        return nearest(path, frozenset(self.directories)) or ""

    @cached_property
    def _orphan(self) -> str:
        """That there may be projects that are not included by name, or nothing."""
        if not self.settings.extended:
            return ""
        homes = self.root.directories_with(*BUILD_SCRIPTS)
        left = sorted(homes - frozenset(self.directories) - self.root.directories_with(*SETTINGS))
        alone = next((place for place in left if not self._is_elsewhere(place)), None)
        if alone is None:
            return ""
        return f"a plugin of the settings may include {visible(alone)}, which they do not name"

    def _is_elsewhere(self, path: str) -> bool:
        """Whether it belongs to a build that only takes part in this one."""
        return f"{path}/".startswith(tuple(f"{build}/" for build in ("buildSrc", *self.builds)))

    def _everything(self, changes: Changes) -> str:
        for path in sorted(changes.paths):
            if self._home(path) == "":
                return f"{visible(path)} belongs to no single project"
        return ""

    def _touched(self, changes: Changes) -> Iterator[str]:
        for path in changes.paths | changes.docs:
            if home := self._home(path):
                yield self.directories[home]

    def _can_be_built(self, path: str) -> bool:
        """Whether a project has anything to build: its own scripts or the root's apply plugins."""
        lines = [path]
        while lines[-1]:
            lines.append(lines[-1].rpartition(":")[0])
        own, *above = (self._said.get(line, Mentions()) for line in lines)
        place = self.settings.projects[path]
        if own.applies:
            return True
        set_up = any(said.configures and said.applies for said in above)
        return set_up and f"{place}/src" in self.places


def _too_much(count: int, every: int) -> str:
    """Why so many projects of all of them are better built with the others, or nothing."""
    if not count:
        return "what the change affects has no build of its own"
    if count > MOST_NAMED:
        return f"the change affects more than {MOST_NAMED} projects"
    if count == every:
        return "all projects are affected"
    large = every >= _LARGE and count >= _NEARLY_ALL * every
    return "nearly all projects are affected" if large else ""


def read_projects(root: SourceTree) -> Projects:
    """The projects of the settings in the root of this tree; without settings there is one."""
    script = root.has(*SETTINGS)
    if script is None:
        return Projects(root)
    try:
        settings = read_settings(root.text(script))
    except SettingsError as error:
        return Projects(root, unreadable=f"{script} {error}")
    places = Counter(settings.projects.values())
    doubled = next((place for place, count in places.items() if count > 1 or not place), None)
    if doubled is not None:
        problem = f"{script} has more than one project in `{visible(doubled) or '.'}`"
        return Projects(root, settings, problem)
    projects = Projects(root, settings)
    missing = next((place for place in places if place not in projects.places), None)
    problem = f"{script} has a project in {visible(missing)}, which is not there" if missing else ""
    return replace(projects, unreadable=problem)
