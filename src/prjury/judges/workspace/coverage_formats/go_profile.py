"""Go's cover profiles: how many statements each block holds, and whether it was run."""

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
