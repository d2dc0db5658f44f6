"""``prjury review`` and ``backport``: a change on the operator's own machine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO, get_args

import typer
from msgspec import structs

from prjury.cli import options
from prjury.cli.output import OutputFormat, Terminal, TextFormat, parse_outputs, print_and_write
from prjury.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from prjury.app.request import ReviewRequest
    from prjury.judges.quality.model_seat import Forecast
    from prjury.report.backports import Backports


@options.expand_option_groups
def review(  # noqa: PLR0913 - the command line's options, named as documented
    context: typer.Context,
    change: options.ChangeOptions,
    judges: options.JudgeOptions,
    models: options.ModelOptions,
    work: options.UncommittedOptions,
    *,
    format: Annotated[
        OutputFormat, typer.Option(help="What goes to standard output.")
    ] = "terminal",
    output: Annotated[
        list[str] | None, typer.Option(metavar="FORMAT=FILE", help="Also write a file; repeatable.")
    ] = None,
    onto: Annotated[
        list[str] | None,
        typer.Option(metavar="BRANCH", help="Also try a backport onto it; repeatable."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which models would be asked what, and ask none.")
    ] = False,
    evidence: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What `prjury build` wrote, for `build: {from: evidence}`."
        ),
    ] = None,
) -> int:
    """Judge a pull request, or the current branch against its default branch."""
    terminal: Terminal = context.obj
    terminal.prints_for_people = format == "terminal"
    files = parse_outputs(output, get_args(OutputFormat))
    request = options.request_of(terminal, change, judges, models, onto=onto, evidence=evidence)
    request = work.target_uncommitted(request, change)
    if dry_run:
        return _print_forecast_alone(terminal, structs.replace(request, record=None), format, files)
    from prjury.code.parser import ensure_standby

    ensure_standby()  # it loads what parses while this process loads the rest
    from prjury.app.review import run

    outcome = run(request, terminal.make_environment())
    print_and_write(format, files, partial(terminal.render, outcome))
    if outcome.gate.exit_code:
        failed = outcome.gate.exit_code == ExitCode.REJECTED
        remedy = "Fix what the report names" if failed else "Fix the cause, or review it yourself,"
        terminal.complain(f"{outcome.headline}. {remedy} and run it again.")
    return outcome.gate.exit_code


def _print_forecast_alone(
    terminal: Terminal,
    request: ReviewRequest,
    kind: OutputFormat,
    files: list[tuple[OutputFormat, Path]],
) -> int:
    from prjury.app.review import forecast_model_use

    if files or kind not in {"terminal", "json"}:
        raise UsageError("--dry-run makes no report", remedy="Use it alone, or with --format json")
    outcome = forecast_model_use(request, terminal.make_environment())
    if kind == "json":
        print(forecast_json(outcome))
    else:
        print("\n".join(forecast_lines(outcome)))
    return ExitCode.OPEN


def forecast_lines(forecasts: Sequence[Forecast]) -> Iterator[str]:
    from prjury.report.sanitise import log_line

    rows = [row for forecast in forecasts for row in _list_forecast_rows(forecast)]
    if rows:
        headings = ("Judge", "Model", "Calls", "Known", "Characters", "Tokens", "Price")
        yield from _lay_out_table([headings, *rows])
        yield ""
    absent = {name: why for forecast in forecasts for name, why in forecast.absent.items()}
    for name, why in absent.items():
        yield f"{log_line(name)} would not answer: {log_line(why)}"
    for forecast in forecasts:
        if because := forecast.nothing_because or forecast.refusal:
            yield f"{forecast.judge} would ask nobody: {log_line(because)}"
    yield _describe_total(_add_up(forecasts))


def forecast_json(forecasts: Sequence[Forecast]) -> str:
    from msgspec import to_builtins

    total = _add_up(forecasts)
    value = {
        "schema": "prjury/forecast/v1",
        "judges": [to_builtins(forecast) for forecast in forecasts],
        "calls": len(total.paid),
        "characters": total.characters,
        "input_tokens": total.input_tokens,
        "usd": total.usd,
    }
    return json.dumps(value, indent=2)


def _add_up(forecasts: Sequence[Forecast]) -> Forecast:
    from prjury.judges.quality.model_seat import Forecast

    calls = (call for one in forecasts if not one.refusal for call in one.calls)
    return Forecast("all", tuple(calls), max((one.rounds for one in forecasts), default=1))


def _list_forecast_rows(forecast: Forecast) -> Iterator[tuple[str, ...]]:
    from prjury.report.sanitise import log_line

    for model, group in groupby(forecast.calls, key=lambda call: call.model):
        part = structs.replace(forecast, calls=tuple(group))
        yield (
            part.judge,
            log_line(model),
            str(len(part.paid)),
            str(len(part.calls) - len(part.paid)),
            f"{part.characters:,}",
            f"{part.input_tokens:,}",
            _format_money(part.usd),
        )


def _lay_out_table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        names = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        figures = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        yield "  ".join([*names, *figures]).rstrip()


def _describe_total(total: Forecast) -> str:
    if not total.paid:
        return "No model would be called"
    from prjury.report.wording import pluralize

    calls, characters = pluralize(len(total.paid), "call"), pluralize(total.characters, "character")
    tokens = pluralize(total.input_tokens, "token")
    repetition = f"; in case of doubt up to {total.rounds} times that" if total.rounds > 1 else ""
    return f"{calls}, {characters}, about {tokens} in, price {_format_money(total.usd)}{repetition}"


def _format_money(usd: float | None) -> str:
    return "not known" if usd is None else f"${usd:.4f}"


@options.expand_option_groups
def backport(  # noqa: PLR0913 - the command line's options, named as documented
    context: typer.Context,
    change: options.ChangeOptions,
    judges: options.JudgeOptions,
    models: options.ModelOptions,
    *,
    onto: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BRANCH",
            help="A branch, ref or commit; repeatable. Default: the policy's branches.",
        ),
    ] = None,
    format: Annotated[TextFormat, typer.Option(help="What goes to standard output.")] = "terminal",
    output: Annotated[
        list[str] | None,
        typer.Option(metavar="FORMAT=FILE", help="terminal, markdown or json; repeatable."),
    ] = None,
    require_suitable: Annotated[
        bool, typer.Option("--require-suitable", help="Exit 1 unless every branch is `suitable`.")
    ] = False,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="LABEL", help="A label of the change; repeatable."),
    ] = None,
) -> int:
    """Judge whether a change can be backported to release branches; nothing is pushed or opened."""
    from prjury.code.parser import ensure_standby

    ensure_standby()  # it loads what parses while this process loads the rest
    from prjury.app.backport import backport as judge

    terminal: Terminal = context.obj
    terminal.prints_for_people = format == "terminal"
    files = parse_outputs(output, get_args(TextFormat))
    request = options.request_of(terminal, change, judges, models, onto=onto, labels=label)
    outcome = judge(request, terminal.make_environment())
    print_and_write(format, files, partial(_render_backports, terminal, outcome))
    return _complain_for_exit_code(terminal, outcome, strict=require_suitable)


def _render_backports(
    terminal: Terminal, backports: Backports, kind: TextFormat, stream: TextIO
) -> str:
    from prjury.publishers.terminal import backport_lines
    from prjury.report.codec import backports_to_json
    from prjury.report.render import Renderer

    if kind == "json":
        value = backports_to_json(backports, terminal.redact)
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    if kind == "markdown":
        return Renderer(terminal.redact).backports(backports)
    return "\n".join(backport_lines(backports, stream, terminal.redact)) + "\n"


def _complain_for_exit_code(terminal: Terminal, backports: Backports, *, strict: bool) -> int:
    if unjudged := backports.unjudged:
        names = ", ".join(backport.branch for backport in unjudged)
        reasons = [backport.reasons[0].rstrip(".") for backport in unjudged if backport.reasons]
        why = "; ".join(reasons)
        end = "" if why.endswith("?") else "."
        words = f"no verdict for {names}: {why}{end} Fix the cause and run it again."
        code = ExitCode.NOT_JUDGED
    elif strict and (unsuitable := backports.unsuitable):
        names = ", ".join(f"{backport.branch} ({backport.verdict})" for backport in unsuitable)
        words = f"--require-suitable: not suitable as it is for {names}. See the reasons."
        code = ExitCode.REJECTED
    else:
        return ExitCode.OPEN
    terminal.complain(words)
    return code
