"""What Jest, Vitest, Mocha, uvu and ``node --test`` print for people, where they write no TAP."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from prjury.judges.builds.failure import Failure, identity
from prjury.judges.builds.results.error_text import (
    SCRIPT,
    Thrown,
    error_above,
    file_failure,
    first_frame,
    with_values,
)
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun

_DEEPEST = 100
_REACH = 40
_COUNT = re.compile(r"(?P<count>\d{1,9}) (?P<what>failed|passed)")


@dataclass
class _Outline:
    """The names of the suites around a test, by their indentation."""

    separator: str = " > "
    _open: dict[int, str] = field(default_factory=dict)

    def enter(self, indent: str, name: str) -> None:
        """A suite begins."""
        depth = min(len(indent), _DEEPEST)
        self._open = {level: one for level, one in self._open.items() if level < depth}
        self._open[depth] = name

    def leave(self, indent: str, name: str) -> bool:
        """Whether a line repeats the name of an open suite, which ends with it."""
        if self._open.get(len(indent)) != name:
            return False
        del self._open[len(indent)]
        return True

    def full(self, indent: str, name: str) -> str:
        """The name of a test behind those of its suites."""
        around = (one for level, one in self._open.items() if level < len(indent))
        return self.separator.join([*around, name])


def _error(below: Sequence[str]) -> tuple[str, str | None, str | None]:
    """Message and place of the error that is printed in these lines."""
    first = next((at for at, line in enumerate(below) if line.strip()), len(below))
    message = with_values(next(iter(below[first:]), "failed"), below[first + 1 :])
    return message, *first_frame(below)


def _counted_run(
    by: str, totals: str, failing: list[tuple[int, Failure]], names: list[str]
) -> RunnerRun:
    """A run by a closing line such as ``1 failed, 2 passed``."""
    found = {match["what"]: int(match["count"]) for match in _COUNT.finditer(totals)}
    failed = found.get("failed", 0)
    return RunnerRun(by, names, failing, failed + found.get("passed", 0), failed)


_JEST_FILE = re.compile(r"(?:PASS|FAIL) (?:.* )?(?P<path>\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?$")
_JEST_TEST = re.compile(r"(?P<indent> {2,})(?P<status>[✓✕○✎]) (?P<name>.*?)(?: \([\d.]+ m?s\))?$")
_SUITE = re.compile(r"(?P<indent> {2,})(?P<name>\S.*)$")
_JEST_HEADING = re.compile(r"  ● (?P<name>\S.*)$")
_JEST_SUMMARY = "Summary of all failing tests"
_JEST_END = re.compile(r"Tests: +(?P<totals>.*\btotal)$")
_JEST_BAILED = re.compile(r"Test Suites: .*\d of \d+ total$")
_JEST_LOADING = "Test suite failed to run"
_JEST_SYNTAX = re.compile(
    r"\s*SyntaxError: (?:(?P<path>[^\s:]+): )?(?P<message>.*?)(?: \((?P<line>\d+):\d+\))?$"
)


def jest(section: LogSection) -> RunnerOutput:
    """The failing tests by file; names where they are printed, which is for one file at a time."""
    results, run = RunnerOutput(), _JestRun(section)
    for index, line in enumerate(section.lines):
        if match := _JEST_END.match(line):
            results.settle(_counted_run("jest", match["totals"], run.failing, run.names))
            results.failures += run.unloaded
            run = _JestRun(section)
        elif _JEST_BAILED.match(line):
            results.doubts.append("jest did not run all files")
        else:
            run.take(index, line)
    results.failures += run.failing + run.unloaded
    return results


@dataclass
class _JestRun:
    section: LogSection
    failing: list[tuple[int, Failure]] = field(default_factory=list)
    unloaded: list[tuple[int, Failure]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    _file: str = ""
    _outline: _Outline = field(default_factory=lambda: _Outline(" › "))
    _naming: bool = False
    _repeating: bool = False

    def take(self, index: int, line: str) -> None:
        """One line of the output."""
        if match := _JEST_FILE.match(line):
            self._file, self._naming = self.section.file(match["path"]), True
            self._outline = _Outline(" › ")
        elif line.startswith(_JEST_SUMMARY):
            self._repeating = True
        elif (match := _JEST_HEADING.match(line)) and self._file:
            self._naming = False
            if not self._repeating and match["name"] != "Console":
                failure = self._failure(index, match["name"])
                which = self.failing if failure.kind == "test" else self.unloaded
                which.append((self.section.numbers[index], failure))
        elif self._naming and (match := _JEST_TEST.match(line)):
            if match["status"] in "✓✕":
                full = self._outline.full(match["indent"], match["name"])
                self.names.append(identity(self._file, full))
        elif self._naming and (match := _SUITE.match(line)):
            self._outline.enter(match["indent"], match["name"])
        else:
            self._naming = False

    def _failure(self, index: int, name: str) -> Failure:
        """A failing test, or a file that cannot be loaded."""
        section, file = self.section, self._file
        lines = section.lines[index + 1 : index + 1 + _REACH]
        below = list(takewhile(_is_no_jest_heading, lines))
        message, path, at = _error(below)
        if name != _JEST_LOADING:
            return section.test(name, file, message, path or file, at)
        if syntax := next(filter(None, map(_JEST_SYNTAX.match, below)), None):
            message = f"SyntaxError: {syntax['message']}"
            path, at = syntax["path"], syntax["line"]
        return section.failure("compile", message, path or file, at, file)


def _is_no_jest_heading(line: str) -> bool:
    return not (_JEST_HEADING.match(line) or _JEST_FILE.match(line))


_PROJECT = r"(?:\|[^|]*\| )?"
_VITEST_BEGIN = re.compile(r"\s*RUN +v\d")
_VITEST_TEST = re.compile(
    r"\s*[✓×] " + _PROJECT + r"(?P<path>\S+\.[cm]?[jt]sx?) > (?P<name>.+?)"
    r"(?: \((?:retry|repeat) x\d+\))?(?: +\d+(?:\.\d+)?m?s)?$"
)
_VITEST_FAILED = re.compile(
    r"\s+FAIL {2,}" + _PROJECT + r"(?P<path>\S+\.[cm]?[jt]sx?)(?: > (?P<name>.+)|(?: \[ .* \])?)$"
)
_VITEST_END = re.compile(r"\s+Tests +(?P<totals>(?:\d+ \w+(?: \| )?)+ \(\d+\)|no tests)$")


def vitest(section: LogSection) -> RunnerOutput:
    """The failing tests by file; names where the reporter prints them all. None beside TAP."""
    results, failing, names = RunnerOutput(), list[tuple[int, Failure]](), list[str]()
    if "\nTAP version " in section.text:
        return results  # the same tests, in a form for programs
    for index, line in enumerate(section.lines):
        if _VITEST_BEGIN.match(line):
            failing, names = [], []
        elif match := _VITEST_TEST.match(line):
            names.append(identity(section.file(match["path"]), match["name"]))
        elif match := _VITEST_FAILED.match(line):
            failure = _vitest_failure(section, index, match)
            found = failing if failure.kind == "test" else results.failures
            found.append((section.numbers[index], failure))
        elif match := _VITEST_END.match(line):
            results.settle(_counted_run("vitest", match["totals"], failing, names))
            failing, names = [], []
    results.failures += failing
    return results


def _vitest_failure(section: LogSection, index: int, match: re.Match[str]) -> Failure:
    """A failing test, or a file that cannot be loaded; tests with the same error share it."""
    lines = section.lines[index + 1 : index + 1 + _REACH]
    start = next((at for at, line in enumerate(lines) if not _is_vitest_heading(line)), len(lines))
    below = list(takewhile(lambda line: not line.startswith("⎯"), lines[start:]))
    message, path, line = _error(below)
    if match["name"]:
        file = section.file(match["path"])
        return section.test(match["name"], file, message, path or match["path"], line)
    message = below[0].strip() if below else "cannot be loaded"
    if message.endswith((":", "error")) and below[1:]:
        message = f"{message} {below[1].strip()}"
    file = section.file(match["path"])
    return section.failure("compile", message, path or match["path"], line, file)


def _is_vitest_heading(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("FAIL ")


_MOCHA_PASSED = re.compile(r"(?P<indent> {2,})[✔✓] (?P<name>.+?)(?: \(\d+m?s\))?$")
_MOCHA_FAILED = re.compile(r"(?P<indent> {2,})\d+\) (?P<name>.+)$")
_MOCHA_PENDING = re.compile(r" {2,}- ")
_MOCHA_TOTAL = re.compile(
    r"  (?P<count>\d{1,9}) (?P<what>passing|pending|failing)(?: \(\d+\w+\))?$"
)
_MOCHA_BLOCK = re.compile(r"  \d+\) (?P<name>.+)$")
_MOCHA_TITLE = re.compile(r" {7,}(?P<name>\S.*)$")


def mocha(section: LogSection) -> RunnerOutput:
    """The failing tests by the names of the suites around them; names if they add up.

    Mocha does not say in which file a test stands, so that only the directory tells them apart.
    """
    results, run = RunnerOutput(), _MochaRun()
    for index, line in enumerate(section.lines):
        if not line.startswith("  "):
            continue
        total = _MOCHA_TOTAL.match(line)
        begins = total["what"] == "passing" if total else _MOCHA_PASSED.match(line)
        if run.totals and begins:  # the next package's run
            results.settle(run.ended(section))
            run = _MochaRun()
        if total:
            run.totals[total["what"]] = int(total["count"])
        elif not run.totals:
            run.take(line)
        elif (match := _MOCHA_BLOCK.match(line)) and len(run.blocks) < run.totals.get("failing", 0):
            run.blocks.append((section.numbers[index], _mocha_failure(section, index, match)))
    if run.totals:
        results.settle(run.ended(section))
    return results


@dataclass
class _MochaRun:
    """The tests as they are printed while they run, and the totals below them."""

    passing: list[str] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    totals: dict[str, int] = field(default_factory=dict)
    blocks: list[tuple[int, Failure]] = field(default_factory=list)
    _outline: _Outline = field(default_factory=_Outline)

    def take(self, line: str) -> None:
        """One line of the tree."""
        if match := _MOCHA_PASSED.match(line):
            self.passing.append(self._outline.full(match["indent"], match["name"]))
        elif match := _MOCHA_FAILED.match(line):
            self.failing.append(self._outline.full(match["indent"], match["name"]))
        elif not _MOCHA_PENDING.match(line) and (match := _SUITE.match(line)):
            self._outline.enter(match["indent"], match["name"])

    def ended(self, section: LogSection) -> RunnerRun:
        """What it comes to; hooks fail beside the tests."""
        passed, failed = self.totals.get("passing", 0), self.totals.get("failing", 0)
        hooks = sum(map(_is_hook, self.failing))
        tests = [*self.passing, *(name for name in self.failing if not _is_hook(name))]
        names = [identity(section.directory, name) for name in tests]
        unclear = (len(self.passing), len(self.failing)) != (passed, failed)
        count = passed + max(0, failed - hooks)
        return RunnerRun("mocha", names, self.blocks, count, failed, unclear)


def _is_hook(name: str) -> bool:
    return name.rpartition(" > ")[2].startswith(('"before', '"after'))


def _mocha_failure(section: LogSection, index: int, block: re.Match[str]) -> Failure:
    """A failing test: its title over several lines up to a colon, then the error."""
    lines = section.lines[index + 1 : index + _REACH]
    titles = [block["name"]]
    for title in takewhile(bool, map(_MOCHA_TITLE.match, lines)):
        if titles[-1].endswith(":") or not title:
            break
        titles.append(title["name"])
    name = " > ".join(titles).removesuffix(":")
    error = takewhile(lambda line: not _MOCHA_BLOCK.match(line), lines[len(titles) - 1 :])
    message, path, line = _error(list(error))
    if _is_hook(name):
        return section.failure("error", f"{name}: {message}", path, line, name)
    return section.test(name, section.directory, message, path, line)


_NODE_LINE = re.compile(
    r"(?P<indent> *)(?P<status>[▶✔✖﹣⚠]) (?P<name>.*?)"
    r"(?: \([\d.]+m?s\))?(?: # (?P<directive>(?:SKIP|TODO)\b.*))?$"
)
_NODE_TOTAL = re.compile(r"ℹ (?P<what>tests|suites|pass|fail|cancelled) (?P<count>\d{1,9})$")
_NODE_PLACE = re.compile(r"test at (?P<path>\S[^:]{0,300}):(?P<line>\d+):\d+$")
_NODE_LIST = "✖ failing tests:"


def node(section: LogSection) -> RunnerOutput:
    """The list of failing tests, and the names in the tree above it if they add up."""
    results, run = RunnerOutput(), _NodeRun(section)
    for index, line in enumerate(section.lines):
        if match := _NODE_TOTAL.match(line):
            run.totals[match["what"]] = int(match["count"])
        elif line != _NODE_LIST and (match := _NODE_LINE.match(line)):
            place = _NODE_PLACE.match(section.lines[index - 1]) if index and run.totals else None
            if place:
                run.take_listed(index, match, place)
                continue
            if run.totals:
                results.settle(run.ended())
                run = _NodeRun(section)
            run.take(index, match)
    if run.totals:
        results.settle(run.ended())
    return results


@dataclass
class _NodeRun:
    """The lines of the tree, and the list of failing tests below the totals."""

    section: LogSection
    totals: dict[str, int] = field(default_factory=dict)
    _outline: _Outline = field(default_factory=_Outline)
    _passing: list[str] = field(default_factory=list)
    _broken: dict[str, deque[str]] = field(default_factory=dict)
    _causes: dict[str, Thrown] = field(default_factory=dict)
    _failing: list[tuple[int, Failure]] = field(default_factory=list)
    _lines: int = 0

    def take(self, index: int, match: re.Match[str]) -> None:
        """One test, the beginning or the end of a suite."""
        indent, status, name = match["indent"], match["status"], match["name"]
        if status == "▶":
            self._outline.enter(indent, name)
            return
        self._lines += 1
        if self._outline.leave(indent, name) or match["directive"] or status not in "✔✖":
            return
        full = self._outline.full(indent, name)
        if status == "✔":
            self._passing.append(full)
            return
        self._broken.setdefault(name, deque()).append(full)
        if SCRIPT.fullmatch(name):
            self._causes[name] = error_above(self.section.lines, index)

    def take_listed(self, index: int, match: re.Match[str], place: re.Match[str]) -> None:
        """One of the list of failing tests, which holds their places."""
        if match["directive"]:
            return
        name, section = match["name"], self.section
        below = section.lines[index + 1 : index + 1 + _REACH]
        message = with_values(next(iter(below), ""), below[1:])
        if SCRIPT.fullmatch(name):  # a file that ended in an error
            thrown = self._causes.get(name, Thrown())
            failure = file_failure(section, name, thrown, message.strip("'"))
        else:
            alike = self._broken.get(name) or deque([name])
            failure = section.test(
                alike[0], section.directory, message, place["path"], place["line"]
            )
            alike.rotate(-1)
        self._failing.append((section.numbers[index], failure))

    def ended(self) -> RunnerRun:
        """What it comes to; suites count apart from tests, and a test may hold others."""
        failing = [name for names in self._broken.values() for name in names]
        adds_up = self._lines == sum(self.totals.get(what, 0) for what in ("tests", "suites"))
        names = [*self._passing, *(name for name in failing if not SCRIPT.fullmatch(name))]
        count = sum(self.totals.get(what, 0) for what in ("pass", "fail", "cancelled"))
        return RunnerRun(
            "node --test",
            failing=self._failing,
            count=len(names) if adds_up else count,
            failed=len(failing) if adds_up else len(self._failing),
            names=[identity(self.section.directory, name) for name in names],
            unclear=not adds_up,
        )


_UVU_FILE = re.compile(r"(?P<path>\S+\.[cm]?[jt]sx?)$")
_UVU_FAILURE = re.compile(r" +FAIL  (?:\S.*? )?\"(?P<name>.+)\"$")
_UVU_TOTAL = re.compile(r"  (?P<what>Total|Passed|Skipped): +(?P<count>\d{1,9})$")
_UVU_HOW = re.compile(r"  \(\w+\)$")


def uvu(section: LogSection) -> RunnerOutput:
    """The failing tests of each file, and the counts below them; what passed has no name."""
    results, totals = RunnerOutput(), dict[str, int]()
    file, failing = "", list[tuple[int, Failure]]()
    for index, line in enumerate(section.lines):
        if match := _UVU_FILE.match(line):
            file = match["path"]
        elif match := _UVU_FAILURE.match(line):
            failing.append(
                (section.numbers[index], _uvu_failure(section, index, section.file(file), match))
            )
        elif match := _UVU_TOTAL.match(line):
            totals[match["what"]] = int(match["count"])
            if match["what"] == "Skipped" and "Total" in totals:
                count, passed = totals["Total"], totals.get("Passed", 0)
                results.skipped += totals["Skipped"]
                results.settle(RunnerRun("uvu", [], failing, count, count - passed))
                totals, failing = {}, []
    results.failures += failing
    return results


def _uvu_failure(section: LogSection, index: int, file: str, match: re.Match[str]) -> Failure:
    below = section.lines[index + 1 : index + 1 + _REACH]
    message = with_values(_UVU_HOW.sub("", next(iter(below), "")), below[1:])
    return section.test(match["name"], file, message, *first_frame(below))
