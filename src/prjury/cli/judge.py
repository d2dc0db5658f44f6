"""``prjury judge``: one judge against a directory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from prjury.cli.options import absolute
from prjury.cli.output import JudgmentFormat, Terminal, print_out
from prjury.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from prjury.app.request import RunEnvironment
    from prjury.jury.context import JudgmentContext
    from prjury.jury.judge import Judge
    from prjury.jury.voting import Ballot


def judge(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="file-exists, file-content, command, build, coverage, semantic, superset-diff, "
            "class-version, patterns; those that ask a model: "
            "quality, tests-exercise-behaviour, correctness, faithfulness, hallucination, "
            "contextual-relevance; or one of an installed package, by its name."
        ),
    ],
    *,
    workspace: Annotated[
        Path, typer.Option(metavar="DIR", callback=absolute, help="The directory to judge.")
    ] = Path(),
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the judge; several times."),
    ] = None,
    goal: Annotated[str, typer.Option(help="What the work should achieve.")] = "",
    format: Annotated[
        JudgmentFormat, typer.Option(help="What goes to standard output.")
    ] = JudgmentFormat.TERMINAL,
) -> int:
    """Ask one judge about a directory, and print its judgment."""
    from prjury.jury.context import JudgmentContext

    terminal: Terminal = context.obj
    options = parse_options(option or ())
    if not workspace.is_dir():
        raise UsageError(
            f"--workspace {workspace} is not a directory",
            remedy="Name the directory that holds the work",
        )
    with divert_output():
        ballot = ask_judge(terminal, name, options, JudgmentContext(goal, workspace=workspace))
    return _print_judgment(terminal, ballot, format)


def parse_options(texts: Sequence[str]) -> dict[str, str]:
    """``NAME=VALUE`` of each option."""
    options: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(
                f"--option {text!r} is not NAME=VALUE", remedy="For example --option path=README.md"
            )
        if name in options:
            raise UsageError(f"--option {name} is given twice", remedy="Leave one of them out")
        options[name] = value
    return options


@contextmanager
def divert_output() -> Iterator[None]:
    """Send what a judge, or a program that it runs, prints meanwhile to standard error."""
    sys.stdout.flush()
    output, errors = sys.stdout.fileno(), sys.stderr.fileno()
    duplicate = os.dup(output)
    os.dup2(errors, output)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(duplicate, output)
        os.close(duplicate)


def ask_judge(
    terminal: Terminal, name: str, options: dict[str, str], context: JudgmentContext
) -> Ballot:
    """The judge's ballot. It is asked in a thread of its own, so that Ctrl-C ends it at once."""
    from prjury.jury.jury import Jury
    from prjury.jury.voting import MajorityVoting

    environment = terminal.environment()
    progress = environment.progress
    try:
        made = named_judge(terminal, name, options, environment)
        jury = Jury.of(MajorityVoting(), made, name="judge")
        return jury.vote(context, listener=progress).ballots[0]
    finally:
        progress.close()


def named_judge(
    terminal: Terminal, name: str, options: dict[str, str], environment: RunEnvironment
) -> Judge[JudgmentContext]:
    """The judge of a directory that goes by a name, ours or somebody else's."""
    from prjury.app.registry import find_installed, judge_factory
    from prjury.judges.workspace.catalog import KINDS, judge_by_name
    from prjury.judges.workspace.program_judges import make_shell
    from prjury.ports import Ports

    nothing: Any = None  # there is no pull request, and so no repository
    shell = make_shell(terminal.environ)
    progress, journal = environment.progress, environment.journal
    ports = Ports(nothing, shell, progress, redact=terminal.redact, journal=journal)
    others = find_installed()
    if name in KINDS or name not in others:
        return judge_by_name(name, options, ports, terminal.environ, others)
    return cast("Judge[JudgmentContext]", judge_factory(name)(options, ports))


def _print_judgment(terminal: Terminal, ballot: Ballot, kind: JudgmentFormat) -> int:
    from prjury.jury.judgment import Status
    from prjury.jury.verdicts import JuryVerdict
    from prjury.jury.voting import NOT_APPLICABLE
    from prjury.publishers.judgment import JudgmentPrinter
    from prjury.report.sanitise import redact_text

    printer, judgment = JudgmentPrinter(sys.stdout, terminal.redact), ballot.judgment
    if kind is JudgmentFormat.JSON:
        print_out("judgment", printer.json(judgment))  # UTF-8 whatever the locale
    elif kind is JudgmentFormat.FEEDBACK:
        text = JuryVerdict(judgment, (ballot,)).feedback()
        print_out("feedback", redact_text(text, terminal.redact), sys.stdout.encoding)
    else:
        print_out("judgment", "\n".join(printer.lines(ballot.judge, judgment)), sys.stdout.encoding)
    complaint = JudgmentPrinter(sys.stderr, terminal.redact).complaint(ballot.judge, judgment)
    if complaint:
        print(complaint, file=sys.stderr)
    if judgment.status is Status.FAIL:
        return ExitCode.REJECTED
    answered = judgment.status is Status.PASS or judgment.label == NOT_APPLICABLE
    return ExitCode.OPEN if answered else ExitCode.NOT_JUDGED
