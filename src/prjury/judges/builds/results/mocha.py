"""Mocha's default reporter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from prjury.judges.builds.failure import Failure, identity
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun
from prjury.judges.builds.results.script_frames import first_frame
from prjury.judges.builds.results.values import with_values

_PASSED = re.compile(r"(?P<indent> {2,})[✔✓] (?P<name>.+?)(?: \(\d+m?s\))?$")
_FAILED = re.compile(r"(?P<indent> {2,})\d+\) (?P<name>.+)$")
_PENDING = re.compile(r" {2,}- ")
_GROUP = re.compile(r"(?P<indent> {2,})(?P<name>\S.*)$")
_TOTAL = re.compile(r"  (?P<count>\d{1,9}) (?P<what>passing|pending|failing)(?: \(\d+\w+\))?$")
_BLOCK = re.compile(r"  \d+\) (?P<name>.+)$")
_TITLE = re.compile(r" {7,}(?P<name>\S.*)$")

_INDENT = 2
_REACH = 40
_DEEPEST = 40


@dataclass
class _Run:
    """The tests as they are printed while they run, and the totals below them."""

    passing: list[str] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    groups: dict[int, str] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    blocks: list[tuple[int, Failure]] = field(default_factory=list)

    def take(self, line: str) -> None:
        """One line of the tree."""
        if match := _PASSED.match(line):
            self.passing.append(self._full(match))
        elif match := _FAILED.match(line):
            self.failing.append(self._full(match))
        elif not _PENDING.match(line) and (match := _GROUP.match(line)):
            depth = min(len(match["indent"]) // _INDENT, _DEEPEST)
            self.groups = {level: name for level, name in self.groups.items() if level < depth}
            self.groups[depth] = match["name"]

    def _full(self, match: re.Match[str]) -> str:
        depth = len(match["indent"]) // _INDENT
        around = (name for level, name in sorted(self.groups.items()) if level < depth)
        return " > ".join([*around, match["name"]])

    def ended(self, section: LogSection) -> RunnerRun:
        passed, failed = self.totals.get("passing", 0), self.totals.get("failing", 0)
        tests = [*self.passing, *(name for name in self.failing if not _is_hook(name))]
        hooks = len(self.failing) - len(tests) + len(self.passing)
        return RunnerRun(
            "mocha",
            failing=self.blocks,
            count=passed + max(0, failed - hooks),
            failed=failed,
            named=[identity(section.directory, name) for name in tests],
            unclear=(len(self.passing), len(self.failing)) != (passed, failed),
        )


def mocha(section: LogSection) -> RunnerOutput:
    """The failing tests by the names of the suites around them; names if they add up.

    Mocha does not say in which file a test stands, so that only the directory tells them apart.
    """
    told, run = RunnerOutput(), _Run()
    for index, line in enumerate(section.lines):
        if not line.startswith("  "):
            continue
        if match := _TOTAL.match(line):
            if match["what"] == "passing" and run.totals:
                told.settle(run.ended(section))
                run = _Run()
            run.totals[match["what"]] = int(match["count"])
        elif run.totals and (match := _BLOCK.match(line)):
            if len(run.blocks) < run.totals.get("failing", 0):
                run.blocks.append((section.numbers[index], _failure(section, index, match)))
        elif run.totals and _PASSED.match(line):
            told.settle(run.ended(section))
            run = _Run()
            run.take(line)
        elif not run.totals:
            run.take(line)
    if run.totals:
        told.settle(run.ended(section))
    return told


def _is_hook(name: str) -> bool:
    return name.rpartition(" > ")[2].startswith(('"before', '"after'))


def _failure(section: LogSection, index: int, block: re.Match[str]) -> Failure:
    """A failing test: its title over several lines, then the error."""
    lines = section.lines[index : index + _REACH]
    titles, end = [block["name"]], 0
    while not titles[-1].endswith(":") and (title := _title(lines, end + 1)):
        titles.append(title)
        end += 1
    name = " > ".join(titles).removesuffix(":")
    below = list(_error(lines[end + 1 :]))
    first = next((at for at, line in enumerate(below) if line.strip()), len(below))
    message = with_values(next(iter(below[first:]), "failed"), below[first + 1 :])
    path, line = first_frame(below)
    if _is_hook(name):
        return section.failure("error", f"{name}: {message}", path, line, name)
    return section.test(name, section.directory, message, path, line)


def _title(lines: Sequence[str], at: int) -> str:
    match = _TITLE.match(lines[at]) if at < len(lines) else None
    return match["name"] if match else ""


def _error(lines: Sequence[str]) -> Sequence[str]:
    end = next((at for at, line in enumerate(lines) if _BLOCK.match(line)), len(lines))
    return lines[:end]
