"""The verdict of a report, derived again: no repository, no network, no model.

The ballots are believed, and nothing that the report concludes from them: each tier's votes are
counted again by the voting strategy of ``policy.resolved``, then the tiers are concluded, held to
what was read, and the gate is decided, by the functions that made the report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prjury.app.registry import voting_strategy
from prjury.errors import ExitCode, UsageError
from prjury.jury.cascade import Tier, find_stop_reason
from prjury.jury.count import LOWERING, NeverLifting, NeverOverruling, count_ballots
from prjury.jury.gate import Gate, gate
from prjury.jury.judge import MODEL_BACKED
from prjury.jury.judgment import Judgment
from prjury.jury.verdicts import TierAttempt, Verdict
from prjury.jury.voting import Ballot, VotingStrategy
from prjury.policy.load import read_options
from prjury.policy.tiers import TierConfig
from prjury.report.assemble import gate_policy_of
from prjury.report.codec import ReportJson, TierJson, read_form
from prjury.report.codec import verdict_from_report as derive_verdict


@dataclass(frozen=True)
class Derivation:
    """A verdict that was derived again.

    Attributes:
        overridden: whether a maintainer's label opened the gate, whatever the verdict.
        differences: where the report says something else, in words.
    """

    verdict: Verdict
    gate: Gate
    overridden: bool
    differences: tuple[str, ...]

    @property
    def exit_code(self) -> ExitCode:
        """The gate's exit code; an open gate that the report contradicts is not judged."""
        if self.differences and self.gate is Gate.SUCCESS:
            return ExitCode.NOT_JUDGED
        return self.gate.exit_code


def derive(data: Mapping[str, Any]) -> Derivation:
    """Derive the verdict of a JSON report again.

    Raises:
        UsageError: for a value that is no report, or a policy in it that cannot be read.
    """
    try:
        report = read_form(data, ReportJson)
        tiers = _tiers(report)
        recount = _Recount({tier.name: tier for tier in tiers})
        verdict = derive_verdict(report, recount)
        opened = gate_from_report(data, recount)
    except (ValueError, TypeError, AttributeError) as error:
        problem = " ".join(str(error).split("\n")[:3])
        raise UsageError(
            f"the report cannot be read: {problem}",
            remedy="Name a file that --format json has written",
        ) from error
    found = (*_roster(report, tiers, verdict), *_conclusions(report, verdict, opened))
    return Derivation(verdict, opened, report.verdict.override is not None, found)


def gate_from_report(data: Mapping[str, Any], recount: _Recount | None = None) -> Gate:
    """Decide the gate again from the judgments and the policy of a JSON report.

    A maintainer's override is no conclusion from anything, so it is taken as it stands there.

    Raises:
        ValueError: for a value that is no such report.
    """
    report = read_form(data, ReportJson)
    if report.verdict.override:
        return Gate.SUCCESS
    return gate(derive_verdict(report, recount), gate_policy_of(report.policy))


def _tiers(report: ReportJson) -> list[TierConfig]:
    """The tiers of the policy that was in force, by name and how they vote and decide."""
    fields = ("name", "policy", "voting", "continue_on_reject", "on_error", "min_confidence")
    entries = report.policy.resolved.get("tiers", [])
    return [
        read_options(
            {key: entry[key] for key in (*fields, "advisory") if key in entry}
            | {"judges": [_bare(judge) for judge in entry["judges"]]},
            TierConfig,
        )
        for entry in entries
    ]


def _bare(judge: str | Mapping[str, Any]) -> dict[str, Any]:
    """A seat without the judge's options: they are for another version, perhaps, and not needed."""
    weight = judge.get("weight", 1.0) if isinstance(judge, Mapping) else 1.0
    return {"seat": {}, "weight": weight}


@dataclass(frozen=True)
class _Recount:
    """Counts the votes of a tier by its policy."""

    tiers: Mapping[str, TierConfig]

    def __call__(self, name: str, ballots: Sequence[Ballot], counts: Mapping[str, Any]) -> Judgment:
        if name not in self.tiers:
            raise ValueError(f"its policy has no tier called {name!r}")
        voting: VotingStrategy = voting_strategy(self.tiers[name].voting)
        if lowering := frozenset(map(str, counts.get(LOWERING, ()))):
            voting = NeverLifting(voting, lowering)
        return count_ballots(NeverOverruling(voting), ballots)


def _roster(report: ReportJson, tiers: Sequence[TierConfig], verdict: Verdict) -> Iterator[str]:
    """Tiers and judges of the policy that the report does not account for."""
    named, reported = [tier.name for tier in tiers], [tier.name for tier in report.tiers]
    if named != reported:
        yield f"the policy has the tiers {', '.join(named)}; the report has {', '.join(reported)}"
        return
    stopped: str | None = None
    for config, tier, attempt in zip(tiers, report.tiers, verdict.attempts, strict=True):
        yield from _seats(config, tier, attempt, stopped)
        stopped = stopped or find_stop_reason(_as_tier(config, attempt), attempt)


def _seats(
    config: TierConfig, tier: TierJson, attempt: TierAttempt, stopped: str | None
) -> Iterator[str]:
    said = len(tier.judgments) + len(tier.skipped)
    crashed = tier.ran and not tier.judgments
    if config.policy is not attempt.policy:
        yield f"{tier.name}: the policy says {config.policy}, the report {attempt.policy}"
    if _advises(config, attempt) is not attempt.advisory:
        yield f"{tier.name}: the report is wrong about whether the tier is advisory"
    if tier.ran and stopped:
        yield f"{tier.name}: it ran, although {stopped}"
    idle = not tier.ran and not stopped
    if (idle or (tier.ran and not crashed)) and said != len(config.judges):
        yield f"{tier.name}: {len(config.judges)} judges have seats, {said} are accounted for"


def _advises(config: TierConfig, attempt: TierAttempt) -> bool:
    if config.advisory != "auto":
        return config.advisory
    ballots = attempt.verdict.ballots if attempt.verdict else ()
    kinds = [ballot.type in MODEL_BACKED for ballot in ballots]
    return all(kinds) if kinds else attempt.advisory


def _as_tier(config: TierConfig, attempt: TierAttempt) -> Tier[Any]:
    return Tier(
        config.name,
        None,
        attempt.policy,
        config.continue_on_reject,
        config.on_error,
        config.min_confidence,
        attempt.advisory,
    )


def _conclusions(report: ReportJson, verdict: Verdict, gate: Gate) -> Iterator[str]:
    for tier, attempt in zip(report.tiers, verdict.attempts, strict=True):
        if tier.ran and tier.status is not attempt.status:
            yield _other(f"{tier.name}: the status", tier.status, attempt.status)
    said = report.verdict
    if said.status is not verdict.status:
        yield _other("the verdict", said.status, verdict.status)
    if said.decided_by != verdict.decided_by:
        yield _other("the deciding tier", said.decided_by, verdict.decided_by)
    if said.gate is not gate:
        yield _other("the gate", said.gate, gate)


def _other(what: str, said: object, derived: object) -> str:
    return f"{what} is {said or 'none'} in the report, and {derived or 'none'} by its ballots"
