"""LCOV's tracefiles, which lcov, c8, nyc, coverage.py, cargo-llvm-cov and many others write."""

from __future__ import annotations

import re
from pathlib import Path

from prjury.judges.workspace.coverage_formats.report import (
    CoverageMetrics,
    CoverageReport,
    LineTable,
    counted,
)
from prjury.judges.workspace.reports import invalid_report, report_lines

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
