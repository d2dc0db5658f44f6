"""``prjury journal show``: the record of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prjury.cli.help import make_group
from prjury.cli.output import Terminal, print_out
from prjury.errors import UsageError

journal = make_group(
    "journal", "The record of a run, which every run writes below $XDG_STATE_HOME/prjury."
)


@journal.command("show")
def show_journal(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A journal; by default the newest.")
    ] = None,
) -> None:
    """Show a run as a timeline: hotspots, which step follows which, and loops."""
    from prjury.journal.read import read_journal
    from prjury.journal.timeline import list_journal

    terminal: Terminal = context.obj
    entries = read_journal(file or _find_newest(terminal))
    print_out("journal", terminal.redact("\n".join(list_journal(entries))))


def _find_newest(terminal: Terminal) -> Path:
    from prjury.journal.write import journal_directory, journal_files

    place = journal_directory(terminal.environ)
    files = journal_files(place) if place else []
    if not files:
        raise UsageError(
            f"there is no journal in {place or 'the state directory'}",
            why="No run has written one",
            remedy="Run prjury review first, or name a file",
        )
    return files[-1]
