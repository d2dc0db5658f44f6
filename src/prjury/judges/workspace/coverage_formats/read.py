"""Which format a coverage report has, by its content."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.coverage_formats.cobertura import read_cobertura
from prjury.judges.workspace.coverage_formats.coverage_py import read_coverage_json
from prjury.judges.workspace.coverage_formats.go_profile import read_go_profile
from prjury.judges.workspace.coverage_formats.jacoco import jacoco_reports, read_jacoco
from prjury.judges.workspace.coverage_formats.lcov import read_lcov
from prjury.judges.workspace.coverage_formats.report import CoverageMetrics, CoverageReport
from prjury.judges.workspace.reports import (
    find_reports,
    invalid_report,
    missing_report,
    report_bytes,
    report_elements,
)
from prjury.snapshot.model import visible

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
