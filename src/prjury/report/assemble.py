"""From a verdict to a report: coverage measured, floor held, gate decided, first line written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from prjury.jury.cascade import Verdict
from prjury.jury.gate import Gate, GatePolicy, gate, hold_to_content, hold_to_coverage
from prjury.jury.judgment import Status
from prjury.report.coverage import measure
from prjury.report.headline import OVERRIDDEN, headline
from prjury.report.model import (
    OVERRIDE_COMMAND,
    Backport,
    ChangedNames,
    Cost,
    Coverage,
    Override,
    PolicyOrigin,
    Report,
    Sandbox,
    SkippedJudge,
    TierReport,
)
from prjury.report.recovery import Recovery
from prjury.snapshot.model import PullRequest


def assemble(  # noqa: PLR0913 - each argument is one part of the report
    pull: PullRequest,
    verdict: Verdict,
    *,
    gate_policy: GatePolicy,
    skipped: Mapping[str, Sequence[SkippedJudge]],
    policy: PolicyOrigin,
    sandbox: Sandbox,
    version: str,
    backports: Sequence[Backport] = (),
    cost: Cost | None = None,
    elapsed_ms: int = 0,
    notes: Sequence[str] = (),
    override: Override | None = None,
    recovery: Recovery | None = None,
    names: ChangedNames | None = None,
) -> Report:
    """The report of one run.

    Args:
        override: a maintainer's word that opens the gate where the verdict closes it.
        skipped: the judges that were never seated, by the name of their tier.
        notes: what a reader must know beyond the verdict; those of the pull request come first.
        names: what the change does to public names.
        recovery: what came of an attempt to repair the tests; it changes nothing about the verdict.
    """
    coverage = measure(pull, verdict.attempts)
    held = hold(verdict, coverage, gate_policy)
    closed = gate(held, gate_policy)
    found = headline(pull, held, closed, coverage)
    override = None if closed is Gate.SUCCESS else override
    if override:
        notes = (_overridden(override, pull), *notes)
        found = f"{OVERRIDDEN} by @{override.by}: {found}"
    if recovery:
        notes = (recovery.words, *notes)
    return Report(
        pull=pull,
        verdict=held,
        gate=Gate.SUCCESS if override else closed,
        headline=found,
        tiers=tuple(
            TierReport(attempt, tuple(skipped.get(attempt.name, ()))) for attempt in held.attempts
        ),
        coverage=coverage,
        policy=_in_force(policy, gate_policy),
        sandbox=sandbox,
        version=version,
        backports=tuple(backports),
        cost=cost or Cost(),
        elapsed_ms=elapsed_ms,
        notes=tuple(dict.fromkeys((*pull.notes, *notes))),
        override=override,
        recovery=recovery,
        names=names,
    )


def _overridden(override: Override, pull: PullRequest) -> str:
    by = "the label " * (override.label != OVERRIDE_COMMAND) + override.label
    why = f": {override.reason}" if override.reason else ""
    return f"@{override.by} opened the gate with {by}, for commit {pull.head.sha[:12]} only{why}"


def hold(verdict: Verdict, coverage: Coverage, policy: GatePolicy) -> Verdict:
    """The verdict held to what was read, which only matters where something was judged."""
    if not any(attempt.ran for attempt in verdict.attempts):
        return verdict
    judged, total = coverage.added_lines_judged, coverage.added_lines_total
    held = hold_to_coverage(verdict, judged, total, policy.coverage_floor)
    return hold_to_content(held, coverage.unread_content)


def gate_policy_of(policy: PolicyOrigin) -> GatePolicy:
    """The gate policy that a report records, so that the gate can be decided again from it."""
    section = policy.resolved.get("gate")
    recorded = section if isinstance(section, Mapping) else {}
    default = GatePolicy()
    block_on = recorded.get("block_on", default.block_on)
    return GatePolicy(
        block_on=frozenset(Status(str(status)) for status in block_on),
        not_configured=recorded.get("not_configured", default.not_configured),
        coverage_floor=float(recorded.get("coverage_floor", default.coverage_floor)),
    )


def _in_force(policy: PolicyOrigin, gate_policy: GatePolicy) -> PolicyOrigin:
    """The policy with the gate as it was really applied (a flag may have changed it)."""
    if gate_policy_of(policy) == gate_policy:
        return policy
    section = policy.resolved.get("gate")
    applied = {
        **(section if isinstance(section, Mapping) else {}),
        "block_on": [status.value for status in Status if status in gate_policy.block_on],
        "not_configured": gate_policy.not_configured,
        "coverage_floor": gate_policy.coverage_floor,
    }
    return replace(policy, resolved={**policy.resolved, "gate": applied})
