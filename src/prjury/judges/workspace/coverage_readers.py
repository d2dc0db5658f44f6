"""Readers of coverage reports, one a format, for the totals and the lines that were run."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from msgspec import Struct

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.files import (
    find_files,
    invalid_report,
    large_report,
    missing_report,
    open_report,
    read_lines,
    walk_elements,
)
from prjury.snapshot.model import visible

#: Lines, or blocks of lines, of all files of a report; the largest projects stay below it.
_MOST_ENTRIES = 5_000_000
_NUMBER = re.compile(r"[0-9]{1,15}")
_MOST_ROOTS = 100
#: Bytes that tell the formats apart.
_BEGINNING = 4096


class CoverageCounter(Struct, frozen=True):
    """How many lines, branches, methods, … were run by the tests, and how many were not."""

    covered: int
    missed: int

    def __post_init__(self) -> None:
        if min(self.covered, self.missed) < 0 or not self.total:
            raise ValueError(f"{self.covered} covered and {self.missed} missed is no count")

    @property
    def total(self) -> int:
        return self.covered + self.missed


class CoverageMetrics(Struct, frozen=True):
    """The totals of reports by ``line``, ``branch``, ``method``, …, None where there is nothing."""

    counters: Mapping[str, CoverageCounter] = {}

    def percent(self, metric: str) -> float | None:
        """The share of ``line``, ``branch``, … that was run, 0..100."""
        counter = self.counters.get(metric)
        return 100 * counter.covered / counter.total if counter else None

    @property
    def line(self) -> float | None:
        return self.percent("line")

    @property
    def branch(self) -> float | None:
        return self.percent("branch")

    @property
    def method(self) -> float | None:
        return self.percent("method")

    @classmethod
    def total(cls, parts: Iterable[CoverageMetrics]) -> CoverageMetrics:
        """Add up several reports, such as those of the modules of a project."""
        covered, missed = Counter[str](), Counter[str]()
        for part in parts:
            for metric, counter in part.counters.items():
                covered[metric] += counter.covered
                missed[metric] += counter.missed
        return cls({metric: CoverageCounter(covered[metric], missed[metric]) for metric in covered})


class CoverageReport(Struct, frozen=True):
    """One report by files; their names may start from a root, and blocks count blank lines, too."""

    metrics: CoverageMetrics
    files: Mapping[str, Mapping[int, bool]] = {}
    roots: tuple[str, ...] = ()
    place: Path = Path()
    by_block: bool = False


class _Reading:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self.runs: dict[str, dict[str, dict[object, bool]]] = defaultdict(lambda: defaultdict(dict))
        self.totals: dict[str, CoverageCounter] = {}
        self.roots: list[str] = []

    def add(self, metric: str, file: str, key: object, *, covered: bool) -> None:
        """Note a line, branch or method, which was run if any entry says so."""
        self.count += 1
        if self.count > _MOST_ENTRIES:
            raise large_report(self.path, f"has more than {_MOST_ENTRIES:,} lines")
        runs = self.runs[metric][file]
        runs[key] = covered or runs.get(key, False)

    def set_total(self, metric: str, covered: int, total: int) -> None:
        if covered > total:
            why = f"Its counts contradict each other: {covered} of {total} are covered"
            raise invalid_report(self.path, why)
        if total:
            self.totals[metric] = CoverageCounter(covered, total - covered)

    def build_report(self, *, by_block: bool = False) -> CoverageReport:
        """Return the report, with the totals that it tells, and counts where it tells none."""
        lines: Mapping[str, Any] = self.runs["line"]
        for metric in self.runs.keys() - self.totals.keys():
            runs = [run for entries in self.runs[metric].values() for run in entries.values()]
            self.set_total(metric, sum(runs), len(runs))
        metrics = CoverageMetrics(self.totals)
        return CoverageReport(metrics, lines, tuple(self.roots), self.path, by_block)


def read_jacoco(path: Path) -> CoverageReport:
    """Read JaCoCo's XML, whose totals stand below its root."""
    reading = _Reading(path)
    for element, above in walk_elements(path, "report"):
        if element.tag == "counter" and len(above) == 1:
            covered, missed = _read_numbers(path, element, "covered", "missed")
            metric = element.get("type", "").lower()
            if not metric:
                raise invalid_report(path, "A counter has no type")
            reading.set_total(metric, covered, covered + missed)
        elif element.tag == "line" and above[-1].tag == "sourcefile":
            number, missed, covered = _read_numbers(path, element, "nr", "mi", "ci")
            if missed + covered:  # a line with no instruction is none
                file = "/".join(around.get("name", "") for around in above[-2:])
                reading.add("line", file.lstrip("/"), number, covered=covered > 0)
    return reading.build_report()


def read_cobertura(path: Path) -> CoverageReport:
    """Read Cobertura's XML; its totals are those that it tells, else that of its lines."""
    reading = _Reading(path)
    totals: Mapping[str, str] = {}
    methods = 0
    for element, above in walk_elements(path, "coverage"):
        tags = [around.tag for around in above]
        if not above:
            totals = dict(element.attrib)
        elif element.tag == "method":
            reading.add("method", "", methods, covered=False)
            methods += 1
        elif element.tag == "line" and "class" in tags:
            file = above[tags.index("class")].get("filename", "")
            number, hits = _read_numbers(path, element, "number", "hits")
            if "method" in tags:
                reading.add("method", "", methods, covered=hits > 0)
            elif file:
                reading.add("line", file, number, covered=hits > 0)
        elif element.tag == "source" and element.text and len(reading.roots) < _MOST_ROOTS:
            reading.roots.append(element.text.strip())
    for metric, name in (("line", "lines"), ("branch", "branches")):
        words = [totals.get(f"{name}-{part}", "") for part in ("covered", "valid")]
        if all(map(_NUMBER.fullmatch, words)):
            reading.set_total(metric, *map(int, words))
    return reading.build_report()


def read_clover(path: Path) -> CoverageReport:
    """Read Clover's XML, also as PHPUnit and Istanbul write it."""
    reading = _Reading(path)
    for element, above in walk_elements(path, "coverage"):
        around = above[-1] if above else element
        if element.tag == "line" and around.tag == "file":
            number, count = _read_numbers(path, element, "num", "count")
            if element.get("type") != "method":
                file = around.get("path") or around.get("name") or ""
                reading.add("line", file, number, covered=count > 0)
        elif element.tag == "metrics" and around.tag == "project":
            for metric, name in (("branch", "conditionals"), ("method", "methods")):
                if element.get(name) and element.get(f"covered{name}"):
                    total, covered = _read_numbers(path, element, name, f"covered{name}")
                    reading.set_total(metric, covered, total)
    return reading.build_report()


def _read_numbers(path: Path, element: Element, *names: str) -> list[int]:
    words = [element.get(name, "") for name in names]
    if not all(map(_NUMBER.fullmatch, words)):
        raise invalid_report(path, f"A <{element.tag}> has no number, or its counts are none")
    return list(map(int, words))


_RECORD = re.compile(r"[A-Z]{2,8}:")
#: Fields of a record by what they count, and how often it was run.
_FIELDS: Mapping[str, tuple[str, re.Pattern[str]]] = {
    "DA": ("line", re.compile(r"(?P<key>[0-9]{1,9}),(?P<runs>-?[0-9]{1,20})(?:,.*)?")),
    "BRDA": ("branch", re.compile(r"(?P<key>[0-9]{1,9},.*),(?P<runs>-|[0-9]{1,20})")),
    "FNDA": ("method", re.compile(r"(?P<runs>[0-9]{1,20}),(?P<key>.+)")),
}


def read_lcov(path: Path) -> CoverageReport:
    """Read a tracefile of LCOV; what several tests say of a file counts once."""
    reading = _Reading(path)
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
            metric, form = _FIELDS[kind]
            match = form.fullmatch(rest)
            if match is None or file is None:
                raise invalid_report(path, "A count is malformed, or belongs to no file")
            key = int(match["key"]) if metric == "line" else match["key"]
            covered = match["runs"] != "-" and int(match["runs"]) > 0
            reading.add(metric, file, key, covered=covered)
    if file is not None:
        raise invalid_report(path, "It ends in the middle of a file's record")
    return reading.build_report()


_MODE = re.compile(r"mode: (set|count|atomic)")
_BLOCK = re.compile(
    r"(?P<file>.+):(?P<span>(?P<first>[0-9]{1,7})\.[0-9]{1,7},(?P<last>[0-9]{1,7})\.[0-9]{1,7})"
    r" (?P<statements>[0-9]{1,7}) (?P<runs>[0-9]{1,20})"
)


def read_go_profile(path: Path) -> CoverageReport:
    """Read a cover profile of Go; its metric ``line`` counts statements, as Go itself does."""
    reading = _Reading(path)
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
                reading.add("line", block["file"], at, covered=covered)
    run = sum(statements for statements, covered in blocks.values() if covered)
    reading.set_total("line", run, sum(statements for statements, _ in blocks.values()))
    return reading.build_report(by_block=True)


_ROOT = re.compile(rb"<(\w+)\b([^>]*)")
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

    In a directory JaCoCo's count as `parse_jacoco` has it, else the one with a usual name.
    """
    place = Path(path)
    files = _find_jacoco(place)
    if not files:
        files = find_files(place, *_USUAL)
        _refuse_several(place, files, "coverage reports")
    if not files:
        raise missing_report(place)
    return [_choose_reader_by_content(file)(file) for file in files]


def parse_jacoco(path: str | os.PathLike[str]) -> CoverageMetrics:
    """Return the totals of JaCoCo's XML report, or of those of a project.

    In a directory an aggregated report counts alone; without one those of all modules, of Maven and
    Gradle, are added up. CannotJudgeError for one that is missing, invalid or too large.
    """
    place = Path(path)
    files = _find_jacoco(place)
    if not files:
        raise missing_report(place / "target/site/jacoco/jacoco.xml")
    return CoverageMetrics.total(read_jacoco(file).metrics for file in files)


def _find_jacoco(place: Path) -> list[Path]:
    if not place.is_dir():
        return [Path(os.path.realpath(place))]
    aggregates = find_files(place, _AGGREGATE)
    _refuse_several(place, aggregates, "aggregated coverage reports")
    return aggregates or find_files(place, *_MODULES)


def _refuse_several(directory: Path, files: Sequence[Path], kind: str) -> None:
    if len(files) > 1:
        names = ", ".join(visible(str(path.relative_to(directory))) for path in files[:3])
        what = f"{visible(str(directory))} holds {len(files)} {kind}: {names}"
        why = "They may count the same code twice, so name the one that counts"
        raise CannotJudgeError(what, why=why, reason="report_ambiguous")


def _choose_reader_by_content(path: Path) -> Callable[[Path], CoverageReport]:
    with open_report(path) as file:
        beginning = file.read(_BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip()
    if beginning.startswith(b"mode:"):
        return read_go_profile
    if beginning.startswith((b"TN:", b"SF:")):
        return read_lcov
    plain = re.sub(rb"(?s)<!--.*?-->", b"", beginning)
    root = _ROOT.search(plain) if beginning.startswith(b"<") else None
    if root and root[1] == b"report":
        return read_jacoco
    if root and root[1] == b"coverage":
        is_clover = re.search(rb"\b(clover|generated)=", root[2]) or b"<project" in beginning
        return read_clover if is_clover else read_cobertura
    formats = "JaCoCo, Cobertura (coverage.py xml), Clover, LCOV and Go's cover profiles"
    raise invalid_report(path, f"It is in none of the formats that are read: {formats}")
