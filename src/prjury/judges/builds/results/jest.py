"""Jest's default reporter."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from prjury.judges.builds.failure import Failure, identity
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun
from prjury.judges.builds.results.script_frames import first_frame
from prjury.judges.builds.results.values import with_values

_FILE = re.compile(r"(?:PASS|FAIL) (?:.* )?(?P<path>\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?$")
_LEAF = re.compile(r"(?P<indent> {2,})(?P<status>[✓✕○✎]) (?P<name>.*?)(?: \([\d.]+ m?s\))?$")
_GROUP = re.compile(r"(?P<indent> {2,})(?P<name>\S.*)$")
_HEADING = re.compile(r"  ● (?P<name>\S.*)$")
_SUMMARY = "Summary of all failing tests"
_END = re.compile(r"Tests: +(?P<totals>.*\btotal)$")
_BAILED = re.compile(r"Test Suites: .*\d of \d+ total$")
_TOTAL = re.compile(r"(?P<count>\d{1,9}) (?P<what>failed|passed)")
_LOADING = "Test suite failed to run"
_SYNTAX = re.compile(
    r"\s*SyntaxError: (?:(?P<path>[^\s:]+): )?(?P<message>.*?)(?: \((?P<line>\d+):\d+\))?$"
)

_INDENT = 2
_REACH = 40


@dataclass
class _Run:
    section: LogSection
    file: str = ""
    groups: dict[int, str] = field(default_factory=dict)
    passing: list[tuple[str, str]] = field(default_factory=list)
    failing: list[tuple[int, Failure]] = field(default_factory=list)
    unloaded: list[tuple[int, Failure]] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    naming: bool = False
    repeating: bool = False

    def take(self, index: int, line: str) -> None:
        """One line of the output."""
        if match := _FILE.match(line):
            self.file, self.naming = self.section.file(match["path"]), True
            self.groups = {}
        elif line.startswith(_SUMMARY):
            self.repeating = True
        elif (match := _HEADING.match(line)) and self.file:
            self.naming = False
            if not self.repeating and match["name"] != "Console":
                failure = _failure(self.section, index, self.file, match["name"])
                which = self.failing if failure.kind == "test" else self.unloaded
                which.append((self.section.numbers[index], failure))
        elif self.naming:
            self._take_name(line)

    def _take_name(self, line: str) -> None:
        """A test or a group of tests right below a file's heading."""
        if match := _LEAF.match(line):
            depth = len(match["indent"]) // _INDENT
            around = [name for level, name in sorted(self.groups.items()) if level < depth]
            full = " › ".join([*around, match["name"]])
            if match["status"] in "✓✕":
                self.seen.append(identity(self.file, full))
        elif match := _GROUP.match(line):
            depth = len(match["indent"]) // _INDENT
            self.groups = {level: name for level, name in self.groups.items() if level < depth}
            self.groups[depth] = match["name"]
        else:
            self.naming = False

    def ended(self, totals: str) -> RunnerRun:
        found = {match["what"]: int(match["count"]) for match in _TOTAL.finditer(totals)}
        failed = found.get("failed", 0)
        return RunnerRun(
            "jest",
            failing=self.failing,
            count=failed + found.get("passed", 0),
            failed=failed,
            named=self.seen,
        )


def jest(section: LogSection) -> RunnerOutput:
    """The failing tests by file; names where they are printed, which is for one file at a time."""
    results, run = RunnerOutput(), _Run(section)
    for index, line in enumerate(section.lines):
        if match := _END.match(line):
            results.settle(run.ended(match["totals"]))
            results.failures += run.unloaded
            run = _Run(section)
        elif _BAILED.match(line):
            results.doubts.append("jest did not run all files")
        else:
            run.take(index, line)
    results.failures += run.failing + run.unloaded
    return results


def _failure(section: LogSection, index: int, file: str, name: str) -> Failure:
    """A failing test, or a file that cannot be loaded."""
    below = []
    for line in section.lines[index + 1 : index + 1 + _REACH]:
        if _HEADING.match(line) or _FILE.match(line):
            break
        below.append(line)
    first = next((at for at, line in enumerate(below) if line.strip()), len(below))
    message = with_values(next(iter(below[first:]), "failed"), below[first + 1 :])
    path, at = first_frame(below)
    if name != _LOADING:
        return section.test(name, file, message, path or file, at)
    syntax = next((match for match in map(_SYNTAX.match, below) if match), None)
    if syntax:
        text = f"SyntaxError: {syntax['message']}"
        return section.failure("compile", text, syntax["path"] or file, syntax["line"], file)
    return section.failure("compile", message, path or file, at, file)
