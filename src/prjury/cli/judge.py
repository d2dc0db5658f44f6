"""``prjury judge`` and ``improve``: judges against a directory, and an agent that works there."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from prjury.agents.command import CommandAgent, RecordedRounds
from prjury.app.registry import find_installed, require_judge_factory
from prjury.app.request import RunEnvironment
from prjury.cli.options import absolute, parse_seconds
from prjury.cli.output import JudgmentFormat, PlainFormat, Terminal, print_out
from prjury.errors import ExitCode, UsageError
from prjury.judges.workspace.catalog import KINDS, make_named_judge
from prjury.judges.workspace.program_judges import make_shell
from prjury.jury.context import JudgmentContext
from prjury.jury.guard import printable
from prjury.jury.judge import Judge
from prjury.jury.judgment import Status
from prjury.jury.jury import Jury
from prjury.jury.library.agent import AgentResult
from prjury.jury.library.improvement import Improvement, ImprovementRound
from prjury.jury.library.improvement import improve as improved
from prjury.jury.verdicts import JuryVerdict
from prjury.jury.voting import NOT_APPLICABLE, Ballot, ConsensusVoting, ErrorPolicy, MajorityVoting
from prjury.ports import Ports
from prjury.publishers.judgment import JudgmentPrinter
from prjury.report.codec import printable_json
from prjury.report.sanitise import redact_text
from prjury.report.wording import pluralize


def _refuse_missing(workspace: Path) -> None:
    if not workspace.is_dir():
        raise UsageError(
            f"--workspace {workspace} is not a directory",
            remedy="Name the directory that holds the work",
        )


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
    ] = "terminal",
) -> int:
    """Ask one judge about a directory, and print its judgment."""
    terminal: Terminal = context.obj
    options = parse_options(option or ())
    _refuse_missing(workspace)
    with redirect_stdout_to_stderr():
        ballot = ask_judge(terminal, name, options, JudgmentContext(goal, workspace=workspace))
    return _print_judgment(terminal, ballot, format)


def parse_options(texts: Sequence[str]) -> dict[str, str]:
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
def redirect_stdout_to_stderr() -> Iterator[None]:
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
    environment = terminal.make_environment()
    progress = environment.progress
    try:
        made = make_judge(terminal, name, options, environment)
        jury = Jury.of(MajorityVoting(), made, name="judge")
        return jury.vote(context, listener=progress).ballots[0]
    finally:
        progress.close()


def make_judge(
    terminal: Terminal, name: str, options: dict[str, str], environment: RunEnvironment
) -> Judge[JudgmentContext]:
    """The judge of a directory that goes by a name, ours or somebody else's."""
    nothing: Any = None  # there is no pull request, and so no repository
    shell = make_shell(terminal.environ)
    progress, journal = environment.progress, environment.journal
    ports = Ports(nothing, shell, progress, redact=terminal.redact, journal=journal)
    others = find_installed()
    if name in KINDS or name not in others:
        return make_named_judge(name, options, ports, terminal.environ, others)
    return cast("Judge[JudgmentContext]", require_judge_factory(name)(options, ports))


def _print_judgment(terminal: Terminal, ballot: Ballot, kind: JudgmentFormat) -> int:
    printer, judgment = JudgmentPrinter(sys.stdout, terminal.redact), ballot.judgment
    if kind == "json":
        print_out("judgment", printer.json(judgment))  # UTF-8 whatever the locale
    elif kind == "feedback":
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


_STOPPED = {
    "passed": "accepted",
    "max_rounds": "no round is left",
    "no_progress": "two rounds in a row got the same feedback",
    "not_judged": "it could not be judged",
}


def improve(  # noqa: PLR0913 - the options of the command
    context: typer.Context,
    *,
    goal: Annotated[str, typer.Option(help="What the agent should achieve.")],
    agent: Annotated[
        str,
        typer.Option(
            "--agent",
            metavar="COMMAND",
            help="One line for the shell. It reads the goal from standard input and works in the "
            "workspace, such as 'claude -p --output-format json'.",
        ),
    ],
    judge: Annotated[
        list[str],
        typer.Option("--judge", metavar="NAME", help="A judge of `prjury judge`; several times."),
    ],
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="[JUDGE.]NAME=VALUE", help="An option of a judge; several times."
        ),
    ] = None,
    workspace: Annotated[
        Path, typer.Option(metavar="DIR", callback=absolute, help="Where the agent works.")
    ] = Path(),
    max_rounds: Annotated[int, typer.Option(min=1, max=99, help="Attempts at most.")] = 3,
    timeout: Annotated[
        float,
        typer.Option(
            metavar="DURATION",
            parser=parse_seconds,
            help="For each attempt of the agent, such as 10m.",
        ),
    ] = 600.0,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="NAME", help="A variable that it gets, such as its key."),
    ] = None,
    home: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The agent's HOME, where its login is; else a fresh one."),
    ] = None,
    format: Annotated[PlainFormat, typer.Option(help="What goes to standard output.")] = "terminal",
) -> int:
    """Let an agent work until the judges accept it, each time with the feedback on the last try."""
    terminal: Terminal = context.obj
    _refuse_missing(workspace)
    options = _assign_options(judge, option or ())
    environment = terminal.make_environment()
    program = _make_agent(terminal, agent, timeout, env or (), home)
    try:
        with redirect_stdout_to_stderr():
            seats = [make_judge(terminal, name, options[name], environment) for name in judge]
            jury = Jury.of(ConsensusVoting(on_error=ErrorPolicy.PROPAGATE), *seats)
            rounds = RecordedRounds(jury, environment.progress, environment.journal)
            done = improved(goal, program, rounds, max_rounds, workspace)
    finally:
        environment.progress.close()
    return _print_outcome(terminal, done, format)


def _assign_options(judges: Sequence[str], texts: Sequence[str]) -> dict[str, dict[str, str]]:
    if len(set(judges)) != len(judges):
        raise UsageError("--judge names the same judge twice", remedy="Leave one of them out")
    options: dict[str, list[str]] = {name: [] for name in judges}
    for text in texts:
        owners = [name for name in judges if text.startswith(f"{name}.")]
        owner = max(owners, key=len, default="")
        if not owner and len(judges) != 1:
            raise UsageError(
                f"--option {text!r} does not say whose it is",
                remedy=f"Put the judge in front, such as --option {judges[0]}.{text}",
            )
        options[owner or judges[0]].append(text.removeprefix(f"{owner}.") if owner else text)
    return {name: parse_options(each) for name, each in options.items()}


def _make_agent(
    terminal: Terminal, command: str, timeout: float, env: Sequence[str], home: Path | None
) -> CommandAgent:
    missing = [name for name in env if not terminal.environ.get(name)]
    if missing:
        raise UsageError(f"--env {missing[0]} is not set", remedy="Set it, or leave it out")
    if home and not home.is_dir():
        raise UsageError(f"--home {home} is not a directory", remedy="Name one that is there")
    try:
        return CommandAgent(
            command,
            timeout,
            env=env,
            home=home.absolute() if home else None,
            environ=terminal.environ,
            shell=make_shell(terminal.environ),
        )
    except ValueError as error:
        raise UsageError(str(error), remedy="Correct --agent or --env") from None


def _print_outcome(terminal: Terminal, done: Improvement, kind: PlainFormat) -> int:
    rounds = [_encode_round(each) for each in done.rounds]
    if kind == "json":
        value = {"status": done.verdict.status, "stopped": done.stopped, "rounds": rounds}
        printable = printable_json(value, terminal.redact)
        print_out("improvement", json.dumps(printable, ensure_ascii=False, indent=2))
    else:
        count = pluralize(len(rounds), "round")
        text = "\n".join([*map(_format_round, rounds), f"{_STOPPED[done.stopped]} after {count}"])
        print_out("improvement", redact_text(text, terminal.redact), sys.stdout.encoding)
    if done.verdict.status is Status.PASS:
        return ExitCode.OPEN
    rejected = done.verdict.status is Status.FAIL
    failed = (done.rounds[-1].result or AgentResult("")).error
    why = done.verdict.aggregated.reasoning + (f"; the agent failed: {failed}" if failed else "")
    words = f"prjury: not accepted: {why}. Correct the work, or --goal and --agent."
    print(redact_text(" ".join(words.split()), terminal.redact), file=sys.stderr)
    return ExitCode.REJECTED if rejected else ExitCode.NOT_JUDGED


def _encode_round(each: ImprovementRound) -> dict[str, Any]:
    result, agent = each.result, None
    if result:
        facts = {"status": result.status, "error": result.error, "output": result.output}
        agent = {**facts, **result.metadata}
    return {
        "number": each.number,
        "status": each.verdict.status,
        "reasoning": each.verdict.aggregated.reasoning,
        "agent": agent,
        "feedback": each.feedback,
    }


def _format_round(reported: dict[str, Any]) -> str:
    agent = reported["agent"] or {}
    facts = [f"{agent['seconds']:g} s"] if "seconds" in agent else []
    facts += [f"${agent['usd']:.2f}"] if "usd" in agent else []
    about = f" ({', '.join(facts)})" if facts else ""
    line = f"round {reported['number']}{about}: {reported['status']}: {reported['reasoning']}"
    if agent.get("error"):
        line += f"\n  the agent failed: {agent['error']}"
    return printable(line)
