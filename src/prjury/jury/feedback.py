"""A verdict as instructions for its author: what is wrong, where, and what would help."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import indent
from typing import TYPE_CHECKING

from prjury.jury.guard import printable
from prjury.jury.judgment import Check, Status
from prjury.jury.voting import Ballot, is_benign

if TYPE_CHECKING:
    from prjury.jury.verdicts import JuryVerdict, Verdict

#: Characters of a feedback, unless somebody asks for another number.
FEEDBACK_LIMIT = 4000
_MOST_PLACES = 10
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WORST_FIRST = (Status.FAIL, Status.ERROR, Status.ABSTAIN, Status.PASS)


@dataclass(frozen=True)
class _Item:
    """One thing that is wrong, wherever it was found; the places count once each."""

    title: str
    places: tuple[str, ...]
    evidence: str
    remedy: str

    def text(self, number: int) -> str:
        lines = [f"{number}. {self.title}"]
        if self.places:
            shown = ", ".join(self.places[:_MOST_PLACES])
            hidden = len(self.places) - _MOST_PLACES
            more = f" and {hidden} more place{'s' if hidden > 1 else ''}" if hidden > 0 else ""
            lines.append(f"   Where: {shown}{more}")
        if self.evidence:
            lines.append(f"   Evidence:\n{indent(self.evidence, '     ')}")
        if self.remedy:
            lines.append(f"   What would make it pass: {self.remedy}")
        return "\n".join(lines)


def feedback_on(verdict: JuryVerdict | Verdict, limit: int = FEEDBACK_LIMIT) -> str:
    """Return what is wrong, the worst first, each thing once; at most ``limit`` characters."""
    ballots = sorted(_iter_blocking(verdict), key=lambda b: _WORST_FIRST.index(b.judgment.status))
    items = list(_merge_items(item for ballot in ballots for item in _list_problem_items(ballot)))
    head = _clean(str(verdict.aggregated))
    if not items:
        return _limit(head, limit)
    return _format_within_limit(head, items, limit)


def _iter_blocking(verdict: JuryVerdict | Verdict) -> Iterator[Ballot]:
    if hasattr(verdict, "attempts"):
        for attempt in verdict.attempts:
            if attempt.verdict and not attempt.advisory:
                yield from _iter_blocking(attempt.verdict)
        return
    children = verdict.children
    for ballot in verdict.ballots:
        child = children.get(ballot.judge)
        yield from _iter_blocking(child) if child is not None else (ballot,)


def _list_problem_items(ballot: Ballot) -> Iterator[_Item]:
    judgment = ballot.judgment
    failed = [check for check in judgment.failed_checks if check.severity == "error"]
    remedy = str(judgment.metadata.get("remedy") or "")
    summaries = judgment.metadata.get("summaries") or ()
    telling = [check for check in failed if check.name not in summaries] or failed
    if judgment.status is Status.FAIL and telling:
        for check in telling:
            yield _of_check(check, ballot.judge, remedy)
    elif judgment.status is not Status.PASS and not is_benign(judgment):
        words = _clean(judgment.reasoning)
        yield _Item(f"{ballot.judge} ({judgment.status}): {words}", (), "", _clean(remedy))


def _of_check(check: Check, judge: str, remedy: str) -> _Item:
    words = _clean(check.message)
    whose = judge if check.name == judge else f"{check.name} ({judge})"
    title = f"{whose}{': ' if words else ''}{words}"
    evidence = _clean(check.evidence or "").strip()
    places = (_clean(str(check.location)),) if check.location else ()
    return _Item(title, places, "" if evidence == words else evidence, _clean(check.fix or remedy))


def _merge_items(items: Iterable[_Item]) -> Iterable[_Item]:
    items_by_text: dict[tuple[str, str, str], _Item] = {}
    for item in items:
        key = (item.title, item.evidence, item.remedy)
        before = items_by_text.get(key)
        places = dict.fromkeys((*(before.places if before else ()), *item.places))
        items_by_text[key] = _Item(item.title, tuple(places), item.evidence, item.remedy)
    return items_by_text.values()


def _format_within_limit(head: str, items: list[_Item], limit: int) -> str:
    text = head
    for number, item in enumerate(items, 1):
        hidden = len(items) - number
        more = f"{text}\n\n{item.text(number)}"
        if len(more) + len(_rest(hidden)) > limit:
            room = limit - len(text) - len(_rest(hidden)) - 2
            if number > 1 or room < 1:
                return _limit(text + _rest(hidden + 1), limit)
            return _limit(f"{text}\n\n{_limit(item.text(number), room)}{_rest(hidden)}", limit)
        text = more
    return text


def _rest(count: int) -> str:
    return f"\n\n… and {count} more" if count else ""


def _clean(text: str) -> str:
    return _CONTROL.sub("", printable(text))


def _limit(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…" if limit > 0 else ""
