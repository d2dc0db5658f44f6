"""JaCoCo's XML, of one module or of all modules of a project."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from prjury.errors import CannotJudgeError
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
    report_elements,
)
from prjury.snapshot.model import visible

_AGGREGATE = re.compile(r"(^|/)target/site/jacoco-aggregate/jacoco\.xml$")
_MODULE = re.compile(
    r"(^|/)(target/site/jacoco/jacoco|build/reports/jacoco/test/jacocoTestReport)\.xml$"
)
_NUMBER = re.compile(r"[0-9]{1,15}")


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
    files = jacoco_reports(place) if place.is_dir() else [Path(os.path.realpath(place))]
    if not files:
        raise missing_report(place / "target/site/jacoco/jacoco.xml")
    return CoverageMetrics.total(read_jacoco(file).metrics for file in files)


def jacoco_reports(directory: Path) -> list[Path]:
    """The reports of a project that count; none where there are none.

    Raises:
        CannotJudgeError: ``too_large``, or ``report_ambiguous`` for several aggregated ones.
    """
    found = find_reports(directory, _AGGREGATE)
    if len(found) > 1:
        names = ", ".join(visible(str(path.relative_to(directory))) for path in found[:3])
        raise CannotJudgeError(
            f"{visible(str(directory))} holds {len(found)} aggregated coverage reports: {names}",
            why="They may count the same code twice",
            remedy="Name the one that counts",
            reason="report_ambiguous",
        )
    return found or find_reports(directory, _MODULE)


def read_jacoco(path: Path) -> CoverageReport:
    """One report; its totals are those that it tells, else the sum of its groups or packages.

    Raises:
        CannotJudgeError: as `parse_jacoco` for one report.
    """
    open_parts: list[_Part] = []
    whole, lines = CoverageMetrics(), LineTable(path)
    for event, element in report_elements(path):
        if event == "start":
            if not open_parts and element.tag != "report":
                raise invalid_report(path, "It is not a report of JaCoCo")
            above = open_parts[-1].name if open_parts else ""
            open_parts.append(_Part(_name(element, above)))
            continue
        part = open_parts.pop()
        if not open_parts:
            whole = part.metrics
        elif element.tag == "counter":
            open_parts[-1].own.update(_counter(element, path))
        elif element.tag == "line":
            _add_line(lines, open_parts[-1].name, element)
        elif element.tag in {"group", "package"}:
            open_parts[-1].below.append(part.metrics)
    return CoverageReport(whole, lines.files, place=path)


def _name(element: Element, above: str) -> str:
    """What lines below it belong to: the package, then its source file."""
    own = element.get("name", "")
    if element.tag == "package":
        return own
    return f"{above}/{own}".lstrip("/") if element.tag == "sourcefile" else above


def _add_line(lines: LineTable, file: str, element: Element) -> None:
    """A line counts as run where any instruction of it was; one with no instruction is none."""
    words = [element.get(name, "") for name in ("nr", "mi", "ci")]
    if not all(map(_NUMBER.fullmatch, words)):
        raise invalid_report(lines.report, "A line has no number, or its counts are no numbers")
    number, missed, covered = map(int, words)
    if missed + covered:
        lines.add(file, number, covered=covered > 0)


@dataclass
class _Part:
    """An element of a report while it is read."""

    name: str = ""
    own: dict[str, CoverageCounter] = field(default_factory=dict)
    below: list[CoverageMetrics] = field(default_factory=list)

    @property
    def metrics(self) -> CoverageMetrics:
        return CoverageMetrics(self.own) if self.own else CoverageMetrics.total(self.below)


def _counter(element: Element, path: Path) -> dict[str, CoverageCounter]:
    """One counter by its kind; nothing where there is nothing to count."""
    words = [element.get(name, "") for name in ("covered", "missed")]
    if not element.get("type") or not all(map(_NUMBER.fullmatch, words)):
        raise invalid_report(path, "A counter has no type, or its counts are no numbers")
    covered, missed = map(int, words)
    return counted(element.get("type", "").lower(), covered, covered + missed)
