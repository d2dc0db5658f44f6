"""``prjury evidence``: what other programs have left behind, in the form that judges read."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct
from typer.core import TyperCommand

from prjury.cli import options
from prjury.cli.build import hand_over
from prjury.cli.help import make_group
from prjury.cli.output import Terminal, refuse_place
from prjury.errors import ExitCode

evidence = make_group(
    "evidence", "Evidence of what was built and tested elsewhere, for `build: {from: evidence}`."
)


class CiResult(StrEnum):
    """How a job of another CI ended; the words are those of GitHub's `needs.JOB.result`."""

    SUCCESS = "success"
    FAILURE = "failure"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


class ReportedChange(Struct, frozen=True):
    """Which change the reports are of, and by which policy it is looked at."""

    pull: Annotated[
        str | None, typer.Option(metavar="TARGET", help="A pull request's number or URL.")
    ] = None
    repo: options.Repo = Path()
    base: options.Base = None
    head: options.Head = None
    config: options.Config = None
    offline: options.Offline = False


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
@options.expand
def from_junit(
    context: typer.Context,
    change: ReportedChange,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="The head's reports, or directories of them."),
    ],
    *,
    base_junit: Annotated[
        list[Path] | None,
        typer.Option(_BASE, metavar="FILE...", help="The base's; they tell old failures from new."),
    ] = None,
    result: Annotated[
        CiResult | None, typer.Option(help="How the job ended that made the head's reports.")
    ] = None,
    output: Annotated[Path, typer.Option(metavar="FILE", help="Where the evidence goes.")] = Path(
        "build-evidence.json"
    ),
) -> int:
    """Turn JUnit reports of any CI into evidence; nothing is run."""
    from prjury.app.builds import JunitPlaces, junit_evidence
    from prjury.git.open_snapshot import NothingToReview

    terminal: Terminal = context.obj
    refuse_place(output)
    options_of_change = options.ChangeOptions(
        change.pull, change.repo, change.base, change.head, change.config, change.offline
    )
    outcome = junit_evidence(
        options.request_of(terminal, options_of_change),
        terminal.environment(),
        JunitPlaces(files, base_junit or (), result or ""),
    )
    if isinstance(outcome, NothingToReview):
        print(outcome.reason)
        return ExitCode.OPEN
    return hand_over(terminal, outcome, output)
