"""Reads the record of a run again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from prjury.errors import UsageError
from prjury.journal.write import LARGEST_FILE, SCHEMA
from prjury.snapshot.model import visible

#: Events of which only the time matters.
_NO_STEP = frozenset({"start", "asked", "full", "end"})
_WHO = {"judged": "judge", "model": "model", "tool": "name"}


class JournalEvent(Struct, frozen=True):
    """Something that ended ``at`` so many seconds after the run began, and how long it took."""

    at: float
    kind: str
    seconds: float
    facts: Mapping[str, Any]

    @property
    def state(self) -> str | None:
        """The work in a word or two; None for an event that is no step."""
        if self.kind in _NO_STEP:
            return None
        if self.kind == "command":
            program = (self.text("text").split() or ["?"])[0]
            return f"$ {program.rpartition('/')[2]}"
        return self.text(_WHO.get(self.kind, "")) or self.kind

    def text(self, name: str) -> str:
        """Return a fact as one harmless line; empty where there is none."""
        value = self.facts.get(name)
        return "" if value is None else visible(str(value))

    def number(self, name: str) -> float:
        """Return a fact as a number; 0 where there is none."""
        return _to_number(self.facts.get(name))


class JournalFile(Struct, frozen=True):
    """A run's events in the order in which they ended, and how many lines could not be read."""

    events: tuple[JournalEvent, ...]
    unread: int = 0

    @property
    def seconds(self) -> float:
        """The length of the run."""
        return max((event.at for event in self.events), default=0.0)

    @property
    def states(self) -> list[str]:
        """The works, one after the other."""
        return [event.state for event in self.events if event.state]

    def last(self, kind: str) -> JournalEvent | None:
        """Return the last event of a kind."""
        return next((event for event in reversed(self.events) if event.kind == kind), None)


def read_journal(path: Path) -> JournalFile:
    """Read the journal in a file; raise UsageError where it is none."""
    remedy = "Name a file that a run has written"
    try:
        with path.open("rb") as file:
            content = file.read(2 * LARGEST_FILE)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", remedy=remedy) from error
    lines = [_read_line(line) for line in content.split(b"\n") if line.strip()]
    if not lines or lines[0].get("schema") != SCHEMA:
        raise UsageError(f"{path} is no journal of a run", remedy=remedy)
    events = []
    for facts in lines:
        kind, at, ms = facts.pop("event", None), facts.pop("t", None), facts.get("ms")
        if isinstance(kind, str):
            seconds = _to_number(ms) / 1000
            events.append(JournalEvent(_to_number(at), visible(kind), seconds, facts))
    return JournalFile(tuple(events), len(lines) - len(events))


def _read_line(line: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return {}


def _to_number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
