"""Cobertura's XML, which coverage.py, c8, coverlet, gcovr and many others write."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from xml.etree.ElementTree import Element

from prjury.judges.workspace.coverage_formats.report import (
    CoverageCounter,
    CoverageMetrics,
    CoverageReport,
    LineTable,
    counted,
)
from prjury.judges.workspace.reports import invalid_report, report_elements

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
