"""What Maven and Gradle share: wrapper scripts, and the names of failing tests. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.source_tree import EXECUTABLE, SourceTree, parents_of, path_in


@dataclass(frozen=True)
class Wrapper:
    """How to call a tool that may come with a wrapper script.

    Attributes:
        settings: the text of the file that names the tool's version; empty for the installed one.
    """

    argv: tuple[str, ...]
    reason: str
    settings: str = ""


@dataclass(frozen=True)
class Script:
    """A wrapper script.

    Attributes:
        name: the script's file.
        tool: the program that is installed where there is no script.
        settings: the file beside it that names the version.
        needs: what else must be there for it to work.
    """

    name: str
    tool: str
    settings: str
    needs: tuple[str, ...] = ()


def wrapper_of(tree: SourceTree, directory: str, script: Script) -> Wrapper:
    """The nearest script, in the directory of a build or above it, else the installed tool."""
    for count, place in enumerate((directory, *parents_of(directory))):
        if path_in(place, script.name) in tree.files:
            return _script(tree, script, place, "../" * count)
    return Wrapper((script.tool,), f"no {script.name}, so the installed `{script.tool}` is used")


def _script(tree: SourceTree, script: Script, place: str, up: str) -> Wrapper:
    path, shown = path_in(place, script.name), f"{up}{script.name}"
    installed = f"so the installed `{script.tool}` is used"
    for needed in (script.settings, *script.needs):
        if path_in(place, needed) not in tree.files:
            return Wrapper((script.tool,), f"{shown} is there without {needed}, {installed}")
    if "\r\n" in tree.text(path):
        return Wrapper((script.tool,), f"{shown} has Windows line ends, {installed}")
    settings = tree.text(path_in(place, script.settings))
    if tree.files[path].mode == EXECUTABLE:
        return Wrapper((shown if up else f"./{shown}",), f"{shown} is there", settings)
    reason = f"{shown} is there but not executable, so `sh` runs it"
    return Wrapper(("sh", shown), reason, settings)


def with_goals(plan: BuildPlan, goals: Sequence[str]) -> BuildPlan:
    """A plan of Maven or Gradle, whose last word is the goal, with these in its place."""
    last = plan.steps[-1]
    step = BuildStep("test", (*last.command[:-1], *goals))
    return replace(plan, steps=(*plan.steps[:-1], step), keep_going=None, rerun=None)


_LONGEST = 500
_CLASS = re.compile(r"[A-Za-z_]\w*(?:[.$][A-Za-z_]\w*)*", re.ASCII)
#: A method, its parameters and the number or the values of one of its runs, as JUnit has them.
_METHOD = re.compile(
    r"(?P<name>[A-Za-z_]\w*)(?P<given>\([^()]*\)|\{[^{}]*\})?(?P<run>\[.*\])?", re.ASCII
)


@dataclass(frozen=True, order=True)
class JavaTest:
    """A test method.

    Attributes:
        report: the path of its report, from the root of the tree.
        owner: its class, with the package; ``$`` before a nested one.
        many: whether its name says that it ran several times, with nothing else in between.
    """

    report: str
    owner: str
    method: str
    many: bool = False


def java_tests(failures: Sequence[Failure]) -> tuple[JavaTest, ...] | None:
    """The failed methods, each once and in order; None if one cannot be named exactly."""
    tests = [_test(failure) for failure in failures]
    known = [test for test in tests if test is not None]
    return tuple(sorted(set(known))) if known and len(known) == len(tests) else None


def _test(failure: Failure) -> JavaTest | None:
    name = failure.name or ""
    owner, found, rest = name.partition("#")
    method = _METHOD.fullmatch(rest) if len(name) <= _LONGEST else None
    if not (failure.suite and found and method and _CLASS.fullmatch(owner)):
        return None
    return JavaTest(
        failure.suite, owner, method["name"], bool(method["run"] and not method["given"])
    )
