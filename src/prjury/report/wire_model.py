"""The models of the JSON report ``prjury/report/v1``; they are the published JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from prjury.jury.cascade import TierPolicy
from prjury.jury.gate import Gate
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Severity, Status
from prjury.report.model import BackportVerdict
from prjury.report.recovery import RecoveryOutcome
from prjury.snapshot.model import ConflictType, FileStatus

SCHEMA_NAME: Final = "prjury/report/v1"

Share: TypeAlias = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Count: TypeAlias = Annotated[int, Field(ge=0)]
LineNumber: TypeAlias = Annotated[int, Field(ge=1)]
Sha: TypeAlias = Annotated[str, Field(description="object name, hexadecimal")]


class ReportPart(BaseModel):
    """A part of the report. Readers must put up with keys that they do not know."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, defer_build=True)


class SideJson(ReportPart):
    """A branch and the commit that it stood for."""

    ref: str
    sha: Sha


class FileJson(ReportPart):
    """A changed file."""

    path: str
    old_path: str | None
    status: FileStatus
    additions: Count
    deletions: Count


class PullJson(ReportPart):
    """The pull request."""

    repo: str
    number: int | None
    title: str
    author: str | None
    draft: bool
    url: str | None = None
    labels: list[str] = Field(default_factory=list)
    base: SideJson
    head: SideJson
    merge_base: Sha
    merged_tree: Sha | None
    behind: Count
    additions: Count
    deletions: Count
    files: list[FileJson]
    patch_id: str | None = Field(None, description="the same after a rebase that moves lines only")


class OverrideJson(ReportPart):
    """Who opened the gate for this head, and by which label or comment."""

    label: str
    by: str
    reason: str = ""


class VerdictJson(ReportPart):
    """The verdict, the gate and the first line for people."""

    status: Status
    decided_by: str | None
    reasoning: str
    gate: Gate
    headline: str
    override: OverrideJson | None = None


class LocationJson(ReportPart):
    """A place in a file; ``end_line`` is inclusive."""

    path: str
    line: LineNumber | None
    end_line: LineNumber | None


class CheckJson(ReportPart):
    """One thing that a judge looked at."""

    name: str
    passed: bool
    message: str
    severity: Severity
    location: LocationJson | None
    evidence: str | None
    fix: str | None
    fingerprint: str = Field(description="stays the same when only line numbers move")


class JudgmentJson(ReportPart):
    """One judge's ballot."""

    judge: str
    type: JudgeType
    weight: Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
    status: Status
    score: Share | None = Field(description="normalised; null where the judge gave none")
    label: str | None
    confidence: Share | None
    reasoning: str
    elapsed_ms: Count
    checks: list[CheckJson]
    metadata: dict[str, Any]


class SkippedJson(ReportPart):
    """A judge that was not asked for."""

    judge: str
    reason: str


class TierJson(ReportPart):
    """One tier, whether it ran or not."""

    name: str
    policy: TierPolicy
    advisory: bool
    ran: bool
    skipped_because: str | None
    status: Status | None
    label: str | None = Field(None, description="the label of the tier's own abstention")
    reasoning: str | None
    elapsed_ms: Count = 0
    aggregation: dict[str, Any] | None
    judgments: list[JudgmentJson]
    skipped: list[SkippedJson]


class NotCheckedJson(ReportPart):
    """A file that nobody read, and why."""

    path: str
    reason: str


class CoverageJson(ReportPart):
    """How much of what the pull request adds was read."""

    scope: Literal["lines", "tree"]
    files_total: Count
    files_judged: Count
    added_lines_total: Count
    added_lines_judged: Count
    not_checked: list[NotCheckedJson]
    unread_content: list[str] = []


class SpanJson(ReportPart):
    """Lines of a file: the first one and how many; none stand before that line."""

    first: LineNumber
    count: Count


class RegionJson(ReportPart):
    """One place where the sides disagree."""

    head: SpanJson
    onto: SpanJson


class ConflictJson(ReportPart):
    """A file that does not merge by itself."""

    path: str
    type: ConflictType
    mechanical: bool
    reason: str
    lines: tuple[int, int] | None = Field(None, description="first and last line at the head")
    regions: list[RegionJson] = Field(default_factory=list)


class BackportJson(ReportPart):
    """One release branch."""

    branch: str
    verdict: BackportVerdict
    applies: bool | None
    conflicts: list[ConflictJson]
    prerequisites: list[str]
    score: Share | None
    reasons: list[str]
    commands: list[str]
    checks: list[CheckJson]
    band: Literal["likely", "grey", "unlikely"] | None
    branch_sha: str | None
    tree: str | None
    asked: Literal["yes", "no"] | None


class CostJson(ReportPart):
    """What the models took; ``usd`` is null where a price is not known."""

    llm_calls: Count
    cached_calls: Count
    input_tokens: Count
    output_tokens: Count
    usd: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None


class RefusedEditJson(ReportPart):
    """A file that an agent changed although it may not; undone."""

    path: str
    reason: str


class RepairRoundJson(ReportPart):
    """One attempt to repair the tests."""

    number: Count
    outcome: str
    edited: list[str]
    refused: list[RefusedEditJson]
    refused_total: Count
    seconds: Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
    input_tokens: Count
    output_tokens: Count
    usd: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None


class RecoveryJson(ReportPart):
    """What came of an agent's attempt to repair the tests; it has no vote.

    ``patch`` is what ``git apply`` reads, on top of the merged tree; empty unless it is recovered.
    """

    outcome: RecoveryOutcome
    reason: str
    rounds: list[RepairRoundJson]
    patch: str
    usd: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None


class PolicyJson(ReportPart):
    """Where the policy came from, and the policy with every default filled in."""

    source: str
    hash: str
    resolved: dict[str, Any]


class SandboxJson(ReportPart):
    """How builds were kept in."""

    level: str
    network: bool


class SinceJson(ReportPart):
    """What became of the findings of the last verdict on another head."""

    head: Sha
    fixed: Count
    open: Count
    new: Count
    not_judged: Count = Field(0, description="gone, but some judge did not come to a vote")


class ChangedNamesJson(ReportPart):
    """What the change does to public names."""

    added: list[str]
    changed: list[str]
    removed: list[str]
    breaking: Count


class DismissalJson(ReportPart):
    """Who dismissed which finding, and why; it changes no verdict."""

    finding: str = Field(description="the fingerprint of its check")
    by: str
    reason: str


class ReportJson(ReportPart):
    """A report of PR Jury."""

    schema_: Literal["prjury/report/v1"] = Field(SCHEMA_NAME, alias="schema")
    pull: PullJson
    verdict: VerdictJson
    tiers: list[TierJson]
    coverage: CoverageJson
    backports: list[BackportJson]
    cost: CostJson
    policy: PolicyJson
    sandbox: SandboxJson
    notes: list[str] = Field(default_factory=list)
    since: SinceJson | None = None
    dismissals: list[DismissalJson] = Field(default_factory=list)
    names: ChangedNamesJson | None = None
    elapsed_ms: Count
    version: str
    recovery: RecoveryJson | None = None


def report_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) that every report satisfies."""
    schema = ReportJson.model_json_schema(by_alias=True, mode="serialization")
    named = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_NAME}
    return {**named, **schema}
