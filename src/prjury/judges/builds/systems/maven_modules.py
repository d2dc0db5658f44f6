"""Follows a ``pom.xml`` to all the modules of its build. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from prjury.judges.builds.systems.maven_pom import PomError, Profile, State, read_pom
from prjury.judges.builds.systems.maven_reactor import MavenModule, Reactor
from prjury.judges.builds.systems.source_tree import SourceTree, joined, parent_of
from prjury.snapshot.model import visible

POM = "pom.xml"
#: More modules than this are nobody's.
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
        reading.problem = "Maven is told in .mvn which modules to build"
    try:
        reading.run()
    except PomError as error:
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
        """Reads the build file in the root, and all that it leads to.

        Raises:
            PomError: when it cannot be told which modules there are.
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
                raise PomError(f"there are more than {_MOST} modules")
            waiting = []
            for path, text in self.root.texts(level):
                try:
                    self.modules[path] = MavenModule(path, read_pom(text), profile)
                    waiting += self._modules_of(self.modules[path])
                except PomError as error:
                    raise PomError(f"{visible(path)} {error}") from error

    def _modules_of(self, module: MavenModule) -> Iterator[str]:
        pom = module.pom
        if pom.searches:
            raise PomError("lets Maven look for modules by itself")
        for name in pom.modules:
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
        """Modules outside of the directory are known by their places alone."""
        outer = joined(joined(self.root.place, module.directory) or "", name)
        self.elsewhere.update([outer] if outer else [])
        self.problem = f"{visible(module.path)} has the module {visible(name)}, which is elsewhere"

    def _located(self, module: MavenModule, name: str, *, needed: bool) -> str | None:
        """The build file of a module; None where there is none and none is needed."""
        if not name or "${" in name:
            raise PomError(f"names the module `{visible(name)}`, which is not a fixed path")
        place = joined(module.directory, name)
        if place is None:
            self._leave(module, name)
            return None
        inside = f"{place}/{POM}" if place else POM
        found = self.root.has(place, inside)
        if found is None and needed:
            raise PomError(f"names the module {visible(name)}, which has no {POM}")
        return found


def _states(profiles: Iterable[Profile], switches: str) -> list[State]:
    """Which profiles are used: ``default`` for those that are, and only for those."""
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
        parent = module.pom.parent
        if not parent or not parent.path or joined(module.directory, parent.path) is not None:
            continue
        place = joined(joined(directory, module.directory) or "", parent.path)
        inside = place if place is None or place.endswith(".xml") else f"{place}/{POM}".lstrip("/")
        if inside and _is(tree.text(inside), parent.coordinates.artifact):
            yield parent_of(inside)


def _is(text: str, artifact: str) -> bool:
    """Maven takes a file for the parent only if it is what the child asks for."""
    try:
        return read_pom(text).own.artifact == artifact
    except PomError:
        return bool(text)
