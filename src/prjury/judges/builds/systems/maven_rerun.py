"""Running failing tests of a Maven build again, by their names. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildStep
from prjury.judges.builds.systems.java_tests import JavaTest, java_tests
from prjury.judges.builds.systems.source_tree import nearest

_REPORTS = re.compile(r"(?:^|/)(surefire|failsafe)-reports(?:/|$)")

#: A class that there is not, where the tests of one plugin are to be left out.
_NONE = "prjury.NoSuchTest"
#: A module without such tests is no failure; each of the plugins has its own word for it, and had
#: another one before.
_NO_MATTER = (
    "-DfailIfNoTests=false",
    "-Dsurefire.failIfNoSpecifiedTests=false",
    "-Dfailsafe.failIfNoSpecifiedTests=false",
    "-Dit.failIfNoSpecifiedTests=false",
)


@dataclass(frozen=True)
class MavenAlone:
    """Runs failing tests again, with nothing but the modules that they need.

    Attributes:
        going_on: Maven with the options that make it go on after failing tests.
        modules: what ``-pl`` calls the modules, by their directories from the root of the tree.
            Nothing where modules cannot be chosen: then all of them are gone through.
    """

    going_on: tuple[str, ...]
    modules: Callable[[], Mapping[str, str]]

    def __call__(self, failures: Sequence[Failure]) -> tuple[BuildStep, ...] | None:
        """One step for all of them, None where one cannot be named exactly."""
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
        """The modules that have reported these tests, with what those need."""
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
    """A run of a method that only has a number is found by that, or by the method's own name."""
    yield test.method
    if test.many:
        yield f"{test.method}[*]"
