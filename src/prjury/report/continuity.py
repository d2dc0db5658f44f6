"""What one verdict leaves for the next, in hidden lines of our own comments.

The comment with the verdict says which findings it lists, by fingerprint, in the order of their
numbers; the answer to a dismissal says which finding was dismissed, by whom and why. They are read
from comments of our own account only. Lost or damaged, they cost a sentence, never a verdict.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from prjury.jury.cascade import Verdict
from prjury.jury.judgment import Status
from prjury.report.findings import findings, numbered, seat_outcomes
from prjury.report.inline import markers
from prjury.report.model import Dismissal, Report, Since

#: Fingerprints that one line holds: 17 characters each.
_MOST = 500
_HEAD = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PRINT = re.compile(r"[0-9a-f]{16}")
_LOGIN = re.compile(r"[A-Za-z0-9-]{1,39}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ToldVerdict:
    """What a comment of ours says to programs of the verdict in it.

    Attributes:
        head: the commit that it is about.
        groups: the fingerprints of the findings, by the number that the comment shows, less one.
        earlier: the head of the verdict before, and its findings; None where there was none.
        complete: whether every finding is among them.
        run: the workflow run that published it, None outside of one.
    """

    head: str
    groups: tuple[tuple[str, ...], ...]
    earlier: tuple[str, tuple[str, ...]] | None = None
    complete: bool = True
    run: int | None = None

    @property
    def findings(self) -> tuple[str, ...]:
        """Every fingerprint, as often as it was found."""
        return tuple(print_ for group in self.groups for print_ in group)

    @classmethod
    def of(cls, body: str) -> ToldVerdict | None:
        """The verdict that a comment tells; None for another comment, and for an older form."""
        values = markers(body) or {}
        reported, head = values.get("findings"), values.get("head", "")
        if reported is None or not _HEAD.fullmatch(head):
            return None
        groups = tuple(tuple(group.split("+")) for group in reported.split(",") if group)
        since, before = values.get("since", ""), _prints(values.get("before", ""))
        if not all(_PRINT.fullmatch(one) for group in groups for one in group):
            return None
        earlier = (since, before) if _HEAD.fullmatch(since) and before is not None else None
        run = re.match(r"(\d{1,18})\.\d", values.get("run", ""), re.ASCII)
        complete = values.get("more") != "1"
        return cls(head, groups, earlier, complete, int(run[1]) if run else None)


def _prints(words: str) -> tuple[str, ...] | None:
    every = tuple(word for word in words.split(",") if word)
    return every if all(map(_PRINT.fullmatch, every)) else None


def told_words(report: Report) -> str:
    """The values in the hidden line of a report's comment."""
    groups, room = [], _MOST
    every = numbered(report.verdict)
    for group in every:
        room -= group.count
        if room < 0:
            break
        groups.append("+".join(one.check.fingerprint for one in group.findings))
    values = f"findings={','.join(groups)}"
    if len(groups) < len(every):
        values += " more=1"
    elif report.since and len(report.since.before) <= _MOST:
        values += f" since={report.since.head} before={','.join(report.since.before)}"
    return values


def since(verdict: Verdict, head: str, reported: ToldVerdict | None) -> Since | None:
    """What became of the findings of the last verdict on another head; None where none is known."""
    if reported is None or not reported.complete:
        return None
    same = reported.head == head
    earlier = reported.earlier if same else (reported.head, reported.findings)
    if earlier is None:
        return None
    then, before = earlier
    now = Counter(one.check.fingerprint for one in findings(verdict))
    was = Counter(before)
    gone, whole = (was - now).total(), is_whole(verdict)
    return Since(
        head=then,
        fixed=gone if whole else 0,
        open=(was & now).total(),
        new=(now - was).total(),
        not_judged=0 if whole else gone,
        before=before,
    )


def is_whole(verdict: Verdict) -> bool:
    """Whether every tier ran and every judge voted, so that what is not found is not there."""
    votes = {Status.PASS, Status.FAIL}
    return all(attempt.ran for attempt in verdict.attempts) and all(
        voice.judgment.status in votes or voice.judgment.label == "not_applicable"
        for voice in seat_outcomes(verdict)
    )


def dismissed_words(prints: Sequence[str], head: str, by: str, reason: str) -> str:
    """The values in the hidden line of the answer to a dismissal."""
    why = base64.b64encode(reason.encode(errors="replace")).decode()
    return f"head={head} dismissed={','.join(prints)} by={by} why={why}"


def dismissals(bodies: Iterable[str]) -> tuple[Dismissal, ...]:
    """Every dismissal in comments of ours, the last word on each finding."""
    found = {one.finding: one for body in bodies for one in _dismissed(body)}
    return tuple(found.values())


def _dismissed(body: str) -> Iterator[Dismissal]:
    values = markers(body) or {}
    prints, by = _prints(values.get("dismissed", "")), values.get("by", "")
    try:
        reason = base64.b64decode(values.get("why", ""), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return
    if prints and reason and _LOGIN.fullmatch(by):
        for one in prints:
            yield Dismissal(one, by, reason)
