"""The readable reporter of ``node --test``."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from prjury.judges.builds.failure import Failure, identity
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun
from prjury.judges.builds.results.script_frames import Thrown, error_above, file_failure
from prjury.judges.builds.results.values import with_values

_LINE = re.compile(
    r"(?P<indent> *)(?P<status>[▶✔✖﹣⚠]) (?P<name>.*?)"
    r"(?: \([\d.]+m?s\))?(?: # (?P<directive>(?:SKIP|TODO)\b.*))?$"
)
_TOTAL = re.compile(r"ℹ (?P<what>tests|suites|pass|fail|cancelled) (?P<count>\d{1,9})$")
_PLACE = re.compile(r"test at (?P<path>\S[^:]{0,300}):(?P<line>\d+):\d+$")
_SCRIPT = re.compile(r"\S+\.[cm]?[jt]sx?")

_MARKS = frozenset("▶✔✖﹣⚠")
_LIST = "✖ failing tests:"
_INDENT = 2
_DEEPEST = 50
_REACH = 40


def node_spec(section: LogSection) -> RunnerOutput:
    """The list of failing tests, and the names in the tree above it if they add up."""
    results, run = RunnerOutput(), _Run(section)
    for index, line in enumerate(section.lines):
        if match := _TOTAL.match(line):
            run.totals[match["what"]] = int(match["count"])
        elif line != _LIST and line.lstrip(" ")[:1] in _MARKS and (match := _LINE.match(line)):
            if run.listed(index, match):
                continue
            if run.totals:
                results.settle(run.ended())
                run = _Run(section)
            run.take(index, match)
    if run.totals:
        results.settle(run.ended())
    return results


@dataclass
class _Run:
    """The tests as they are printed while they run, the totals, the list of those that failed."""

    section: LogSection
    totals: dict[str, int] = field(default_factory=dict)
    _opened: list[tuple[int, str]] = field(default_factory=list)
    _passing: list[str] = field(default_factory=list)
    _broken: dict[str, deque[str]] = field(default_factory=dict)
    _causes: dict[str, Thrown] = field(default_factory=dict)
    _failing: list[tuple[int, Failure]] = field(default_factory=list)
    _leaves: int = 0
    _parents: int = 0

    def take(self, index: int, match: re.Match[str]) -> None:
        """One test, the beginning or the end of a suite."""
        here = len(match["indent"]) // _INDENT, match["name"]
        if match["status"] == "▶":
            self._opened = [*self._opened[-_DEEPEST:], here]
        elif here in self._opened:
            del self._opened[self._opened.index(here) :]
            self._parents += 1
        else:
            self._take_test(index, match, here[0])

    def _take_test(self, index: int, match: re.Match[str], depth: int) -> None:
        self._leaves += 1
        if match["directive"] or match["status"] not in "✔✖":
            return
        around = (name for level, name in self._opened if level < depth)
        full = " > ".join([*around, match["name"]])
        if match["status"] == "✔":
            self._passing.append(full)
        else:
            self._broken.setdefault(match["name"], deque()).append(full)
            if _SCRIPT.fullmatch(match["name"]):
                self._causes[match["name"]] = error_above(self.section.lines, index)

    def listed(self, index: int, match: re.Match[str]) -> bool:
        """Whether the line is one of the list of failing tests, which holds their places."""
        lines = self.section.lines
        place = _PLACE.match(lines[index - 1]) if index else None
        if not place or not self.totals:
            return False
        if not match["directive"]:
            below = lines[index + 1 : index + 1 + _REACH]
            message = with_values(next(iter(below), ""), below[1:])
            failure = self._failure(match["name"], message, place["path"], place["line"])
            self._failing.append((self.section.numbers[index], failure))
        return True

    def _failure(self, name: str, message: str, path: str, line: str) -> Failure:
        if _SCRIPT.fullmatch(name):  # a file that ended in an error
            thrown = self._causes.get(name, Thrown())
            return file_failure(self.section, name, thrown, message.strip("'"))
        full = self._broken[name][0] if self._broken.get(name) else name
        if len(self._broken.get(name, ())) > 1:
            self._broken[name].rotate(-1)
        return self.section.test(full, self.section.directory, message, path, line)

    def ended(self) -> RunnerRun:
        """What it comes to; suites count apart from tests, and a test may hold others."""
        failing = [name for names in self._broken.values() for name in names]
        tests = sum(self.totals.get(what, 0) for what in ("tests", "suites"))
        adds_up = tests == self._leaves + self._parents
        names = [*self._passing, *(name for name in failing if not _SCRIPT.fullmatch(name))]
        count = sum(self.totals.get(what, 0) for what in ("pass", "fail", "cancelled"))
        place = self.section.directory
        return RunnerRun(
            "node --test",
            failing=self._failing,
            count=len(names) if adds_up else count,
            failed=len(failing) if adds_up else len(self._failing),
            named=[identity(place, name) for name in names],
            unclear=not adds_up,
        )
