"""``prjury build``: the untrusted half of the build judge, whose evidence is judged elsewhere."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prjury.cli import options
from prjury.cli.output import Terminal, close_terminal
from prjury.cli.review import refuse_place
from prjury.errors import CannotJudgeError, ExitCode, PublishError

if TYPE_CHECKING:
    from prjury.judges.builds.stage import BuiltEvidence


@options.expand
def build(
    context: typer.Context,
    change: options.ChangeOptions,
    *,
    output: Annotated[Path, typer.Option(metavar="FILE", help="Where the evidence goes.")] = Path(
        "build-evidence.json"
    ),
) -> int:
    """Merge and build a change, and write the evidence for another job to judge."""
    from prjury.app.stages.build import build as run  # noqa: PLC0415 - keeps `--help` instant
    from prjury.git.open_snapshot import NothingToReview  # noqa: PLC0415 - the same

    terminal: Terminal = context.obj
    refuse_place(output)
    outcome = run(options.request_of(terminal, change), terminal.environment())
    if isinstance(outcome, NothingToReview):
        print(outcome.reason)
        return ExitCode.OPEN
    return _told(terminal, outcome, output)


def _told(terminal: Terminal, outcome: BuiltEvidence, output: Path) -> int:
    """Writes the evidence whatever it says, then prints what it would come to here."""
    from prjury.app.artifact_file import LARGEST  # noqa: PLC0415 - as above
    from prjury.jury.judgment import Status  # noqa: PLC0415 - as above
    from prjury.publishers.files import write_atomically  # noqa: PLC0415 - as above
    from prjury.publishers.judgment import JudgmentPrinter  # noqa: PLC0415 - as above
    from prjury.publishers.terminal import printable_line  # noqa: PLC0415 - as above

    content = json.dumps(outcome.evidence, indent=1, allow_nan=False)
    write_atomically(output, content + "\n")
    ballot = outcome.ballot
    lines = JudgmentPrinter(sys.stdout, terminal.redact).lines(ballot.judge, ballot.judgment)
    _print([*lines, printable_line(f"evidence: {output}", sys.stdout)])
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


def _print(lines: list[str]) -> None:
    """A reader that has seen enough is no reason to end otherwise: the evidence is written.

    Raises:
        PublishError: when the stream cannot be written to.
    """
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        close_terminal()
    except OSError as error:
        close_terminal()
        raise PublishError(
            f"The judgment could not be printed: {error}",
            why="The disk is full, or standard output is closed",
            remedy="Free some space; the evidence itself is written",
        ) from error
