"""``cargo nextest``: one line for each test, and a summary that names the failing ones again."""

from __future__ import annotations

import re
from itertools import islice, takewhile

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.cargo import panic_of
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun

_BEGIN = re.compile(r"\s+Starting \d+ tests? across ")
_TEST = re.compile(
    r"\s+(?P<status>PASS|LEAK|FLAKY \d+/\d+|(?:TRY \d+ )?(?:FAIL|ABORT|TIMEOUT|TMT|SIG\w+)) "
    r"\[[^\]]*\] (?:\(\s*\d+/\d+\) )?(?P<suite>\S+) (?P<name>\S.*)$"
)
_SUMMARY = re.compile(
    r"\s+Summary \[.*\] (?P<run>\d{1,9})(?P<of>/\d+)? tests? run: (?P<passed>\d{1,9}) passed"
)
_INDENTED = re.compile(r"\s{2,}|\s*$")

_ERRORS = "stderr ───"
_GOOD = ("PASS", "LEAK", "FLAKY")
_REACH = 60


def nextest(section: LogSection) -> RunnerOutput:
    """The tests by their program and name, as nextest writes both in its JUnit report."""
    told, lines = RunnerOutput(), section.lines
    passing: list[tuple[str, str]] = []
    details: dict[tuple[str, str], int] = {}
    for index, line in enumerate(lines):
        if _BEGIN.match(line):
            passing, details = [], {}
        elif match := _SUMMARY.match(line):
            told.settle(_run(section, index, match, passing, details))
            if match["of"]:
                told.doubts.append("cargo nextest did not run all tests")
            passing, details = [], {}
        elif match := _TEST.match(line):
            if match["status"].startswith(_GOOD):
                passing.append((match["suite"], match["name"]))
            else:
                details[match["suite"], match["name"]] = index
    return told


def _run(
    section: LogSection,
    index: int,
    summary: re.Match[str],
    passing: list[tuple[str, str]],
    details: dict[tuple[str, str], int],
) -> RunnerRun:
    """What the summary says, with the failing tests that are listed below it."""
    count = int(summary["run"])
    after = (section.lines[at] for at in range(index + 1, len(section.lines)))
    below = takewhile(bool, map(_TEST.match, islice(after, count)))
    listed = [
        (section.numbers[index], _failure(section, match, details))
        for match in below
        if match and not match["status"].startswith(_GOOD)
    ]
    return RunnerRun("cargo nextest", passing, listed, count, count - int(summary["passed"]))


def _failure(
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
    return _INDENTED.match(line) is not None and not _TEST.match(line)
