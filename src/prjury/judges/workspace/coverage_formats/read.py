"""Which format a coverage report has, by its content."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree.ElementTree import Element

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.coverage_formats.jacoco import jacoco_reports, read_jacoco
from prjury.judges.workspace.coverage_formats.report import (
    CoverageCounter,
    CoverageMetrics,
    CoverageReport,
    LineTable,
    counted,
)
from prjury.judges.workspace.reports import (
    find_reports,
    invalid_report,
    missing_report,
    report_bytes,
    report_elements,
    report_lines,
)
from prjury.snapshot.model import visible

_RECORD = re.compile(r"[A-Z]{2,8}:")
_LINE = re.compile(r"([0-9]{1,9}),(-?[0-9]{1,20})(?:,.*)?")
_BRANCH = re.compile(r"([0-9]{1,9}),(.*),(-|[0-9]{1,20})")
_FUNCTION = re.compile(r"([0-9]{1,20}),(.+)")


def read_lcov(path: Path) -> CoverageReport:
    """One tracefile; what is said of a file by several tests counts once.

    Raises:
        CannotJudgeError: ``report_missing``, ``report_invalid``, ``unreadable`` or ``too_large``.
    """
    reading = _Tracefile(path)
    for line in report_lines(path):
        if line and not line.startswith("#"):
            reading.take(line)
    if reading.file is not None:
        raise invalid_report(path, "It ends in the middle of a file's record")
    return reading.report()


class _Tracefile:
    """A tracefile while it is read.

    Attributes:
        file: whose record it is in; None between records.
        parts: the branches and functions of all files, and whether they were run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = LineTable(path)
        self.file: str | None = None
        self.parts: dict[str, dict[tuple[str, str], bool]] = {"branch": {}, "method": {}}

    def take(self, line: str) -> None:
        """One line."""
        kind, _, rest = line.partition(":")
        if line == "end_of_record":
            self.file = None
        elif not _RECORD.match(line):
            raise invalid_report(self.path, "It is not a tracefile of LCOV")
        elif kind == "SF":
            self.file = rest
        elif kind == "DA":
            number, hits = self._parsed(_LINE, rest)
            self.lines.add(self._inside, int(number), covered=int(hits) > 0)
        elif kind == "BRDA":
            at, which, taken = self._parsed(_BRANCH, rest)
            self._part("branch", f"{at},{which}", taken)
        elif kind == "FNDA":
            hits, name = self._parsed(_FUNCTION, rest)
            self._part("method", name, hits)

    def _parsed(self, form: re.Pattern[str], text: str) -> tuple[str, ...]:
        found = form.fullmatch(text)
        if found is None:
            raise invalid_report(self.path, "A count is malformed")
        return found.groups()

    @property
    def _inside(self) -> str:
        if self.file is None:
            raise invalid_report(self.path, "A count belongs to no file")
        return self.file

    def _part(self, metric: str, name: str, taken: str) -> None:
        self.lines.count()
        parts, key = self.parts[metric], (self._inside, name)
        parts[key] = parts.get(key, False) or taken not in {"-", "0"}

    def report(self) -> CoverageReport:
        """All of it."""
        counters = self.lines.counter
        for metric, parts in self.parts.items():
            counters |= counted(metric, sum(parts.values()), len(parts))
        return CoverageReport(CoverageMetrics(counters), self.lines.files, place=self.path)


_MODE = re.compile(r"mode: (set|count|atomic)")
_BLOCK = re.compile(
    r"(?P<file>.+):(?P<span>(?P<first>[0-9]{1,7})\.[0-9]{1,7},(?P<last>[0-9]{1,7})\.[0-9]{1,7})"
    r" (?P<statements>[0-9]{1,7}) (?P<runs>[0-9]{1,20})"
)


def read_go_profile(path: Path) -> CoverageReport:
    """One profile; its metric ``line`` counts statements, as Go itself does.

    A block that several test binaries name was run if any of them ran it.

    Raises:
        CannotJudgeError: ``report_missing``, ``report_invalid``, ``unreadable`` or ``too_large``.
    """
    blocks: dict[tuple[str, str], tuple[int, bool]] = {}
    lines = LineTable(path)
    for number, line in enumerate(report_lines(path)):
        if number == 0 or _MODE.fullmatch(line):
            if not _MODE.fullmatch(line):
                raise invalid_report(path, "It is not a cover profile of Go")
            continue
        found = _BLOCK.fullmatch(line)
        if found is None or int(found["first"]) > int(found["last"]):
            raise invalid_report(path, f"Its line {number + 1} is no block")
        key, covered = (found["file"], found["span"]), int(found["runs"]) > 0
        known = blocks.get(key)
        if known is None or (covered and not known[1]):
            blocks[key] = int(found["statements"]), covered
            for at in range(int(found["first"]), int(found["last"]) + 1):
                lines.add(found["file"], at, covered=covered)
    total = sum(statements for statements, _ in blocks.values())
    run = sum(statements for statements, covered in blocks.values() if covered)
    metrics = CoverageMetrics(counted("line", run, total))
    return CoverageReport(metrics, lines.files, place=path, by_block=True)


#: Bytes; as Python's objects it takes some ten times as much memory.
_LARGEST_JSON = 64 * 1024**2
_METRICS = {
    "line": ("covered_lines", "num_statements"),
    "branch": ("covered_branches", "num_branches"),
}


def read_coverage_json(path: Path) -> CoverageReport:
    """One report with its totals.

    Raises:
        CannotJudgeError: ``report_missing``, ``report_invalid``, ``unreadable`` or ``too_large``.
    """
    content = report_bytes(path, _LARGEST_JSON + 1)
    if len(content) > _LARGEST_JSON:
        raise CannotJudgeError(
            f"the report {visible(str(path))} is larger than {_LARGEST_JSON // 1024**2} MiB",
            remedy="Name a report of a part of the project, or its XML",
            reason="too_large",
        )
    try:
        return _report(path, json.loads(content))
    except RecursionError as error:
        raise invalid_report(path, "It is nested too deeply") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise invalid_report(path, "It is not the JSON of coverage.py") from error


def _report(path: Path, said: Mapping[str, Any]) -> CoverageReport:
    lines = LineTable(path)
    for name, file in said["files"].items():
        for key, covered in (("executed_lines", True), ("missing_lines", False)):
            for number in file[key]:
                lines.add(name, _count(number), covered=covered)
    totals, counters = said["totals"], dict[str, CoverageCounter]()
    for metric, names in _METRICS.items():
        if names[1] in totals:
            counters |= counted(metric, *(_count(totals[name]) for name in names))
    return CoverageReport(CoverageMetrics(counters), lines.files, place=path)


def _count(value: object) -> int:
    """A count of the report.

    Raises:
        ValueError: for anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value


_NUMBER = re.compile(r"[0-9]{1,15}")
_CONDITIONS = re.compile(r"\(([0-9]{1,9})/([0-9]{1,9})\)")
_MOST_ROOTS = 100


def read_cobertura(path: Path) -> CoverageReport:
    """One report; its totals are those that it tells, else those of its lines.

    Raises:
        CannotJudgeError: ``report_missing``, ``report_invalid``, ``unreadable`` or ``too_large``.
    """
    reading = _Reading(path)
    try:
        for event, element in report_elements(path):
            reading.take(event, element)
        return reading.report()
    except ValueError as error:
        raise invalid_report(path, f"Its counts contradict each other: {error}") from error


class _Reading:
    """A report while it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = LineTable(path)
        self.open: list[str] = []
        self.file = ""
        self.method = 0
        self.roots: list[str] = []
        self.counts: Counter[str] = Counter()
        self.reported: dict[str, CoverageCounter] = {}

    def take(self, event: str, element: Element) -> None:
        """One element as it starts or ends."""
        if event == "start":
            if not self.open:
                self._begin(element)
            elif element.tag == "class":
                self.file = element.get("filename", "")
            elif element.tag == "method":
                self.method = 0
            self.open.append(element.tag)
            return
        self.open.pop()
        if element.tag == "line" and self.file:
            self._line(element)
        elif element.tag == "method":
            self.counts.update(methods=1, methods_run=self.method)
        elif element.tag == "class":
            self.file = ""
        elif element.tag == "source" and element.text and len(self.roots) < _MOST_ROOTS:
            self.roots.append(element.text.strip())

    def _begin(self, element: Element) -> None:
        if element.tag != "coverage" or element.get("clover"):
            raise invalid_report(self.path, "It is not a report in Cobertura's format")
        for metric, name in (("line", "lines"), ("branch", "branches")):
            words = [element.get(f"{name}-{part}", "") for part in ("covered", "valid")]
            if all(map(_NUMBER.fullmatch, words)):
                self.reported |= counted(metric, *map(int, words))

    def _line(self, element: Element) -> None:
        """A line of a class, or of one of its methods, which says it a second time."""
        number, hits = element.get("number", ""), element.get("hits", "")
        if not _NUMBER.fullmatch(number) or not _NUMBER.fullmatch(hits):
            raise invalid_report(self.path, "A line has no number, or its hits are no number")
        covered = int(hits) > 0
        if "method" in self.open:
            self.method |= covered
            return
        self.lines.add(self.file, int(number), covered=covered)
        if found := _CONDITIONS.search(element.get("condition-coverage", "")):
            self.counts.update(branches_run=int(found[1]), branches=int(found[2]))

    def report(self) -> CoverageReport:
        """All of it."""
        counts = self.counts
        counters = {
            **self.lines.counter,
            **counted("branch", counts["branches_run"], counts["branches"]),
            **counted("method", counts["methods_run"], counts["methods"]),
            **self.reported,
        }
        roots = tuple(self.roots)
        return CoverageReport(CoverageMetrics(counters), self.lines.files, roots, self.path)


#: Bytes that tell the formats apart.
_BEGINNING = 4096
Reader: TypeAlias = Callable[[Path], CoverageReport]
#: The formats that are XML, by their outermost element.
_XML: Mapping[str, Reader] = {"report": read_jacoco, "coverage": read_cobertura}
#: The others, by how they begin.
_TEXTS: Mapping[bytes, Reader] = {
    b"{": read_coverage_json,
    b"mode:": read_go_profile,
    b"TN:": read_lcov,
    b"SF:": read_lcov,
}
#: Where tools other than JaCoCo write their reports.
_USUAL = re.compile(
    r"(^|/)(coverage\.(xml|json|lcov|info|out)|cobertura(-coverage)?\.xml|coverage\.cobertura\.xml"
    r"|lcov\.info|(c|cover|cover-profile)\.out)$"
)


def read_coverage(path: str | os.PathLike[str]) -> Sequence[CoverageReport]:
    """A report, or those of a project.

    Args:
        path: a report of JaCoCo, Cobertura, coverage.py (XML or JSON), LCOV, or a cover profile of
            Go; or a directory. There the reports of JaCoCo count as `parse_jacoco` has it, else the
            one report that has a usual name, such as ``coverage.xml`` or ``lcov.info``.

    Raises:
        CannotJudgeError: ``report_missing``, ``report_invalid``, ``unreadable``, ``too_large``, or
            ``report_ambiguous`` for a directory with several that may count the same code.
    """
    place = Path(path)
    files = _reports_of(place) if place.is_dir() else [Path(os.path.realpath(place))]
    return [_reader(file)(file) for file in files]


def parse_coverage(path: str | os.PathLike[str]) -> CoverageMetrics:
    """The totals of a report, or of those of a project, in any format of `read_coverage`.

    Raises:
        CannotJudgeError: as `read_coverage`.
    """
    return CoverageMetrics.total(report.metrics for report in read_coverage(path))


def _reader(path: Path) -> Reader:
    begin = report_bytes(path, _BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip()
    reader = next((reader for start, reader in _TEXTS.items() if begin.startswith(start)), None)
    if reader is None and begin.startswith(b"<"):
        _, root = next(report_elements(path))
        reader = _XML.get(root.tag)
    if reader is None:
        known = "JaCoCo, Cobertura, coverage.py, LCOV and Go's cover profiles"
        raise invalid_report(path, f"It is in none of the formats that are read: {known}")
    return reader


def _reports_of(directory: Path) -> Sequence[Path]:
    found = jacoco_reports(directory) or find_reports(directory, _USUAL)
    several = len(found) > 1 and any(_USUAL.search(file.as_posix()) for file in found)
    if not found:
        raise missing_report(directory)
    if several:
        names = ", ".join(visible(str(path.relative_to(directory))) for path in found[:3])
        raise CannotJudgeError(
            f"{visible(str(directory))} holds {len(found)} coverage reports: {names}",
            why="They may count the same code twice",
            remedy="Name the one that counts",
            reason="report_ambiguous",
        )
    return found
