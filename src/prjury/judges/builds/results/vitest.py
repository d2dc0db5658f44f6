"""Vitest's reporters for people."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prjury.judges.builds.failure import Failure, identity
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun
from prjury.judges.builds.results.script_frames import first_frame
from prjury.judges.builds.results.values import with_values

_PROJECT = r"(?:\|[^|]*\| )?"
_BEGIN = re.compile(r"\s*RUN +v\d")
_LINE = re.compile(
    r"\s*[✓×] " + _PROJECT + r"(?P<path>\S+\.[cm]?[jt]sx?) > (?P<name>.+?)"
    r"(?: \((?:retry|repeat) x\d+\))?(?: +\d+(?:\.\d+)?m?s)?$"
)
_FAILED = re.compile(r"\s+FAIL {2,}" + _PROJECT + r"(?P<path>\S+\.[cm]?[jt]sx?) > (?P<name>.+)$")
_UNLOADED = re.compile(r"\s+FAIL {2,}" + _PROJECT + r"(?P<path>\S+\.[cm]?[jt]sx?)(?: \[ .* \])?$")
_END = re.compile(r"\s+Tests +(?P<totals>(?:\d+ \w+(?: \| )?)+ \(\d+\)|no tests)$")
_TOTAL = re.compile(r"(?P<count>\d{1,9}) (?P<what>failed|passed)")

_REACH = 40


def vitest(section: LogSection) -> RunnerOutput:
    """The failing tests by file; names where the reporter prints them all. None beside TAP."""
    told = RunnerOutput()
    if any(line.startswith("TAP version ") for line in section.lines):
        return told  # the same tests, in a form for programs
    failing: list[tuple[int, Failure]] = []
    seen: list[str] = []
    for index, line in enumerate(section.lines):
        number = section.numbers[index]
        if _BEGIN.match(line):
            seen, failing = [], []
        elif match := _LINE.match(line):
            seen.append(identity(section.file(match["path"]), match["name"]))
        elif match := _FAILED.match(line):
            failing.append((number, _failure(section, index, match)))
        elif match := _UNLOADED.match(line):
            told.failures.append((number, _unloaded(section, index, match["path"])))
        elif match := _END.match(line):
            told.settle(_run(match["totals"], failing, seen))
            seen, failing = [], []
    told.failures += failing
    return told


def _run(totals: str, failing: list[tuple[int, Failure]], seen: list[str]) -> RunnerRun:
    found = {match["what"]: int(match["count"]) for match in _TOTAL.finditer(totals)}
    failed = found.get("failed", 0)
    return RunnerRun(
        "vitest",
        failing=failing,
        count=failed + found.get("passed", 0),
        failed=failed,
        named=seen,
    )


def _below(section: LogSection, index: int) -> Sequence[str]:
    """The error below a heading; tests that fail with the same one share it."""
    lines = section.lines[index + 1 : index + 1 + _REACH]
    start = next(
        (
            at
            for at, line in enumerate(lines)
            if line.strip() and not line.lstrip().startswith("FAIL ")
        ),
        len(lines),
    )
    end = next(
        (at for at, line in enumerate(lines) if at > start and line.startswith("⎯")), len(lines)
    )
    return lines[start:end]


def _failure(section: LogSection, index: int, match: re.Match[str]) -> Failure:
    below = _below(section, index)
    path, line = first_frame(below)
    message = with_values(next(iter(below), "failed"), below[1:])
    file = section.file(match["path"])
    return section.test(match["name"], file, message, path or match["path"], line)


def _unloaded(section: LogSection, index: int, file: str) -> Failure:
    below = _below(section, index)
    path, line = first_frame(below)
    message = below[0].strip() if below else "cannot be loaded"
    if message.endswith((":", "error")) and below[1:]:
        message = f"{message} {below[1].strip()}"
    return section.failure("compile", message, path or file, line, section.file(file))
