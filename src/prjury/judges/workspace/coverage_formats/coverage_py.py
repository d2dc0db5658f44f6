"""The JSON of coverage.py (``coverage json``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.coverage_formats.report import (
    CoverageCounter,
    CoverageMetrics,
    CoverageReport,
    LineTable,
    counted,
)
from prjury.judges.workspace.reports import invalid_report, report_bytes
from prjury.snapshot.model import visible

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
