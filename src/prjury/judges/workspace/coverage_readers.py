"""Readers of coverage reports, one a format, for the totals and the lines that were run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias
from xml.etree.ElementTree import Element

from msgspec import Struct, field
from msgspec.structs import force_setattr

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.reports import (
    find_reports,
    invalid_report,
    iterate_events,
    large_report,
    missing_report,
    open_report,
    read_lines,
)
from prjury.jury.frozen import FrozenDict
from prjury.snapshot.model import visible

#: Lines, or blocks of lines, of all files of a report; the largest projects stay below it.
_MOST_ENTRIES = 5_000_000


class CoverageCounter(Struct, frozen=True):
    """How many lines, branches, methods, … were run by the tests, and how many were not."""

    covered: int
    missed: int

    def __post_init__(self) -> None:
        if min(self.covered, self.missed) < 0 or not self.total:
            raise ValueError(f"{self.covered} covered and {self.missed} missed is no count")

    @property
    def total(self) -> int:
        """All of them."""
        return self.covered + self.missed

    def __add__(self, other: CoverageCounter) -> CoverageCounter:
        return CoverageCounter(self.covered + other.covered, self.missed + other.missed)


class CoverageMetrics(Struct, frozen=True):
    """The totals of reports by ``line``, ``branch``, ``method``, …, None where there is nothing."""

    counters: Mapping[str, CoverageCounter] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        force_setattr(self, "counters", FrozenDict(self.counters))

    def percent(self, metric: str) -> float | None:
        """The share of ``line``, ``branch``, … that was run, 0..100."""
        counter = self.counters.get(metric)
        return 100 * counter.covered / counter.total if counter else None

    @property
    def line(self) -> float | None:
        """Percent of the lines."""
        return self.percent("line")

    @property
    def branch(self) -> float | None:
        """Percent of the branches."""
        return self.percent("branch")

    @property
    def method(self) -> float | None:
        """Percent of the methods."""
        return self.percent("method")

    @classmethod
    def total(cls, parts: Iterable[CoverageMetrics]) -> CoverageMetrics:
        """Add up several reports, such as those of the modules of a project."""
        counters: dict[str, CoverageCounter] = {}
        for part in parts:
            for metric, counter in part.counters.items():
                sum_ = counters.get(metric)
                counters[metric] = sum_ + counter if sum_ else counter
        return cls(counters)


class CoverageReport(Struct, frozen=True):
    """One report: which lines of files were run, by names that may start from one of the roots.

    ``by_block``: lines without code, such as blank ones, count among those of a block.
    """

    metrics: CoverageMetrics
    files: Mapping[str, Mapping[int, bool]] = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    place: Path = Path()
    by_block: bool = False


class CoverageTally:
    """Lines and counts of a report while it is read; lines are counted unless it tells a total."""

    def __init__(self, place: Path) -> None:
        """Begin with the report at a place."""
        self.place = place
        self.files: dict[str, dict[int, bool]] = {}
        self.counters: dict[str, CoverageCounter] = {}
        self._entries = 0

    def add_line(self, file: str, line: int, *, covered: bool) -> None:
        """Note a line, which was run if any entry says so."""
        self.count_entry()
        lines = self.files.setdefault(file, {})
        lines[line] = covered or lines.get(line, False)

    def count_entry(self) -> None:
        """Count one more entry; CannotJudgeError ``too_large`` for more than any project has."""
        self._entries += 1
        if self._entries > _MOST_ENTRIES:
            raise large_report(self.place, f"has more than {_MOST_ENTRIES:,} lines")

    def set_total(self, metric: str, covered: int, total: int) -> None:
        """Note a total if there is anything to count; ValueError for more covered than all."""
        if total or covered:
            self.counters[metric] = CoverageCounter(covered, total - covered)

    def finish(self, roots: Iterable[str] = (), *, by_block: bool = False) -> CoverageReport:
        """Return the report."""
        if "line" not in self.counters:
            lines = [covered for lines in self.files.values() for covered in lines.values()]
            self.set_total("line", sum(lines), len(lines))
        metrics = CoverageMetrics(self.counters)
        return CoverageReport(metrics, self.files, tuple(roots), self.place, by_block)


Reader: TypeAlias = Callable[[Path], CoverageReport]

_NUMBER = re.compile(r"[0-9]{1,15}")
_MOST_ROOTS = 100
#: Bytes that tell the formats apart.
_BEGINNING = 4096


def read_jacoco(path: Path) -> CoverageReport:
    """Read JaCoCo's XML, whose totals stand below its root."""
    tally = CoverageTally(path)
    package = source = ""
    for event, element, above in _walk_elements(path, "report"):
        tag = element.tag
        if event == "start":
            if tag == "package":
                package = element.get("name", "")
            elif tag == "sourcefile":
                source = f"{package}/{element.get('name', '')}".lstrip("/")
        elif tag == "counter" and above == ["report"]:
            covered, missed = _read_numbers(path, element, "covered", "missed")
            if not element.get("type"):
                raise invalid_report(path, "A counter has no type")
            tally.set_total(element.get("type", "").lower(), covered, covered + missed)
        elif tag == "line" and above[-1] == "sourcefile":
            number, missed, covered = _read_numbers(path, element, "nr", "mi", "ci")
            if missed + covered:  # a line with no instruction is none
                tally.add_line(source, number, covered=covered > 0)
    return tally.finish()


def read_cobertura(path: Path) -> CoverageReport:  # noqa: C901 - one branch an element
    """Read Cobertura's XML; its totals are those that it tells, else that of its lines."""
    tally = CoverageTally(path)
    methods, roots, file = list[bool](), list[str](), ""
    totals: Mapping[str, str] = {}
    for event, element, above in _walk_elements(path, "coverage"):
        tag = element.tag
        if event == "start":
            if not above:
                totals = dict(element.attrib)
            elif tag == "class":
                file = element.get("filename", "")
            elif tag == "method":
                methods.append(False)
        elif tag == "line" and file:
            number, hits = _read_numbers(path, element, "number", "hits")
            if "method" in above:
                methods[-1] = methods[-1] or hits > 0
            else:
                tally.add_line(file, number, covered=hits > 0)
        elif tag == "class":
            file = ""
        elif tag == "source" and element.text and len(roots) < _MOST_ROOTS:
            roots.append(element.text.strip())
    tally.set_total("method", sum(methods), len(methods))
    for metric, name in (("line", "lines"), ("branch", "branches")):
        words = [totals.get(f"{name}-{part}", "") for part in ("covered", "valid")]
        if all(map(_NUMBER.fullmatch, words)):
            tally.set_total(metric, *map(int, words))
    return tally.finish(roots)


def read_clover(path: Path) -> CoverageReport:
    """Read Clover's XML, also as PHPUnit and Istanbul write it."""
    tally = CoverageTally(path)
    file = ""
    for event, element, above in _walk_elements(path, "coverage"):
        if event == "start":
            if element.tag == "file":
                file = element.get("path") or element.get("name") or ""
        elif element.tag == "line" and above[-1] == "file":
            number, count = _read_numbers(path, element, "num", "count")
            if element.get("type") != "method":
                tally.add_line(file, number, covered=count > 0)
        elif element.tag == "metrics" and above[-1] == "project":
            for metric, name in (("branch", "conditionals"), ("method", "methods")):
                if element.get(name) and element.get(f"covered{name}"):
                    total, covered = _read_numbers(path, element, name, f"covered{name}")
                    tally.set_total(metric, covered, total)
    return tally.finish()


def _walk_elements(path: Path, root: str) -> Iterator[tuple[str, Element, Sequence[str]]]:
    above: list[str] = []
    for event, element in iterate_events(path):
        if event == "end":
            above.pop()
        elif not above and element.tag != root:
            raise invalid_report(path, f"Its root is {element.tag!r}, not {root!r}")
        yield event, element, above
        if event == "start":
            above.append(element.tag)


def _read_numbers(path: Path, element: Element, *names: str) -> list[int]:
    words = [element.get(name, "") for name in names]
    if not all(map(_NUMBER.fullmatch, words)):
        raise invalid_report(path, f"A <{element.tag}> has no number, or its counts are none")
    return list(map(int, words))


_RECORD = re.compile(r"[A-Z]{2,8}:")
#: Fields of a record: what they count, and how often it was run.
_FIELDS: Mapping[str, re.Pattern[str]] = {
    "DA": re.compile(r"(?P<key>[0-9]{1,9}),(?P<runs>-?[0-9]{1,20})(?:,.*)?"),
    "BRDA": re.compile(r"(?P<key>[0-9]{1,9},.*),(?P<runs>-|[0-9]{1,20})"),
    "FNDA": re.compile(r"(?P<runs>[0-9]{1,20}),(?P<key>.+)"),
}


def read_lcov(path: Path) -> CoverageReport:
    """Read a tracefile of LCOV; what several tests say of a file counts once."""
    tally = CoverageTally(path)
    parts: dict[str, dict[tuple[str, str], bool]] = {"BRDA": {}, "FNDA": {}}
    file: str | None = None
    for line in read_lines(path):
        kind, _, rest = line.partition(":")
        if not line or line.startswith("#"):
            continue
        if line == "end_of_record":
            file = None
        elif not _RECORD.match(line):
            raise invalid_report(path, "It is not a tracefile of LCOV")
        elif kind == "SF":
            file = rest
        elif kind in _FIELDS:
            match = _FIELDS[kind].fullmatch(rest)
            if match is None or file is None:
                raise invalid_report(path, "A count is malformed, or belongs to no file")
            covered = match["runs"] != "-" and int(match["runs"]) > 0
            if kind == "DA":
                tally.add_line(file, int(match["key"]), covered=covered)
            else:
                tally.count_entry()
                key = (file, match["key"])
                parts[kind][key] = covered or parts[kind].get(key, False)
    if file is not None:
        raise invalid_report(path, "It ends in the middle of a file's record")
    tally.set_total("branch", sum(parts["BRDA"].values()), len(parts["BRDA"]))
    tally.set_total("method", sum(parts["FNDA"].values()), len(parts["FNDA"]))
    return tally.finish()


_MODE = re.compile(r"mode: (set|count|atomic)")
_BLOCK = re.compile(
    r"(?P<file>.+):(?P<span>(?P<first>[0-9]{1,7})\.[0-9]{1,7},(?P<last>[0-9]{1,7})\.[0-9]{1,7})"
    r" (?P<statements>[0-9]{1,7}) (?P<runs>[0-9]{1,20})"
)


def read_go_profile(path: Path) -> CoverageReport:
    """Read a cover profile of Go; its metric ``line`` counts statements, as Go itself does.

    A block that several test binaries name was run if any of them ran it.
    """
    tally = CoverageTally(path)
    blocks: dict[tuple[str, str], tuple[int, bool]] = {}
    for number, line in enumerate(read_lines(path)):
        if _MODE.fullmatch(line):
            continue
        block = _BLOCK.fullmatch(line) if number else None
        if block is None or int(block["first"]) > int(block["last"]):
            raise invalid_report(path, f"It is no cover profile of Go, by its line {number + 1}")
        key, covered = (block["file"], block["span"]), int(block["runs"]) > 0
        if key not in blocks or (covered and not blocks[key][1]):
            blocks[key] = int(block["statements"]), covered
            for at in range(int(block["first"]), int(block["last"]) + 1):
                tally.add_line(block["file"], at, covered=covered)
    run = sum(statements for statements, covered in blocks.values() if covered)
    tally.set_total("line", run, sum(statements for statements, _ in blocks.values()))
    return tally.finish(by_block=True)


#: The formats that are no XML, by how they begin.
_TEXTS: Mapping[bytes, Reader] = {
    b"mode:": read_go_profile,
    b"TN:": read_lcov,
    b"SF:": read_lcov,
}
_AGGREGATE = "**/target/site/jacoco-aggregate/jacoco.xml"
_MODULES = (
    "**/target/site/jacoco/jacoco.xml",
    "**/build/reports/jacoco/test/jacocoTestReport.xml",
)
#: Names that tools other than JaCoCo give to their reports.
_USUAL = (
    "coverage.xml coverage.lcov coverage.info coverage.out cobertura.xml clover.xml "
    "cobertura-coverage.xml coverage.cobertura.xml lcov.info c.out cover.out cover-profile.out"
).split()


def read_coverage(path: str | os.PathLike[str]) -> Sequence[CoverageReport]:
    """Read a report of JaCoCo, Cobertura, Clover, LCOV or Go, or those of a project.

    In a directory the reports of JaCoCo count as `parse_jacoco` has it, else the one that has a
    usual name, such as ``coverage.xml``; several may count the same code, and are refused.
    """
    place = Path(path)
    files = _find_jacoco(place)
    if not files:
        files = find_reports(place, *_USUAL)
        _refuse_several(place, files, "coverage reports")
    if not files:
        raise missing_report(place)
    return [_read_with(find_reader(file), file) for file in files]


def parse_coverage(path: str | os.PathLike[str]) -> CoverageMetrics:
    """Return the totals of what `read_coverage` reads."""
    return CoverageMetrics.total(report.metrics for report in read_coverage(path))


def parse_jacoco(path: str | os.PathLike[str]) -> CoverageMetrics:
    """Return the totals of JaCoCo's XML report, or of those of a project.

    In a directory an aggregated report (``target/site/jacoco-aggregate/jacoco.xml``, in whichever
    module) counts alone; without one the reports of all modules are added up (Maven:
    ``target/site/jacoco/jacoco.xml``, Gradle: ``build/reports/jacoco/test/jacocoTestReport.xml``).
    CannotJudgeError for a report that is missing, invalid, unreadable or too large.
    """
    place = Path(path)
    files = _find_jacoco(place)
    if not files:
        raise missing_report(place / "target/site/jacoco/jacoco.xml")
    return CoverageMetrics.total(_read_with(read_jacoco, file).metrics for file in files)


def _read_with(reader: Reader, path: Path) -> CoverageReport:
    try:
        return reader(path)
    except ValueError as error:
        raise invalid_report(path, f"Its counts contradict each other: {error}") from error


def _find_jacoco(place: Path) -> list[Path]:
    if not place.is_dir():
        return [Path(os.path.realpath(place))]
    aggregates = find_reports(place, _AGGREGATE)
    _refuse_several(place, aggregates, "aggregated coverage reports")
    return aggregates or find_reports(place, *_MODULES)


def _refuse_several(directory: Path, files: Sequence[Path], kind: str) -> None:
    if len(files) > 1:
        names = ", ".join(visible(str(path.relative_to(directory))) for path in files[:3])
        raise CannotJudgeError(
            f"{visible(str(directory))} holds {len(files)} {kind}: {names}",
            why="They may count the same code twice",
            remedy="Name the one that counts",
            reason="report_ambiguous",
        )


def find_reader(path: Path) -> Reader:
    """Choose the reader of a report by its content."""
    with open_report(path) as file:
        begin = file.read(_BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip()
    for start, reader in _TEXTS.items():
        if begin.startswith(start):
            return reader
    if begin.startswith(b"<"):
        _, root = next(iterate_events(path))
        if root.tag == "report":
            return read_jacoco
        if root.tag == "coverage":
            clover = root.get("clover") or root.get("generated") or b"<project" in begin
            return read_clover if clover else read_cobertura
    formats = "JaCoCo, Cobertura (coverage.py xml), Clover, LCOV and Go's cover profiles"
    raise invalid_report(path, f"It is in none of the formats that are read: {formats}")
