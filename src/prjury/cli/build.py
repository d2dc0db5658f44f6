"""``prjury build`` and ``evidence``: evidence of a build, here or elsewhere, for another job."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from msgspec import structs
from typer.core import TyperCommand

from prjury.app.builds import JunitPlaces, make_junit_evidence, plan_change, plan_directory
from prjury.app.builds import build as run
from prjury.app.request import LARGEST
from prjury.cli import options
from prjury.cli.options import make_group
from prjury.cli.output import PlainFormat, Terminal, print_out, refuse_place
from prjury.errors import CannotJudgeError, ExitCode, SourceError, UsageError
from prjury.git.open_snapshot import NothingToReview
from prjury.judges.builds.plan import DetectedBuilds, list_plan_lines, make_plan_document
from prjury.judges.builds.stage import BuiltEvidence
from prjury.jury.judgment import Status
from prjury.publishers.files import write_atomically
from prjury.publishers.judgment import JudgmentPrinter
from prjury.publishers.terminal import printable_line
from prjury.report.codec import printable_json


@options.expand_option_groups
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
    format: Annotated[PlainFormat, typer.Option(help="How the plan is printed.")] = "terminal",
) -> int:
    """Merge and build a change, and write the evidence for another job to judge."""
    terminal: Terminal = context.obj
    if plan:
        return _print_plan(terminal, change, format)
    if format != "terminal":
        raise UsageError("--format is for --plan", remedy="The evidence is JSON; see --output")
    refuse_place(output)
    outcome = run(options.request_of(terminal, change), terminal.make_environment())
    return write_and_print_evidence(terminal, outcome, output)


def write_and_print_evidence(terminal: Terminal, outcome: BuiltEvidence, output: Path) -> int:
    """Writes the evidence whatever it says, then prints what it would come to here."""
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
    planned = _plan_change_or_directory(terminal, change)
    if kind == "json":
        document = printable_json(make_plan_document(planned), terminal.redact)
        print_out("plan", json.dumps(document, indent=2))
    else:
        terminal.print_lines(list_plan_lines(planned))
    lacks = next((plan.missing for plan in planned.plans if plan.missing), "")
    if planned.plans and not lacks:
        return ExitCode.OPEN
    terminal.complain(
        f"the build could not run here: {lacks}. Install it, or build where it is."
        if lacks
        else "no build is known here. Nothing that builds was found at the top or below it. "
        "Name the command with `build: {command: …}` in the policy."
    )
    return ExitCode.NOT_JUDGED


def _plan_change_or_directory(terminal: Terminal, change: options.ChangeOptions) -> DetectedBuilds:
    environment = terminal.make_environment()
    stated = change.target or change.base or change.head
    try:
        return plan_change(options.request_of(terminal, change), environment)
    except (SourceError, NothingToReview) as error:
        if isinstance(error, SourceError) and (stated or not change.repo.is_dir()):
            raise
        return plan_directory(change.repo, environment, change.config)
    finally:
        environment.progress.close()


evidence = make_group(
    "evidence", "Evidence of what was built and tested elsewhere, for `build: {from: evidence}`."
)
_BASE = "--base-junit"


class _SeveralFiles(TyperCommand):
    """Lets several files follow one option, as a shell writes them out for a pattern."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override] # typer's own is click's
        """Repeat the option before each of its files; the next option ends them."""
        parsed, of_base = list[str](), False
        for word in args:
            if word.startswith("-") and word != "-":
                of_base = word == _BASE
                parsed += [] if of_base else [word]
            else:
                parsed += [_BASE, word] if of_base else [word]
        return super().parse_args(ctx, parsed)


@evidence.command("from-junit", cls=_SeveralFiles)
@options.expand_option_groups
def from_junit(
    context: typer.Context,
    *,
    pull: Annotated[
        str | None, typer.Option(metavar="TARGET", help="A pull request's number or URL.")
    ] = None,
    sides: options.SideOptions,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="The head's reports, or directories of them."),
    ],
    base_junit: Annotated[
        list[Path] | None,
        typer.Option(_BASE, metavar="FILE...", help="The base's; they tell old failures from new."),
    ] = None,
    result: Annotated[
        Literal["success", "failure", "cancelled", "skipped"] | None,
        typer.Option(help="How the job ended that made the head's reports."),
    ] = None,
    output: Annotated[Path, typer.Option(metavar="FILE", help="Where the evidence goes.")] = Path(
        "build-evidence.json"
    ),
) -> int:
    """Turn JUnit reports of any CI into evidence; nothing is run."""
    terminal: Terminal = context.obj
    refuse_place(output)
    change = options.ChangeOptions(**structs.asdict(sides), target=pull)
    outcome = make_junit_evidence(
        options.request_of(terminal, change),
        terminal.make_environment(),
        JunitPlaces(files, base_junit or (), result or ""),
    )
    return write_and_print_evidence(terminal, outcome, output)
