"""Reads the record of a run again, and shows it in 80 columns: what happened, where time went."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
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

    @property
    def start(self) -> float:
        return max(0.0, self.at - self.seconds)

    def text(self, name: str) -> str:
        """Return a fact as one harmless line; empty where there is none."""
        value = self.facts.get(name)
        return "" if value is None else visible(str(value))


class JournalFile(Struct, frozen=True):
    """A run's events in the order in which they ended, and how many lines could not be read."""

    events: tuple[JournalEvent, ...]
    unread: int = 0

    @property
    def seconds(self) -> float:
        return max((event.at for event in self.events), default=0.0)

    @property
    def states(self) -> list[str]:
        return [event.state for event in self.events if event.state]


def read_journal(path: Path) -> JournalFile:
    """Read the journal in a file; raise UsageError where it is none."""
    remedy = "Name a file that a run has written"
    try:
        with path.open("rb") as file:
            lines = file.read(2 * LARGEST_FILE).splitlines()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", remedy=remedy) from error
    entries = [_read_line(line) for line in lines if line.strip()]
    if not entries or entries[0].get("schema") != SCHEMA:
        raise UsageError(f"{path} is no journal of a run", remedy=remedy)
    events = []
    for facts in entries:
        kind, at, ms = facts.get("event"), _to_number(facts.get("t")), _to_number(facts.get("ms"))
        if isinstance(kind, str):
            events.append(JournalEvent(at, visible(kind), ms / 1000, facts))
    return JournalFile(tuple(events), len(entries) - len(events))


def _read_line(line: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return {}


def _to_number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


WIDTH = 80
#: Rows of the timeline; what is between the first and the last of them is counted.
_MOST_ROWS = 200
_MOST_HOTSPOTS, _MOST_TRANSITIONS, _MOST_LOOPS = 5, 10, 5


def list_journal(journal: JournalFile) -> Iterator[str]:
    """Iterate over all lines: head, timeline, hotspots, transitions and loops."""
    for section in (_list_head, _list_timeline, _list_hotspots, _list_repetitions, _list_gaps):
        for line in section(journal):
            yield line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def _list_head(journal: JournalFile) -> Iterator[str]:
    last = {event.kind: event for event in journal.events}
    if start := last.get("start"):
        when = start.text("at")[:19].replace("T", " ")
        yield f"prjury {start.text('command')} {start.text('version')}, {when} UTC"
    how = f"exit {last['end'].text('exit')}" if "end" in last else "it did not end, or runs still"
    yield f"{journal.seconds:,.2f} s, {how}"
    if verdict := last.get("verdict"):
        yield verdict.text("headline")
        names = ("usd", "llm_calls", "input_tokens", "output_tokens")
        usd, calls, put, got = (_to_number(verdict.facts.get(name)) for name in names)
        price = "price unknown" if verdict.facts.get("usd") is None else f"${usd:.4f}"
        yield f"{calls:.0f} calls of models, {put:,.0f} + {got:,.0f} tokens, {price}"
    yield ""


def _list_timeline(journal: JournalFile) -> Iterator[str]:
    yield f"{'at':>8} {'took':>8}  what"
    steps = sorted((it for it in journal.events if it.state), key=lambda event: event.start)
    half, more = _MOST_ROWS // 2, len(steps) - _MOST_ROWS
    for index, event in enumerate(steps):
        if more > 0 and index == half:
            yield f"{'':>18} … {more} more …"
        if not half <= index < half + more:
            took = f"{event.seconds:,.2f}" if event.seconds else ""
            yield f"{event.start:>8,.2f} {took:>8}  {_describe_event(event)}"


#: What is said of an event, by its kind; a part of which a fact is empty is left out.
_PARTS: Mapping[str, tuple[str, ...]] = {
    "judged": ("{tier} / ", "{judge}: {status}", " {label}", " ({turns} turns)"),
    "command": ("  $ {text}",),
    "model": ("  {model}:", " {input_tokens}+{output_tokens} tokens", " {reason}"),
    "tool": ("  tool {name}", " {target}", ": {outcome}"),
    "change": ("read the change, {files} files",),
    "verdict": ("verdict: {status}, gate {gate}",),
}
_OTHER_PARTS = ("{kind}", " {number}", " {name}", " {status}")


def _describe_event(event: JournalEvent) -> str:
    texts = defaultdict(str, {name: event.text(name) for name in event.facts}, kind=event.kind)
    if texts["reason"] and {texts["input_tokens"], texts["output_tokens"]} == {"0"}:
        texts["input_tokens"] = ""  # a call that failed, and cost nothing
    parts = _PARTS.get(event.kind, _OTHER_PARTS)
    full = (part for part in parts if all(texts[name] for name in re.findall(r"{(\w+)}", part)))
    return "".join(part.format_map(texts) for part in full)


def _list_hotspots(journal: JournalFile) -> Iterator[str]:
    """The steps that took longest in all; those that ran side by side add up to more than 100 %."""
    spent, times = defaultdict[str, float](float), Counter(journal.states)
    for event in journal.events:
        if event.state and event.seconds:
            spent[event.state] += event.seconds
    if spent and journal.seconds:
        yield from ("", "hotspots")
        for name in sorted(spent, key=lambda name: -spent[name])[:_MOST_HOTSPOTS]:
            share = spent[name] / journal.seconds
            yield f"{share:>7.0%} {spent[name]:>10,.2f} {times[name]:>5} × {name}"


def _list_repetitions(journal: JournalFile) -> Iterator[str]:
    transitions = Transitions.of(journal.states).counts.most_common(_MOST_TRANSITIONS)
    loops = find_loops_with_counts(journal.states)[:_MOST_LOOPS]
    for title, repetitions in (("transitions", transitions), ("loops", loops)):
        if repetitions:
            yield from ("", title, *(f"{n:>7} × {' → '.join(it)}" for it, n in repetitions))


def _list_gaps(journal: JournalFile) -> Iterator[str]:
    if journal.unread:
        yield from ("", f"{journal.unread} lines could not be read.")
    if any(event.kind == "full" for event in journal.events):
        yield "The journal was full before the run ended."


#: Steps of a loop at most.
_LONGEST_LOOP = 4


class Transitions(Struct, frozen=True):
    """How often one state follows another."""

    counts: Counter[tuple[str, str]]

    @classmethod
    def of(cls, sequence: Sequence[str]) -> Transitions:
        return cls(Counter(pairwise(sequence)))


def find_loops_with_counts(sequence: Sequence[str]) -> list[tuple[tuple[str, ...], int]]:
    """Return steps that are repeated in the same order without a break, and how often."""
    loops = Counter[tuple[str, ...]]()
    start = 0
    while start < len(sequence):
        longest, most = tuple(sequence[start : start + 1]), 1
        for length in range(1, _LONGEST_LOOP + 1):
            unit, end = sequence[start : start + length], start + length
            while sequence[end : end + length] == unit:
                end += length
            rounds = (end - start) // length
            if rounds > 1 and end - start > len(longest) * most:
                longest, most = tuple(unit), rounds
        if most > 1:
            loops[longest] = max(most, loops[longest])
        start += len(longest) * most
    return sorted(loops.items(), key=lambda item: -len(item[0]) * item[1])
