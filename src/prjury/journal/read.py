"""Reads the record of a run again."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prjury.errors import UsageError
from prjury.journal.write import LARGEST_FILE, SCHEMA, record_tools
from prjury.ports import Recorder
from prjury.snapshot.model import visible

if TYPE_CHECKING:
    from prjury.jury.context import JudgmentContext
    from prjury.jury.guard import Listener
    from prjury.jury.jury import Jury, JuryVerdict


@dataclass
class RecordedRounds:
    """A jury on an agent's attempts, each of which is kept as a round.

    Attributes:
        listener: hears of the judges.
        number: of the last round.
    """

    jury: Jury[JudgmentContext]
    listener: Listener
    recorder: Recorder
    number: int = 0

    def vote(self, context: JudgmentContext, /) -> JuryVerdict:
        """The jury's verdict on one attempt."""
        from prjury.report.judge_facts import AgentFacts  # noqa: PLC0415 - pydantic is slow

        started = time.monotonic()
        self.number += 1
        record_tools(self.recorder, AgentFacts.of_result(context.metadata))
        verdict = self.jury.vote(context, listener=self.listener)
        worked = context.execution_time.total_seconds() if context.execution_time else 0.0
        self.recorder.record(
            "round",
            number=self.number,
            status=verdict.status.value,
            agent=context.execution_status.value,
            agent_ms=round(worked * 1000),
            ms=round((worked + time.monotonic() - started) * 1000),
        )
        return verdict


#: Events of which only the time matters.
_NO_STEP = frozenset({"start", "asked", "full", "end"})
_WHO = {"judged": "judge", "model": "model", "tool": "name"}


@dataclass(frozen=True)
class JournalEvent:
    """Something that happened.

    Attributes:
        at: seconds since the run began, at its end.
        seconds: how long it took; 0 where that is not known.
    """

    at: float
    kind: str
    seconds: float
    facts: Mapping[str, Any]

    @property
    def began(self) -> float:
        """Seconds since the run began, at its start."""
        return max(0.0, self.at - self.seconds)

    @property
    def state(self) -> str | None:
        """Return what was at work, in a word or two; None for an event that is no step."""
        if self.kind in _NO_STEP:
            return None
        if self.kind == "command":
            program = (self.text("text").split() or ["?"])[0]
            return f"$ {program.rpartition('/')[2]}"
        return self.text(_WHO[self.kind]) or self.kind if self.kind in _WHO else self.kind

    def text(self, name: str) -> str:
        """A fact as one harmless line; empty where there is none."""
        value = self.facts.get(name)
        return "" if value is None else visible(str(value))

    def number(self, name: str) -> float:
        """A fact as a number; 0 where there is none."""
        value = self.facts.get(name)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0


@dataclass(frozen=True)
class JournalFile:
    """A run's events in the order in which they ended.

    Attributes:
        unread: how many lines could not be read.
    """

    events: tuple[JournalEvent, ...]
    unread: int = 0

    @property
    def seconds(self) -> float:
        """Return how long the run took."""
        return max((event.at for event in self.events), default=0.0)

    @property
    def states(self) -> list[str]:
        """Return what was at work, one after the other."""
        return [event.state for event in self.events if event.state]

    def last(self, kind: str) -> JournalEvent | None:
        """The last event of a kind."""
        return next((event for event in reversed(self.events) if event.kind == kind), None)


def read_journal(path: Path) -> JournalFile:
    """The journal in a file; lines that are damaged are counted.

    Raises:
        UsageError: for a file that cannot be read, or is no journal.
    """
    try:
        with path.open("rb") as file:
            content = file.read(2 * LARGEST_FILE)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", remedy="Name a file that a run has written"
        ) from error
    lines = [line for line in content.split(b"\n") if line.strip()]
    values = [_object(line) for line in lines]
    if not values or values[0].get("schema") != SCHEMA:
        raise UsageError(
            f"{path} is no journal of a run", remedy="Name a file that a run has written"
        )
    events = tuple(_event(value) for value in values if isinstance(value.get("event"), str))
    return JournalFile(events, len(values) - len(events))


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _event(value: dict[str, Any]) -> JournalEvent:
    facts = {key: item for key, item in value.items() if key not in {"t", "event"}}
    event = JournalEvent(0.0, visible(str(value["event"])), 0.0, {**facts, "t": value.get("t")})
    return JournalEvent(event.number("t"), event.kind, event.number("ms") / 1000, facts)
