"""The report: everything that may be said about one run, as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from prjury.jury.cascade import TierAttempt, Verdict
from prjury.jury.gate import Gate
from prjury.jury.judgment import Check, Judgment
from prjury.report.recovery import Recovery
from prjury.snapshot.model import Conflict, PullRequest

BackportVerdict: TypeAlias = Literal[
    "suitable",
    "suitable_with_changes",
    "needs_human",
    "not_suitable",
    "already_present",
    "not_applicable",
    "error",
]


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A file, or a part of it, that no judge has read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of what the pull request adds was read.

    Attributes:
        scope: ``"lines"`` where judges of content have looked; ``"tree"`` where none has: then
            every readable line counts as judged if a build really ran, and none counts if not.
        files_total: every changed file.
        added_lines_total: the added lines that a judge could have read.
        unread_content: changed programs, archives and submodules, which only a human can judge.
    """

    scope: Literal["lines", "tree"]
    files_total: int
    files_judged: int
    added_lines_total: int
    added_lines_judged: int
    not_checked: tuple[NotChecked, ...] = ()
    unread_content: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedJudge:
    """A judge that was not asked for, and who said so."""

    judge: str
    reason: str


@dataclass(frozen=True, slots=True)
class TierReport:
    """One tier's attempt and the judges of it that were never seated."""

    attempt: TierAttempt
    skipped: tuple[SkippedJudge, ...] = ()


#: How the only reason of a branch begins on which nothing was tried.
NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class Backport:
    """Whether the change can be brought to one release branch.

    Attributes:
        applies: whether the trial pick was clean; None without a trial.
        prerequisites: what has to be picked first, oldest first: object name and subject.
        score: how likely maintainers are to backport such a change, 0..1; None without a trial.
        commands: what to type to get the picked branch.
        checks: what was looked at, in order.
        band: what the score says.
        branch_sha: the tip that the change was tried on, None where there is no such branch.
        asked: what people ask for; None where nobody has said anything.
        tree: what the branch would hold afterwards, what has to be picked first included; None
            where the pick conflicts.
    """

    branch: str
    verdict: BackportVerdict
    applies: bool | None
    conflicts: tuple[Conflict, ...] = ()
    prerequisites: tuple[str, ...] = ()
    score: float | None = None
    reasons: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    band: Literal["likely", "grey", "unlikely"] | None = None
    branch_sha: str | None = None
    tree: str | None = None
    asked: Literal["yes", "no"] | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What the models took; ``usd`` is None where a price is not known."""

    llm_calls: int = 0
    cached_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0


@dataclass(frozen=True)
class PolicyOrigin:
    """Where the policy came from.

    Attributes:
        source: ``base:<sha>:<path>``, ``default`` or ``file:<path>``.
        hash: sha256 of the resolved policy, 64 hex digits.
        resolved: the policy with every default filled in.
    """

    source: str
    hash: str
    resolved: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How builds were kept in."""

    level: str
    network: bool


#: The label of an override that was asked for in a comment.
OVERRIDE_COMMAND = "/prjury override"


@dataclass(frozen=True, slots=True)
class Override:
    """A maintainer's word that opens the gate for one head, whatever the verdict says.

    Attributes:
        label: the label, or `OVERRIDE_COMMAND`.
        by: the account that put the label on, or wrote the comment.
        reason: what the comment says; empty for a label.
    """

    label: str
    by: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ChangedNames:
    """What a change does to public names, by their signatures.

    Attributes:
        breaking: how many removals and changes may break callers.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    breaking: int = 0


@dataclass(frozen=True, slots=True)
class Since:
    """What became of the findings of the last verdict on another head.

    Attributes:
        head: the commit that it was about.
        not_judged: findings that are not there any more, where some judge did not come to a vote.
        before: the fingerprints of its findings.
    """

    head: str
    fixed: int
    open: int
    new: int
    not_judged: int = 0
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dismissal:
    """A maintainer's word that a finding is not to be acted on. It changes no verdict.

    Attributes:
        finding: its fingerprint, so that it ends where the content changes.
        by: the account that wrote the comment.
    """

    finding: str
    by: str
    reason: str


@dataclass(frozen=True)
class EarlierVotes:
    """What models said of a change in an earlier run.

    Attributes:
        patch: the change's name (`prjury.snapshot.model`).
        policy: the hash of the policy by which they were asked.
        judgments: by tier and judge; those that passed or failed.
        override: who had opened the gate for it.
    """

    patch: str
    policy: str
    judgments: Mapping[tuple[str, str], Judgment]
    override: Override | None = None


@dataclass(frozen=True)
class Report:
    """All that is known of a run. Every publisher and every format shows a part of it.

    Attributes:
        headline: the first line for people: the decision and its one main reason.
        notes: what a reader must know beyond the verdict, such as a policy change in this very
            pull request.
        override: who opened a gate that the verdict had closed; None where nobody did.
        recovery: what came of an attempt to repair the tests; None where none was made.
        since: what became of the findings of the last verdict on another head, if that is known.
        dismissals: what maintainers have said of findings of this report.
        names: what the change does to public names; None where that is not known.
    """

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
    cost: Cost = Cost()
    elapsed_ms: int = 0
    notes: tuple[str, ...] = ()
    override: Override | None = None
    recovery: Recovery | None = None
    since: Since | None = None
    dismissals: tuple[Dismissal, ...] = ()
    names: ChangedNames | None = None
