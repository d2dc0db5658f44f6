"""What Surefire, Failsafe and Gradle print about tests. Their reports hold all of it and more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun, ids
from prjury.judges.builds.results.tree import TreeFiles

#: The totals of a module; those of a class say how long they took.
_TOTALS = re.compile(
    r"(?:\[\w+\] +)?Tests run: (?P<run>\d{1,9}), Failures: (?P<failures>\d{1,9}), "
    r"Errors: (?P<errors>\d{1,9}), Skipped: (?P<skipped>\d{1,9})(?:, Flakes: \d+)?$"
)
_GRADLE_TOTALS = re.compile(
    r"(?P<run>\d{1,9}) tests? completed(?:, (?P<failed>\d{1,9}) failed)?"
    r"(?:, (?P<skipped>\d{1,9}) skipped)?$"
)
_FAILED = re.compile(r"(?:\[ERROR\] +)?(?P<test>\S.*?) -- Time elapsed: .*<<< (?:FAILURE|ERROR)!")
_OLD_FAILED = re.compile(
    r"(?:\[ERROR\] +)?(?P<test>[^\s(]+.*)\((?P<owner>[\w.$]+)\) +"
    r"Time elapsed: .*<<< (?:FAILURE|ERROR)!"
)
_GRADLE_FAILED = re.compile(r"(?P<owner>[\w.$]+(?: > .+?)?) > (?P<test>.+?) FAILED$")
_FRAME = re.compile(r"\s*at (?:\S+/)?(?P<type>[\w.$]+)\.[^.(]+\((?P<file>\w+\.\w+):(?P<line>\d+)\)")
_GRADLE_FRAME = re.compile(r"\s+\S.* at (?P<file>\w+\.\w+):(?P<line>\d+)$")
_SKIPPED = re.compile(r"\[INFO\] (?P<module>\S.*?) \.*\s?SKIPPED$")

_REACH = 60


def jvm(section: LogSection) -> RunnerOutput:
    """The failing tests, and the totals; what was left out because of them is a doubt."""
    results, failing = RunnerOutput(), list[tuple[int, Failure]]()
    for index, line in enumerate(section.lines):
        if "<<< " in line:
            if match := _FAILED.match(line) or _OLD_FAILED.match(line):
                failing.append((section.numbers[index], _failure(section, index, match)))
        elif match := _TOTALS.match(line) or _GRADLE_TOTALS.match(line):
            results.settle(_run(match, failing))
            failing = []
        elif line.endswith(" FAILED"):
            if match := _GRADLE_FAILED.match(line):
                failing.append((section.numbers[index], _of_gradle(section, index, match)))
        elif line.endswith("SKIPPED") and (match := _SKIPPED.match(line)):
            results.doubts.append(f"the module {match['module']} was left out after a failure")
    results.failures += failing
    return results


def _run(totals: re.Match[str], failing: list[tuple[int, Failure]]) -> RunnerRun:
    found = {name: int(value or 0) for name, value in totals.groupdict().items()}
    failed = found.get("failed", 0) + found.get("failures", 0) + found.get("errors", 0)
    count = max(0, found["run"] - found["skipped"])
    return RunnerRun("the test runner", ids(failing), failing, count, failed)


def _failure(section: LogSection, index: int, match: re.Match[str]) -> Failure:
    """A failing method; where a class cannot be set up there is only the class."""
    below = section.lines[index + 1 : index + 1 + _REACH]
    message = below[0] if below else "failed"
    owner, test = match.groupdict().get("owner"), match["test"].strip()
    if owner is None:
        plain, bracket, rest = test.partition("(")
        owner, _, method = plain.rpartition(".")
        test = f"{method}{bracket}{rest}"
    path, line = java_place(list(takewhile(str.strip, below)), owner, section.tree)
    if test[:1].isupper() or not owner:
        return section.failure("error", message, path, line, match["test"])
    return section.test(f"{owner}#{test}", section.directory, message, path, line)


def java_place(
    lines: Sequence[str], owner: str, tree: TreeFiles, near: str = ""
) -> tuple[str | None, str | None]:
    """The innermost frame that is in the tree, the test's own if there is one.

    Args:
        owner: the test's class.
        near: a path, to choose between modules with the same class.
    """
    fallback: tuple[str | None, str | None] = (None, None)
    for frame in filter(None, map(_FRAME.match, lines)):
        path = tree.of_type(frame["type"], frame["file"], near)
        if path and owner and frame["type"].startswith(owner.partition("$")[0]):
            return path, frame["line"]
        if path and fallback[0] is None:
            fallback = (path, frame["line"])
    return fallback


def _of_gradle(section: LogSection, index: int, match: re.Match[str]) -> Failure:
    below = section.lines[index + 1 : index + 3]
    message = below[0].strip() if below else "failed"
    frame = next((found for found in map(_GRADLE_FRAME.match, below) if found), None)
    files = section.tree.named(frame["file"]) if frame else ()
    path = files[0] if len(files) == 1 else None
    name = f"{match['owner']}#{match['test']}"
    return section.test(name, section.directory, message, path, frame["line"] if frame else None)
