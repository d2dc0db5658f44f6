"""``prjury demo``: the main job on the embedded sample."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from prjury.app.request import ReviewRequest
from prjury.app.review import run
from prjury.cli.options import absolute
from prjury.cli.output import Terminal
from prjury.demo.repository import PULLS, SamplePull, make_repository
from prjury.errors import CannotJudgeError, ExitCode, UsageError
from prjury.git.open_snapshot import SnapshotRequest
from prjury.publishers.terminal import printable_line
from prjury.report.backports import backport_line
from prjury.scratch import scratch


def demo(
    context: typer.Context,
    keep: Annotated[
        Path | None,
        typer.Option(
            callback=absolute,
            help="Keep the repository and the five reports in this new directory.",
        ),
    ] = None,
) -> int:
    """Judge five pull requests of an embedded sample repository: offline, without a key."""
    terminal: Terminal = context.obj
    started = time.monotonic()
    with ExitStack() as stack:
        place = keep or stack.enter_context(scratch("prjury-demo-"))
        repository = _make_or_require_empty_directory(place) / "shelf.git"
        make_repository(repository)
        print("Five pull requests of a small repository, merged, built and judged for real:\n")
        wrong = [pull for pull in PULLS if not _judge_and_compare(pull, repository, terminal, keep)]
    print(f"\n{time.monotonic() - started:.1f} s, no network, no token, no key.", end=" ")
    print(f"Reports are in {keep}." if keep else "See the reports: prjury demo --keep DIR")
    print("In your own repository, on a branch: prjury review")
    if wrong:
        numbers = ", ".join(f"#{pull.number}" for pull in wrong)
        raise CannotJudgeError(
            f"the verdict on {numbers} is not the expected one",
            why="python3 or git is missing on the PATH, or this installation is damaged",
            remedy="Run: prjury demo --keep DIR, and read the reports there",
        )
    return ExitCode.OPEN


def _make_or_require_empty_directory(place: Path) -> Path:
    try:
        place.mkdir(parents=True, exist_ok=True)
        occupied = any(place.iterdir())
    except OSError as error:
        raise UsageError(
            f"--keep {place} cannot be used: {error.strerror}", remedy="Name a new directory"
        ) from error
    if occupied:
        raise UsageError(f"--keep {place} is not empty", remedy="Name a new directory")
    return place


def _judge_and_compare(pull: SamplePull, repo: Path, terminal: Terminal, keep: Path | None) -> bool:
    request = ReviewRequest(SnapshotRequest(repo, pull.number), offline=True)
    report = run(request, terminal.make_environment())
    print(f"#{pull.number} {pull.title}: {pull.shows}")
    print(f"   {printable_line(report.headline, sys.stdout)}")
    for backport in report.backports:
        if report.gate.exit_code is ExitCode.OPEN:
            print(f"   backport: {printable_line(backport_line(backport), sys.stdout)}")
    sys.stdout.flush()
    if keep:
        for kind in ("html", "json", "markdown"):
            name = f"report-{pull.number}.{kind.replace('markdown', 'md')}"
            (keep / name).write_text(terminal.render(report, kind), "utf-8")
    return report.verdict.status is pull.expected
