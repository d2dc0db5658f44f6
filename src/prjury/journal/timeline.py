"""The record of a run as text of 80 columns: what happened when, and where the time went."""

from __future__ import annotations

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
    yield f"{_seconds(journal.seconds).strip()} s, {how}"
    if verdict:
        yield _fit(verdict.text("headline"), WIDTH)
        yield _price_run(verdict)


def _price_run(verdict: JournalEvent) -> str:
    usd = verdict.facts.get("usd")
    price = "price unknown" if usd is None else f"${verdict.number('usd'):.4f}"
    tokens = f"{verdict.number('input_tokens'):,.0f} + {verdict.number('output_tokens'):,.0f}"
    return f"{verdict.number('llm_calls'):.0f} calls of models, {tokens} tokens, {price}"


def _timeline(journal: JournalFile) -> Iterator[str]:
    steps = sorted((it for it in journal.events if it.state), key=lambda event: event.began)
    yield f"{'at':>8} {'took':>8}  what"
    half = _MOST_ROWS // 2
    shown = steps if len(steps) <= _MOST_ROWS else [*steps[:half], *steps[-half:]]
    for index, event in enumerate(shown):
        if len(steps) > _MOST_ROWS and index == half:
            yield f"{'':>18} … {len(steps) - _MOST_ROWS} more …"
        took = _seconds(event.seconds) if event.seconds else ""
        what = _fit(_describe_event(event), WIDTH - 19)
        yield f"{_seconds(event.began):>8} {took:>8}  {what}"


def _describe_event(event: JournalEvent) -> str:
    match event.kind:
        case "judged":
            label = event.text("label") or event.text("status")
            turns = f", {event.text('turns')} turns" if event.text("turns") else ""
            return f"{event.text('tier')} / {event.text('judge')}: {label}{turns}"
        case "command":
            return f"  $ {event.text('text')}"
        case "model":
            tokens = f"{event.number('input_tokens'):.0f}+{event.number('output_tokens'):.0f}"
            return f"  {event.text('model')}: {event.text('reason') or f'{tokens} tokens'}"
        case "tool":
            outcome = f": {event.text('outcome')}" if event.text("outcome") else ""
            return f"  tool {event.text('name')} {event.text('target')}".rstrip() + outcome
        case "change":
            return f"read the change, {event.text('files')} files"
        case "verdict":
            return f"verdict: {event.text('status')}, gate {event.text('gate')}"
    texts = (event.text(name) for name in ("number", "name", "status"))
    return " ".join([event.kind, *filter(None, texts)])


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
        yield f"{share:>7.0%} {_seconds(sum(times)):>10}  {_fit(name, 44)}{often}"


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


def _seconds(seconds: float) -> str:
    return f"{seconds:,.2f}"


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
