"""The report: everything that may be said about one run, as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from prjury.jury.gate import Gate
from prjury.jury.judgment import Check, Judgment
from prjury.jury.verdicts import TierAttempt, Verdict
from prjury.snapshot.model import Conflict, PullRequest

Count: TypeAlias = Annotated[int, Meta(ge=0)]
Share: TypeAlias = Annotated[float, Meta(ge=0.0, le=1.0)]
Price: TypeAlias = Annotated[float, Meta(ge=0.0)]

BackportVerdict: TypeAlias = Literal[
    "suitable",
    "suitable_with_changes",
    "needs_human",
    "not_suitable",
    "already_present",
    "not_applicable",
    "not_requested",
    "error",
]
#: ``recovered``: the build passes with the patch. ``not_recovered``: it does not.
#: ``not_tried``: no agent could be started.
RecoveryOutcome: TypeAlias = Literal["recovered", "not_recovered", "not_tried"]


class NotChecked(Struct, frozen=True):
    """A file, or a part of it, that no judge has read, and why."""

    path: str
    reason: str


class Coverage(Struct, frozen=True):
    """How much of what the pull request adds was read."""

    #: ``"lines"`` where judges of content have looked; ``"tree"`` where none has: then every
    #: readable line counts as judged if a build really ran, and none counts if not.
    scope: Literal["lines", "tree"]
    files_total: Count
    files_judged: Count
    #: The added lines that a judge could have read.
    added_lines_total: Count
    added_lines_judged: Count
    not_checked: tuple[NotChecked, ...] = ()
    #: Changed programs, archives and submodules, which only a human can judge.
    unread_content: tuple[str, ...] = ()


class SkippedJudge(Struct, frozen=True):
    """A judge that was not asked for, and who said so."""

    judge: str
    reason: str


@dataclass(frozen=True, slots=True)
class TierReport:
    """One tier's attempt and the judges of it that were never seated."""

    attempt: TierAttempt
    skipped: tuple[SkippedJudge, ...] = ()


#: Said where a review is made in several jobs: none of them has both the tree and an agent's key.
NO_REPAIR = "fix: a repair is tried by `prjury review` alone, not in jobs of their own"

#: How the only reason of a branch begins on which nothing was tried.
NOT_TRIED = "not tried"


class Backport(Struct, frozen=True):
    """Whether the change can be brought to one release branch."""

    branch: str
    verdict: BackportVerdict
    #: Whether the trial pick was clean; None without a trial.
    applies: bool | None
    conflicts: tuple[Conflict, ...] = ()
    #: What has to be picked first, oldest first: object name and subject.
    prerequisites: tuple[str, ...] = ()
    #: How likely maintainers are to backport such a change, 0..1; None without a trial.
    score: Share | None = None
    reasons: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    band: Literal["likely", "grey", "unlikely"] | None = None
    #: The tip that the change was tried on, None where there is no such branch.
    branch_sha: str | None = None
    #: What the branch would hold afterwards, what has to be picked first included; None where the
    #: pick conflicts.
    tree: str | None = None
    #: What people ask for; None where nobody has said anything.
    asked: Literal["yes", "no"] | None = None


class Cost(Struct, frozen=True):
    """What the models took; ``usd`` is None where a price is not known."""

    llm_calls: Count = 0
    cached_calls: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    usd: Price | None = 0.0


#: No model was asked.
NO_COST = Cost()


class PolicyOrigin(Struct, frozen=True):
    """Where the policy came from."""

    #: ``base:<sha>:<path>``, ``default`` or ``file:<path>``.
    source: str
    #: Sha256 of the resolved policy, 64 hex digits.
    hash: str
    resolved: Mapping[str, Any] = {}


class Sandbox(Struct, frozen=True, omit_defaults=True):
    """How builds were kept in."""

    level: str
    network: bool
    gaps: tuple[str, ...] = ()
    lent: tuple[str, ...] = ()


#: The command in a comment that opens the gate for one head.
OVERRIDE_COMMAND = "/prjury override"


class Override(Struct, frozen=True):
    """A maintainer's word that opens the gate for one head, whatever the verdict says."""

    by: str
    reason: str


class Since(Struct, frozen=True):
    """What became of the findings of the last verdict on another head."""

    head: str
    fixed: Count
    open: Count
    new: Count
    #: Findings that are not there any more, where some judge did not come to a vote.
    not_judged: Count = 0
    #: The fingerprints of its findings.
    before: tuple[str, ...] = ()


class Dismissal(Struct, frozen=True):
    """A maintainer's word that a finding is not to be acted on. It changes no verdict."""

    #: Its fingerprint, so that it ends where the content changes.
    finding: str
    by: str
    reason: str


class RefusedEdit(Struct, frozen=True):
    """A file that the agent changed although it may not; undone."""

    path: str
    reason: str


class RepairRound(Struct, frozen=True):
    """One attempt."""

    number: Count
    #: What the build said afterwards, or why it was not asked.
    outcome: str
    edited: tuple[str, ...] = ()
    #: The first of those that were undone; ``refused_total`` counts all.
    refused: tuple[RefusedEdit, ...] = ()
    refused_total: Count = 0
    seconds: Price = 0.0
    input_tokens: Count = 0
    output_tokens: Count = 0
    usd: Price | None = None


class Recovery(Struct, frozen=True):
    """All attempts, and the patch with which the build passes."""

    outcome: RecoveryOutcome
    reason: str
    rounds: tuple[RepairRound, ...] = ()
    #: What ``git apply`` reads, on top of the merged tree; empty unless it is recovered.
    patch: str = ""

    @property
    def usd(self) -> float | None:
        costs = [each.usd for each in self.rounds if each.usd is not None]
        return sum(costs) if costs else None

    @property
    def outcome_sentence(self) -> str:
        count = len(self.rounds)
        rounds = f"{count} round{'' if count == 1 else 's'}"
        cost = "" if self.usd is None else f", ${self.usd:.2f}"
        if self.outcome == "recovered":
            files = len(self.rounds[-1].edited)
            edited = f"{files} file{'' if files == 1 else 's'}"
            sentence = f"recoverable: patch attached, recovered in round {count} ({edited}{cost})"
            return f"{sentence}; the verdict on this pull request stays"
        if self.outcome == "not_tried":
            return f"not recovered: {self.reason}"
        return f"not recovered in {rounds}{cost}: {self.reason}"


@dataclass(frozen=True)
class EarlierVotes:
    """What models said of a change in an earlier run."""

    #: The change's name (`prjury.snapshot.model`).
    patch: str
    policy: str
    #: By tier and judge; those that passed or failed.
    judgments: Mapping[tuple[str, str], Judgment]


@dataclass(frozen=True)
class Report:
    """All that is known of a run. Every publisher and every format shows a part of it."""

    pull: PullRequest
    verdict: Verdict
    gate: Gate
    headline: str
    tiers: tuple[TierReport, ...]
    coverage: Coverage
    policy: PolicyOrigin
    sandbox: Sandbox
    version: str
    backports: tuple[Backport, ...] = ()
    cost: Cost = NO_COST
    elapsed_ms: int = 0
    notes: tuple[str, ...] = ()
    #: Who opened a gate that the verdict had closed; None where nobody did.
    override: Override | None = None
    recovery: Recovery | None = None
    since: Since | None = None
    dismissals: tuple[Dismissal, ...] = ()
    answers_commands: bool = True
