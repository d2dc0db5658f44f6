"""What test runners of C, C++, Elixir, Ruby and others count in their closing lines.

It is read where no other reader knows the runner, and from the output that a report keeps of one
test which is a whole program of tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun

#: What counts where no runner is known by its lines.
_PROGRAM = "the test program"
#: A test by name: whether it failed or was left out is in the groups.
_BAR = r"\[ +(?:OK|(?P<bad>FAILED)) +\] (?P<name>[^\s,]+)"
_TIMED = rf"{_BAR}(?:, where .*)? \(\d+ ?[mun]s\)$"


@dataclass(frozen=True)
class _Format:
    """The lines of one test runner.

    Attributes:
        totals: how many tests ``ran``, or ``passed`` and ``failed`` or broke with ``errors``; those
            ``out`` are among the ones that ran, those ``left`` are not.
        named: a line about one test that ran.
    """

    by: str
    totals: re.Pattern[str]
    named: re.Pattern[str] | None = None


def _format(by: str, totals: str, named: str = "") -> _Format:
    number = re.sub(r"<(\w+)>", r"(?P<\1>\\d{1,9})", totals)
    return _Format(by, re.compile(rf"\s*{number}"), re.compile(rf"\s*{named}") if named else None)


_FORMATS = (
    _format(
        "Automake",
        r"# (?:PASS: +<passed>|XFAIL: +<ran>|FAIL: +<failed>|(?:XPASS|ERROR): +<errors>"
        r"|SKIP: +<left>)$",
        r"(?:PASS|XFAIL|(?P<bad>FAIL|XPASS|ERROR)): (?P<name>\S.*)$",
    ),
    _format("GoogleTest", r"\[=+\] <ran> tests? from \d+ test (?:suite|case)s? ran\b", _TIMED),
    _format("GoogleTest", r"\[=+\] <ran> test cases ran\.$"),  # utest.h
    _format("GoogleTest", r"\[  SKIPPED \] <out> tests?, listed below:"),
    _format("cmocka", r"\[=+\] (?:.*: )?<ran> test\(s\) run\.", rf"{_BAR}$"),
    _format("cmocka", r"\[  SKIPPED \] (?:.*: )?<out> test\(s\)"),
    _format(
        "Unity",
        r"<ran> Tests <failed> Failures <out> Ignored\b",
        r"\S+:\d+:(?P<name>\w+):(?:PASS|(?P<bad>FAIL)\b.*)$",
    ),
    _format("Check", r"\d+%: Checks: <ran>, Failures: <failed>, Errors: <errors>$"),
    _format(
        "CppUTest",
        r"(?:OK|Errors) \((?:<failed> failures?, )?\d+ tests?, <ran> ran, \d+ checks?, <left> ign",
    ),
    _format("Catch2", r"All tests passed \(\d+ assertions? in <ran> test cases?\)"),
    _format("Catch2", r"test cases: +<ran> \|(?:.*? <failed> failed)?(?:.*? <out> skipped)?"),
    _format(
        "doctest", r"\[doctest\] test cases: +<ran> \| +\d+ passed \| +<failed> failed \| +<left> "
    ),
    _format("Boost.Test", r"Running <ran> test cases?\.\.\."),
    _format("Qt Test", r"Totals: <passed> passed, <failed> failed, <left> skipped"),
    _format("Criterion", r"\[=+\] Synthesis: Tested: <ran> \|.*? Failing: <failed> \|"),
    _format("CUnit", r"tests +\d+ +<ran> +\d+ +<failed> +\d+$"),
    _format(
        "ExUnit, RSpec or Jasmine",
        r"(?:\d+ (?:doctest|propert)\w*, )*<ran> (?:test|example|spec)s?, <failed> failures?"
        r"(?:, \d+ excluded)?(?:, <out> (?:skipped|pending)(?: specs?)?)?$",
    ),
    _format(
        "minitest or test-unit",
        r"<ran> (?:runs|tests), \d+ assertions, <failed> failures, <errors> errors"
        r"(?:, <out> (?:skips|pendings))?",
    ),
    _format("PHPUnit", r"OK \(<ran> tests?, \d+ assertions?\)$"),
    _format(
        "PHPUnit",
        r"Tests: <ran>, Assertions: \d+(?:.*? Errors: <errors>)?(?:.*? Failures: <failed>)?"
        r"(?:.*? Skipped: <out>)?",
    ),
    _format("prove", r"Files=\d+, Tests=<ran>,"),
    _format(
        "busted", r"<passed> success(?:es)? / <failed> failures? / <errors> errors? / <left> p"
    ),
    _format("Deno", r"(?:ok|FAILED) \| <passed> passed\b.*? \| <failed> failed"),
    _format("AVA", r"<passed> tests? passed$"),
    _format("AVA", r"<failed> tests? failed$"),
    _format(
        "zope.testrunner",
        r"Ran <ran> tests with <failed> failures, <errors> errors(?: and|,) <out> skipped in",
    ),
    _format("Bun", r"Ran <ran> tests? across \d+ files?\b"),
    _format("Bun", r"<out> (?:skip|todo)$"),
    _format("QUnit", r"PASS: <passed>  FAIL: <failed>  TOTAL: \d+$"),
    _format(_PROGRAM, r"<ran> tests?(?: conducted|[,;] \d+ passed), <failed> failed\b"),
    _format(
        _PROGRAM, r"<passed> passed, <failed> failed(?:, <errors> errored)?(?:, <left> skipped)?$"
    ),
    _format(_PROGRAM, r"Pass(?:ed)?:? <passed>, Fail(?:ed)?:? <failed>\b"),
    _format(_PROGRAM, r"(?:PASS: |FAIL: )?<passed> of <ran> tests passed\b"),
    _format(_PROGRAM, r"(?:Success|SUCCESS): <passed> tests? passed\b"),
    _format(_PROGRAM, r"(?:Failure|FAILURE): <failed> out of <ran> tests? failed\b"),
    _format(_PROGRAM, r"<passed>/<ran> (?:tests? )?(?:succe(?:eded|ssful)|passed)\b"),
    _format(_PROGRAM, r"(?:Tests? )?(?:[Pp]assed|PASSED): *<passed>$"),
    _format(_PROGRAM, r"(?:Tests? )?(?:[Ff]ailed|FAILED): *<failed>$"),
    _format(_PROGRAM, r"<failed> of <ran> tests failed\b"),
    _format(_PROGRAM, r"All <ran> tests passed$"),
)
#: A line about one test, where nothing counts them all: by its beginning, or by its end.
_BEGINS = re.compile(
    r"\s*(?:(?:--- )?(?:PASS(?:ED)?|(?P<bad>FAIL(?:ED)?))(?::\s+|\s+-\s+)"
    r"(?!(?:\[code=\d+\] )?\S+\.(?:o|obj|a|so)\b)"  # Ninja
    r"|\[ *(?:OK|PASS(?:ED)?|(?P<worse>FAIL(?:ED)?)) *\]\s+)\S"
)
_ENDS = re.compile(
    r"\S(?:\s*[:.\[(|-]+\s*|\s+)(?:PASS(?:ED)?|Passed|(?P<bad>FAIL(?:ED)?|Failed))[\])!.|]*\s*$"
    r"|(?:: *|\.{2,} *|\[)OK\]?\s*$|: *(?:SUCCESS|(?P<worse>FAILURE))!\s*$"
)
#: A test's target whose failure a Makefile has Make ignore.
_IGNORED = re.compile(
    r"make(?:\[\d+\])?: \[(?:[^\]]*[:/ ])?[\w-]*(?:test|check)[\w-]*\] .*\(ignored\)$"
)
#: prove's last line, which names no test.
_RESULT = "Result: FAIL"
#: Characters at the end of a line that are searched; searching takes the square of that.
_END = 80
#: Words without which no format has anything, for the search that costs next to nothing.
_WORD = re.compile(
    r"[Tt]est|check|pass|PASS|Pass|FAIL|Fail|ERROR|SKIP|OK\b|Ok \[|runs,|[Ss]uccess|SUCCESS|spec"
    r"|example|\d (?:skip|todo)$"
)


def closing_lines(section: LogSection) -> RunnerOutput:
    """The tests that are counted, or else the lines that tell of one test each."""
    results = _counted_tests(section)
    run = RunnerRun(_PROGRAM, [], [], 0, 0)
    for index, line in enumerate(section.lines):
        if not _WORD.search(line):
            continue
        results.more += _IGNORED.match(line) is not None
        if not (match := _about_one(line)):
            continue
        bad = any(match.groups())
        run.count, run.failed = run.count + 1, run.failed + bad
        if bad and line.strip() != _RESULT and not any(_fitting(line)):
            failure = section.failure("error", line.strip())
            results.failures.append((section.numbers[index], failure))
    if run.count and not (results.ran or results.counted):
        results.settle(run)
    return results


def _counted_tests(section: LogSection) -> RunnerOutput:
    """The tests by runner, with their names where it names as many as it counts."""
    results, runs = RunnerOutput(), dict[str, RunnerRun]()
    for index, line in enumerate(section.lines):
        if not _WORD.search(line):
            continue
        for one, match, named in _fitting(line):
            run = runs.setdefault(one.by, RunnerRun(one.by, [], [], 0, 0))
            if named:
                _name(section, index, run, match)
            else:
                results.skipped += _count(run, match)
    for run in runs.values():
        if run.count > 0 or run.failed:
            run.failing = run.failing[: run.failed]
            results.settle(run)
    return results


def _about_one(line: str) -> re.Match[str] | None:
    if match := _BEGINS.match(line):
        return match
    steps = ("-- ", "> Task ")  # CMake's and Gradle's
    return None if line.lstrip().startswith(steps) else _ENDS.search(line[-_END:])


def _fitting(line: str) -> Iterator[tuple[_Format, re.Match[str], bool]]:
    """The format that a line is of, and whether it is about one test."""
    for one in _FORMATS:
        if match := one.totals.match(line):
            yield one, match, False
            return
    for one in _FORMATS:
        if one.named and (match := one.named.match(line)):
            yield one, match, True


def _count(run: RunnerRun, totals: re.Match[str]) -> int:
    """Takes in a closing line, and says how many tests it leaves out."""
    say = {name: int(value) for name, value in totals.groupdict().items() if value}
    failed, out = say.get("failed", 0) + say.get("errors", 0), say.get("out", 0)
    if {"ran", "passed"} <= say.keys():
        failed = max(failed, say["ran"] - say["passed"] - out)
    run.count += (say["ran"] if say.get("ran") else say.get("passed", 0) + failed) - out
    run.failed += failed
    return out + say.get("left", 0)


def _name(section: LogSection, index: int, run: RunnerRun, match: re.Match[str]) -> None:
    test: Failure = section.test(match["name"], section.directory)
    run.names.append(test.id)
    if match["bad"]:
        run.failing.append((section.numbers[index], test))
