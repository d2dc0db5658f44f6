"""``prjury calibrate``: have the models' failures been right often enough to block?"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from prjury.calibration import answers
from prjury.cli import options
from prjury.cli.output import Terminal, print_out
from prjury.errors import ExitCode, UsageError
from prjury.policy.schema import Config
from prjury.report.codec import ReportJson, read_form


def calibrate(
    context: typer.Context,
    reports: Annotated[
        list[Path], typer.Argument(metavar="REPORT...", help="JSON reports or directories of them.")
    ],
    *,
    against: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Reports to compare with; writes no record.")
    ] = None,
    repo: options.Repo = Path(),
) -> int:
    """Count what became of the errors that models reported; write the record if they may block."""
    terminal: Terminal = context.obj
    first = read_reports(reports)
    if against is not None:
        lines = answers.compare_reports(first, read_reports([against]))
        print_out("comparison", terminal.redact("\n".join(lines)))
        return ExitCode.OPEN
    setups = [setup for report in first if (setup := answers.read_model_setup(report))]
    if not setups:
        raise UsageError(
            "No model has answered in these reports",
            why="They were made without a key, or by another version",
            remedy="Name the JSON reports of reviews in which a model was asked",
        )
    setup = setups[-1]
    same = [report for report in first if answers.read_model_setup(report) in (setup, None)]
    clone = answers.open_clone(repo, first[-1].pull.base.sha)
    counts = answers.count_error_outcomes(same, clone)
    words = str(counts)
    if others := len(first) - len(same):
        words += f"\n{others} reports of other models or questions are not counted"
    if clone is None:
        words += "\nNo clone of the repository is here, so merged changes count as open"
    place = repo / Config().calibration
    if not counts.missing or place.is_file():
        place.parent.mkdir(exist_ok=True)
        place.write_text(str(answers.Record.of(setup, counts, datetime.now(UTC).date())))
        advice = "Commit it" if not counts.missing else "Commit it, so that the tier only advises"
        words += f"\n{place} is written. {advice}"
    print_out("calibration", terminal.redact(words))
    return ExitCode.REJECTED if counts.missing else ExitCode.OPEN


def read_reports(places: Sequence[Path]) -> list[ReportJson]:
    """Read reports as they are named, those of a directory in the order of their names."""
    reports = []
    for place in places:
        files = sorted(place.rglob("*.json"), key=_group_by_number) if place.is_dir() else [place]
        for file in files:
            try:
                value = json.loads(file.read_bytes())
                if not place.is_dir() or (isinstance(value, dict) and "schema" in value):
                    reports.append(read_form(value, ReportJson))
            except (OSError, ValueError, RecursionError) as error:
                raise UsageError(
                    f"{file} is no report of PR Jury",
                    why=getattr(error, "strerror", None) or str(error),
                    remedy="Write reports with `prjury review --output json=FILE`",
                ) from error
    if not reports:
        names = ", ".join(map(str, places))
        raise UsageError(f"There is no report in {names}", remedy="Name JSON reports of reviews")
    return reports


def _group_by_number(file: Path) -> list[str]:  # 9 before 10
    return [part.zfill(20) if part.isdigit() else part for part in re.split(r"(\d+)", str(file))]
