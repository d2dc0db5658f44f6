"""From a verdict to the merge gate: one pure function that can never be green by accident."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from prjury.errors import ExitCode
from prjury.jury.cascade import Verdict
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import NOT_CONFIGURED


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
    """

    block_on: frozenset[Status] = frozenset({Status.FAIL, Status.ERROR, Status.ABSTAIN})
    not_configured: Literal["pass", "block"] = "pass"
    coverage_floor: float = 0.95


def gate(verdict: Verdict, policy: GatePolicy | None = None) -> Gate:
    """Open or closed, by the order FAIL > ERROR > ABSTAIN > PASS."""
    policy = policy or GatePolicy()
    if verdict.status is Status.FAIL:
        return Gate.FAILURE if Status.FAIL in policy.block_on else Gate.SUCCESS
    if verdict.status in policy.block_on:
        return Gate.ACTION_REQUIRED
    if policy.not_configured == "block" and _someone_not_configured(verdict):
        return Gate.ACTION_REQUIRED
    return Gate.SUCCESS


def _someone_not_configured(verdict: Verdict) -> bool:
    return any(
        judgment.label == NOT_CONFIGURED
        for attempt in verdict.attempts
        if attempt.verdict and not attempt.advisory
        for judgment in attempt.verdict.individual
    )


def hold_to_coverage(verdict: Verdict, judged: int, total: int, floor: float) -> Verdict:
    """The verdict itself, or an ERROR where fewer of the added lines were read than the floor asks.

    A FAIL stays a FAIL: what was read is bad enough.
    """
    if verdict.status is Status.FAIL or judged >= floor * total:
        return verdict
    words = f"only {judged} of {total} added lines were judged; the floor is {floor:.0%}"
    short = Judgment.errored(words, metadata={"reason": "coverage_floor"})
    if verdict.status is Status.ERROR:
        reason = f"{verdict.aggregated.reasoning}; {words}"
        short = replace(verdict.aggregated, reasoning=reason)
    return replace(verdict, aggregated=short)
