"""Maven: single projects and reactors with their affected modules. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.build_system import JVM, SystemDocs, When
from prjury.judges.builds.systems.jvm import (
    JavaTest,
    Script,
    Wrapper,
    java_tests,
    wrapper_of,
)
from prjury.judges.builds.systems.maven_reactor import MavenModule, Reactor, read_reactor
from prjury.judges.builds.systems.projects import plans_of
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    is_within,
    joined,
    nearest,
    parent_of,
    parents_of,
    path_in,
)
from prjury.judges.builds.systems.workspace_graph import MOST_NAMED, with_dependents, with_needs
from prjury.manifests.formats import POM
from prjury.manifests.maven import PomPath
from prjury.snapshot.model import visible

MANIFESTS = (POM,)
COVERS = {"maven": JVM}
WHEN: When = "always"
DOCS = SystemDocs(
    (("`pom.xml`", "`./mvnw` or `mvn`, `-q -B -ntp --fail-at-end verify`"),),
    "Maven",
    "modules of the reactor, those of profiles too",
    "by parents, dependencies of all scopes, plugins and theirs, extensions, imported versions, "
    "annotation processors, and paths into other modules",
)

#: From this share of a large reactor on, all of it is built.
_NEARLY_ALL = 0.9
_LARGE = 10
#: The most parents above each other that are followed.
_MOST_PARENTS = 20
#: What ``-pl`` takes for a path: no separators, no leading ``!`` or ``-``.
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
class AffectedModules:
    """The affected modules of a reactor.

    Attributes:
        changes: the paths below the reactor's directory that change.
    """

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
        artifacts = Counter(module.pom.name for module in self.reactor.modules.values())
        chosen = [_selector(module, artifacts) for module in modules]
        if "" in chosen:
            odd = modules[chosen.index("")].path
            return MavenSelection(
                BuildScope(because=f"Maven has no way to build only {visible(odd)}")
            )
        names = tuple(map(_name, modules))
        because = "modules that the change touches, and those that depend on them"
        return MavenSelection(BuildScope(names, because), tuple(chosen))

    def _too_much(self, modules: Sequence[MavenModule]) -> str:
        """Why these modules are better built with all the others, or nothing."""
        unsure = next((module for module in modules if module.profile), None)
        if unsure:
            return (
                f"{visible(_name(unsure))} is only in the profile {visible(unsure.profile)}, "
                "which may or may not be active here"
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
        """A remark if the path lies in a module that is not built at all."""
        for pom, profile in self.reactor.off.items():
            if path.startswith(f"{pom.rpartition('/')[0]}/"):
                return f" but to one that is only in the profile {visible(profile)}"
        return ""

    def _touched(self) -> frozenset[str]:
        return frozenset((*self._owners(), *self._renamed(), *self._reading()))

    def _owners(self) -> Iterator[str]:
        """The modules of changed files; a file of an aggregator may belong to all its modules."""
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
        changed = {place for path in self.changes.paths for place in (path, *parents_of(path))}
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
        return None if found is None or is_within(module.directory, found) else found


def selectors(reactor: Reactor) -> Mapping[str, str]:
    """The modules in each directory as ``-pl`` names them, if it can."""
    artifacts = Counter(module.pom.name for module in reactor.modules.values())
    found: dict[str, list[str]] = {}
    for module in reactor.modules.values():
        found.setdefault(module.directory, []).append(_selector(module, artifacts))
    return {place: ",".join(names) for place, names in found.items() if "" not in names}


def _name(module: MavenModule) -> str:
    """The module's directory, or else its build file."""
    usual = module.path in {POM, f"{module.directory}/{POM}"}
    return (module.directory or ".") if usual else module.path


def _selector(module: MavenModule, artifacts: Mapping[str, int]) -> str:
    """The module as ``-pl`` names it; empty if it cannot."""
    if _PLAIN_PATH.fullmatch(name := _name(module)):
        return name
    artifact = module.pom.name
    single = artifacts[artifact] == 1 and _PLAIN_NAME.fullmatch(artifact)
    return f":{artifact}" if single else ""


_REPORTS = re.compile(r"(?:^|/)(surefire|failsafe)-reports(?:/|$)")

#: A class that does not exist, to leave out the tests of one plugin.
_NONE = "prjury.NoSuchTest"
#: A module without such tests is no failure; the option differs by plugin and version.
_NO_MATTER = (
    "-DfailIfNoTests=false",
    "-Dsurefire.failIfNoSpecifiedTests=false",
    "-Dfailsafe.failIfNoSpecifiedTests=false",
    "-Dit.failIfNoSpecifiedTests=false",
)


@dataclass(frozen=True)
class MavenRerun:
    """Runs failing tests again, with nothing but the modules that they need.

    Attributes:
        going_on: Maven with the options that make it continue after failing tests.
        modules: the modules as ``-pl`` names them, by their directories from the root of the tree;
            empty if modules cannot be chosen, so that all of them are run.
    """

    going_on: tuple[str, ...]
    modules: Callable[[], Mapping[str, str]]

    def __call__(self, failures: Sequence[Failure]) -> tuple[BuildStep, ...] | None:
        """One step for all tests; None if one cannot be named exactly."""
        tests = java_tests(failures)
        if tests is None:
            return None
        kinds = {test: _REPORTS.search(test.report) for test in tests}
        if not all(kinds.values()):
            return None
        units, late = (
            [test for test, kind in kinds.items() if kind and kind[1] == plugin]
            for plugin in ("surefire", "failsafe")
        )
        which = (f"-Dtest={_patterns(units)}", f"-Dit.test={_patterns(late)}")
        skip = () if late else ("-DskipITs",)
        chosen = self._chosen(tests)
        return (BuildStep("test", (*self.going_on, *which, *skip, *_NO_MATTER, *chosen, "verify")),)

    def _chosen(self, tests: Iterable[JavaTest]) -> tuple[str, ...]:
        """The modules that reported these tests, and those that they need."""
        modules = self.modules()
        homes = {nearest(test.report, frozenset(modules)) for test in tests}
        names = sorted(modules[home] for home in homes if home is not None)
        return ("-pl", ",".join(names), "-am") if names and None not in homes else ()


def _patterns(tests: Iterable[JavaTest]) -> str:
    methods: dict[str, list[str]] = {}
    for test in tests:
        methods.setdefault(test.owner, []).extend(_methods(test))
    named = (f"{owner}#{'+'.join(dict.fromkeys(methods[owner]))}" for owner in sorted(methods))
    return ",".join(named) or _NONE


def _methods(test: JavaTest) -> Iterator[str]:
    """A method, and its numbered runs."""
    yield test.method
    if test.many:
        yield f"{test.method}[*]"


_SCRIPT = Script("mvnw", "mvn", ".mvn/wrapper/maven-wrapper.properties")
_VERSION = re.compile(r"apache-maven-(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?")
#: The first version with an option to print no progress of downloads.
_QUIET_SINCE = (3, 6, 1)
#: Then failing tests are only in the reports, and nothing is left out because of them.
_GOING_ON = "-Dmaven.test.failure.ignore=true"
#: Maven's exit code if only tests failed.
_ENDED = 0
#: The files of a directory ``.mvn``, and those of them with options.
_SETTINGS = ("maven.config", "jvm.config", "extensions.xml", "wrapper/maven-wrapper.properties")
_SWITCHES = ("maven.config", "jvm.config")
_UPWARDS = re.compile(r"<(module|subproject)>\s*\.\.")


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The reactors and single projects, as far as the change affects them."""
    places = root.directories_with(POM)
    own = places - _claimed(root, places)
    return plans_of(root, changes, own, lambda part: _Maven(root, part.place))


def _claimed(root: SourceTree, places: frozenset[str]) -> frozenset[str]:
    """The directories that are modules of a build beside them, as in a flat layout."""
    own = filter(root.may_hold_project, places)
    outermost = [place for place in own if not _above(place, places)]
    modules = {
        module
        for place in outermost
        if _UPWARDS.search(root.text(path_in(place, POM)))
        for module in read_reactor(root, place).elsewhere & places
        if not is_within(place, module)
    }
    return frozenset(place for place in places if any(is_within(place, one) for one in modules))


def _above(place: str, places: frozenset[str]) -> bool:
    return any(place != other and is_within(place, other) for other in places)


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
        """The nearest directory ``.mvn``, here or above, with a slash at the end."""
        for place in (self.place, *parents_of(self.place)):
            if self.tree.has(*(path_in(place, f".mvn/{name}") for name in _SETTINGS)):
                return path_in(place, ".mvn/")
        return None

    @property
    def outside(self) -> frozenset[str]:
        settings = (self._settings or "").rstrip("/")
        above = settings and not is_within(settings, self.place)
        return self.reactor.elsewhere | (frozenset({settings}) if above else frozenset())

    @property
    def declares(self) -> bool:
        return True

    def owns(self, directory: str) -> bool:
        """Its modules, what lies in their sources, and what needs them to be built."""
        reactor = self.reactor
        if reactor.unreadable or directory in reactor.directories:
            return True
        here_and_above = (directory, *filter(None, parents_of(directory)))
        if len(reactor.modules) == 1 and reactor.modules[POM].pom.packaging == "pom":
            # It builds nothing; others only inherit from it.
            return not self._off.isdisjoint(here_and_above)
        return any(map(self._holds, here_and_above))

    def _holds(self, directory: str) -> bool:
        """Whether a build file there depends on this reactor without being a module."""
        inner = joined(self.place, directory) or ""
        if directory in self.reactor.directories or path_in(inner, POM) not in self.tree.files:
            return False
        inside = directory in self._off or "src" in directory.split("/")
        return inside or self.reactor.serves(read_reactor(self.tree, inner))

    @cached_property
    def _off(self) -> frozenset[str]:
        return frozenset(map(parent_of, self.reactor.off))

    def plans(self, changes: Changes | None) -> tuple[BuildPlan, ...]:
        """The one build, of everything or of what the change affects."""
        selection = (
            AffectedModules(self.reactor, changes).selection() if changes is not None else WHOLE
        )
        wrapper = wrapper_of(self.tree, self.place, _SCRIPT)
        command = (*wrapper.argv, *_flags(wrapper))
        going_on = (*command, _GOING_ON)
        plan = BuildPlan(
            "maven",
            (_verify(command, selection),),
            (f"{POM} is there", wrapper.reason),
            scope=selection.scope,
            rerun_failed=MavenRerun(going_on, self._selectors),
        )
        keep_going = replace(plan, steps=(_verify(going_on, selection),), all_ran=_ENDED)
        return (replace(plan, keep_going=keep_going),)

    def _selectors(self) -> Mapping[str, str]:
        """The modules as ``-pl`` names them, by their directories from the root of the tree."""
        if self.reactor.unreadable or len(self.reactor.modules) == 1:
            return {}
        named = selectors(self.reactor)
        return {joined(self.place, directory) or "": named[directory] for directory in named}


def _flags(wrapper: Wrapper) -> Iterable[str]:
    version = _VERSION.search(wrapper.settings)
    old = version and tuple(int(part or 0) for part in version.groups()) < _QUIET_SINCE
    return ("-q", "-B", *(() if old else ("-ntp",)), "--fail-at-end")


def _verify(command: tuple[str, ...], selection: MavenSelection) -> BuildStep:
    return BuildStep("test", (*command, *selection.options, "verify"))
