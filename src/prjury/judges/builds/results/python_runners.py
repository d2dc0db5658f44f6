"""What pytest and ``unittest`` print, for runs that write no report, or not one for everything."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
    results, run = RunnerOutput(), _PytestRun(section)
    for index, line in enumerate(section.lines):
        if _BEGIN.match(line):
            run = _PytestRun(section)
        elif match := _END.match(line):
            if counts := _counts(match["counts"]):
                results.settle(run.ended(counts))
                run = _PytestRun(section)
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


class _PytestRun:
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
        return RunnerRun("pytest", self._named, self.failing, count, failed)


def _subtest(what: str) -> str:
    """How a subtest's heading ends."""
    return f" {what.removeprefix('SUBFAILED')}" if what.startswith("SUBFAILED") else ""


_HEADING = re.compile(
    r"(?P<what>FAIL|ERROR|UNEXPECTED SUCCESS): (?P<test>\S+) \((?P<owner>[\w.<>]+)\)"
)
_UNITTEST_VERBOSE = re.compile(
    r"(?P<test>\w+) \((?P<owner>[\w.]+)\)(?P<rest>(?: \.\.\. ?(?P<status>.*))?)$"
)
_DOCUMENTED = re.compile(r".* \.\.\. (?P<status>.*)$")
_STATUS = re.compile(r"(?:ok|FAIL|ERROR|expected failure|unexpected success)?")
_SKIPPED = re.compile(r"skipped\b")
_UNITTEST_END = re.compile(r"Ran (?P<count>\d{1,9}) tests? in [\d.]+s$")
_TOTALS = re.compile(r"(?:OK|FAILED)(?: \((?P<totals>.*)\))?$")
_TOTAL = re.compile(r"(?P<what>[a-z ]+)=(?P<number>\d{1,9})")
_FRAME = re.compile(r'  File "(?P<path>[^"/<][^"]*)", line (?P<line>\d+)')

_LOADING = "_FailedTest"
_REACH = 60
_PREAMBLE = ("Traceback", "ImportError: Failed to import test module", "---", "===")


def unittest(section: LogSection) -> RunnerOutput:
    """The headings with their tracebacks; names where it is verbose."""
    results, run = RunnerOutput(), _UnittestRun(section)
    for index, line in enumerate(section.lines):
        if match := _UNITTEST_END.match(line):
            results.settle(run.ended(int(match["count"]), section.lines[index + 1 : index + 4]))
            run = _UnittestRun(section)
        else:
            run.take(index, line)
    results.failures += run.failing
    return results


class _UnittestRun:
    """One run, line by line."""

    def __init__(self, section: LogSection) -> None:
        self._section = section
        self._named: list[str] = []
        self._skipped = 0
        self._waiting: tuple[str, str] | None = None
        self.failing: list[tuple[int, Failure]] = []

    def take(self, index: int, line: str) -> None:
        """One line of its output."""
        if match := _HEADING.match(line):
            self.failing.append((self._section.numbers[index], self._failure(index, match)))
        elif match := _UNITTEST_VERBOSE.match(line):
            self._waiting = (match["test"], match["owner"])
            if match["rest"]:
                self._take_status(match["status"])
        elif self._waiting and (match := _DOCUMENTED.match(line)):
            self._take_status(match["status"])
        else:
            self._waiting = None

    def _take_status(self, status: str) -> None:
        """How the test that was named last ended."""
        test, owner = self._waiting or ("", "")
        self._waiting = None
        if test.startswith(("setUp", "tearDown")) or _LOADING in owner:
            return
        if _SKIPPED.match(status):
            self._skipped += 1
        elif _STATUS.fullmatch(status):
            self._named.append(identity(*self._known_as(test, owner)))

    def _known_as(self, test: str, owner: str) -> tuple[str, str]:
        """Suite and name as pytest has them too; newer Pythons repeat the test in the owner."""
        owner = owner.removesuffix(f".{test}")
        return self._section.tree.module(owner) or "", f"{owner}#{test}"

    def _failure(self, index: int, match: re.Match[str]) -> Failure:
        section, frame, message = self._section, None, match["what"].lower()
        reach = _REACH if match["what"] != "UNEXPECTED SUCCESS" else 0
        for below in section.lines[index + 2 : index + reach]:
            if found := _FRAME.match(below):
                known = section.tree.find(found["path"], section.directory)
                frame = found if known or frame is None else frame
            elif below and not below[0].isspace() and not below.startswith(_PREAMBLE):
                message = below
                break
        path, line = (frame["path"], frame["line"]) if frame else (None, None)
        test, owner = match["test"], match["owner"]
        if _LOADING in owner:
            return section.failure("compile", message, path, line, test)
        if test.startswith(("setUp", "tearDown")):
            return section.failure("error", f"{test}: {message}", path, line, owner)
        suite, name = self._known_as(test, owner)
        return section.test(name, suite, message, path, line)

    def ended(self, count: int, below: Sequence[str]) -> RunnerRun:
        """What it comes to, by its closing lines."""
        totals = next((match["totals"] for match in map(_TOTALS.match, below) if match), None)
        found = {m["what"].strip(): int(m["number"]) for m in _TOTAL.finditer(totals or "")}
        failed = sum(found.get(what, 0) for what in ("failures", "errors", "unexpected successes"))
        unloaded = sum(failure.kind == "compile" for _, failure in self.failing)
        ran = max(0, count - found.get("skipped", 0) - unloaded)
        unclear = self._skipped != found.get("skipped", 0)
        return RunnerRun("unittest", self._named, self.failing, ran, failed, unclear)
