"""Options, goals and variables of the base's own CI for a tool that a recipe runs too. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from prjury.judges.builds.ci import BaseCi
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.sandbox.environment import is_refused

#: Variables that say how strict or how loud a tool is, or where this machine has its own word.
_NOT_TAKEN = re.compile(
    r"PATH|HOME|TMPDIR|SHELL|(?:LD|DYLD)_.*|CI|TERM|(?:FORCE|NO|CLICOLOR|PY)_?COLORS?.*|.*FLAGS|"
    r"CC|CXX|CPP|AR|LD|CHOST|MAVEN_(?:ARGS|OPTS|CLI_OPTS)|GRADLE_OPTS|.*_(?:CACHE|DIR|HOME)(?:_.*)?"
)
#: Properties that leave tests out, or let them fail.
_SKIPS_TESTS = re.compile(
    r"-D(?:skip\w*Tests?|skipITs|maven\.test\.(?:skip|failure)[\w.]*|test|it\.test|groups)(?:=.*)?",
    re.IGNORECASE,
)
_GOALS = ("test", "package", "verify", "install")


def is_extra(name: str) -> bool:
    """Whether a variable of the CI belongs to the project, not to its machine."""
    return _NOT_TAKEN.fullmatch(name) is None and not is_refused(name)


def with_options(plan: BuildPlan, ci: BaseCi) -> BuildPlan:
    """The plan with the options that the CI gives the same tool; the steps stay what they are."""
    change = _CHANGES.get(plan.system)
    tests = [words for one in ci.commands if one.kind == "test" for words in _commands(one.script)]
    tools = {"maven": ("mvn", "mvnw")}.get(plan.system, (plan.system,))
    called = next((words for words in tests if words[0].rpartition("/")[2] in tools), None)
    if change is None or called is None:
        return plan
    steps = tuple(_changed(step, change(called)) for step in plan.steps)
    keep_going = plan.keep_going and with_options(plan.keep_going, ci)
    note = f"options as in {ci.path}" if steps != plan.steps else ""
    reasons = (*plan.reasons, *([note] if note else []))
    return replace(plan, steps=steps, keep_going=keep_going, reasons=reasons)


def _commands(script: str) -> Iterator[Sequence[str]]:
    """The commands of one line, in words."""
    for part in re.split(r"&&|\|\||;|\n", script):
        try:
            words = shlex.split(part)
        except ValueError:
            continue
        if words:
            yield words


def _changed(step: BuildStep, change: Callable[[Sequence[str]], Sequence[str]]) -> BuildStep:
    if isinstance(step.command, str):
        return step
    return replace(step, command=tuple(change(step.command)))


def _maven(called: Sequence[str]) -> Callable[[Sequence[str]], Sequence[str]]:
    """Properties and profiles, and the goal where it is an earlier one than ours.

    What skips tests is left out.
    """
    given = [
        word for word in called if re.match(r"-[DP]\S", word) and not _SKIPS_TESTS.fullmatch(word)
    ]
    given += [
        f"-P{name}" for option, name in pairwise(called) if option in {"-P", "--activate-profiles"}
    ]
    goals = [word for word in called if word in _GOALS]
    goal = goals[-1] if goals and goals[-1] in {"test", "package"} else "verify"

    def change(own: Sequence[str]) -> Sequence[str]:
        return [*(goal if word == "verify" else word for word in own), *given]

    return change


def _options(*names: str, flags: Sequence[str] = ()) -> Callable[..., Callable[..., Sequence[str]]]:
    """Options with a value, and flags, behind the tool's first word."""

    def read(called: Sequence[str]) -> Callable[[Sequence[str]], Sequence[str]]:
        before = called[: called.index("--")] if "--" in called else called
        found = [
            word
            for word in before
            if word in flags or word.startswith(tuple(f"{n}=" for n in names))
        ]
        found += [word for pair in pairwise(before) if pair[0] in names for word in pair]
        return lambda own: [*own[:2], *(word for word in found if word not in own), *own[2:]]

    return read


_CHANGES: Mapping[str, Callable[[Sequence[str]], Callable[[Sequence[str]], Sequence[str]]]] = {
    "maven": _maven,
    "cargo": _options(
        "--features", "-F", flags=("--all-features", "--no-default-features", "--locked")
    ),
    "go": _options("-tags", "--tags"),
}
