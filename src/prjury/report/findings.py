"""What the judges found: blockers first, what would fix them, and why the rules are rules."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum

from msgspec import Struct

from prjury.jury.cascade import list_blocking_tiers_with_statuses
from prjury.jury.gate import UNREAD_CONTENT
from prjury.jury.judgment import Check, Judgment, Severity, Status
from prjury.jury.verdicts import TierAttempt, TierPolicy, Verdict
from prjury.jury.voting import Ballot
from prjury.report.judge_facts import GeneralFacts, PatternFacts, RuleFacts
from prjury.report.model import Dismissal

#: The reasons of verdicts that no judge is to blame for.
HELD_BACK = frozenset({"coverage_floor", UNREAD_CONTENT})
#: Characters of a message that are shown wherever it is shown.
_SHOWN = 300
#: Lines by which test runners part their output.
_RULER = re.compile(r"(?m)^[-=]{30,}\n?")
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")


class Weight(IntEnum):
    """How much a finding matters, heaviest first."""

    MUST_FIX = 0
    SHOULD_LOOK = 1
    NIT = 2


class SeatOutcome(Struct, frozen=True):
    """A ballot with the tier in which it was cast."""

    attempt: TierAttempt
    ballot: Ballot
    #: Whether the tier decides: it blocks, and did not hand on to a later one.
    counts: bool

    @property
    def judgment(self) -> Judgment:
        return self.ballot.judgment

    @property
    def key(self) -> str:
        words = f"{self.attempt.name}\0{self.ballot.judge}"
        return hashlib.sha256(words.encode(errors="backslashreplace")).hexdigest()[:8]

    @property
    def rejects(self) -> bool:
        if not self.counts or self.attempt.status is not Status.FAIL:
            return False
        return self.judgment.status is Status.FAIL or Status.FAIL not in self.attempt.statuses


class Finding(Struct, frozen=True):
    """A failed check with the judge that made it and what it means for the merge."""

    voice: SeatOutcome
    check: Check
    weight: Weight
    dismissal: Dismissal | None = None


def seat_outcomes(verdict: Verdict) -> tuple[SeatOutcome, ...]:
    accepting = TierPolicy.ACCEPT_ON_ALL_PASS
    counted = list_blocking_tiers_with_statuses(verdict.attempts)
    deciding = [a.name for a, voices in counted if voices or a.policy is not accepting]
    return tuple(
        SeatOutcome(attempt, ballot, attempt.name in deciding)
        for attempt in verdict.attempts
        for ballot in (attempt.verdict.ballots if attempt.verdict else ())
    )


def list_seats_against_pass(verdict: Verdict) -> tuple[SeatOutcome, ...]:
    if verdict.status is Status.PASS or verdict.aggregated.label == UNREAD_CONTENT:
        return ()
    voices = [v for v in seat_outcomes(verdict) if v.counts and v.judgment.status is verdict.status]
    worries = {attempt.worrying_abstention for attempt in verdict.attempts}
    if verdict.status is Status.ABSTAIN and any(voice.judgment in worries for voice in voices):
        return tuple(voice for voice in voices if voice.judgment in worries)
    return tuple(voices)


def findings(verdict: Verdict, dismissals: Iterable[Dismissal] = ()) -> tuple[Finding, ...]:
    """Return every failed check, the heaviest first, those with a place before those without."""
    by_print = {dismissal.finding: dismissal for dismissal in dismissals}
    every = _list_findings(verdict, by_print)
    return tuple(sorted(every, key=lambda each: (each.weight, each.check.location is None)))


def group_findings(every_finding: Sequence[Finding]) -> list[tuple[Finding, ...]]:
    """Group findings of one rule, or of the same words, in the order by which they are numbered."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    rules: dict[tuple[str, str], frozenset[str]] = {}
    for finding in every_finding:
        check, seat = finding.check, (finding.voice.attempt.name, finding.voice.ballot.judge)
        if seat not in rules:
            facts = PatternFacts.parse(finding.voice.judgment)
            rules[seat] = frozenset(rule.rule for rule in facts.findings)
        message = "" if check.name in rules[seat] else check.message
        key = (finding.weight, seat, check.name, message, finding.dismissal)
        groups.setdefault(key, []).append(finding)
    return [tuple(group) for group in groups.values()]


def select_checks(judgment: Judgment) -> tuple[Check, ...]:
    """The failed checks that are findings; those that sum up others count where they are alone."""
    summaries = GeneralFacts.parse(judgment).summaries
    failed = judgment.failed_checks
    return tuple(check for check in failed if check.name not in summaries) or failed


def blocking_checks(judgment: Judgment) -> tuple[Check, ...]:
    failed = select_checks(judgment)
    worst = min((_SEVERITIES.index(check.severity) for check in failed), default=0)
    return tuple(check for check in failed if check.severity == _SEVERITIES[worst])


def evidence_beyond(check: Check) -> str | None:
    evidence = _RULER.sub("", check.evidence or "")
    shown = evidence.strip()
    repeated = bool(shown) and "\n" not in shown and shown in check.message[:_SHOWN]
    return None if repeated or not evidence else evidence


def _list_findings(verdict: Verdict, dismissals: Mapping[str, Dismissal]) -> Iterator[Finding]:
    for voice in seat_outcomes(verdict):
        failed = select_checks(voice.judgment)
        blocking = {check.severity for check in blocking_checks(voice.judgment)}
        blocking = blocking if voice.rejects else set()
        for check in failed:
            weight, dismissal = _weight(check, voice, blocking), dismissals.get(check.fingerprint)
            if dismissal and weight is Weight.MUST_FIX:
                weight = Weight.SHOULD_LOOK
            yield Finding(voice, check, weight, dismissal)
        if voice.rejects and not failed:
            check = Check(voice.ballot.judge, passed=False, message=voice.judgment.reasoning)
            yield Finding(voice, check, _weight(check, voice, {check.severity}))


def _weight(check: Check, voice: SeatOutcome, blocking: Collection[Severity]) -> Weight:
    if check.severity in blocking and not voice.attempt.advisory:
        return Weight.MUST_FIX
    return Weight.NIT if check.severity == "hint" else Weight.SHOULD_LOOK


def explain_how_to_suppress(rules: Sequence[RuleFacts]) -> str:
    name = rules[0].rule if len(rules) == 1 else "RULE"
    words = f"`prjury rules show {name}` explains it."
    for rule in rules:
        if rule.suppression:
            comment = rule.suppression.replace(rule.rule, name)
            return (
                f"{words} To switch it off for the repository, write `ignore: [{name}]` into the "
                f"base's policy; for one line, `{comment}` in a comment there, which a maintainer "
                "has to confirm."
            )
    return words
