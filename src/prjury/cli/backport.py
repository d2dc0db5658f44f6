"""``prjury backport``: whether a change can be backported to release branches, and how."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from prjury.cli import options
from prjury.cli.output import Terminal, TextFormat, deliver, parse_outputs, print_text
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
    deliver(
        lambda: print_text(_render(terminal, outcome, format), format),
        files,
        lambda each: _render(terminal, outcome, each),
    )
    return _report_exit_code(terminal, outcome, strict=require_suitable)


def _render(terminal: Terminal, found: Backports, kind: TextFormat) -> str:
    from prjury.publishers.terminal import backport_lines
    from prjury.report.codec import backports_to_json
    from prjury.report.render import Renderer

    if kind == "json":
        value = backports_to_json(found, terminal.redact)
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    if kind == "markdown":
        return Renderer(terminal.redact).backports(found)
    return "\n".join(backport_lines(found, sys.stdout, terminal.redact)) + "\n"


def _report_exit_code(terminal: Terminal, found: Backports, *, strict: bool) -> int:
    from prjury.publishers.terminal import printable_line

    if found.unjudged:
        names = ", ".join(one.branch for one in found.unjudged)
        why = "; ".join(r.rstrip(".") for one in found.unjudged for r in one.reasons[:1])
        end = "" if why.endswith("?") else "."
        words = f"no verdict for {names}: {why}{end} Fix the cause and run it again."
        code = ExitCode.NOT_JUDGED
    elif strict and found.unsuitable:
        some = ", ".join(f"{one.branch} ({one.verdict})" for one in found.unsuitable)
        words = f"--require-suitable: not suitable as it is for {some}. See the reasons."
        code = ExitCode.REJECTED
    else:
        return ExitCode.OPEN
    print(printable_line(f"prjury: {words}", sys.stderr, terminal.redact), file=sys.stderr)
    return code
