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


WIDTH = 80
#: Rows of the timeline; what is between the first and the last of them is counted.
_MOST_ROWS = 200
_MOST_HOTSPOTS, _MOST_LOOPS = 5, 5


def list_journal(journal: JournalFile) -> Iterator[str]:
    """Iterate over all lines: head, timeline, hotspots, transitions and loops."""
    last = {event.kind: event for event in journal.events}
    if start := last.get("start"):
        when = start.text("at")[:19].replace("T", " ")
        yield _fit(f"prjury {start.text('command')} {start.text('version')}, {when} UTC", WIDTH)
    how = f"exit {last['end'].text('exit')}" if "end" in last else "it did not end, or runs still"
    yield f"{journal.seconds:,.2f} s, {how}"
    if verdict := last.get("verdict"):
        yield _fit(verdict.text("headline"), WIDTH)
        names = ("usd", "llm_calls", "input_tokens", "output_tokens")
        usd, calls, put, got = (_to_number(verdict.facts.get(name)) for name in names)
        price = "price unknown" if verdict.facts.get("usd") is None else f"${usd:.4f}"
        yield f"{calls:.0f} calls of models, {put:,.0f} + {got:,.0f} tokens, {price}"
    yield ""
    yield from _list_timeline(journal)
    yield from _list_hotspots(journal)
    states = journal.states
    if len(states) > 1:
        yield from ("", "transitions, from row to column", *Transitions.of(states).lines())
        loops = find_loops(states)[:_MOST_LOOPS]
        yield from ("", "loops") if loops else ()
        for unit, rounds in loops:
            yield _fit(f"  {rounds} times: {' → '.join(unit)}", WIDTH)
    if journal.unread:
        yield from ("", f"{journal.unread} lines could not be read.")
    if "full" in last:
        yield "The journal was full before the run ended."


def _list_timeline(journal: JournalFile) -> Iterator[str]:
    steps = sorted((it for it in journal.events if it.state), key=lambda event: event.start)
    yield f"{'at':>8} {'took':>8}  what"
    half, more = _MOST_ROWS // 2, len(steps) - _MOST_ROWS
    for index, event in enumerate(steps):
        if more > 0 and index == half:
            yield f"{'':>18} … {more} more …"
        if more > 0 and half <= index < half + more:
            continue
        took = f"{event.seconds:,.2f}" if event.seconds else ""
        yield f"{event.start:>8,.2f} {took:>8}  {_fit(_describe_event(event), WIDTH - 19)}"


#: What is said of an event, by its kind; of others the kind, a number, a name and a status.
_WORDS = {
    "judged": "{tier} / {judge}: {status} {label}",
    "command": "  $ {text}",
    "model": "  {model}: {input_tokens}+{output_tokens} tokens",
    "tool": "  tool {name} {target}: {outcome}",
    "change": "read the change, {files} files",
    "verdict": "verdict: {status}, gate {gate}",
}


def _describe_event(event: JournalEvent) -> str:
    words = _WORDS.get(event.kind, "{kind} {number} {name} {status}")
    if event.kind == "model" and event.text("reason"):
        words = "  {model}: {reason}"
    if event.kind == "tool" and not event.text("target"):
        words = "  tool {name}: {outcome}"
    if event.kind == "judged" and event.text("turns"):
        words += " ({turns} turns)"
    texts = defaultdict(str, {name: event.text(name) for name in event.facts}, kind=event.kind)
    return re.sub(r"(?<=\S) +", " ", words.format_map(texts)).rstrip(" :")


def _list_hotspots(journal: JournalFile) -> Iterator[str]:
    """The steps that took longest in all; those that ran side by side add up to more than 100 %."""
    spent: dict[str, list[float]] = defaultdict(list)
    for event in journal.events:
        if event.state and event.seconds:
            spent[event.state].append(event.seconds)
    if not spent or not journal.seconds:
        return
    yield from ("", "hotspots")
    ranked = sorted(spent.items(), key=lambda item: -sum(item[1]))
    for name, times in ranked[:_MOST_HOTSPOTS]:
        share = sum(times) / journal.seconds
        often = f", {len(times)} times" if len(times) > 1 else ""
        yield f"{share:>7.0%} {sum(times):>10,.2f}  {_fit(name, 44)}{often}"


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


#: Steps that have a row and a column of their own; the rest is one.
_MOST_STATES = 10
#: Steps of a loop at most.
_LONGEST_LOOP = 4


class Transitions(Struct, frozen=True):
    """A Markov matrix of first order: how often one state follows another."""

    states: tuple[str, ...]
    counts: Counter[tuple[str, str]]

    @classmethod
    def of(cls, sequence: Sequence[str]) -> Transitions:
        common = dict(Counter(sequence).most_common(_MOST_STATES))
        steps = [name if name in common else "(others)" for name in sequence]
        return cls(tuple(dict.fromkeys(steps)), Counter(pairwise(steps)))

    def lines(self) -> Iterator[str]:
        """Iterate over the counts as text; a column is called by the letter of its row."""
        letters = [chr(ord("a") + index) for index in range(len(self.states))]
        yield " " * 26 + "".join(f"{letter:>4}" for letter in letters)
        for letter, before in zip(letters, self.states, strict=True):
            row = (self.counts[before, after] for after in self.states)
            cells = "".join(f"{count or '.':>4}" for count in row)
            yield f"  {letter} {before[:22]:<22}{cells}"


def find_loops(sequence: Sequence[str]) -> list[tuple[tuple[str, ...], int]]:
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
