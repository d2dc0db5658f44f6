"""Reports as JSON values, and the verdict derived again from one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, TypeAlias

from prjury.jury.cascade import TierAttempt, Verdict, conclude
from prjury.jury.codec import check_from_json, check_to_json
from prjury.jury.gate import Gate, gate
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import JuryVerdict
from prjury.jury.score import NumericalScore, Score
from prjury.jury.voting import Ballot
from prjury.report.assemble import gate_policy_of, hold
from prjury.report.invisible_chars import without_surrogates
from prjury.report.judge_facts import GeneralFacts
from prjury.report.model import (
    Backport,
    Coverage,
    EarlierVotes,
    Override,
    PolicyOrigin,
    Report,
    TierReport,
)
from prjury.report.recovery import Recovery
from prjury.report.redact import Redact, redacted
from prjury.report.sanitise import BY_SHAPE
from prjury.report.wire_model import SCHEMA_NAME, FileJson, JudgmentJson, ReportJson, TierJson
from prjury.snapshot.model import PullRequest, patch_id

Json: TypeAlias = dict[str, Any]


def report_to_json(report: Report, redact: Redact = BY_SHAPE) -> Json:
    """The report in the form ``prjury/report/v1``: no secrets, no lone surrogates."""
    value = {
        "schema": SCHEMA_NAME,
        "pull": pull_to_json(report.pull),
        "verdict": {
            "status": report.verdict.status,
            "decided_by": report.verdict.decided_by,
            "reasoning": report.verdict.aggregated.reasoning,
            "gate": report.gate,
            "headline": report.headline,
            "override": report.override,
        },
        "tiers": [_tier(tier) for tier in report.tiers],
        "coverage": report.coverage,
        "backports": [backport_to_json(backport) for backport in report.backports],
        "cost": report.cost,
        "recovery": _recovery(report.recovery),
        "policy": report.policy,
        "sandbox": report.sandbox,
        "notes": report.notes,
        "since": report.since,
        "dismissals": report.dismissals,
        "names": report.names,
        "elapsed_ms": report.elapsed_ms,
        "version": report.version,
    }
    checked = ReportJson.model_validate(printable_json(value, redact))
    return checked.model_dump(mode="json", by_alias=True)


#: Counts the ballots of a tier that ran and has some again.
Recount: TypeAlias = Callable[[str, Sequence[Ballot], Mapping[str, Any]], Judgment]


def verdict_from_report(data: Mapping[str, Any], recount: Recount | None = None) -> Verdict:
    """The verdict, derived again from the judgments of a JSON report.

    Nothing that the report says of its own verdict is believed: the tiers are concluded again and
    held to the coverage floor that the report's policy names.

    Args:
        recount: gets a tier's name, ballots and ``aggregation``; without one, what the report says
            of the tier's vote stands.

    Raises:
        ValueError: for a value that is no such report.
    """
    report = ReportJson.model_validate(data)
    verdict = conclude([_attempt(tier, recount) for tier in report.tiers])
    counts = report.coverage.model_dump(exclude={"not_checked"})
    return hold(verdict, Coverage(**counts), gate_policy_of(_origin(report)))


def gate_from_report(data: Mapping[str, Any], recount: Recount | None = None) -> Gate:
    """The gate, decided again from the judgments and the policy of a JSON report.

    A maintainer's override is no conclusion from anything, so it is taken as it stands there.

    Raises:
        ValueError: for a value that is no such report.
    """
    report = ReportJson.model_validate(data)
    if report.verdict.override:
        return Gate.SUCCESS
    return gate(verdict_from_report(data, recount), gate_policy_of(_origin(report)))


def said_in_report(data: Mapping[str, Any]) -> EarlierVotes:
    """What was said of a change by models and maintainers, for the next time that it is judged.

    Raises:
        ValueError: for a value that is no such report.
    """
    report = ReportJson.model_validate(data)
    judgments = {
        (tier.name, ballot.judge): _ballot(ballot).judgment
        for tier in report.tiers
        for ballot in tier.judgments
        if ballot.type in {JudgeType.LLM_POWERED, JudgeType.AGENT}
        and ballot.status in {Status.PASS, Status.FAIL}
    }
    found = report.verdict.override
    override = Override(found.label, found.by, found.reason) if found else None
    return EarlierVotes(report.pull.patch_id or "", report.policy.hash, judgments, override)


def _origin(report: ReportJson) -> PolicyOrigin:
    return PolicyOrigin(report.policy.source, report.policy.hash, report.policy.resolved)


def printable_json(value: Any, redact: Redact) -> Any:  # noqa: ANN401 - JSON
    """The value with dataclasses as objects, and strings free of secrets and lone surrogates."""
    match value:
        case str():
            return redacted(without_surrogates(value), redact)
        case Mapping():
            return {
                printable_json(key, redact): printable_json(item, redact)
                for key, item in value.items()
            }
        case list() | tuple():
            return [printable_json(item, redact) for item in value]
    return printable_json(_fields(value), redact) if is_dataclass(value) else value


def _fields(value: Any, **instead: Any) -> Json:  # noqa: ANN401 - any of the report's values
    """The attributes of a dataclass, some of them replaced."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__} | instead


def pull_to_json(pull: PullRequest) -> Json:
    """What the report tells of a pull request; its nested values are dataclasses still."""
    same = (
        "repo number title author draft url labels base head merge_base behind additions deletions"
    )
    return {
        **{name: getattr(pull, name) for name in same.split()},
        "merged_tree": pull.merge.tree,
        "files": [{name: getattr(f, name) for name in FileJson.model_fields} for f in pull.files],
        "patch_id": patch_id(pull),
    }


def backport_to_json(backport: Backport) -> Json:
    """What the report tells of one release branch; its nested values are dataclasses still."""
    return _fields(backport, checks=list(map(check_to_json, backport.checks)))


def _recovery(recovery: Recovery | None) -> Json | None:
    return _fields(recovery, usd=recovery.usd) if recovery else None


def _tier(tier: TierReport) -> Json:
    attempt = tier.attempt
    said = attempt.verdict.aggregated if attempt.verdict else None
    ballots: Iterable[Ballot] = attempt.verdict.ballots if attempt.verdict else ()
    return {
        "name": attempt.name,
        "policy": attempt.policy,
        "advisory": attempt.advisory,
        "ran": attempt.ran,
        "skipped_because": attempt.skipped_because,
        "status": attempt.status,
        "label": said.label if said and attempt.status is Status.ABSTAIN else None,
        "reasoning": said.reasoning if said else None,
        "elapsed_ms": attempt.elapsed_ms,
        "aggregation": GeneralFacts.of(said).aggregation if said else None,
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
        "metadata": judgment.metadata,
    }


def _attempt(tier: TierJson, recount: Recount | None) -> TierAttempt:
    ballots = tuple(map(_ballot, tier.judgments))
    counted = recount(tier.name, ballots, tier.aggregation or {}) if recount and ballots else None
    verdict = JuryVerdict(counted or _aggregated(tier), ballots)
    return TierAttempt(
        tier.name,
        tier.policy,
        tier.advisory,
        verdict if tier.ran else None,
        tier.skipped_because,
        tier.elapsed_ms,
    )


def _aggregated(tier: TierJson) -> Judgment:
    """The tier's own judgment; a tier that says nothing of itself has erred."""
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


def _ballot(ballot: JudgmentJson) -> Ballot:
    score: Score | None = None if ballot.score is None else NumericalScore(ballot.score)
    judgment = Judgment(
        ballot.status,
        ballot.reasoning,
        score,
        ballot.label,
        ballot.confidence,
        tuple(check_from_json(check.model_dump()) for check in ballot.checks),
        ballot.metadata,
    )
    return Ballot(ballot.judge, judgment, ballot.weight, ballot.type, ballot.elapsed_ms)
