"""From a verdict to the merge gate: one pure function that can never be green by accident."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from prjury.errors import ExitCode
from prjury.jury.cascade import list_blocking_tiers_with_statuses
from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import finite
from prjury.jury.verdicts import Verdict
from prjury.jury.voting import NOBODY_VOTED, NOT_CONFIGURED, is_benign

#: The label of a verdict on content that no judge can read.
UNREAD_CONTENT = "unread_content"


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
    """The statuses that close the gate, PASS never, and the share (0..1) of lines to be read."""

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

    A status that the policy lets through hides no other one, and no policy opens a gate that no
    judge of a blocking tier voted to open.
    """
    policy = policy or GatePolicy()
    counted = list_blocking_tiers_with_statuses(verdict.attempts)
    own = frozenset() if is_benign(verdict.aggregated) else frozenset({verdict.status})
    closing = policy.block_on & own.union(*(outcomes for _, outcomes in counted))
    if Status.FAIL in closing:
        return Gate.FAILURE
    voted = any(Status.PASS in attempt.statuses for attempt, _ in counted)
    unvoted = not voted or verdict.aggregated.label == NOBODY_VOTED
    missing = policy.not_configured == "block" and _someone_not_configured(verdict)
    return Gate.ACTION_REQUIRED if closing or unvoted or missing else Gate.SUCCESS


def _someone_not_configured(verdict: Verdict) -> bool:
    blocking = [attempt.verdict for attempt in verdict.attempts if not attempt.advisory]
    judgments = [judgment for vote in blocking if vote for judgment in vote.individual]
    return any(judgment.label == NOT_CONFIGURED for judgment in (*judgments, verdict.aggregated))


def err_below_coverage_floor(verdict: Verdict, judged: int, total: int, floor: float) -> Verdict:
    """The verdict itself, or an ERROR where fewer of the added lines were read than the floor asks.

    The FAIL of a blocking tier stays a FAIL. No tier has decided such an ERROR.
    """
    enough = total == 0 or judged / total >= floor
    if enough or verdict.status is Status.FAIL:
        return verdict
    words = f"only {judged} of {total} added lines were judged; the floor is {floor * 100:g}%"
    short = Judgment.errored(words, metadata={"reason": "coverage_floor"})
    if verdict.status is Status.ERROR:
        reason = f"{verdict.aggregated.reasoning}; {words}"
        short = replace(verdict.aggregated, reasoning=reason)
    return replace(verdict, aggregated=short, decided_by=None)


def lower_unread_pass(verdict: Verdict, unread_paths: Sequence[str]) -> Verdict:
    """The verdict itself, or an ABSTAIN in place of a PASS where no judge can read what changes."""
    if not unread_paths or verdict.status is not Status.PASS:
        return verdict
    more = f" and {len(unread_paths) - 1} more" if len(unread_paths) > 1 else ""
    words = f"{unread_paths[0]}{more} changed, and no judge can read such content"
    abstention = Judgment.abstained(words, UNREAD_CONTENT, metadata={"reason": UNREAD_CONTENT})
    return replace(verdict, aggregated=abstention, decided_by=None)
