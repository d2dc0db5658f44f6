"""``cargo test`` and ``cargo nextest``: what is printed for each test program."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile

from prjury.judges.builds.failure import Failure, identity
from prjury.judges.builds.results.error_text import with_sides
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun, ids

_PROGRAM = re.compile(
    r"\s+Running (?:unittests )?(?P<path>\S+\.rs) "
    r"\((?:\S*/)?(?P<crate>[^/\s]+?)(?:-[0-9a-f]{16})?\)$"
)
_DOCUMENTATION = re.compile(r"\s+Doc-tests (?P<crate>\S+)$")
_BEGIN = re.compile(r"running (?P<count>\d+) tests?$")
_TEST = re.compile(r"test (?P<name>.+?) \.\.\. (?P<status>ok|FAILED|ignored)\b")
_QUIET = re.compile(r"(?P<name>.+) --- FAILED$")
_DETAILS = re.compile(r"---- (?P<name>.+) stdout ----$")
_LISTED = re.compile(r"    (?P<name>\S.*)$")
_END = re.compile(
    r"test result: (?:ok|FAILED)\. (?P<passed>\d{1,9}) passed; (?P<failed>\d{1,9}) failed; "
    r"\d+ ignored; (?P<measured>\d{1,9}) measured; \d+ filtered out"
)
_BROKEN = re.compile(r"error: (?:doc)?test failed, to rerun pass `(?P<which>.*)`")
_DIED = re.compile(r"\s+process didn't exit successfully: .*\((?P<how>[^()]*(?:\([^()]*\))?)\)$")
_PANIC = re.compile(
    r"\s*thread '.*' (?:\(\d+\) )?panicked at (?:'(?P<message>.*)', )?"
    r"(?P<path>[^:']{1,300}):(?P<line>\d+):\d+"
)
_NOTE = re.compile(r"note: test did not .* at (?P<path>[^:']{1,300}):(?P<line>\d+):\d+$")

#: What libtest adds to a name, and the line of a test in documentation, which may move.
_ADDED = re.compile(r" - (?:should panic|compile(?: fail)?)$")
_AT_LINE = re.compile(r"(?P<path>\S+\.rs) - (?P<item>.*?) ?\(line (?P<line>\d+)\)")

_REACH = 60


def plain_name(name: str) -> str:
    """A test's name as it is written in the code; in documentation without its line."""
    name = _ADDED.sub("", name)
    match = _AT_LINE.match(name)
    return f"{match['path']} - {match['item']}".removesuffix(" - ") if match else name


@dataclass
class _Program:
    """One test program as it runs."""

    suite: str
    passing: list[str] = field(default_factory=list)
    failing: dict[str, int] = field(default_factory=dict)
    details: dict[str, int] = field(default_factory=dict)
    naming: bool = True


def cargo(section: LogSection) -> RunnerOutput:
    """The tests of each program, which is named by its source file.

    The names in a program's list count; what its tests print comes later, or in between, where it
    makes the list disagree with the closing line.
    """
    results, suite, program = RunnerOutput(), "", None
    seen: set[str] = set()
    for index, line in enumerate(section.lines):
        number = section.numbers[index]
        if heading := _heading(section, line):
            suite = heading
            if "(" in suite and suite in seen:
                results.doubts.append(f"several test programs are called {suite}")
            seen.add(suite)
            _abandon(results, program)
            program = None
        elif _BEGIN.match(line):
            _abandon(results, program)
            program = _Program(suite)
        elif program and (match := _END.match(line)):
            results.settle(_run(section, program, match))
            program = None
        elif match := _BROKEN.match(line):
            _abandon(results, program)
            program = None
            results.failures.append((number, _broken(section, index, match["which"])))
        elif program:
            _take(program, number, line, index)
    _abandon(results, program)
    return results


def _heading(section: LogSection, line: str) -> str:
    """The suite that a heading announces, empty for any other line."""
    if not line.startswith("  "):
        return ""
    if match := _DOCUMENTATION.match(line):
        return f"doc-tests {match['crate']}"
    match = _PROGRAM.match(line)
    return _suite(section, match["path"], match["crate"]) if match else ""


def _suite(section: LogSection, source: str, crate: str) -> str:
    """The source file where only one can be meant, else the path in its package and the crate."""
    name = posixpath.basename(source)
    files = [path for path in section.tree.named(name) if f"/{path}".endswith(f"/{source}")]
    own = [path for path in files if _package(path, source).replace("-", "_") == crate]
    for found in (files, own):
        if len(found) == 1:
            return found[0]
    return f"{source} ({crate})"


def _package(path: str, source: str) -> str:
    return posixpath.basename(path.removesuffix(source).rstrip("/"))


def _abandon(results: RunnerOutput, program: _Program | None) -> None:
    if program:
        results.doubts.append(f"the tests of {program.suite or 'a test program'} stopped early")


def _take(program: _Program, number: int, line: str, index: int) -> None:
    """One line between the beginning of a program's tests and its closing line."""
    if not line.strip():
        program.naming = False
    elif match := _DETAILS.match(line):
        program.details.setdefault(match["name"], index)
    elif program.naming and (match := _TEST.match(line)):
        if match["status"] == "ok":
            program.passing.append(match["name"])
        elif match["status"] == "FAILED":
            program.failing.setdefault(match["name"], number)
    elif program.naming and (match := _QUIET.match(line)):
        program.failing.setdefault(match["name"], number)


def _run(section: LogSection, program: _Program, end: re.Match[str]) -> RunnerRun:
    failed = int(end["failed"])
    if len(program.failing) < failed:
        for name, index in program.details.items():
            program.failing.setdefault(name, section.numbers[index])
    failing = [
        (number, _failure(section, program, name)) for name, number in program.failing.items()
    ]
    names = [identity(program.suite, plain_name(name)) for name in program.passing]
    count = int(end["passed"]) + failed + int(end["measured"])
    return RunnerRun("cargo test", [*names, *ids(failing)], failing, count, failed)


def _failure(section: LogSection, program: _Program, name: str) -> Failure:
    start = program.details.get(_ADDED.sub("", name))
    below = section.lines[start + 1 : start + 1 + _REACH] if start is not None else ()
    message, path, line = panic_of(list(_until_details(below)))
    if match := _AT_LINE.match(name):
        path, line = match["path"], match["line"]
    return section.test(plain_name(name), program.suite, message, path, line)


def _until_details(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if _DETAILS.match(line) or line == "failures:":
            return
        if line.strip():
            yield line.strip()


def panic_of(lines: Sequence[str]) -> tuple[str, str | None, str | None]:
    """Message, path and line of the first panic, else the first line."""
    for index, line in enumerate(lines):
        if match := _PANIC.match(line):
            following = lines[index + 1] if index + 1 < len(lines) else "panicked"
            message = with_sides(match["message"] or following.strip(), lines[index + 1 :])
            return message, match["path"], match["line"]
        if match := _NOTE.match(line):
            return line, match["path"], match["line"]
    return next(iter(lines), ""), None, None


def _broken(section: LogSection, index: int, which: str) -> Failure:
    """A test program that failed, with the signal that ended it, if one did."""
    below = section.lines[index + 1 : index + 4]
    died = next((match["how"] for match in map(_DIED.match, below) if match), "")
    text = f"test failed: {which}" + (f" ({died})" if died else "")
    return section.failure("goal", text, name=which)


_NEXT_BEGIN = re.compile(r"\s+Starting \d+ tests? across ")
_NEXT_TEST = re.compile(
    r"\s+(?P<status>PASS|LEAK|FLAKY \d+/\d+|(?:TRY \d+ )?(?:FAIL|ABORT|TIMEOUT|TMT|SIG\w+)) "
    r"\[[^\]]*\] (?:\(\s*\d+/\d+\) )?(?P<suite>\S+) (?P<name>\S.*)$"
)
_NEXT_SUMMARY = re.compile(
    r"\s+Summary \[.*\] (?P<run>\d{1,9})(?P<of>/\d+)? tests? run: (?P<passed>\d{1,9}) passed"
)
_INDENTED = re.compile(r"\s{2,}|\s*$")

_ERRORS = "stderr ───"
_GOOD = ("PASS", "LEAK", "FLAKY")


def nextest(section: LogSection) -> RunnerOutput:
    """The tests by their program and name, as nextest writes both in its JUnit report."""
    results, passing = RunnerOutput(), list[str]()
    details: dict[tuple[str, str], int] = {}
    for index, line in enumerate(section.lines):
        if _NEXT_BEGIN.match(line):
            passing, details = [], {}
        elif match := _NEXT_SUMMARY.match(line):
            failing = list(_listed(section, index, int(match["run"]), details))
            names = [*passing, *ids(failing)]
            count, passed = int(match["run"]), int(match["passed"])
            results.settle(RunnerRun("cargo nextest", names, failing, count, count - passed))
            if match["of"]:
                results.doubts.append("cargo nextest did not run all tests")
            passing, details = [], {}
        elif match := _NEXT_TEST.match(line):
            if match["status"].startswith(_GOOD):
                passing.append(identity(match["suite"], match["name"]))
            else:
                details[match["suite"], match["name"]] = index
    return results


def _listed(
    section: LogSection, index: int, most: int, details: dict[tuple[str, str], int]
) -> Iterator[tuple[int, Failure]]:
    """The failing tests, which are listed below the summary."""
    lines = islice(section.lines, index + 1, index + 1 + most)
    for match in takewhile(bool, map(_NEXT_TEST.match, lines)):
        if match and not match["status"].startswith(_GOOD):
            yield section.numbers[index], _nextest_failure(section, match, details)


def _nextest_failure(
    section: LogSection, match: re.Match[str], details: dict[tuple[str, str], int]
) -> Failure:
    start = details.get((match["suite"], match["name"]))
    below = section.lines[start + 1 : start + _REACH] if start is not None else ()
    printed = [line.strip() for line in takewhile(_is_output, below) if line.strip()]
    message, path, line = panic_of(printed)
    if path is None:
        errors = printed[printed.index(_ERRORS) + 1 :] if _ERRORS in printed else []
        message = next(iter(errors), match["status"])
    return section.test(match["name"], match["suite"], message, path, line)


def _is_output(line: str) -> bool:
    return _INDENTED.match(line) is not None and not _NEXT_TEST.match(line)
