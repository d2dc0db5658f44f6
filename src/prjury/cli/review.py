"""``prjury review``: the main job on the operator's own machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from msgspec.structs import replace

from prjury.cli import options
from prjury.cli.output import OutputFormat, Terminal, deliver, parse_outputs
from prjury.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from prjury.app.request import ReviewRequest
    from prjury.report.model import Report


@options.expand
def review(  # noqa: PLR0913 - the command line's options, named as documented
    context: typer.Context,
    change: options.ChangeOptions,
    judges: options.JudgeOptions,
    models: options.ModelOptions,
    work: options.UncommittedOptions,
    *,
    format: options.Printed = OutputFormat.TERMINAL,
    output: options.Output = None,
    onto: options.Onto = None,
    dry_run: options.DryRun = False,
    evidence: options.Evidence = None,
) -> int:
    """Judge a pull request, or the current branch against its default branch."""
    terminal: Terminal = context.obj
    files = parse_outputs(output, OutputFormat)
    request = options.request_of(terminal, change, judges, models, onto=onto, evidence=evidence)
    request = work.apply_to(request, change)
    if dry_run:
        return _print_forecast(terminal, replace(request, record=None), format, files)
    return _run(terminal, request, format, files)


def _run(
    terminal: Terminal,
    request: ReviewRequest,
    kind: OutputFormat,
    files: list[tuple[OutputFormat, Path]],
) -> int:
    from prjury.code.parser import begin_standby

    begin_standby()  # it loads what parses while this process loads the rest
    from prjury.app.review import run
    from prjury.git.open_snapshot import NothingToReview

    outcome = run(request, terminal.environment())
    if isinstance(outcome, NothingToReview):
        print(outcome.reason, file=sys.stdout if kind is OutputFormat.TERMINAL else sys.stderr)
        return ExitCode.OPEN
    deliver(
        lambda: terminal.publisher(kind).publish(outcome),
        files,
        lambda each: terminal.render(outcome, each),
    )
    if outcome.gate.exit_code:
        print(_closing_line(terminal, outcome), file=sys.stderr)
    return outcome.gate.exit_code


def _print_forecast(
    terminal: Terminal,
    request: ReviewRequest,
    kind: OutputFormat,
    files: list[tuple[OutputFormat, Path]],
) -> int:
    from prjury.app.review import forecast
    from prjury.cli.dry_run import forecast_json, forecast_lines
    from prjury.git.open_snapshot import NothingToReview

    if files or kind not in {OutputFormat.TERMINAL, OutputFormat.JSON}:
        raise UsageError("--dry-run makes no report", remedy="Use it alone, or with --format json")
    outcome = forecast(request, terminal.environment())
    if isinstance(outcome, NothingToReview):
        print(outcome.reason)
    elif kind is OutputFormat.JSON:
        print(forecast_json(outcome))
    else:
        print("\n".join(forecast_lines(outcome)))
    return ExitCode.OPEN


def _closing_line(terminal: Terminal, report: Report) -> str:
    from prjury.publishers.terminal import printable_line

    failed = report.gate.exit_code == ExitCode.REJECTED
    remedy = "Fix what the report names" if failed else "Fix the cause, or review it yourself,"
    words = f"prjury: {report.headline}. {remedy} and run it again."
    return printable_line(words, sys.stderr, terminal.redact)
