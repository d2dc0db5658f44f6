"""Go: modules and workspaces with their affected packages. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep, StepName
from prjury.judges.builds.systems.build_system import NATIVE, SystemDocs, When
from prjury.judges.builds.systems.projects import plans_of
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    joined,
    nearest,
    parent_of,
    path_in,
)
from prjury.judges.builds.systems.workspace_graph import MOST_NAMED, with_dependents
from prjury.manifests.go import read_go_mod
from prjury.snapshot.model import visible

MANIFEST, WORK = "go.mod", "go.work"
MANIFESTS = (WORK, MANIFEST)
COVERS = {"go": NATIVE | {".go"}}
WHEN: When = "always"
DOCS = SystemDocs(
    (
        (
            "`go.mod`, `go.work`",
            "`go build -o /dev/null ./...`, and `go test -json ./...` if there is any `_test.go`",
        ),
    ),
    "Go",
    "packages of a module, or of all modules of `go.work`",
    "by the imports of every file, whatever its build tags; only the package itself depends on its "
    "`_test.go` files; other files belong to the package above",
)
_DEPENDENCIES = frozenset({MANIFEST, "go.sum", WORK, "go.work.sum"})

#: A comment; in quotes there is none.
_COMMENT = re.compile(r'"[^"\n]*"|`[^`]*`|(//[^\n]*|/\*.*?(?:\*/|\Z))', re.DOTALL)
#: The first declaration that is no import.
_DECLARED = re.compile(r"^(?:func|type|var|const)\b", re.MULTILINE)
_IMPORTS = re.compile(r"(?:^|;)[ \t]*import\b[ \t]*(?:\(([^)]*)\)|([^\n(]*))", re.MULTILINE)
_IMPORTED = re.compile(r"[\"`]([^\"`\n]+)[\"`]")
#: Imports are in the first part of a file.
_HEAD = 256 * 1024


@dataclass(frozen=True)
class Package:
    """The imports of the files of one directory, of the package and of its tests."""

    directory: str
    imports: set[str] = field(default_factory=set)
    of_tests: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class GoPackages:
    """All packages of some modules of a tree.

    Attributes:
        others: the directories of modules that are not among them.
    """

    root: SourceTree
    modules: tuple[GoModule, ...]
    others: frozenset[str] = frozenset()

    def scope(self, changes: Changes | None) -> BuildScope:
        """The packages whose tests the change may affect, or the reason for all of them."""
        if changes is None:
            return BuildScope()
        for path in sorted(changes.paths):
            if path.rpartition("/")[2] in _DEPENDENCIES or "vendor" in path.split("/"):
                return BuildScope(because=f"{visible(path)} changes, and with it the dependencies")
            if not self._touched(path):
                return BuildScope(because=f"{visible(path)} belongs to no package")
        affected = self._affected(changes)
        if len(affected) > MOST_NAMED:
            return BuildScope(because=f"the change affects more than {MOST_NAMED} packages")
        if not affected:
            return BuildScope(because="the change deletes all its packages")
        listed = tuple(map(relative, sorted(affected)))
        return BuildScope(listed, "packages that the change touches, and those that import them")

    def _touched(self, path: str) -> str:
        """The import path of the package that a file belongs to; empty for none.

        A Go file makes its directory a package, also a deleted one. Any other file belongs to the
        nearest package above it, which may embed it, or read it in its tests.
        """
        if self._counts(path):
            return self.path_of(parent_of(path))
        place = nearest(path, frozenset(self._directories))
        return "" if place is None else self._directories[place]

    def _affected(self, changes: Changes) -> frozenset[str]:
        """The directories of affected packages; importing one does not depend on its tests."""
        inner = {self._touched(path) for path in changes.paths if not path.endswith("_test.go")}
        tested = {self._touched(path) for path in changes.paths if path.endswith("_test.go")}
        needs = {path: frozenset(found.imports) for path, found in self.found.items()}
        reached = with_dependents(inner, needs)
        testing = {path for path, found in self.found.items() if found.of_tests & reached}
        every = (reached | testing | tested) & self.found.keys()
        return frozenset(self.found[path].directory for path in every)

    @cached_property
    def has_tests(self) -> bool:
        """Whether any package has tests; if no module can be read, any such file counts."""
        files = self._sources if self.modules else self.root.files
        return any(path.endswith("_test.go") for path in files)

    @cached_property
    def _directories(self) -> dict[str, str]:
        """The import paths of the directories that hold Go files of these modules."""
        places = {parent_of(path) for path in self._sources}
        return {place: self.path_of(place) for place in places}

    @cached_property
    def _sources(self) -> list[str]:
        return [path for path in self.root.files if self._counts(path)]

    def _counts(self, path: str) -> bool:
        """Whether a file makes its directory a package."""
        if not path.endswith(".go"):
            return False
        parts = path.split("/")
        ignored = any(part.startswith((".", "_")) for part in parts)
        beside = any(part in {"testdata", "vendor"} for part in parts[:-1])
        return not ignored and not beside and bool(self.path_of(parent_of(path)))

    @cached_property
    def _known(self) -> dict[str, str]:
        return {}

    def path_of(self, directory: str) -> str:
        """The import path of a directory; empty if it belongs to none of the modules."""
        if directory not in self._known:
            self._known[directory] = self._path_of(directory)
        return self._known[directory]

    def _path_of(self, directory: str) -> str:
        homes = {module.directory: module for module in self.modules}
        home = nearest(f"{directory}/x" if directory else "x", frozenset(homes) | self.others)
        if home is None or home not in homes:
            return ""
        below = directory.removeprefix(home).strip("/")
        return f"{homes[home].path}/{below}" if below else homes[home].path

    @cached_property
    def found(self) -> dict[str, Package]:
        """The packages by import path."""
        found: dict[str, Package] = {}
        for path, text in self.root.texts(self._sources):
            directory = parent_of(path)
            package = found.setdefault(self.path_of(directory), Package(directory))
            wanted = package.of_tests if path.endswith("_test.go") else package.imports
            wanted.update(imported(text))
        return found


def relative(directory: str) -> str:
    """A directory as an argument of the go command."""
    return f"./{directory}" if directory else "."


def imported(source: str) -> Iterator[str]:
    """The import paths of a Go file."""
    plain = _COMMENT.sub(lambda match: " " if match[1] else match[0], source[:_HEAD])
    declared = _DECLARED.search(plain)
    for block, single in _IMPORTS.findall(plain[: declared.start()] if declared else plain):
        yield from _IMPORTED.findall(block or single)


#: The exit code of ``go test`` if tests failed; all packages are tested.
_TESTS_FAILED = 1
_NO_TESTS = "there are no tests: no package has a file *_test.go"

_TEST = re.compile(r"(?:Test|Example|Fuzz)[^\s/]*(?:/\S+)?")


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The modules and workspaces, as far as the change affects them."""
    return plans_of(root, changes, root.directories_with(WORK, MANIFEST), _opened)


def _opened(root: SourceTree) -> _Go | None:
    places = root.directories_with(MANIFEST)
    own = used_directories(root) if WORK in root.files else [""]
    read = [read_module(root, place) for place in own if place in places]
    modules = tuple(filter(None, read))
    if len(modules) < len(read):
        return _Go(root, GoPackages(root, (), places), own, f"a {MANIFEST} cannot be read")
    return _Go(root, GoPackages(root, modules, places - set(own)), own) if modules else None


@dataclass(frozen=True)
class _Go:
    root: SourceTree
    packages: GoPackages
    directories: Sequence[str]
    unreadable: str = ""

    @property
    def outside(self) -> frozenset[str]:
        return replacements(self.root, self.packages.modules)

    @property
    def declares(self) -> bool:
        return True

    def owns(self, directory: str) -> bool:
        return WORK in self.root.files and directory in self.directories

    def plans(self, changes: Changes | None) -> tuple[BuildPlan, ...]:
        scope = (
            BuildScope(because=self.unreadable) if self.unreadable else self.packages.scope(changes)
        )
        everything = self._everything()
        # -o keeps a lone program from being written over a directory of the same name
        building = _over(("go", "build", "-o", "/dev/null"), "build", everything)
        testing = _over(("go", "test", "-json"), "test", scope.modules or everything)
        tests = self.packages.has_tests
        plan = BuildPlan(
            "go",
            (building, testing) if tests else (building,),
            (f"{self.root.has(WORK, MANIFEST)} is there",),
            () if tests else (_NO_TESTS,),
            env=self._env(),
            all_ran=_TESTS_FAILED if tests else None,
            scope=_named(scope),
            rerun_failed=GoRerun(self.packages) if tests else None,
        )
        return (plan,)

    def _everything(self) -> tuple[str, ...]:
        return tuple(f"{relative(place)}/..." for place in self.directories)

    def _env(self) -> Mapping[str, str]:
        """A module is built by its own manifest, whatever workspace above leaves it out."""
        return {"GOWORK": "off"} if self.root.place and WORK not in self.root.files else {}


def _over(command: tuple[str, ...], name: StepName, places: tuple[str, ...]) -> BuildStep:
    return BuildStep(name, (*command, *places), places, shlex.join(command))


def _named(scope: BuildScope) -> BuildScope:
    """The scope with a name for the root package, which is ``.`` for the go command."""
    names = ("the root package" if name == relative("") else name for name in scope.modules)
    return replace(scope, modules=tuple(names))


@dataclass(frozen=True)
class GoRerun:
    """Runs failing tests again by package and exact name."""

    packages: GoPackages

    def __call__(self, failures: Sequence[Failure]) -> tuple[BuildStep, ...] | None:
        """One step for the tests of a package, one for each subtest; None if one is unknown."""
        wanted: dict[str, set[str]] = {}
        for failure in failures:
            found = self._named(failure)
            if found is None:
                return None
            wanted.setdefault(found[0], set()).add(found[1])
        steps = [
            BuildStep("test", ("go", "test", "-json", "-count=1", "-run", pattern, place))
            for place, names in sorted(wanted.items())
            for pattern in _patterns(names)
        ]
        return tuple(steps) or None

    def _named(self, failure: Failure) -> tuple[str, str] | None:
        """The package's directory and the test's name.

        The package is the suite, or the first part of the name.
        """
        known, name = self.packages.found, failure.name or ""
        package = failure.suite or ""
        if package not in known:
            fitting = [path for path in known if name.startswith(f"{path}.")]
            package = max(fitting, key=len, default="")
        test = name.removeprefix(f"{package}.")
        if package not in known or not _TEST.fullmatch(test):
            return None
        return relative(known[package].directory), test


def _patterns(names: set[str]) -> list[str]:
    """Regular expressions for ``-run``; a slash separates a test from its subtest."""
    plain = sorted(re.escape(name) for name in names if "/" not in name)
    nested = sorted(name for name in names if "/" in name)
    together = [f"^({'|'.join(plain)})$"] if plain else []
    return together + [
        "/".join(f"^{re.escape(part)}$" for part in name.split("/")) for name in nested
    ]


_NAME = re.compile(r'[A-Za-z0-9][^\s"()]*')


@dataclass(frozen=True)
class GoModule:
    """A module: its path, its directory, and the directories that stand in for other modules."""

    path: str
    directory: str
    replaced: tuple[str, ...] = ()


def read_module(root: SourceTree, directory: str) -> GoModule | None:
    """The module in a directory, None where its manifest says no path."""
    found = root.readable(path_in(directory, MANIFEST), read_go_mod)
    if found is None or not _NAME.fullmatch(found.name):
        return None
    return GoModule(found.name, directory, found.local)


def used_directories(root: SourceTree) -> list[str]:
    """The modules of the tree that ``go.work`` names."""
    found = root.readable(WORK, read_go_mod)
    places = (joined("", name) for name in (found.members if found else ()))
    return sorted({place for place in places if place is not None})


def replacements(root: SourceTree, modules: Iterable[GoModule]) -> frozenset[str]:
    """Where the modules lie that stand in for others, from the root of the tree."""
    own = {module.directory: joined(root.place, module.directory) or "" for module in modules}
    found = {
        joined(own[module.directory], place) for module in modules for place in module.replaced
    }
    return frozenset(place for place in found if place is not None) - frozenset(own.values())
