"""Reports as JSON values, their published schema, and the verdict derived again from one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from prjury.jury.cascade import conclude
from prjury.jury.codec import check_to_json, plain
from prjury.jury.gate import Gate
from prjury.jury.judge import MODEL_BACKED, JudgeType
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.score import NumericalScore
from prjury.jury.verdicts import JuryVerdict, TierAttempt, TierPolicy, Verdict
from prjury.jury.voting import Ballot
from prjury.report.assemble import gate_policy_of, hold
from prjury.report.backports import Backports
from prjury.report.judge_facts import GeneralFacts
from prjury.report.model import (
    Backport,
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
from prjury.report.sanitise import BY_SHAPE, Redact, redact_text, show_surrogates
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
    elapsed_ms: Count
    version: str
    recovery: Recovery | None = None


def report_schema() -> Json:
    _, parts = msgspec.json.schema_components([ReportJson], ref_template="#/$defs/{name}")
    parts["Check"]["properties"]["fingerprint"] = _FINGERPRINT
    form = parts.pop("ReportJson")
    form["properties"]["schema"] = {"const": SCHEMA_NAME}
    return {"$schema": _DIALECT, "$id": SCHEMA_NAME, **form, "$defs": parts}


def read_form(data: object, json_type: type[Form]) -> Form:
    """Read a JSON value in one of these forms, or raise ValueError with the place in it."""
    try:
        return msgspec.convert(data, json_type)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def report_to_json(report: Report, redact: Redact = BY_SHAPE) -> Json:
    verdict, recovery = report.verdict, report.recovery
    value = _fill_form(
        ReportJson,
        report,
        schema=SCHEMA_NAME,
        pull=_fill_pull(report.pull),
        verdict=_fill_form(VerdictJson, verdict, report, reasoning=verdict.aggregated.reasoning),
        tiers=[_tier_to_json(tier) for tier in report.tiers],
        backports=[_backport_to_json(backport) for backport in report.backports],
        recovery={**msgspec.to_builtins(recovery), "usd": recovery.usd} if recovery else None,
    )
    return printable_json(value, redact)


def backports_to_json(backports: Backports, redact: Redact = BY_SHAPE) -> Json:
    value = {
        "schema": "prjury/backports/v1",
        "headline": backports.headline,
        "pull": _fill_pull(backports.pull),
        "backports": [_backport_to_json(backport) for backport in backports.backports],
        "policy": {"source": backports.policy, "hash": backports.policy_hash},
        "notes": list(backports.notes),
        "elapsed_ms": backports.elapsed_ms,
        "version": backports.version,
    }
    return printable_json(value, redact)


def printable_json(value: Mapping[str, Any], redact: Redact) -> Json:
    """Return JSON whose strings hold no secrets and no lone surrogates."""
    printed: Json = _redact_value(msgspec.to_builtins(value), redact)
    return printed


def _redact_value(value: Any, redact: Redact) -> Any:  # noqa: ANN401 - JSON
    match value:
        case str():
            return redact_text(show_surrogates(value), redact)
        case dict():
            pairs = [(key, _redact_value(item, redact)) for key, item in value.items()]
            return {_redact_value(key, redact): item for key, item in pairs}
        case list() | tuple():
            return [_redact_value(item, redact) for item in value]
    return value


def _fill_form(form: type[Struct], *values: object, **parts: object) -> Json:
    """Return the fields of a form: from the parts, or from the first value that has them."""
    for name in form.__struct_fields__:
        for value in values if name not in parts else ():
            if hasattr(value, name):
                parts[name] = getattr(value, name)
                break
    return {name: parts[name] for name in form.__struct_fields__}


def _fill_pull(pull: PullRequest) -> Json:
    files = [_fill_form(FileJson, file) for file in pull.files]
    tree, patch = pull.merge.tree, patch_id(pull)
    return _fill_form(PullJson, pull, merged_tree=tree, files=files, patch_id=patch)


def _backport_to_json(backport: Backport) -> Json:
    value: Json = msgspec.to_builtins(backport)
    for conflict in value["conflicts"]:
        for region in conflict["regions"]:
            del region["texts"]
    return {**value, "checks": [check_to_json(check) for check in backport.checks]}


def _tier_to_json(tier: TierReport) -> Json:
    attempt, verdict = tier.attempt, tier.attempt.verdict
    judgment = verdict.aggregated if verdict else None
    return _fill_form(
        TierJson,
        attempt,
        tier,
        label=judgment.label if judgment and attempt.status is Status.ABSTAIN else None,
        reasoning=judgment.reasoning if judgment else None,
        aggregation=GeneralFacts.parse(judgment).aggregation if judgment else None,
        judgments=[_ballot_to_json(ballot) for ballot in (verdict.ballots if verdict else ())],
    )


def _ballot_to_json(ballot: Ballot) -> Json:
    judgment = ballot.judgment
    return _fill_form(
        JudgmentJson,
        judgment,
        ballot,
        score=judgment.score.normalized if judgment.score else None,
        checks=[check_to_json(check) for check in judgment.checks],
        metadata=plain(judgment.metadata),
    )


#: Counts the ballots of a tier that ran and has some again.
Recount: TypeAlias = Callable[[str, Sequence[Ballot], Mapping[str, Any]], Judgment]


def verdict_from_report(report: ReportJson, recount: Recount | None = None) -> Verdict:
    """Derive the verdict again from the judgments of a report.

    Nothing that the report says of its own verdict is believed: the tiers are concluded again and
    held to the coverage floor that the report's policy names. Without ``recount``, what it says of
    each tier's vote stands. Raises ValueError for judgments that cannot be.
    """
    verdict = conclude([_read_attempt(tier, recount) for tier in report.tiers])
    return hold(verdict, report.coverage, gate_policy_of(report.policy))


def read_model_votes(report: ReportJson) -> EarlierVotes:
    """Return what models said of a change, for the next time that it is judged."""
    judgments = {
        (tier.name, ballot.judge): ballot_of(ballot).judgment
        for tier in report.tiers
        for ballot in tier.judgments
        if ballot.type in MODEL_BACKED and ballot.status in {Status.PASS, Status.FAIL}
    }
    return EarlierVotes(report.pull.patch_id or "", report.policy.hash, judgments)


def ballot_of(ballot: JudgmentJson) -> Ballot:
    judgment = Judgment(
        ballot.status,
        ballot.reasoning,
        None if ballot.score is None else NumericalScore(ballot.score),
        ballot.label,
        ballot.confidence,
        ballot.checks,
        ballot.metadata,
    )
    return Ballot(ballot.judge, judgment, ballot.weight, ballot.type, ballot.elapsed_ms)


def _read_attempt(tier: TierJson, recount: Recount | None) -> TierAttempt:
    ballots = tuple(map(ballot_of, tier.judgments))
    counts = tier.aggregation or {}
    aggregate = recount(tier.name, ballots, counts) if recount and ballots else _read_vote(tier)
    verdict = JuryVerdict(aggregate, ballots) if tier.ran else None
    return TierAttempt(
        tier.name, tier.policy, tier.advisory, verdict, tier.skipped_because, tier.elapsed_ms
    )


def _read_vote(tier: TierJson) -> Judgment:
    """Return the tier's own judgment; a tier that says nothing of itself has erred."""
    status, counts = tier.status or Status.ERROR, tier.aggregation or {}
    score = counts.get("score") if status in {Status.PASS, Status.FAIL} else None
    return Judgment(
        status,
        tier.reasoning or "the report gives no reason",
        NumericalScore(score) if isinstance(score, int | float) else None,
        tier.label if status is Status.ABSTAIN else None,
        metadata={"aggregation": counts} if counts else {},
    )
