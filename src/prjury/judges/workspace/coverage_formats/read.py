"""Readers of coverage reports, one a format; each tells the totals and the lines that were run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree.ElementTree import Element

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.coverage_formats.report import (
    CoverageMetrics,
    CoverageReport,
    LineTable,
    counter_of,
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

Reader: TypeAlias = Callable[[Path], CoverageReport]

_NUMBER = re.compile(r"[0-9]{1,15}")
_CONDITIONS = re.compile(r"\(([0-9]{1,9})/([0-9]{1,9})\)")
_MOST_ROOTS = 100
#: Bytes; as Python's objects it takes some ten times as much memory.
_LARGEST_JSON = 64 * 1024**2
#: Bytes that tell the formats apart.
_BEGINNING = 4096


def read_jacoco(path: Path) -> CoverageReport:
    """JaCoCo's XML; its totals are those that it tells, else the sum of its groups or packages."""
    lines = LineTable(path)
    package = source = ""
    own: list[dict[str, Any]] = [{}]
    below: list[list[CoverageMetrics]] = [[]]
    for event, element, above in _elements(path, "report"):
        if event == "start":
            own.append({})
            below.append([])
            if element.tag == "package":
                package = element.get("name", "")
            elif element.tag == "sourcefile":
                source = f"{package}/{element.get('name', '')}".lstrip("/")
            continue
        counters, parts = own.pop(), below.pop()
        if element.tag == "counter":
            covered, missed = _numbers(path, element, "covered", "missed")
            if not element.get("type"):
                raise invalid_report(path, "A counter has no type")
            own[-1] |= counter_of(element.get("type", "").lower(), covered, covered + missed)
        elif element.tag == "line" and above == "sourcefile":
            number, missed, covered = _numbers(path, element, "nr", "mi", "ci")
            if missed + covered:  # a line with no instruction is none
                lines.add(source, number, covered=covered > 0)
        elif element.tag in {"report", "group", "package"}:
            below[-1].append(
                CoverageMetrics(counters) if counters else CoverageMetrics.total(parts)
            )
    return CoverageReport(CoverageMetrics.total(below[0]), lines.files, place=path)


def read_cobertura(path: Path) -> CoverageReport:  # noqa: C901 - one branch an element
    """Cobertura's XML; its totals are those that it tells, else those of its lines."""
    lines = LineTable(path)
    counts = dict.fromkeys(("branches", "branches_run", "methods", "methods_run"), 0)
    roots: list[str] = []
    told: dict[str, Any] = {}
    file, method = "", None
    for event, element, above in _elements(path, "coverage"):
        tag = element.tag
        if event == "start":
            if not above:
                told = _root_totals(element)
            elif tag == "class":
                file = element.get("filename", "")
            elif tag == "method":
                method = False
        elif tag == "line" and file:
            number, hits = _numbers(path, element, "number", "hits")
            if method is not None:
                method = method or hits > 0
                continue
            lines.add(file, number, covered=hits > 0)
            if match := _CONDITIONS.search(element.get("condition-coverage", "")):
                counts["branches_run"] += int(match[1])
                counts["branches"] += int(match[2])
        elif tag == "method":
            counts["methods"] += 1
            counts["methods_run"] += bool(method)
            method = None
        elif tag == "class":
            file = ""
        elif tag == "source" and element.text and len(roots) < _MOST_ROOTS:
            roots.append(element.text.strip())
    counters = {
        **lines.counter,
        **counter_of("branch", counts["branches_run"], counts["branches"]),
        **counter_of("method", counts["methods_run"], counts["methods"]),
        **told,
    }
    return CoverageReport(CoverageMetrics(counters), lines.files, tuple(roots), path)


def _root_totals(element: Element) -> dict[str, Any]:
    totals: dict[str, Any] = {}
    for metric, name in (("line", "lines"), ("branch", "branches")):
        words = [element.get(f"{name}-{part}", "") for part in ("covered", "valid")]
        if all(map(_NUMBER.fullmatch, words)):
            totals |= counter_of(metric, *map(int, words))
    return totals


def read_clover(path: Path) -> CoverageReport:
    """Clover's XML, also as PHPUnit and Istanbul write it."""
    lines = LineTable(path)
    counters: dict[str, Any] = {}
    file = ""
    for event, element, above in _elements(path, "coverage"):
        if event == "start" and element.tag == "file":
            file = element.get("path") or element.get("name") or ""
        elif event == "end" and element.tag == "line" and above == "file":
            number, count = _numbers(path, element, "num", "count")
            if element.get("type") != "method":
                lines.add(file, number, covered=count > 0)
        elif event == "end" and element.tag == "metrics" and above == "project":
            for metric, name in (("branch", "conditionals"), ("method", "methods")):
                if element.get(name) and element.get(f"covered{name}"):
                    total, covered = _numbers(path, element, name, f"covered{name}")
                    counters |= counter_of(metric, covered, total)
    return CoverageReport(CoverageMetrics({**lines.counter, **counters}), lines.files, place=path)


def _elements(path: Path, root: str) -> Iterator[tuple[str, Element, str]]:
    """Each event of an XML report with its element and the tag of the one around it.

    Raises:
        CannotJudgeError: ``report_invalid`` for another root.
    """
    stack: list[str] = []
    for event, element in report_elements(path):
        if event == "end":
            stack.pop()
        elif not stack and element.tag != root:
            raise invalid_report(path, f"Its root is {element.tag!r}, not {root!r}")
        yield event, element, stack[-1] if stack else ""
        if event == "start":
            stack.append(element.tag)


def _numbers(path: Path, element: Element, *names: str) -> list[int]:
    words = [element.get(name, "") for name in names]
    if not all(map(_NUMBER.fullmatch, words)):
        raise invalid_report(path, f"A <{element.tag}> has no number, or its counts are none")
    return list(map(int, words))


_RECORD = re.compile(r"[A-Z]{2,8}:")
_FIELDS: Mapping[str, re.Pattern[str]] = {
    "DA": re.compile(r"([0-9]{1,9}),(-?[0-9]{1,20})(?:,.*)?"),
    "BRDA": re.compile(r"([0-9]{1,9},.*),(-|[0-9]{1,20})"),
    "FNDA": re.compile(r"([0-9]{1,20}),(.+)"),
}


def read_lcov(path: Path) -> CoverageReport:
    """A tracefile of LCOV; what is said of a file by several tests counts once."""
    lines = LineTable(path)
    branches: dict[tuple[str, str], bool] = {}
    methods: dict[tuple[str, str], bool] = {}
    file: str | None = None
    for line in report_lines(path):
        kind, _, rest = line.partition(":")
        if not line or line.startswith("#"):
            continue
        if line == "end_of_record":
            file = None
        elif not _RECORD.match(line):
            raise invalid_report(path, "It is not a tracefile of LCOV")
        elif kind == "SF":
            file = rest
        elif form := _FIELDS.get(kind):
            match = form.fullmatch(rest)
            if match is None or file is None:
                raise invalid_report(path, "A count is malformed, or belongs to no file")
            if kind == "DA":
                lines.add(file, int(match[1]), covered=int(match[2]) > 0)
                continue
            lines.count()
            parts, name, taken = (
                (branches, match[1], match[2]) if kind == "BRDA" else (methods, match[2], match[1])
            )
            parts[file, name] = parts.get((file, name), False) or taken not in {"-", "0"}
    if file is not None:
        raise invalid_report(path, "It ends in the middle of a file's record")
    counters = {
        **lines.counter,
        **counter_of("branch", sum(branches.values()), len(branches)),
        **counter_of("method", sum(methods.values()), len(methods)),
    }
    return CoverageReport(CoverageMetrics(counters), lines.files, place=path)


_MODE = re.compile(r"mode: (set|count|atomic)")
_BLOCK = re.compile(
    r"(?P<file>.+):(?P<span>(?P<first>[0-9]{1,7})\.[0-9]{1,7},(?P<last>[0-9]{1,7})\.[0-9]{1,7})"
    r" (?P<statements>[0-9]{1,7}) (?P<runs>[0-9]{1,20})"
)


def read_go_profile(path: Path) -> CoverageReport:
    """A cover profile of Go; its metric ``line`` counts statements, as Go itself does.

    A block that several test binaries name was run if any of them ran it.
    """
    blocks: dict[tuple[str, str], tuple[int, bool]] = {}
    lines = LineTable(path)
    for number, line in enumerate(report_lines(path)):
        if _MODE.fullmatch(line):
            continue
        block = _BLOCK.fullmatch(line) if number else None
        if block is None or int(block["first"]) > int(block["last"]):
            raise invalid_report(path, f"It is no cover profile of Go, by its line {number + 1}")
        key, covered = (block["file"], block["span"]), int(block["runs"]) > 0
        known = blocks.get(key)
        if known is None or (covered and not known[1]):
            blocks[key] = int(block["statements"]), covered
            for at in range(int(block["first"]), int(block["last"]) + 1):
                lines.add(block["file"], at, covered=covered)
    total = sum(statements for statements, _ in blocks.values())
    run = sum(statements for statements, covered in blocks.values() if covered)
    metrics = CoverageMetrics(counter_of("line", run, total))
    return CoverageReport(metrics, lines.files, place=path, by_block=True)


_JSON_TOTALS = {
    "line": ("covered_lines", "num_statements"),
    "branch": ("covered_branches", "num_branches"),
}


def read_coverage_json(path: Path) -> CoverageReport:
    """The JSON of coverage.py."""
    content = report_bytes(path, _LARGEST_JSON + 1)
    if len(content) > _LARGEST_JSON:
        raise CannotJudgeError(
            f"the report {visible(str(path))} is larger than {_LARGEST_JSON // 1024**2} MiB",
            remedy="Name a report of a part of the project, or its XML",
            reason="too_large",
        )
    lines = LineTable(path)
    counters: dict[str, Any] = {}
    try:
        document = json.loads(content)
        for name, file in document["files"].items():
            for key, covered in (("executed_lines", True), ("missing_lines", False)):
                for number in file[key]:
                    lines.add(name, _check_count(number), covered=covered)
        totals = document["totals"]
        for metric, names in _JSON_TOTALS.items():
            if names[1] in totals:
                counters |= counter_of(metric, *(_check_count(totals[name]) for name in names))
    except RecursionError as error:
        raise invalid_report(path, "It is nested too deeply") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise invalid_report(path, "It is not the JSON of coverage.py") from error
    return CoverageReport(CoverageMetrics(counters), lines.files, place=path)


def _check_count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value


#: The formats that are no XML, by how they begin.
_TEXTS: Mapping[bytes, Reader] = {
    b"{": read_coverage_json,
    b"mode:": read_go_profile,
    b"TN:": read_lcov,
    b"SF:": read_lcov,
}
_AGGREGATE = re.compile(r"(^|/)target/site/jacoco-aggregate/jacoco\.xml$")
_MODULE = re.compile(
    r"(^|/)(target/site/jacoco/jacoco|build/reports/jacoco/test/jacocoTestReport)\.xml$"
)
#: Where tools other than JaCoCo write their reports.
_USUAL = re.compile(
    r"(^|/)(coverage\.(xml|json|lcov|info|out)|cobertura(-coverage)?\.xml|coverage\.cobertura\.xml"
    r"|clover\.xml|lcov\.info|(c|cover|cover-profile)\.out)$"
)


def read_coverage(path: str | os.PathLike[str]) -> Sequence[CoverageReport]:
    """A report, or those of a project.

    Args:
        path: a report of JaCoCo, Cobertura, Clover, coverage.py (XML or JSON), LCOV, or a cover
            profile of Go; or a directory. There the reports of JaCoCo count as `parse_jacoco` has
            it, else the one report that has a usual name, such as ``coverage.xml``.

    Raises:
        CannotJudgeError: ``report_missing``, ``report_invalid``, ``unreadable``, ``too_large``, or
            ``report_ambiguous`` for a directory with several that may count the same code.
    """
    place = Path(path)
    if not place.is_dir():
        file = Path(os.path.realpath(place))
        return [_read_with(find_reader(file), file)]
    files = _jacoco_reports(place)
    if not files:
        files = find_reports(place, _USUAL)
        _refuse_several(place, files, "coverage reports")
    if not files:
        raise missing_report(place)
    return [_read_with(find_reader(file), file) for file in files]


def parse_coverage(path: str | os.PathLike[str]) -> CoverageMetrics:
    """The totals of a report, or of those of a project, in any format of `read_coverage`.

    Raises:
        CannotJudgeError: as `read_coverage`.
    """
    return CoverageMetrics.total(report.metrics for report in read_coverage(path))


def parse_jacoco(path: str | os.PathLike[str]) -> CoverageMetrics:
    """Reads a report, or those of a project.

    Args:
        path: the XML report, or a project's directory. There an aggregated report
            (``target/site/jacoco-aggregate/jacoco.xml``, in whichever module) counts alone; without
            one the reports of all modules are added up (Maven: ``target/site/jacoco/jacoco.xml``,
            Gradle: ``build/reports/jacoco/test/jacocoTestReport.xml``).

    Raises:
        CannotJudgeError: ``report_missing``, ``report_invalid``, ``unreadable``, ``too_large``, or
            ``report_ambiguous`` for a directory with several aggregated reports.
    """
    place = Path(path)
    files = _jacoco_reports(place) if place.is_dir() else [Path(os.path.realpath(place))]
    if not files:
        raise missing_report(place / "target/site/jacoco/jacoco.xml")
    return CoverageMetrics.total(_read_with(read_jacoco, file).metrics for file in files)


def _read_with(reader: Reader, path: Path) -> CoverageReport:
    try:
        return reader(path)
    except ValueError as error:
        raise invalid_report(path, f"Its counts contradict each other: {error}") from error


def _jacoco_reports(directory: Path) -> list[Path]:
    aggregated = find_reports(directory, _AGGREGATE)
    _refuse_several(directory, aggregated, "aggregated coverage reports")
    return aggregated or find_reports(directory, _MODULE)


def _refuse_several(directory: Path, files: Sequence[Path], what: str) -> None:
    if len(files) > 1:
        names = ", ".join(visible(str(path.relative_to(directory))) for path in files[:3])
        raise CannotJudgeError(
            f"{visible(str(directory))} holds {len(files)} {what}: {names}",
            why="They may count the same code twice",
            remedy="Name the one that counts",
            reason="report_ambiguous",
        )


def find_reader(path: Path) -> Reader:
    """The reader of a report, by its content.

    Raises:
        CannotJudgeError: ``report_invalid`` for none of the formats.
    """
    begin = report_bytes(path, _BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip()
    for start, reader in _TEXTS.items():
        if begin.startswith(start):
            return reader
    if begin.startswith(b"<"):
        _, root = next(report_elements(path))
        if root.tag == "report":
            return read_jacoco
        if root.tag == "coverage":
            clover = root.get("clover") or root.get("generated") or b"<project" in begin
            return read_clover if clover else read_cobertura
    known = "JaCoCo, Cobertura, Clover, coverage.py, LCOV and Go's cover profiles"
    raise invalid_report(path, f"It is in none of the formats that are read: {known}")
