"""Maven: single projects and reactors, and the modules that a change touches. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.build_system import JVM, DocsRows, When
from prjury.judges.builds.systems.jvm import find_wrapper
from prjury.judges.builds.systems.projects import FoundProject, select_affected
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    is_within,
    join_path,
    nearest,
    outermost_first,
    parent_of,
    parents_of,
    path_in,
)
from prjury.manifests.formats import POM
from prjury.manifests.maven import Pom, read_pom
from prjury.snapshot.model import visible

MANIFESTS = (POM,)
COVERS = {"maven": JVM}
WHEN: When = "always"
DOCS: DocsRows = (("`pom.xml`", "`./mvnw` or `mvn`, `-q -B -ntp --fail-at-end verify`"),)

_SETTINGS = ".mvn/wrapper/maven-wrapper.properties"
#: The first version with an option to print no progress of downloads.
_QUIET_SINCE = [3, 6, 1]
#: Then failing tests are only in the reports, and nothing is left out because of them.
_GOING_ON = "-Dmaven.test.failure.ignore=true"
#: Maven's exit code if only tests failed.
_ENDED = 0
#: With more changed modules than this, everything is built.
_MOST_NAMED = 200
#: Options of ``.mvn/maven.config`` that choose modules, or another build file.
_CHOOSING = frozenset(
    "-pl --projects -f --file -rf --resume-from -N --non-recursive -am -amd".split()
)
#: The build files of one run of Maven by their paths, that of the root first.
Reactor: TypeAlias = Mapping[str, Pom]
_BECAUSE = "modules that the change touches; Maven adds those that depend on them"


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The reactors and single projects, as far as the change affects them."""
    projects = {
        directory: FoundProject(
            (_plan(root, directory, _scope(root, reactor, changes)),),
            _leads_out(root, directory, reactor),
        )
        for directory, reactor in _find_reactors(root).items()
    }
    return select_affected(projects, changes)


def _plan(root: SourceTree, directory: str, scope: BuildScope) -> BuildPlan:
    wrapper = find_wrapper(root, directory, "mvnw", "mvn", (_SETTINGS,))
    version = wrapper.settings.partition("apache-maven-")[2].partition("-")[0].split(".")
    old = all(map(str.isdigit, version)) and [*map(int, version)] < _QUIET_SINCE
    command = (*wrapper.argv, "-q", "-B", *(() if old else ("-ntp",)), "--fail-at-end")
    longer = BuildStep("test", (*command, _GOING_ON, "verify"), all_ran=_ENDED)
    step = BuildStep("test", (*command, "verify"), keep_going=longer)
    return BuildPlan("maven", (step,), (f"{POM} is there", wrapper.reason), scope=scope)


def _find_reactors(root: SourceTree) -> dict[str, Reactor]:
    """The builds by directory: what no other build file has as a module.

    A build file that cannot be read has no modules, and Maven says what is wrong.
    """
    poms = {path: root.readable(path, read_pom) or Pom() for path in root.named(POM)}
    owned = {module for path in poms for module in _list_modules(root, poms, path) - {path}}
    reactors: dict[str, Reactor] = {}
    for directory in outermost_first(map(parent_of, poms.keys() - owned)):
        reactor: dict[str, Pom] = {}
        waiting = [path_in(directory, POM)]
        while waiting:
            path = waiting.pop(0)
            if path not in reactor:
                reactor[path] = poms[path]
                waiting += sorted(_list_modules(root, poms, path))
        is_held = any(_holds(reactors[place], place, directory, reactor) for place in reactors)
        if root.may_hold_project(directory) and not is_held:
            reactors[directory] = reactor
    return reactors


def _list_modules(root: SourceTree, poms: dict[str, Pom], path: str) -> set[str]:
    modules = set[str]()
    for name in (*poms[path].members, *poms[path].profile_modules):
        place = join_path(parent_of(path), name)
        module = None if place is None else root.has(place, path_in(place, POM))
        if module:
            poms.setdefault(module, root.readable(module, read_pom) or Pom())
            modules.add(module)
    return modules


def _holds(outer: Reactor, place: str, directory: str, inner: Reactor) -> bool:
    """Tell whether a build below another one is no build of its own.

    It lies among that one's sources, or needs it to be built first.
    """
    if not is_within(directory, place):
        return False
    pom = outer[path_in(place, POM)]
    if len(outer) == 1 and pom.packaging == "pom":
        return False  # others only inherit from it
    names = {one.name for one in outer.values()}
    needed = {coordinate.artifact for one in inner.values() for coordinate in one.coordinates}
    own = {one.name for one in inner.values()}
    return "src" in directory.removeprefix(place).split("/") or not names.isdisjoint(needed - own)


def _leads_out(root: SourceTree, directory: str, reactor: Reactor) -> bool:
    places = set(map(parent_of, reactor))
    for path, pom in reactor.items():
        parent = join_path(parent_of(path), pom.parent_path) if pom.parent_path else None
        places |= {parent_of(parent)} if parent and root.has(parent) else set()
    settings = any(path_in(place, ".mvn") in root.directories for place in parents_of(directory))
    return settings or not all(is_within(place, directory) for place in places)


def _scope(root: SourceTree, reactor: Reactor, changes: Changes | None) -> BuildScope:
    """The changed modules, as ``-pl`` takes them, or the reason for building everything."""
    if changes is None or len(reactor) == 1:
        return BuildScope()
    start = next(iter(reactor))
    directory = parent_of(start)
    settings = root.text(path_in(directory, ".mvn/maven.config"))
    if not _CHOOSING.isdisjoint(settings.split()):
        return BuildScope(because=".mvn chooses the modules that Maven builds")
    homes = {parent_of(path): path for path in reactor}
    chosen = dict[str, None]()
    places = frozenset(homes)
    # documentation in a module may be packaged with it
    docs = {path for path in changes.docs if nearest(path, places - {""}) is not None}
    for path in sorted(changes.paths | docs):
        home = nearest(path, places)
        if path.endswith(POM):
            because = f"{visible(path)} changes, and with it what the modules are and need"
            return BuildScope(because=because)
        if home == directory:
            return BuildScope(because=f"{visible(path)} belongs to no single module")
        if home is not None:
            chosen[homes[home]] = None
    names = [_select_module(path, directory) for path in chosen]
    if "" in names or len(names) > _MOST_NAMED:
        because = "Maven has no way to build only what the change touches"
        return BuildScope(because=because)
    return BuildScope(tuple(names), _BECAUSE) if names else BuildScope()


def _select_module(path: str, directory: str) -> str:
    """The module as ``-pl`` names it from a directory; empty if it cannot."""
    module = path.removesuffix(f"/{POM}")
    if directory and is_within(module, directory):
        module = module.removeprefix(f"{directory}/")
    elif directory:
        module = f"{'../' * len(directory.split('/'))}{module}"
    begins = module[:1].isalnum() or module.startswith(("../", "_"))
    plain = begins and module.isprintable() and not {",", ":"} & set(module)
    return module if plain else ""
