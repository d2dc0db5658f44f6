"""Go. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep, StepName
from prjury.judges.builds.systems.go_module import (
    MANIFEST,
    WORK,
    read_module,
    replacements,
    used_directories,
)
from prjury.judges.builds.systems.go_packages import GoPackages, relative
from prjury.judges.builds.systems.projects import plans_of
from prjury.judges.builds.systems.source_tree import Changes, SourceTree

#: The exit code of ``go test`` where tests failed; all packages are tried whatever becomes of one.
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
            alone=GoAlone(self.packages) if tests else None,
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
    """The scope with a name for the package in the root, which the go command calls a dot."""
    names = ("the root package" if name == relative("") else name for name in scope.modules)
    return replace(scope, modules=tuple(names))


@dataclass(frozen=True)
class GoAlone:
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

        The package is told apart from the test, or stands before it with a dot.
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
    """Regular expressions for ``-run``, in which a slash parts a test from its subtest."""
    plain = sorted(re.escape(name) for name in names if "/" not in name)
    nested = sorted(name for name in names if "/" in name)
    together = [f"^({'|'.join(plain)})$"] if plain else []
    return together + [
        "/".join(f"^{re.escape(part)}$" for part in name.split("/")) for name in nested
    ]
