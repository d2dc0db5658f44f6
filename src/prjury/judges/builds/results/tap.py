"""TAP, as ``node --test``, Mocha, Vitest and others write it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.error_text import (
    SCRIPT,
    error_above,
    file_failure,
    first_frame,
    with_values,
)
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun

_VERSION = re.compile(r"TAP version 1[34]$")
_PLAN = re.compile(r"1\.\.(?P<count>\d{1,9})(?:\s|$)")
_SUBTEST = re.compile(r"(?P<indent> *)# Subtest: (?P<name>.*)$")
_POINT = re.compile(
    r"(?P<indent> *)(?P<bad>not )?ok \d+(?: -)?(?: (?P<name>.*?))?"
    r"(?: # time=[\d.]+m?s)?(?:(?<!\\) # (?P<directive>(?i:SKIP|TODO)\b.*))?$"
)
_TOTAL = re.compile(r"# (?P<what>pass|fail|cancelled) +(?P<count>\d{1,9})$")
_BAIL = re.compile(r"Bail out!(?P<why>.*)$")
#: Node chooses the quotes by the text in between, YAML doubles those of its own. Vitest's messages
#: may go on in the next lines.
_PLACE = re.compile(
    r"\s+(?:location|at): (?P<quote>['\"`])(?P<path>.+):(?P<line>\d+):\d+(?P=quote)$"
)
_ERROR = re.compile(r"\s+(?:error|message): (?:(?P<quote>['\"`])(?P<text>.*?)(?P=quote)?|[|>]-?)$")
_ESCAPED = re.compile(r"\\([\\'\"`])|'(')")
_TYPE = re.compile(r"\s+type: 'suite'$")
_BY_PARTS = re.compile(r"\s+failureType: 'subtestsFailed'$")

_INDENT = 4
_DEEPEST = 50
_REACH = 40


@dataclass
class _Point:
    """One line of results, with the names of the tests around it."""

    index: int
    names: tuple[str, ...]
    good: bool
    skipped: bool
    is_suite: bool
    below: Sequence[str]

    @property
    def is_file(self) -> bool:
        """Whether it is a whole file, which ended in an error."""
        return len(self.names) == 1 and SCRIPT.fullmatch(self.names[0]) is not None

    @property
    def by_parts(self) -> bool:
        """Whether it fails by its subtests alone."""
        return any(map(_BY_PARTS.match, self.below))


@dataclass
class _Stream:
    points: list[_Point] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    plan: int | None = None
    announced: bool = False


def tap(section: LogSection) -> RunnerOutput:
    """The results of each stream; a suite that fails by its tests is left out.

    Node does not say in which file a test that passed stands. So tests are known by their names
    and those of the suites around them, and by the directory.
    """
    results, stream = RunnerOutput(), _Stream()
    for index, line in enumerate(section.lines):
        if _VERSION.match(line):
            _settle(section, results, stream)
            stream = _Stream(announced=True)
        elif match := _SUBTEST.match(line):
            stream.names[_depth(match["indent"])] = _plain(match["name"])
        elif match := _POINT.match(line):
            stream.points.append(_point(section, index, match, stream))
        elif match := _PLAN.match(line):
            stream.plan = int(match["count"])
        elif match := _TOTAL.match(line):
            stream.totals[match["what"]] = int(match["count"])
        elif (match := _BAIL.match(line)) and stream.points:
            results.doubts.append(f"the tests bailed out:{match['why']}")
    _settle(section, results, stream)
    return results


def _depth(indent: str) -> int:
    return min(len(indent) // _INDENT, _DEEPEST)


def _plain(name: str) -> str:
    return name.replace("\\#", "#").replace("\\\\", "\\").strip()


def _point(section: LogSection, index: int, match: re.Match[str], stream: _Stream) -> _Point:
    depth = _depth(match["indent"])
    around = tuple(stream.names.get(level, "") for level in range(depth))
    name = _plain(match["name"] or "") or stream.names.get(depth, "")
    below = list(_details(section.lines, index))
    is_suite = any(map(_TYPE.match, below))
    kept = below if match["bad"] else ()
    return _Point(
        index, (*around, name), not match["bad"], bool(match["directive"]), is_suite, kept
    )


def _details(lines: Sequence[str], index: int) -> Iterator[str]:
    """What belongs to a point: the indented lines below it, or a whole block of YAML."""
    in_block = False
    for line in lines[index + 1 : index + 1 + _REACH]:
        outside = line and not line[0].isspace() and not in_block
        if outside or _POINT.match(line) or _SUBTEST.match(line):
            return
        in_block = in_block or line.strip() == "---"
        yield line
        if line.strip() == "...":
            return


def _settle(section: LogSection, results: RunnerOutput, stream: _Stream) -> None:
    if not stream.points or not (stream.announced or stream.plan is not None):
        return  # lines that happen to begin like this
    tests = [point for point in stream.points if not point.is_suite]
    counted = [point for point in tests if not point.skipped]
    failing = [
        (section.numbers[point.index], _failure(section, point))
        for point in counted
        if not point.good and not point.by_parts
    ]
    bad = sum(not point.good for point in counted)
    files = sum(point.is_file for point in counted)
    names = [_test(section, point, "").id for point in counted if not point.is_file]
    run = RunnerRun("the TAP stream", names, failing, len(counted) - files, len(failing))
    if stream.totals:
        passed = stream.totals.get("pass", 0)
        failed = stream.totals.get("fail", 0) + stream.totals.get("cancelled", 0)
        run.count = passed + failed - files
        run.failed += max(0, failed - bad)
        run.unclear = (len(counted) - bad, bad) != (passed, failed)
    else:
        outermost = sum(len(point.names) == 1 for point in stream.points)
        run.unclear = stream.plan != outermost
    results.settle(run)


def _of_block(lines: Sequence[str]) -> str:
    """The message of a block: what is indented deeper than the line that announces it."""
    depth = _indent(lines[0]) if lines[0] else -1
    block = list(takewhile(lambda line: not line.strip() or _indent(line) > depth, lines[1:]))
    first = next((at for at, line in enumerate(block) if line.strip()), len(block))
    return with_values(next(iter(block[first:]), ""), block[first + 1 :])


def _unquoted(text: str) -> str:
    """What stands for a text between quotes."""
    return _ESCAPED.sub(lambda match: match[1] or match[2], text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _test(
    section: LogSection, point: _Point, message: str, place: tuple[str, str] | None = None
) -> Failure:
    name = " > ".join(filter(None, point.names)) or "a test without a name"
    file, _, rest = name.partition(" > ")
    found = section.tree.find(file, section.directory) if rest and SCRIPT.fullmatch(file) else None
    path, line = place or (None, None)
    if found:  # Vitest begins each name with the file, and may place the error in a dependency
        if not path or not section.tree.find(path, section.directory):
            path, line = found, None
        return section.test(rest, found, message, path, line)
    return section.test(name, section.directory, message, path, line)


def _failure(section: LogSection, point: _Point) -> Failure:
    message, place = "", None
    for at, line in enumerate(point.below):
        if found := _PLACE.match(line):
            place = (_unquoted(found["path"]), found["line"])
        elif not message and (error := _ERROR.match(line)):
            message = _unquoted(error["text"] or "") or _of_block(point.below[at:])
    if not message:
        message = _of_block(["", *point.below])
    if place is None:
        path, at_line = first_frame(point.below)
        place = (path, at_line) if path and at_line else None
    if point.is_file:
        return file_failure(
            section, point.names[0], error_above(section.lines, point.index), message
        )
    return _test(section, point, message, place)
