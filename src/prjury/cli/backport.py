"""``prjury backport``: whether a change can be backported to release branches, and how."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Annotated, TextIO, get_args

import typer

from prjury.cli import options
from prjury.cli.output import Terminal, TextFormat, deliver, parse_outputs
from prjury.errors import ExitCode

if TYPE_CHECKING:
    from prjury.report.backports import Backports


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
    from prjury.code.parser import begin_standby

    begin_standby()  # it loads what parses while this process loads the rest
    from prjury.app.backport import backport as judge

    terminal: Terminal = context.obj
    terminal.prints_for_people = format == "terminal"
    files = parse_outputs(output, get_args(TextFormat))
    request = options.request_of(terminal, change, judges, models, onto=onto, labels=label)
    outcome = judge(request, terminal.make_environment())
    deliver(format, files, partial(_render, terminal, outcome))
    return _report_exit_code(terminal, outcome, strict=require_suitable)


def _render(terminal: Terminal, backports: Backports, kind: TextFormat, stream: TextIO) -> str:
    from prjury.publishers.terminal import backport_lines
    from prjury.report.codec import backports_to_json
    from prjury.report.render import Renderer

    if kind == "json":
        value = backports_to_json(backports, terminal.redact)
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    if kind == "markdown":
        return Renderer(terminal.redact).backports(backports)
    return "\n".join(backport_lines(backports, stream, terminal.redact)) + "\n"


def _report_exit_code(terminal: Terminal, backports: Backports, *, strict: bool) -> int:
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
