"""The record of a run as text of 80 columns: what happened when, and where the time went."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from prjury.journal.read import JournalEvent, JournalFile
from prjury.journal.transitions import Transitions, find_loops

WIDTH = 80
#: Rows of the timeline; what is between the first and the last of them is counted.
_MOST_ROWS = 200
_MOST_HOTSPOTS, _MOST_LOOPS = 5, 5


def list_journal(journal: JournalFile) -> Iterator[str]:
    """Iterate over all lines: head, timeline, hotspots, transitions and loops."""
    yield from _head(journal)
    yield ""
    yield from _timeline(journal)
    yield from _hotspots(journal)
    yield from _show_transitions(journal.states)
    if journal.unread:
        yield ""
        yield f"{journal.unread} lines could not be read."
    if journal.last("full"):
        yield "The journal was full before the run ended."


def _head(journal: JournalFile) -> Iterator[str]:
    start, end, verdict = (journal.last(kind) for kind in ("start", "end", "verdict"))
    if start:
        when = start.text("at")[:19].replace("T", " ")
        yield _fit(f"prjury {start.text('command')} {start.text('version')}, {when} UTC", WIDTH)
    how = f"exit {end.text('exit')}" if end else "it did not end, or runs still"
    yield f"{journal.seconds:,.2f} s, {how}"
    if verdict:
        yield _fit(verdict.text("headline"), WIDTH)
        is_priced = verdict.facts.get("usd") is not None
        price = f"${verdict.number('usd'):.4f}" if is_priced else "price unknown"
        calls, put, got = map(verdict.number, ("llm_calls", "input_tokens", "output_tokens"))
        yield f"{calls:.0f} calls of models, {put:,.0f} + {got:,.0f} tokens, {price}"


def _timeline(journal: JournalFile) -> Iterator[str]:
    steps = sorted((it for it in journal.events if it.state), key=_find_start)
    yield f"{'at':>8} {'took':>8}  what"
    half = _MOST_ROWS // 2
    shown = steps if len(steps) <= _MOST_ROWS else [*steps[:half], *steps[-half:]]
    for index, event in enumerate(shown):
        if len(steps) > _MOST_ROWS and index == half:
            yield f"{'':>18} … {len(steps) - _MOST_ROWS} more …"
        took = f"{event.seconds:,.2f}" if event.seconds else ""
        what = _fit(_describe_event(event), WIDTH - 19)
        yield f"{_find_start(event):>8,.2f} {took:>8}  {what}"


def _find_start(event: JournalEvent) -> float:
    return max(0.0, event.at - event.seconds)


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


def _hotspots(journal: JournalFile) -> Iterator[str]:
    """The steps that took longest in all; those that ran side by side add up to more than 100 %."""
    spent: dict[str, list[float]] = defaultdict(list)
    for event in journal.events:
        if event.state and event.seconds:
            spent[event.state].append(event.seconds)
    if not spent or not journal.seconds:
        return
    yield ""
    yield "hotspots"
    ranked = sorted(spent.items(), key=lambda item: -sum(item[1]))
    for name, times in ranked[:_MOST_HOTSPOTS]:
        share = sum(times) / journal.seconds
        often = f", {len(times)} times" if len(times) > 1 else ""
        yield f"{share:>7.0%} {sum(times):>10,.2f}  {_fit(name, 44)}{often}"


def _show_transitions(states: list[str]) -> Iterator[str]:
    if len(states) < 2:  # noqa: PLR2004 - a transition has two ends
        return
    yield ""
    yield "transitions, from row to column"
    yield from Transitions.of(states).lines()
    loops = find_loops(states)[:_MOST_LOOPS]
    if loops:
        yield ""
        yield "loops"
    for unit, rounds in loops:
        yield _fit(f"  {rounds} times: {' → '.join(unit)}", WIDTH)


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
