"""What the judges found, sorted by what it means for the merge: blockers first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from prjury.jury.cascade import TierAttempt, Verdict
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.voting import Ballot

#: Characters of a message that are shown wherever it is shown.
_SHOWN = 300


class Weight(IntEnum):
    """How much a finding matters, heaviest first."""

    MUST_FIX = 0
    SHOULD_LOOK = 1
    NIT = 2


@dataclass(frozen=True, slots=True)
class Voice:
    """A ballot with the tier in which it was cast.

    Attributes:
        counts: whether the tier decides: it blocks, or nothing blocks and it was the last to run.
    """

    attempt: TierAttempt
    ballot: Ballot
    counts: bool

    @property
    def judgment(self) -> Judgment:
        """What the judge said."""
        return self.ballot.judgment

    @property
    def rejects(self) -> bool:
        """Whether the tier failed because of this ballot."""
        if not self.counts or self.attempt.status is not Status.FAIL:
            return False
        return self.judgment.status is Status.FAIL or Status.FAIL not in self.attempt.statuses


@dataclass(frozen=True, slots=True)
class Finding:
    """A failed check with the judge that made it and what it means for the merge."""

    voice: Voice
    check: Check
    weight: Weight


def voices(verdict: Verdict) -> tuple[Voice, ...]:
    """Every ballot of every tier that ran, in order."""
    ran = [attempt for attempt in verdict.attempts if attempt.ran]
    deciding = [attempt.name for attempt in ran if not attempt.advisory]
    deciding = deciding or [attempt.name for attempt in ran[-1:]]
    return tuple(
        Voice(attempt, ballot, attempt.name in deciding)
        for attempt in ran
        for ballot in (attempt.verdict.ballots if attempt.verdict else ())
    )


def culprits(verdict: Verdict) -> tuple[Voice, ...]:
    """The ballots that made the verdict what it is; none for a verdict that passes."""
    if verdict.status is Status.PASS:
        return ()
    said = [v for v in voices(verdict) if v.counts and v.judgment.status is verdict.status]
    worries = {attempt.worrying_abstention for attempt in verdict.attempts}
    if verdict.status is Status.ABSTAIN and any(voice.judgment in worries for voice in said):
        return tuple(voice for voice in said if voice.judgment in worries)
    return tuple(said)


def findings(verdict: Verdict) -> tuple[Finding, ...]:
    """Every failed check once: the heaviest first, those with a place before those without.

    Otherwise they stand in the judges' own order. Two judges may find the same thing.
    """
    unique: dict[tuple[str, str], Finding] = {}
    for finding in sorted(_all(verdict), key=_order):
        unique.setdefault((finding.check.fingerprint, finding.check.message), finding)
    return tuple(unique.values())


def _order(finding: Finding) -> tuple[Weight, bool]:
    return finding.weight, finding.check.location is None


def telling(checks: Iterable[Check]) -> list[Check]:
    """The checks without those that only sum up others, with a place, of the same severity."""
    every = list(checks)
    placed = {check.severity for check in every if check.location}
    return [check for check in every if check.location or check.fix or check.severity not in placed]


def evidence_beyond(check: Check) -> str | None:
    """The evidence of a check; None for one line that its message begins by saying already."""
    said = (check.evidence or "").strip()
    repeated = bool(said) and "\n" not in said and said in check.message[:_SHOWN]
    return None if repeated else check.evidence


def _all(verdict: Verdict) -> Iterator[Finding]:
    for voice in voices(verdict):
        failed = telling(voice.judgment.failed_checks)
        for check in failed:
            yield Finding(voice, check, _weight(check, voice))
        if voice.rejects and not any(check.severity == "error" for check in failed):
            said = Check(voice.ballot.judge, passed=False, message=voice.judgment.reasoning)
            yield Finding(voice, said, _weight(said, voice))


def _weight(check: Check, voice: Voice) -> Weight:
    if voice.rejects and check.severity == "error" and not voice.attempt.advisory:
        return Weight.MUST_FIX
    return Weight.NIT if check.severity == "hint" else Weight.SHOULD_LOOK
