"""Which modules of a reactor a change affects, and how Maven is told to build those. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from prjury.judges.builds.plan import BuildScope
from prjury.judges.builds.systems.maven_modules import POM
from prjury.judges.builds.systems.maven_pom import PomPath
from prjury.judges.builds.systems.maven_reactor import MavenModule, Reactor
from prjury.judges.builds.systems.source_tree import Changes, joined, nearest
from prjury.judges.builds.systems.workspace_graph import MOST_NAMED, with_dependents, with_needs
from prjury.snapshot.model import visible

#: From this share of a large reactor on it is simpler, and hardly slower, to build all of it.
_NEARLY_ALL = 0.9
_LARGE = 10
#: No build file inherits through more others than this.
_MOST_PARENTS = 20
#: What Maven takes for a path as it stands: no separators, no ``!`` or ``-`` that takes it away.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./-]*")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class MavenSelection:
    """What is built of a reactor.

    Attributes:
        selectors: the same modules as Maven's ``-pl`` wants them; empty for everything.
    """

    scope: BuildScope
    selectors: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """What to hand to Maven so that it builds these modules and what they need."""
        return ("-pl", ",".join(self.selectors), "-am") if self.selectors else ()


WHOLE = MavenSelection(BuildScope())


@dataclass(frozen=True)
class Affected:
    """A reactor, and the paths below its directory that change."""

    reactor: Reactor
    changes: Changes

    def selection(self) -> MavenSelection:
        """The modules to build, or why all of them."""
        reactor = self.reactor
        if because := reactor.unreadable:
            return MavenSelection(BuildScope(because=because))
        if len(reactor.modules) == 1:
            return MavenSelection(BuildScope())
        if because := self._everything():
            return MavenSelection(BuildScope(because=because))
        return self._of(with_dependents(self._touched(), reactor.needs))

    def _of(self, affected: frozenset[str]) -> MavenSelection:
        modules = [module for path, module in self.reactor.modules.items() if path in affected]
        if because := self._too_much(modules):
            return MavenSelection(BuildScope(because=because))
        artifacts = Counter(module.pom.own.artifact for module in self.reactor.modules.values())
        chosen = [_selector(module, artifacts) for module in modules]
        if "" in chosen:
            odd = modules[chosen.index("")].path
            return MavenSelection(
                BuildScope(because=f"Maven cannot be told to build just {visible(odd)}")
            )
        names = tuple(map(_name, modules))
        because = "modules that the change touches, and those that depend on them"
        return MavenSelection(BuildScope(names, because), tuple(chosen))

    def _too_much(self, modules: Sequence[MavenModule]) -> str:
        """Why these modules are better built with all the others, or nothing."""
        unsure = next((module for module in modules if module.profile), None)
        if unsure:
            return (
                f"nobody can tell whether {visible(_name(unsure))}, which only the profile "
                f"{visible(unsure.profile)} has, is built here"
            )
        if len(modules) > MOST_NAMED:
            return f"the change affects more than {MOST_NAMED} modules"
        every = len(self.reactor.modules)
        whole = len(with_needs((module.path for module in modules), self.reactor.needs))
        if whole == every or (every >= _LARGE and whole >= _NEARLY_ALL * every):
            share = "all" if whole == every else "nearly all"
            return f"{share} modules are affected, or needed by those that are"
        return ""

    def _everything(self) -> str:
        """Why the change may affect every module, or nothing."""
        for path in sorted(self.changes.paths):
            module = self.reactor.modules.get(path)
            if module and module.pom.aggregates:
                return f"{visible(path)} changes, which says what modules there are"
            if nearest(path, self.reactor.directories) == "":
                return f"{visible(path)} belongs to no single module{self._unused(path)}"
        return ""

    def _unused(self, path: str) -> str:
        """That the path lies in a module that is not built at all, where it does."""
        for pom, profile in self.reactor.off.items():
            if path.startswith(f"{pom.rpartition('/')[0]}/"):
                return f" but to one that only the profile {visible(profile)} has"
        return ""

    def _touched(self) -> frozenset[str]:
        return frozenset((*self._owners(), *self._renamed(), *self._reading()))

    def _owners(self) -> Iterator[str]:
        """The modules that changed files lie in; what has modules may hold files of all of them."""
        directories = self.reactor.directories
        owners = {nearest(path, directories) for path in self.changes.paths}
        holders = tuple(
            f"{module.directory}/"
            for module in self.reactor.modules.values()
            if module.directory in owners and module.pom.aggregates
        )
        documented = {nearest(path, directories - {""}) for path in self.changes.docs}
        for path, module in self.reactor.modules.items():
            if module.directory in owners | documented or path.startswith(holders):
                yield path

    def _renamed(self) -> Iterator[str]:
        """The modules that may need one whose coordinates have changed."""
        if any(path in self.reactor.modules or path.endswith(POM) for path in self.changes.paths):
            for path, module in self.reactor.modules.items():
                if self.reactor.cut_off(module):
                    yield path

    def _reading(self) -> Iterator[str]:
        """The modules whose build files name a path that changes, or one above it."""
        changed = {place for path in self.changes.paths for place in _with_parents(path)}
        for path, module in self.reactor.modules.items():
            if any(self._resolved(place, module) in changed for place in self._places(module)):
                yield path

    def _places(self, module: MavenModule) -> Iterator[PomPath]:
        """The places that a build file and those of its parents name."""
        level, seen = {module.path}, set[str]()
        for _ in range(_MOST_PARENTS):
            modules = [self.reactor.modules[path] for path in sorted(level - seen)]
            seen |= level
            level = set()
            for one in modules:
                yield from one.pom.places
                level |= self.reactor.parents(one)

    def _resolved(self, place: PomPath, module: MavenModule) -> str | None:
        """The place from the reactor's root; None for one that holds the module itself."""
        start = module.directory if place.origin == "module" else ""
        if place.origin == "parent":
            parent = min(self.reactor.parents(module), default=POM)
            start = self.reactor.modules[parent].directory
        found = joined(start, place.path)
        holds = found is None or f"{module.directory}/".startswith(f"{found}/" if found else "")
        return None if holds else found


def selectors(reactor: Reactor) -> Mapping[str, str]:
    """What ``-pl`` calls the modules in each directory, as far as it can."""
    artifacts = Counter(module.pom.own.artifact for module in reactor.modules.values())
    found: dict[str, list[str]] = {}
    for module in reactor.modules.values():
        found.setdefault(module.directory, []).append(_selector(module, artifacts))
    return {place: ",".join(names) for place, names in found.items() if "" not in names}


def _name(module: MavenModule) -> str:
    """The module as a person would name it: by its directory, else by its build file."""
    usual = module.path in {POM, f"{module.directory}/{POM}"}
    return (module.directory or ".") if usual else module.path


def _selector(module: MavenModule, artifacts: Mapping[str, int]) -> str:
    """The module as Maven understands it whatever its name is; empty where it would not."""
    if _PLAIN_PATH.fullmatch(name := _name(module)):
        return name
    artifact = module.pom.own.artifact
    single = artifacts[artifact] == 1 and _PLAIN_NAME.fullmatch(artifact)
    return f":{artifact}" if single else ""


def _with_parents(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]
