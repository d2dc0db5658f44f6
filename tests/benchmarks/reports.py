"""Rendering a report of 1,000 findings in every format, beside one of none.

python -P tests/benchmarks/reports.py
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fakes import reports as fake
from fakes.render import to_comment, to_feedback, to_html, to_summary
from prjury.report.model import Report

RUNS = 5


def _median(render: Callable[[Report], str], report: Report) -> float:
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        render(report)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> None:
    many, none = fake.with_findings(1_000), fake.passed()
    for render in (to_comment, to_summary, to_html, to_feedback):
        render(none)
        ours, empty = _median(render, many), _median(render, none)
        print(f"{render.__name__}: {ours * 1000:.0f} ms, without findings {empty * 1000:.0f} ms")


if __name__ == "__main__":
    main()
