"""``go test`` without ``-json``: it names the tests that fail, and the packages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.go_events import go_failure
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput

_TEST = re.compile(r"(?P<indent>\s*)--- FAIL: (?P<name>\S+) \(")
_PACKAGE = re.compile(r"FAIL\t(?P<name>\S+)(?:\t| (?P<broken>\[[\w ]+\])$)")
_PASSED = re.compile(r"(?:ok  |\?   )\t\S+\t")
_RUN = re.compile(r"=== RUN +(?P<name>\S+)$")
_PART = re.compile(r"\s+--- \w+: (?P<name>\S+) \(")
_STOP = re.compile(r"\s*--- |=== |FAIL$|PASS$|FAIL\t|ok  \t")

_REACH = 80


def go(section: LogSection) -> RunnerOutput:
    """The failing tests by package; a package that fails without one is told as well.

    Tests that pass are not named, and with ``-v`` by lines that a test can print as well, so none
    counts as having run.
    """
    told, lines, start = RunnerOutput(), section.lines, 0
    for index, line in enumerate(lines):
        if _PASSED.match(line):
            start = index + 1
        elif match := _PACKAGE.match(line):
            found = list(_failures(section, range(start, index), match["name"], match["broken"]))
            told.failures += found
            if not match["broken"] and any(map(_is_panic, lines[start:index])):
                told.doubts.append(f"the tests of the package {match['name']} broke off")
            start = index + 1
    rest = _tests(section, range(start, len(lines)), "")
    told.failures += rest  # their package never came to its end
    return told


def _failures(
    section: LogSection, span: range, package: str, broken: str | None
) -> Iterator[tuple[int, Failure]]:
    """What failed in a package, told in these lines."""
    lines, numbers = section.lines, section.numbers
    tests = list(_tests(section, span, package))
    yield from tests
    if broken:
        text = f"FAIL {package} {broken}"
        yield numbers[span.stop], section.failure("goal", text, name=package)
    elif not tests:
        said = (line.strip() for line in reversed(lines[span.start : span.stop]))
        panic = next((line for line in lines[span.start : span.stop] if _is_panic(line)), "")
        text = panic or next((line for line in said if line and line != "FAIL"), "")
        yield (
            numbers[span.stop],
            section.failure("error", text or f"FAIL {package}", name=package),
        )


def _tests(section: LogSection, span: range, package: str) -> Iterator[tuple[int, Failure]]:
    """The failing tests among these lines."""
    for index in span:
        match = _TEST.match(section.lines[index])
        if match and not _has_subtest(match["name"], section.lines, index + 1):
            output = _output(section.lines, index, span, match["name"])
            failure = go_failure(section, package, match["name"], output)
            yield section.numbers[index], failure


def _is_panic(line: str) -> bool:
    return line.startswith(("panic: ", "fatal error: "))


def _has_subtest(name: str, lines: Sequence[str], start: int) -> bool:
    """Whether one of its subtests failed, which tells more; they follow at once."""
    for index in range(start, len(lines)):
        part = _PART.match(lines[index])
        if not part or not part["name"].startswith(f"{name}/"):
            return False
        if _TEST.match(lines[index]):
            return True
    return False


def _output(lines: Sequence[str], index: int, span: range, name: str) -> list[str]:
    """What a test printed: it comes below its heading, with ``-v`` above it."""
    below = list(_until_next(lines[index + 1 : min(index + 1 + _REACH, span.stop)]))
    if below:
        return below
    above = lines[max(span.start, index - _REACH) : index]
    begun = (at for at, line in enumerate(above) if (m := _RUN.match(line)) and m["name"] == name)
    start = next(begun, None)
    return [] if start is None else [line for line in above[start + 1 :] if not _STOP.match(line)]


def _until_next(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if _STOP.match(line):
            return
        yield line
