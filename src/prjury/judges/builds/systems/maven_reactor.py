"""Maven's reactor: the modules of a build, and their dependencies. Pure."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property

from prjury.judges.builds.systems.source_tree import (
    SourceTree,
    joined,
    parent_of,
    path_in,
    read_manifest,
)
from prjury.manifests.formats import POM
from prjury.manifests.manifest import ManifestError
from prjury.manifests.maven import MavenName, Pom, Profile, State, read_pom
from prjury.snapshot.model import visible

#: The most comparisons of coordinates; beyond that, any may stand for every module.
_MOST_COMPARED = 2_000_000
_OPEN = re.compile(r"\$\{[^{}]*\}")
_GROUP = ("${project.groupId}", "${pom.groupId}", "${groupId}")
_ARTIFACT = ("${project.artifactId}", "${pom.artifactId}", "${artifactId}")
_PARENT_GROUP = ("${project.parent.groupId}", "${parent.groupId}")


@dataclass(frozen=True)
class MavenModule:
    """A module of a reactor.

    Attributes:
        path: its build file, from the directory of the reactor's own.
        profile: the only profile that has it, if it is unknown whether that is active.
    """

    path: str
    pom: Pom
    profile: str = ""

    @property
    def directory(self) -> str:
        """Its directory; ``""`` is that of the reactor."""
        return parent_of(self.path)


@dataclass(frozen=True)
class Reactor:
    """All modules that the ``pom.xml`` in a directory leads to.

    Attributes:
        modules: by the path of the build file, the root's first.
        off: the profiles that are not active, by the build files of modules that only they have.
        elsewhere: directories outside of this one that it leads to, from the root of the tree.
        unreadable: why the modules are not known for certain; empty where they are.
    """

    modules: Mapping[str, MavenModule]
    off: Mapping[str, str] = field(default_factory=dict)
    elsewhere: frozenset[str] = frozenset()
    unreadable: str = ""

    @cached_property
    def directories(self) -> frozenset[str]:
        """The directories of its modules."""
        return frozenset(module.directory for module in self.modules.values())

    @cached_property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """The modules that each one depends on, its parent among them; rather too many."""
        return {
            path: frozenset[str]().union(*self._needed(module)) - {path}
            for path, module in self.modules.items()
        }

    def cut_off(self, module: MavenModule) -> bool:
        """Whether it depends on something that looks like a module, and is none.

        So it is where a module that it needs has got another name.
        """
        groups, artifacts = self._names
        return any(
            not self._lookup.named(wanted)
            and (wanted.group in groups or wanted.artifact in artifacts)
            for wanted in self._mentions(module)
        )

    def parents(self, module: MavenModule) -> frozenset[str]:
        """The modules that may be a module's parent, usually one or none."""
        parent = module.pom.parent_name
        return self._lookup.named(parent) - {module.path} if parent else frozenset()

    def serves(self, other: Reactor) -> bool:
        """Whether another reactor depends on modules of this one, apart from parents."""
        for module in other.modules.values():
            wanted = set(other._mentions(module)) - {module.pom.parent_name}
            if any(map(self._lookup.named, wanted)):
                return True
        return False

    def _needed(self, module: MavenModule) -> Iterator[frozenset[str]]:
        return map(self._lookup.named, self._mentions(module))

    @cached_property
    def _names(self) -> tuple[frozenset[str], frozenset[str]]:
        own = [module.pom.itself for module in self.modules.values()]
        return frozenset(c.group for c in own), frozenset(c.artifact for c in own)

    @cached_property
    def _lookup(self) -> _Lookup:
        return _Lookup(tuple(self.modules.values()))

    @cached_property
    def _parents(self) -> frozenset[str]:
        return frozenset[str]().union(*map(self.parents, self.modules.values()))

    def _mentions(self, module: MavenModule) -> Iterator[MavenName]:
        inherited = module.path in self._parents
        return (_expanded(wanted, module, inherited=inherited) for wanted in module.pom.mentions)


@dataclass
class _Lookup:
    """Finds modules by coordinates, with a limited number of comparisons."""

    modules: Sequence[MavenModule]
    _known: dict[MavenName, frozenset[str]] = field(default_factory=dict)
    _spent: int = 0

    @cached_property
    def _by_artifact(self) -> Mapping[str, list[MavenModule]]:
        """The modules by artifact; those whose artifact has expressions under ``""``."""
        found: dict[str, list[MavenModule]] = {"": []}
        for module in self.modules:
            artifact = module.pom.itself.artifact
            found.setdefault("" if "${" in artifact else artifact, []).append(module)
        return found

    @cached_property
    def _every(self) -> frozenset[str]:
        return frozenset(module.path for module in self.modules)

    def named(self, wanted: MavenName) -> frozenset[str]:
        """The modules that these coordinates may stand for."""
        if wanted not in self._known:
            self._known[wanted] = self._found(wanted)
        return self._known[wanted]

    def _found(self, wanted: MavenName) -> frozenset[str]:
        if "${" in wanted.artifact:
            candidates = self.modules
        else:
            candidates = [*self._by_artifact.get(wanted.artifact, ()), *self._by_artifact[""]]
        self._spent += len(candidates)
        if self._spent > _MOST_COMPARED:
            return self._every
        own = ((module.path, module.pom.itself) for module in candidates)
        return frozenset(path for path, coordinates in own if _may_be(wanted, coordinates))


def _expanded(wanted: MavenName, module: MavenModule, *, inherited: bool) -> MavenName:
    """The coordinates with expressions for the module's own names replaced.

    What others inherit stands for their names, not for the module's own.
    """
    own, parent = module.pom.itself, module.pom.parent_name
    group, artifact = wanted
    for name in _PARENT_GROUP if parent else ():
        group = group.replace(name, parent.group if parent else "")
    if not inherited:
        for name in _GROUP:
            group = group.replace(name, own.group)
    for name in _ARTIFACT:
        if not inherited or artifact == name:
            artifact = artifact.replace(name, own.artifact)
    return MavenName(group, artifact)


def _may_be(wanted: MavenName, own: MavenName) -> bool:
    groups = not wanted.group or may_equal(wanted.group, own.group)
    return groups and may_equal(wanted.artifact, own.artifact)


def may_equal(one: str, other: str) -> bool:
    """Whether two texts can be equal if ``${…}`` stands for anything."""
    if "${" in other:
        one, other = other, one
    if "${" in other:
        return True  # both are open
    return fnmatchcase(other, _OPEN.sub("*", glob.escape(one)))


#: The most modules that are read.
_MOST = 5_000
#: Options of Maven that turn profiles on and off.
_PROFILES = re.compile(r"(^|\s)(-P|--activate-profiles)")
#: Options of Maven that choose modules, or another build file.
_CHOOSING = re.compile(r"(^|\s)(-pl|--projects|-f|--file|-rf|--resume-from|-N|--non-recursive)\b")


def read_reactor(tree: SourceTree, directory: str = "", switches: str = "") -> Reactor:
    """The reactor of the ``pom.xml`` in a directory of the tree.

    Args:
        switches: options that the tree gives to every run of Maven.
    """
    reading = _Reading(tree.below(directory), switches)
    if _CHOOSING.search(switches):
        reading.problem = ".mvn chooses the modules that Maven builds"
    try:
        reading.run()
    except ManifestError as error:
        reading.problem = str(error)
    off = {path: name for path, name in reading.off.items() if path not in reading.modules}
    parents = _outer_parents(tree, directory, reading.modules)
    return Reactor(reading.modules, off, frozenset((*reading.elsewhere, *parents)), reading.problem)


@dataclass
class _Reading:
    """Follows the modules of a ``pom.xml``, and those in profiles after all others."""

    root: SourceTree
    switches: str
    modules: dict[str, MavenModule] = field(default_factory=dict)
    off: dict[str, str] = field(default_factory=dict)
    elsewhere: set[str] = field(default_factory=set)
    problem: str = ""
    _unsure: list[tuple[str, str]] = field(default_factory=list)

    def run(self) -> None:
        """Reads the build file in the root, and those of all modules.

        Raises:
            ManifestError: when the modules cannot be determined.
        """
        self._follow(POM, "")
        while self._unsure:
            path, profile = self._unsure.pop(0)
            self._follow(path, profile)

    def _follow(self, start: str, profile: str) -> None:
        waiting = [start]
        while waiting:
            level = [path for path in dict.fromkeys(waiting) if path not in self.modules]
            if len(self.modules) + len(level) > _MOST:
                raise ManifestError(f"there are more than {_MOST} modules")
            waiting = []
            for path, text in self.root.texts(level):
                module = MavenModule(path, _pom_at(path, text), profile)
                self.modules[path] = module
                waiting += self._modules_of(module)

    def _modules_of(self, module: MavenModule) -> Iterator[str]:
        pom = module.pom
        if pom.searches:
            raise ManifestError(f"{visible(module.path)} leaves the search for modules to Maven")
        for name in pom.members:
            if found := self._located(module, name, needed=True):
                yield found
        states = _states(pom.profiles, self.switches)
        for profile, state in zip(pom.profiles, states, strict=True):
            places = (self._located(module, name, needed=False) for name in profile.modules)
            for place in filter(None, places):
                if state == "default":
                    yield place
                elif state == "off":
                    self.off.setdefault(place, profile.name)
                else:
                    self._unsure.append((place, profile.name))

    def _leave(self, module: MavenModule, name: str) -> None:
        """Modules outside of the directory are known only by their paths."""
        outer = joined(joined(self.root.place, module.directory) or "", name)
        self.elsewhere.update([outer] if outer else [])
        path = visible(module.path)
        self.problem = f"{path} has the module {visible(name)}, which is outside of its directory"

    def _located(self, module: MavenModule, name: str, *, needed: bool) -> str | None:
        """The build file of a module; None if there is none and none is needed."""
        path = visible(module.path)
        if not name or "${" in name:
            raise ManifestError(
                f"{path} names the module `{visible(name)}`, which is not a fixed path"
            )
        place = joined(module.directory, name)
        if place is None:
            self._leave(module, name)
            return None
        inside = path_in(place, POM)
        found = self.root.has(place, inside)
        if found is None and needed:
            raise ManifestError(f"{path} names the module {visible(name)}, which has no {POM}")
        return found


def _pom_at(path: str, text: str) -> Pom:
    try:
        return read_manifest(text, read_pom)
    except ManifestError as error:
        raise ManifestError(f"{visible(path)} cannot be read: {error}") from error


def _states(profiles: Iterable[Profile], switches: str) -> list[State]:
    """The states of the profiles of a file; ``default`` for those that are active."""
    asked = _PROFILES.search(switches)
    states: list[State] = [
        "unknown" if asked or (profile.switch and profile.switch in switches) else profile.state
        for profile in profiles
    ]
    if "unknown" in states:
        return ["unknown" if state == "default" else state for state in states]
    return states


def _outer_parents(
    tree: SourceTree, directory: str, modules: Mapping[str, MavenModule]
) -> Iterator[str]:
    """The directories of parents that lie in the tree, but outside of the reactor's directory."""
    for module in modules.values():
        parent, path = module.pom.parent_name, module.pom.parent_path
        if not parent or not path or joined(module.directory, path) is not None:
            continue
        place = joined(joined(directory, module.directory) or "", path)
        inside = place if place is None or place.endswith(".xml") else path_in(place, POM)
        if inside and tree.text(inside):
            found = tree.readable(inside, read_pom)
            # Maven checks the name as well.
            if found is None or found.name == parent.artifact:
                yield parent_of(inside)
