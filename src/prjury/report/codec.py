"""Reports as JSON values, their published schema, and the verdict derived again from one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from prjury.jury.cascade import TierAttempt, TierPolicy, Verdict, conclude
from prjury.jury.codec import check_to_json, plain
from prjury.jury.gate import Gate
from prjury.jury.judge import MODEL_BACKED, JudgeType
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.jury import JuryVerdict
from prjury.jury.score import NumericalScore, Score
from prjury.jury.voting import Ballot
from prjury.report.assemble import gate_policy_of, hold
from prjury.report.invisible_chars import show_surrogates
from prjury.report.judge_facts import GeneralFacts
from prjury.report.model import (
    Backport,
    ChangedNames,
    Cost,
    Count,
    Coverage,
    Dismissal,
    EarlierVotes,
    Override,
    PolicyOrigin,
    Price,
    Recovery,
    Report,
    Sandbox,
    Share,
    Since,
    SkippedJudge,
    TierReport,
)
from prjury.report.redact import Redact, redacted
from prjury.report.sanitise import BY_SHAPE
from prjury.snapshot.model import FileStatus, PullRequest, Side, patch_id

Json: TypeAlias = dict[str, Any]
Form = TypeVar("Form")

SCHEMA_NAME: Final = "prjury/report/v1"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FINGERPRINT = {"type": "string", "description": "stays the same when only line numbers move"}


class FileJson(Struct, frozen=True):
    """A changed file."""

    path: str
    old_path: str | None
    status: FileStatus
    additions: Count
    deletions: Count
    new_blob: str | None = None


class PullJson(Struct, frozen=True, kw_only=True):
    """The pull request."""

    repo: str
    number: int | None
    title: str
    author: str | None
    draft: bool
    url: str | None = None
    labels: tuple[str, ...] = ()
    base: Side
    head: Side
    merge_base: str
    behind: Count
    additions: Count
    deletions: Count
    merged_tree: str | None
    files: tuple[FileJson, ...]
    patch_id: (
        Annotated[str, Meta(description="the same after a rebase that moves lines only")] | None
    ) = None


class VerdictJson(Struct, frozen=True):
    """The verdict, the gate and the first line for people."""

    status: Status
    decided_by: str | None
    reasoning: str
    gate: Gate
    headline: str
    override: Override | None = None


class JudgmentJson(Struct, frozen=True):
    """One judge's ballot; the score is normalised, and null where the judge gave none."""

    judge: str
    type: JudgeType
    weight: Price
    status: Status
    score: Share | None
    label: str | None
    confidence: Share | None
    reasoning: str
    elapsed_ms: Count
    checks: tuple[Check, ...]
    metadata: dict[str, Any]


class TierJson(Struct, frozen=True, kw_only=True):
    """One tier, whether it ran or not; the label is that of its own abstention."""

    name: str
    policy: TierPolicy
    advisory: bool
    ran: bool
    skipped_because: str | None
    status: Status | None
    label: str | None = None
    reasoning: str | None
    elapsed_ms: Count = 0
    aggregation: dict[str, Any] | None
    judgments: tuple[JudgmentJson, ...]
    skipped: tuple[SkippedJudge, ...]


class ReportJson(Struct, frozen=True, kw_only=True):
    """A report of PR Jury. Readers must put up with keys that they do not know."""

    schema: Literal["prjury/report/v1"]
    pull: PullJson
    verdict: VerdictJson
    tiers: tuple[TierJson, ...]
    coverage: Coverage
    backports: tuple[Backport, ...]
    cost: Cost
    policy: PolicyOrigin
    sandbox: Sandbox
    notes: tuple[str, ...] = ()
    since: Since | None = None
    dismissals: tuple[Dismissal, ...] = ()
    names: ChangedNames | None = None
    elapsed_ms: Count
    version: str
    recovery: Recovery | None = None


def report_schema() -> Json:
    """Return the JSON Schema (2020-12) that every report satisfies."""
    _, parts = msgspec.json.schema_components([ReportJson], ref_template="#/$defs/{name}")
    parts["Check"]["properties"]["fingerprint"] = _FINGERPRINT
    form = parts.pop("ReportJson")
    form["properties"]["schema"] = {"const": SCHEMA_NAME}
    return {"$schema": _DIALECT, "$id": SCHEMA_NAME, **form, "$defs": parts}


def read_form(data: object, form: type[Form]) -> Form:
    """Read a JSON value in one of these forms."""
    try:
        return msgspec.convert(data, form)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def report_to_json(report: Report, redact: Redact = BY_SHAPE) -> Json:
    """Return the report in the form ``prjury/report/v1``: no secrets, no lone surrogates."""
    verdict = report.verdict
    parts = {
        "schema": SCHEMA_NAME,
        "pull": pull_to_json(report.pull),
        "verdict": {
            "status": verdict.status,
            "decided_by": verdict.decided_by,
            "reasoning": verdict.aggregated.reasoning,
            "gate": report.gate,
            "headline": report.headline,
            "override": report.override,
        },
        "tiers": [_tier(tier) for tier in report.tiers],
        "backports": [backport_to_json(backport) for backport in report.backports],
        "recovery": _recovery(report.recovery),
    }
    names = ReportJson.__struct_fields__
    value = {name: parts[name] if name in parts else getattr(report, name) for name in names}
    printed: Json = printable_json(value, redact)
    return printed


#: Counts the ballots of a tier that ran and has some again.
Recount: TypeAlias = Callable[[str, Sequence[Ballot], Mapping[str, Any]], Judgment]


def verdict_from_report(data: Mapping[str, Any], recount: Recount | None = None) -> Verdict:
    """Derive the verdict again from the judgments of a JSON report.

    Nothing that the report says of its own verdict is believed: the tiers are concluded again and
    held to the coverage floor that the report's policy names.
    """
    report = read_form(data, ReportJson)
    verdict = conclude([_attempt(tier, recount) for tier in report.tiers])
    return hold(verdict, report.coverage, gate_policy_of(report.policy))


def read_earlier_votes(data: Mapping[str, Any]) -> EarlierVotes:
    """Return what models said of a change, for the next time that it is judged."""
    report = read_form(data, ReportJson)
    judgments = {
        (tier.name, ballot.judge): ballot_of(ballot).judgment
        for tier in report.tiers
        for ballot in tier.judgments
        if ballot.type in MODEL_BACKED and ballot.status in {Status.PASS, Status.FAIL}
    }
    patch, policy = report.pull.patch_id or "", report.policy.hash
    return EarlierVotes(patch, policy, judgments)


def printable_json(value: object, redact: Redact) -> Any:  # noqa: ANN401 - JSON
    """Return the value as JSON, with strings free of secrets and lone surrogates."""
    return _printable(msgspec.to_builtins(value), redact)


def _printable(value: Any, redact: Redact) -> Any:  # noqa: ANN401 - JSON
    match value:
        case str():
            return redacted(show_surrogates(value), redact)
        case dict():
            return {
                _printable(key, redact): _printable(item, redact) for key, item in value.items()
            }
        case list() | tuple():
            return [_printable(item, redact) for item in value]
    return value


def pull_to_json(pull: PullRequest) -> Json:
    """Return what the report tells of a pull request; its nested values are not JSON yet."""
    same = (
        "repo number title author draft url labels base head merge_base behind additions deletions"
    )
    return {
        **{name: getattr(pull, name) for name in same.split()},
        "merged_tree": pull.merge.tree,
        "files": [
            {name: getattr(file, name) for name in FileJson.__struct_fields__}
            for file in pull.files
        ],
        "patch_id": patch_id(pull),
    }


def backport_to_json(backport: Backport) -> Json:
    """Return what the report tells of one release branch."""
    value: Json = msgspec.to_builtins(backport)
    for conflict in value["conflicts"]:
        for region in conflict["regions"]:
            del region["texts"]
    return {**value, "checks": [check_to_json(check) for check in backport.checks]}


def _recovery(recovery: Recovery | None) -> Json | None:
    return {**msgspec.to_builtins(recovery), "usd": recovery.usd} if recovery else None


def _tier(tier: TierReport) -> Json:
    attempt = tier.attempt
    judgment = attempt.verdict.aggregated if attempt.verdict else None
    ballots: Iterable[Ballot] = attempt.verdict.ballots if attempt.verdict else ()
    return {
        "name": attempt.name,
        "policy": attempt.policy,
        "advisory": attempt.advisory,
        "ran": attempt.ran,
        "skipped_because": attempt.skipped_because,
        "status": attempt.status,
        "label": judgment.label if judgment and attempt.status is Status.ABSTAIN else None,
        "reasoning": judgment.reasoning if judgment else None,
        "elapsed_ms": attempt.elapsed_ms,
        "aggregation": GeneralFacts.of(judgment).aggregation if judgment else None,
        "judgments": [_judgment(ballot) for ballot in ballots],
        "skipped": tier.skipped,
    }


def _judgment(ballot: Ballot) -> Json:
    judgment = ballot.judgment
    return {
        "judge": ballot.judge,
        "type": ballot.type,
        "weight": ballot.weight,
        "status": judgment.status,
        "score": judgment.score.normalized if judgment.score else None,
        "label": judgment.label,
        "confidence": judgment.confidence,
        "reasoning": judgment.reasoning,
        "elapsed_ms": ballot.elapsed_ms,
        "checks": [check_to_json(check) for check in judgment.checks],
        "metadata": plain(judgment.metadata),
    }


def _attempt(tier: TierJson, recount: Recount | None) -> TierAttempt:
    ballots = tuple(map(ballot_of, tier.judgments))
    counted = recount(tier.name, ballots, tier.aggregation or {}) if recount and ballots else None
    verdict = JuryVerdict(counted or _read_aggregate(tier), ballots)
    return TierAttempt(
        tier.name,
        tier.policy,
        tier.advisory,
        verdict if tier.ran else None,
        tier.skipped_because,
        tier.elapsed_ms,
    )


def _read_aggregate(tier: TierJson) -> Judgment:
    """Return the tier's own judgment; a tier that says nothing of itself has erred."""
    status = tier.status or Status.ERROR
    counted = tier.aggregation or {}
    score = counted.get("score") if status in {Status.PASS, Status.FAIL} else None
    return Judgment(
        status,
        tier.reasoning or "the report gives no reason",
        NumericalScore(score) if isinstance(score, int | float) else None,
        tier.label if status is Status.ABSTAIN else None,
        metadata={"aggregation": counted} if tier.aggregation else {},
    )


def ballot_of(ballot: JudgmentJson) -> Ballot:
    """Return the ballot that a report holds."""
    score: Score | None = None if ballot.score is None else NumericalScore(ballot.score)
    judgment = Judgment(
        ballot.status,
        ballot.reasoning,
        score,
        ballot.label,
        ballot.confidence,
        ballot.checks,
        ballot.metadata,
    )
    return Ballot(ballot.judge, judgment, ballot.weight, ballot.type, ballot.elapsed_ms)
