"""From a verdict to the merge gate: one pure function that can never be green by accident."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from prjury.errors import ExitCode
from prjury.jury.cascade import TierAttempt, TierPolicy, Verdict
from prjury.jury.judgment import Judgment, Status
from prjury.jury.population import NOT_CONFIGURED, is_benign
from prjury.jury.score import finite


class Gate(StrEnum):
    """The conclusion of the check run. ``neutral`` and ``skipped`` do not exist: they let pass."""

    SUCCESS = "success"
    FAILURE = "failure"
    ACTION_REQUIRED = "action_required"

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that says the same."""
        codes = {
            Gate.SUCCESS: ExitCode.OPEN,
            Gate.FAILURE: ExitCode.REJECTED,
            Gate.ACTION_REQUIRED: ExitCode.NOT_JUDGED,
        }
        return codes[self]


@dataclass(frozen=True)
class GatePolicy:
    """What closes the gate.

    Attributes:
        block_on: the statuses that close it; PASS cannot be one of them.
        not_configured: whether a blocking judge without a provider or key closes it.
        coverage_floor: the share (0..1) of the added lines that somebody must have read.

    Raises:
        ValueError: for a status that does not exist, for PASS, and for values outside those above.
    """

    block_on: frozenset[Status] = frozenset({Status.FAIL, Status.ERROR, Status.ABSTAIN})
    not_configured: Literal["pass", "block"] = "pass"
    coverage_floor: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "block_on", frozenset(map(Status, self.block_on)))
        if Status.PASS in self.block_on:
            raise ValueError("PASS cannot close the gate")
        if self.not_configured not in {"pass", "block"}:
            raise ValueError(f"not_configured is 'pass' or 'block', not {self.not_configured!r}")
        if not 0.0 <= finite(self.coverage_floor, "coverage_floor") <= 1.0:
            raise ValueError(f"coverage_floor is in 0..1, not {self.coverage_floor}")


def gate(verdict: Verdict, policy: GatePolicy | None = None) -> Gate:
    """Open or closed, by the order FAIL > ERROR > ABSTAIN > PASS.

    A status that the policy lets through hides no other one, and what an advisory tier says closes
    nothing, even where it is the only one that ran.
    """
    policy = policy or GatePolicy()
    if _is_advice(verdict):
        return Gate.SUCCESS
    closing = policy.block_on.intersection(_against(verdict))
    if Status.FAIL in closing:
        return Gate.FAILURE
    if closing or (policy.not_configured == "block" and _someone_not_configured(verdict)):
        return Gate.ACTION_REQUIRED
    return Gate.SUCCESS


def _is_advice(verdict: Verdict) -> bool:
    """Whether the verdict is that of an advisory tier."""
    deciding = [a for a in verdict.attempts if a.ran and a.name == verdict.decided_by]
    return bool(deciding) and all(attempt.advisory for attempt in deciding)


def _against(verdict: Verdict) -> frozenset[Status]:
    """Every status that speaks against the merge: the verdict's own and those that it outranks."""
    tiers = [_outcomes(a) for a in verdict.attempts if a.ran and not a.advisory]
    own = frozenset() if is_benign(verdict.aggregated) else frozenset({verdict.status})
    return own.union(*tiers) - {Status.PASS}


def _outcomes(attempt: TierAttempt) -> frozenset[Status]:
    """What a blocking tier brings into the verdict; a rejecting one counts every ballot."""
    found = {attempt.status or Status.PASS} - {Status.ABSTAIN}
    if attempt.policy is TierPolicy.REJECT_ON_ANY_FAIL:
        found |= attempt.statuses & {Status.FAIL, Status.ERROR}
    return frozenset(found | {Status.ABSTAIN} if attempt.worrying_abstention else found)


def _someone_not_configured(verdict: Verdict) -> bool:
    """Whether a judge of a blocking tier had nobody to ask."""
    blocking = [attempt.verdict for attempt in verdict.attempts if not attempt.advisory]
    said = [judgment for vote in blocking if vote for judgment in vote.individual]
    return any(judgment.label == NOT_CONFIGURED for judgment in (*said, verdict.aggregated))


def hold_to_coverage(verdict: Verdict, judged: int, total: int, floor: float) -> Verdict:
    """The verdict itself, or an ERROR where fewer of the added lines were read than the floor asks.

    The FAIL of a blocking tier stays a FAIL: what was read is bad enough. No tier has decided such
    an ERROR.

    Args:
        judged: added lines that somebody has read.
        total: added lines that somebody should have read.
        floor: the share of them, 0..1, that is enough.
    """
    enough = total == 0 or judged / total >= floor
    if enough or (verdict.status is Status.FAIL and not _is_advice(verdict)):
        return verdict
    words = f"only {judged} of {total} added lines were judged; the floor is {floor * 100:g}%"
    short = Judgment.errored(words, metadata={"reason": "coverage_floor"})
    if verdict.status is Status.ERROR:
        reason = f"{verdict.aggregated.reasoning}; {words}"
        short = replace(verdict.aggregated, reasoning=reason)
    return replace(verdict, aggregated=short, decided_by=None)
