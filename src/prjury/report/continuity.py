"""What one verdict leaves for the next, in hidden lines of our own comments.

The comment with the verdict says which findings it lists, by fingerprint and judge, in the order of
their numbers; the answer to a dismissal says which finding was dismissed, by whom and why. They are
read from comments of our own account only. Lost or damaged, they cost a sentence, never a verdict.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from prjury.jury.judgment import Status
from prjury.jury.verdicts import Verdict
from prjury.jury.voting import NOT_APPLICABLE
from prjury.report.annotations import read_markers
from prjury.report.findings import Finding, findings, group_findings, seat_outcomes
from prjury.report.model import Dismissal, Report, Since

#: Findings that one line holds: 26 characters each.
_MOST = 500
_HEAD = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PRINT_LENGTH = 16
#: A fingerprint, and the judge that found it where that is known.
_NAME = re.compile(r"[0-9a-f]{16}(?:\.[0-9a-f]{8})?")
_LOGIN = re.compile(r"[A-Za-z0-9-]{1,39}", re.ASCII)


class PastVerdict(Struct, frozen=True):
    """What a comment of ours says to programs of the verdict in it."""

    head: str
    #: The findings by the number that the comment shows, less one: each a fingerprint with the
    #: judge that found it (`name_finding`).
    names: tuple[tuple[str, ...], ...]
    #: The head of the verdict before, and its findings; None where there was none.
    earlier: tuple[str, tuple[str, ...]] | None = None
    #: Whether every finding is among them.
    complete: bool = True
    run: int | None = None

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(name[:_PRINT_LENGTH] for name in group) for group in self.names)

    @classmethod
    def of(cls, body: str) -> PastVerdict | None:
        values = read_markers(body) or {}
        findings, head = values.get("findings"), values.get("head", "")
        if findings is None or not _HEAD.fullmatch(head):
            return None
        names = tuple(tuple(group.split("+")) for group in findings.split(",") if group)
        if not all(_NAME.fullmatch(name) for group in names for name in group):
            return None
        since, before = values.get("since", ""), _read_names(values.get("before", ""))
        earlier = (since, before) if _HEAD.fullmatch(since) and before is not None else None
        run = re.match(r"(\d{1,18})\.\d", values.get("run", ""), re.ASCII)
        complete = values.get("more") != "1"
        return cls(head, names, earlier, complete, int(run[1]) if run else None)


def _read_names(words: str) -> tuple[str, ...] | None:
    names = tuple(word for word in words.split(",") if word)
    return names if all(map(_NAME.fullmatch, names)) else None


def name_finding(finding: Finding) -> str:
    return f"{finding.check.fingerprint}.{finding.voice.key}"


def format_findings_for_marker(report: Report) -> str:
    groups, room = [], _MOST
    every = group_findings(findings(report.verdict, report.dismissals))
    for group in every:
        room -= len(group)
        if room < 0:
            break
        groups.append("+".join(map(name_finding, group)))
    values = f"findings={','.join(groups)}"
    if len(groups) < len(every):
        values += " more=1"
    elif report.since and len(report.since.before) <= _MOST:
        values += f" since={report.since.head} before={','.join(report.since.before)}"
    return values


def compare_findings(verdict: Verdict, head: str, reported: PastVerdict | None) -> Since | None:
    """Return what became of the findings of the last verdict on another head; None if unknown.

    A finding that is gone is fixed if the judge that found it has come to a vote again.
    """
    if reported is None or not reported.complete:
        return None
    names = tuple(name for group in reported.names for name in group)
    earlier = reported.earlier if reported.head == head else (reported.head, names)
    if earlier is None:
        return None
    then, before = earlier
    counts = Counter(finding.check.fingerprint for finding in findings(verdict))
    judged, fixed, still_open = map_seats_to_judged(verdict), 0, 0
    for name in before:
        fingerprint, _, seat = name.partition(".")
        if counts[fingerprint]:
            counts[fingerprint] -= 1
            still_open += 1
        elif judged.get(seat):
            fixed += 1
    return Since(
        head=then,
        fixed=fixed,
        open=still_open,
        new=counts.total(),
        not_judged=len(before) - fixed - still_open,
        before=before,
    )


def make_fixed_or_dismissed_test(report: Report) -> Callable[[str, str], bool]:
    present = {finding.check.fingerprint for finding in findings(report.verdict)}
    dismissed = {dismissal.finding for dismissal in report.dismissals}
    judged = map_seats_to_judged(report.verdict)

    def is_settled(finding: str, seat: str) -> bool:
        is_fixed = finding not in present and judged.get(seat, False)
        return bool(finding) and (is_fixed or finding in dismissed)

    return is_settled


def map_seats_to_judged(verdict: Verdict) -> Mapping[str, bool]:
    """Return by judge whether it came to a vote; for one that is not known, whether all did."""
    seats = {"": all(attempt.ran for attempt in verdict.attempts)}
    for seat in seat_outcomes(verdict):
        voted = seat.judgment.status in {Status.PASS, Status.FAIL}
        seats[seat.key] = voted or seat.judgment.label == NOT_APPLICABLE
    seats[""] = all(seats.values())
    return seats


def write_dismissal(prints: Sequence[str], head: str, by: str, reason: str) -> str:
    why = base64.b64encode(reason.encode(errors="replace")).decode()
    return f"head={head} dismissed={','.join(prints)} by={by} why={why}"


def read_dismissals(body: str) -> tuple[Dismissal, ...]:
    values = read_markers(body) or {}
    prints, by = _read_names(values.get("dismissed", "")), values.get("by", "")
    try:
        reason = base64.b64decode(values.get("why", ""), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ()
    is_valid = prints and reason and _LOGIN.fullmatch(by)
    return tuple(Dismissal(name, by, reason) for name in prints or () if is_valid)
