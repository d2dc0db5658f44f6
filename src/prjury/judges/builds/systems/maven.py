"""Maven: single projects and reactors. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.maven_modules import POM, read_reactor
from prjury.judges.builds.systems.maven_reactor import Reactor
from prjury.judges.builds.systems.maven_rerun import MavenAlone
from prjury.judges.builds.systems.maven_scope import WHOLE, Affected, MavenSelection, selectors
from prjury.judges.builds.systems.projects import plans_of
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined, parent_of
from prjury.judges.builds.systems.wrapper import Script, Wrapper, upwards, wrapper_of

_SCRIPT = Script("mvnw", "mvn", ".mvn/wrapper/maven-wrapper.properties")
_VERSION = re.compile(r"apache-maven-(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?")
#: The first version that can be told not to print how downloads get on.
_QUIET_SINCE = (3, 6, 1)
#: Failing tests are in the reports then, and nothing is left out for them.
_GOING_ON = "-Dmaven.test.failure.ignore=true"
#: Maven's exit code where all that failed are tests.
_ENDED = 0
#: Files by which one knows that a directory ``.mvn`` is there, and those with options in them.
_SETTINGS = ("maven.config", "jvm.config", "extensions.xml", "wrapper/maven-wrapper.properties")
_SWITCHES = ("maven.config", "jvm.config")
_UPWARDS = re.compile(r"<(module|subproject)>\s*\.\.")


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The reactors and single projects, as far as the change affects them."""
    places = root.directories_with(POM)
    own = places - _claimed(root, places)
    return plans_of(root, changes, own, lambda part: _Maven(root, part.place))


def _claimed(root: SourceTree, places: frozenset[str]) -> frozenset[str]:
    """The directories that belong to a build beside them, as in a flat layout."""
    own = filter(root.may_hold_project, places)
    outermost = [place for place in own if not _above(place, places)]
    modules = {
        module
        for place in outermost
        if _UPWARDS.search(root.text(f"{place}/{POM}".lstrip("/")))
        for module in read_reactor(root, place).elsewhere & places
        if not _is_in(place, module)
    }
    return frozenset(place for place in places if any(_is_in(place, one) for one in modules))


def _above(place: str, places: frozenset[str]) -> bool:
    return any(place != other and _is_in(place, other) for other in places)


def _is_in(place: str, directory: str) -> bool:
    return not directory or place == directory or place.startswith(f"{directory}/")


@dataclass(frozen=True)
class _Maven:
    """A root ``pom.xml`` of the tree with its modules."""

    tree: SourceTree
    place: str

    @cached_property
    def reactor(self) -> Reactor:
        settings = self._settings
        files = () if settings is None else (f"{settings}{name}" for name in _SWITCHES)
        return read_reactor(self.tree, self.place, "\n".join(map(self.tree.text, files)))

    @cached_property
    def _settings(self) -> str | None:
        """The nearest directory ``.mvn``, here or above, with a slash at its end."""
        for prefix in upwards(self.place):
            if self.tree.has(*(f"{prefix}.mvn/{name}" for name in _SETTINGS)):
                return f"{prefix}.mvn/"
        return None

    @property
    def outside(self) -> frozenset[str]:
        settings = (self._settings or "").rstrip("/")
        above = settings and not _is_in(settings, self.place)
        return self.reactor.elsewhere | (frozenset({settings}) if above else frozenset())

    @property
    def declares(self) -> bool:
        return True

    def owns(self, directory: str) -> bool:
        """Its modules, what lies in their sources, and what cannot be built without them."""
        reactor = self.reactor
        if reactor.unreadable or directory in reactor.directories:
            return True
        here_and_above = (directory, *_parents(directory))
        if len(reactor.modules) == 1 and reactor.modules[POM].pom.packaging == "pom":
            # It builds nothing, and is there to be inherited from.
            return not self._off.isdisjoint(here_and_above)
        return any(map(self._holds, here_and_above))

    def _holds(self, directory: str) -> bool:
        """Whether a build file there is one that has to do with this reactor, but no module."""
        inner = joined(self.place, directory) or ""
        if directory in self.reactor.directories or f"{inner}/{POM}" not in self.tree.files:
            return False
        inside = directory in self._off or "src" in directory.split("/")
        return inside or self.reactor.serves(read_reactor(self.tree, inner))

    @cached_property
    def _off(self) -> frozenset[str]:
        return frozenset(map(parent_of, self.reactor.off))

    def plans(self, changes: Changes | None) -> tuple[BuildPlan, ...]:
        """The one build, of everything or of what the change affects."""
        selection = Affected(self.reactor, changes).selection() if changes is not None else WHOLE
        wrapper = wrapper_of(self.tree, self.place, _SCRIPT)
        command = (*wrapper.argv, *_flags(wrapper))
        going_on = (*command, _GOING_ON)
        plan = BuildPlan(
            "maven",
            (_verify(command, selection),),
            (f"{POM} is there", wrapper.reason),
            scope=selection.scope,
            alone=MavenAlone(going_on, self._selectors),
        )
        thorough = replace(plan, steps=(_verify(going_on, selection),), all_ran=_ENDED)
        return (replace(plan, thorough=thorough),)

    def _selectors(self) -> Mapping[str, str]:
        """What ``-pl`` calls the modules, by their directories from the root of the tree."""
        if self.reactor.unreadable or len(self.reactor.modules) == 1:
            return {}
        named = selectors(self.reactor)
        return {joined(self.place, directory) or "": named[directory] for directory in named}


def _parents(directory: str) -> Iterator[str]:
    """The directories above, but not the root."""
    while directory := parent_of(directory):
        yield directory


def _flags(wrapper: Wrapper) -> Iterable[str]:
    version = _VERSION.search(wrapper.settings)
    old = version and tuple(int(part or 0) for part in version.groups()) < _QUIET_SINCE
    return ("-q", "-B", *(() if old else ("-ntp",)), "--fail-at-end")


def _verify(command: tuple[str, ...], selection: MavenSelection) -> BuildStep:
    return BuildStep("test", (*command, *selection.options, "verify"))
