"""The projects of a Gradle build, who needs whom, and which of them a change affects. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from prjury.judges.builds.plan import BuildScope
from prjury.judges.builds.systems.gradle_script import Token, at, blocks, tokens
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

_ALL_OF_THEM = frozenset("findProject childProjects getChildProjects".split())
_FOR_OTHERS = frozenset("subprojects allprojects getSubprojects getAllprojects".split())
_LOOPS = frozenset(
    "each eachWithIndex forEach for while collect collectMany map filter all".split()
)
#: Words for tasks that have to wait for others.
_ORDERING = frozenset("dependsOn evaluationDependsOn finalizedBy".split())
_PARTS = re.compile(r"[-_.]+")


@dataclass(frozen=True)
class Mentions:
    """What scripts say of projects.

    Attributes:
        named: the paths of the projects that they name; rather too many.
        needed: those of them that they name as a dependency of something.
        every: whether they may mean any project at all.
        configures: whether they set up projects other than their own.
        applies: whether they apply plugins, without which there is nothing to build.
    """

    named: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    every: bool = False
    configures: bool = False
    applies: bool = False

    def __or__(self, other: Mentions) -> Mentions:
        return Mentions(
            self.named | other.named,
            self.needed | other.needed,
            self.every or other.every,
            self.configures or other.configures,
            self.applies or other.applies,
        )


@dataclass(frozen=True)
class ProjectNames:
    """The projects of a build by all the names that scripts have for them.

    Attributes:
        known: their paths, such as ``:a:b``.
    """

    known: frozenset[str]

    @cached_property
    def accessors(self) -> Mapping[str, str]:
        """The paths by what follows ``projects.`` in scripts."""
        return {accessor(path): path for path in self.known}

    def mentions(self, text: str, own: str) -> Mentions:
        """What a script says.

        Args:
            own: the path of the project that it belongs to; empty for the root's.
        """
        script = tokens(text)
        words = {token.text for token in script if token.kind == "word"}
        places = range(len(script))
        needing = blocks(script, "dependencies") | _lines_with(script, _ORDERING)
        named = list(self._named(script, own))
        opened = any(_open(script, index) for index in places)
        looped = any(script[index].text in _LOOPS | _FOR_OTHERS for index in needing)
        collected = own != "" and any(_collects(script, index) for index in places)
        return Mentions(
            frozenset(path for _, path in named) - {own},
            frozenset(path for index, path in named if index in needing) - {own},
            opened or looped or collected,
            any(_configures(script, index) for index in places),
            bool(words & {"plugins", "apply"}),
        )

    def _named(self, script: Sequence[Token], own: str) -> Iterator[tuple[int, str]]:
        """The projects that a script names, with the places where it does."""
        for index, token in enumerate(script):
            found: Iterable[str] = ()
            if token.kind == "string" and token.fixed:
                if token.text.startswith(":"):
                    found = self._of_path(token.text)
                elif _is_handed_over(script, index):
                    found = (
                        *self._of_path(f"{own}:{token.text}"),
                        *self._of_path(f":{token.text}"),
                    )
            elif token.text == "projects" and at(script, index + 1).text == ".":
                found = self._of_accessor(script, index + 1)
            yield from ((index, path) for path in found)

    def _of_path(self, path: str) -> Iterator[str]:
        """The project that a path leads to, be it by one of its tasks."""
        tries = (path, path.rpartition(":")[0])
        return islice(filter(self.known.__contains__, tries), 1)

    def _of_accessor(self, script: Sequence[Token], index: int) -> Iterator[str]:
        name = ""
        while at(script, index).text == "." and at(script, index + 1).kind == "word":
            name = f"{name}.{at(script, index + 1).text}".removeprefix(".")
            if name in self.accessors:
                yield self.accessors[name]
            index += 2


def accessor(path: str) -> str:
    """``:my-lib:core_api`` is ``projects.myLib.coreApi`` in scripts."""
    return ".".join(map(_camel, path.removeprefix(":").split(":")))


def _camel(name: str) -> str:
    first, *rest = _PARTS.split(name)
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _is_handed_over(script: Sequence[Token], index: int) -> bool:
    """Whether a string is what ``project(…)`` gets."""
    before = [at(script, index - step).text for step in (1, 2, 3, 4)]
    if before[0] in {":", "="} and before[1] == "path":
        before = before[2:]
    return before[:2] == ["(", "project"]


def _open(script: Sequence[Token], index: int) -> bool:
    """Whether a project is meant there that only running the script would tell."""
    token, following = script[index], at(script, index + 1)
    if token.kind == "string":
        return not token.fixed and token.text.startswith(":")
    if token.text == "project" and token.kind == "word" and following.text == "(":
        return _computed(script, index + 2)
    return token.text in _ALL_OF_THEM and token.kind == "word"


def _collects(script: Sequence[Token], index: int) -> bool:
    """Whether other projects are gone through there, be it to depend on them."""
    token = script[index]
    return token.text in _FOR_OTHERS and token.kind == "word" and not _configures(script, index)


def _lines_with(script: Sequence[Token], words: frozenset[str]) -> frozenset[int]:
    """The places of all tokens on lines with one of these words."""
    found, line, chosen = set[int](), list[int](), False
    for index, token in enumerate(script):
        line.append(index)
        chosen = chosen or (token.kind == "word" and token.text in words)
        if token.kind == "line" or index == len(script) - 1:
            found.update(line if chosen else ())
            line, chosen = [], False
    return frozenset(found)


def _computed(script: Sequence[Token], index: int) -> bool:
    """Whether what is handed to ``project(…)`` has to be computed."""
    if at(script, index).text == "path":
        index += 2
    given = at(script, index)
    return given.text != ")" and (given.kind != "string" or not given.fixed)


def _configures(script: Sequence[Token], index: int) -> bool:
    """Whether other projects are set up there, without any of them being needed."""
    token, following, before = script[index], at(script, index + 1), at(script, index - 1)
    if token.kind != "word":
        return False
    if token.text in _FOR_OTHERS:
        whole = following.text == "{" and before.text != "."
        return whole or (before.text == "(" and at(script, index - 2).text == "configure")
    if token.text == "project":
        return [at(script, index + step).text for step in (1, 3, 4)] == ["(", ")", "{"]
    return token.text == "configure" and following.text == "("


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
