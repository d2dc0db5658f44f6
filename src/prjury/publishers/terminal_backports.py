"""The backport judgement in a terminal: one line for each branch, then why, then what to type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from prjury.publishers.terminal import printable_line
from prjury.report.backports import Backports, line_of
from prjury.report.model import Backport
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE
from prjury.snapshot.model import printable

_MOST_CONFLICTS = 20


def backport_lines(told: Backports, stream: TextIO, redact: Redact = BY_SHAPE) -> Iterator[str]:
    """The lines to print, as the stream can show them; nothing in them controls it."""
    for line in _lines(told):
        words = line.lstrip()
        indent = line[: len(line) - len(words)]
        yield indent + printable_line(words, stream, redact) if words else ""


def _lines(told: Backports) -> Iterator[str]:
    yield told.headline
    yield from (f"Note: {note}" for note in told.notes)
    for backport in told.backports:
        yield ""
        yield from _branch(backport)


def _branch(backport: Backport) -> Iterator[str]:
    yield line_of(backport)
    yield from (f"   {reason}" for reason in backport.reasons)
    for conflict in backport.conflicts[:_MOST_CONFLICTS]:
        yield f"   conflict in {printable(conflict.path)}: {conflict.reason}"
    if len(backport.conflicts) > _MOST_CONFLICTS:
        yield f"   … and {len(backport.conflicts) - _MOST_CONFLICTS} more conflicts"
    yield from (f"   needs first: {commit}" for commit in backport.prerequisites)
    yield from (f"   $ {command}" for command in backport.commands)
