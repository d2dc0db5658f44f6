"""pytest's own output, for runs that write no report, or not one for everything."""

from __future__ import annotations

import re

from prjury.judges.builds.failure import Failure, identity
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun

_BEGIN = re.compile(r"=+ test session starts =+$")
_SUMMARY = re.compile(
    r"(?P<what>FAILED|ERROR|SUBFAILED\S*) (?P<path>[^\s:]{1,300}\.(?:py|txt|rst))"
    r"(?:::(?P<test>.*?))?(?: - (?P<message>.*))?$"
)
_SECTION = re.compile(
    r"_{2,} (?:ERROR at (?:setup|teardown) of |ERROR collecting |\[doctest\] )?(?P<test>.+?) _{2,}$"
)
_ERROR = re.compile(r"E +(?P<message>\S.*)$")
_SYNTAX_PLACE = re.compile(r'E +File "(?P<path>[^"]{1,300})", line (?P<line>\d+)')
_PLACE = re.compile(r"(?P<path>[^\s:]{1,300}\.py):(?P<line>\d+): ")
_VERBOSE = re.compile(
    r"(?:\[gw\d+\] \[ *\d+%\] (?:PASSED|XPASS|FAILED) (?P<id>\S+\.py::.+?) *"
    r"|(?P<id2>\S+\.py::.+?) (?:PASSED|XPASS|FAILED)(?: \(.*\))?(?: +\[ *\d+%\])?)$"
)
_END = re.compile(r"(?:=+ )?(?P<counts>(?:\d+ [a-z ]+, )*\d+ [a-z ]+) in [\d.]+s\b")
_COUNT = re.compile(r"(?P<number>\d+) (?P<what>passed|failed|xpassed|errors?)\b")
_CUT_SHORT = re.compile(r"!{3,} (?P<why>.+?) !{3,}$")
_USAGE = re.compile(
    r"(?:ERROR: (?P<message>(?:usage|file or directory not found|not found): .*)"
    r"|INTERNALERROR> (?P<internal>\w*Error: .*))"
)


def node_name(path: str, test: str) -> str:
    """A test's name as pytest's reports put it: dotted module and class, ``#``, function."""
    plain, bracket, parameters = test.partition("[")
    *classes, function = plain.split("::")
    module = path.removesuffix(".py").replace("/", ".")
    return f"{'.'.join([module, *classes])}#{function}{bracket}{parameters}"


def pytest(section: LogSection) -> RunnerOutput:
    """The short summary, with places from the sections above it; names where it is verbose."""
    results, run = RunnerOutput(), _Run(section)
    for index, line in enumerate(section.lines):
        if _BEGIN.match(line):
            run = _Run(section)
        elif match := _END.match(line):
            if counts := _counts(match["counts"]):
                results.settle(run.ended(counts))
                run = _Run(section)
        elif match := _CUT_SHORT.match(line):
            results.doubts.append(f"pytest stopped early: {match['why']}")
        elif match := _USAGE.match(line):
            text = match["message"] or match["internal"]
            results.failures.append((section.numbers[index], section.failure("error", text)))
        else:
            run.take(section.numbers[index], line)
    results.failures += run.failing  # it never came to its closing line
    return results


def _counts(text: str) -> dict[str, int]:
    found = {match["what"]: int(match["number"][:9]) for match in _COUNT.finditer(text)}
    return found or ({"none": 0} if "no tests ran" in text else {})


class _Run:
    """One run of pytest, line by line."""

    def __init__(self, section: LogSection) -> None:
        self._section = section
        self._heading = ""
        self._places: dict[str, tuple[str, str]] = {}
        self._errors: dict[str, str] = {}
        self._named: list[str] = []
        self._subtests = 0
        self.failing: list[tuple[int, Failure]] = []

    def take(self, number: int, line: str) -> None:
        """One line of its output."""
        if match := _SECTION.match(line):
            self._heading = match["test"]
        elif self._heading and (match := _PLACE.match(line) or _SYNTAX_PLACE.match(line)):
            if self._heading not in self._places or self._section.tree.find(match["path"]):
                self._places[self._heading] = (match["path"], match["line"])
        elif self._heading and (match := _ERROR.match(line)):
            self._errors[self._heading] = match["message"]
        elif match := _SUMMARY.match(line):
            self.failing.append((number, self._failure(match)))
            self._subtests += match["what"].startswith("SUB")
        elif not self._heading and ".py::" in line and (match := _VERBOSE.match(line)):
            path, _, test = (match["id"] or match["id2"]).partition("::")
            self._named.append(identity(self._section.file(path), node_name(path, test)))

    def _failure(self, match: re.Match[str]) -> Failure:
        path, test, section = match["path"], match["test"], self._section
        if not test:  # a module that cannot be loaded
            message = self._errors.get(path) or match["message"] or "cannot be loaded"
            at, line = self._places.get(path, (path, None))
            return section.failure("compile", message, at, line, path)
        plain, bracket, parameters = test.partition("[")
        heading = f"{plain.replace('::', '.')}{bracket}{parameters}{_subtest(match['what'])}"
        at, line = self._places.get(heading, (path, None))
        name, suite = node_name(path, test), section.file(path)
        return section.test(name, suite, match["message"] or "failed", at, line)

    def ended(self, counts: dict[str, int]) -> RunnerRun:
        """What it comes to, by its closing line; it counts subtests that failed as well."""
        failed = counts.get("failed", 0)
        count = counts.get("passed", 0) + counts.get("xpassed", 0)
        count += max(0, failed - self._subtests)
        failed += counts.get("error", counts.get("errors", 0))
        return RunnerRun("pytest", [], self.failing, count, failed, self._named)


def _subtest(what: str) -> str:
    """How a subtest's heading ends."""
    return f" {what.removeprefix('SUBFAILED')}" if what.startswith("SUBFAILED") else ""
