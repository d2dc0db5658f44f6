"""``prjury build``: merge and build a change, and leave evidence for another job to judge."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prjury.cli import options
from prjury.cli.output import PlainFormat, Terminal, print_out, refuse_place
from prjury.errors import CannotJudgeError, ExitCode, SourceError, UsageError

if TYPE_CHECKING:
    from prjury.judges.builds.plan import DetectedBuilds
    from prjury.judges.builds.stage import BuiltEvidence


@options.expand
def build(
    context: typer.Context,
    change: options.ChangeOptions,
    *,
    output: Annotated[Path, typer.Option(metavar="FILE", help="Where the evidence goes.")] = Path(
        "build-evidence.json"
    ),
    plan: Annotated[
        bool, typer.Option("--plan", help="Show what would run, and why; run nothing.")
    ] = False,
    format: Annotated[
        PlainFormat, typer.Option(help="How the plan is printed.")
    ] = PlainFormat.TERMINAL,
) -> int:
    """Merge and build a change, and write the evidence for another job to judge."""
    from prjury.app.builds import build as run
    from prjury.git.open_snapshot import NothingToReview

    terminal: Terminal = context.obj
    if plan:
        return _print_plan(terminal, change, format)
    if format is not PlainFormat.TERMINAL:
        raise UsageError("--format is for --plan", remedy="The evidence is JSON; see --output")
    refuse_place(output)
    outcome = run(options.request_of(terminal, change), terminal.environment())
    if isinstance(outcome, NothingToReview):
        print(outcome.reason)
        return ExitCode.OPEN
    return hand_over(terminal, outcome, output)


def hand_over(terminal: Terminal, outcome: BuiltEvidence, output: Path) -> int:
    """Writes the evidence whatever it says, then prints what it would come to here."""
    from prjury.app.artifact_file import LARGEST
    from prjury.jury.judgment import Status
    from prjury.publishers.files import write_atomically
    from prjury.publishers.judgment import JudgmentPrinter
    from prjury.publishers.terminal import printable_line

    content = json.dumps(outcome.evidence, indent=1, allow_nan=False)
    write_atomically(output, content + "\n")
    printer, ballot = JudgmentPrinter(sys.stdout, terminal.redact), outcome.ballot
    lines = [line for one in outcome.ballots for line in printer.lines(one.judge, one.judgment)]
    shown = [*lines, printable_line(f"evidence: {output}", sys.stdout)]
    print_out("judgment", "\n".join(shown), sys.stdout.encoding)
    if len(content) >= LARGEST:
        raise CannotJudgeError(
            f"the evidence is larger than {LARGEST // 1024**2} MiB and will be refused",
            why="the build has millions of tests, or its commands print without end",
            remedy="build less at a time, with `build: {systems: […]}`",
            reason="too_large",
        )
    complaint = JudgmentPrinter(sys.stderr, terminal.redact).complaint(
        ballot.judge, ballot.judgment
    )
    if complaint:
        print(complaint, file=sys.stderr)
    codes = {Status.FAIL: ExitCode.REJECTED, Status.ERROR: ExitCode.NOT_JUDGED}
    return codes.get(ballot.judgment.status, ExitCode.OPEN)


def _print_plan(terminal: Terminal, change: options.ChangeOptions, kind: PlainFormat) -> int:
    """Print the plan of a change, or of the directory where none is named and none is there."""
    from prjury.judges.builds.plan import plan_document, plan_lines
    from prjury.publishers.terminal import printable_line
    from prjury.report.codec import printable_json

    planned = _find_plan(terminal, change)
    if kind is PlainFormat.JSON:
        document = printable_json(plan_document(planned), terminal.redact)
        print_out("plan", json.dumps(document, indent=2))
    else:
        for line in plan_lines(planned):
            print(printable_line(line, sys.stdout, terminal.redact))
    complete = bool(planned.plans) and not any(plan.missing for plan in planned.plans)
    if not complete:
        print(f"prjury: {_word_refusal(planned)}", file=sys.stderr)
    return ExitCode.OPEN if complete else ExitCode.NOT_JUDGED


def _word_refusal(found: DetectedBuilds) -> str:
    lacks = next((plan.missing for plan in found.plans if plan.missing), "")
    if lacks:
        return f"the build could not run here: {lacks}. Install it, or build where it is."
    return (
        "no build is known here. Nothing that builds was found at the top or below it. "
        "Name the command with `build: {command: …}` in the policy."
    )


def _find_plan(terminal: Terminal, change: options.ChangeOptions) -> DetectedBuilds:
    from prjury.app.builds import plan_change, plan_directory
    from prjury.git.open_snapshot import NothingToReview

    environment = terminal.environment()
    stated = change.target or change.base or change.head
    try:
        planned = plan_change(options.request_of(terminal, change), environment)
    except SourceError:
        if stated or not change.repo.is_dir():
            raise
        return plan_directory(change.repo, environment, change.config)
    finally:
        environment.progress.close()
    if not isinstance(planned, NothingToReview):
        return planned
    return plan_directory(change.repo, environment, change.config)
