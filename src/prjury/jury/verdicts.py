"""What juries and cascades come to: every ballot, every tier, and what they add up to.

One that sits on a jury keeps its verdict in its judgment's metadata: ``jury`` or ``cascade``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, cast

from prjury.jury.codec import (
    Json,
    ballot_from_json,
    ballot_to_json,
    judgment_from_json,
    judgment_to_json,
    plain,
)
from prjury.jury.compose import disambiguate_names
from prjury.jury.feedback import FEEDBACK_LIMIT, feedback_on
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.voting import Ballot, is_benign


class TierPolicy(StrEnum):
    """When a tier ends the cascade."""

    REJECT_ON_ANY_FAIL = "reject_on_any_fail"
    ACCEPT_ON_ALL_PASS = "accept_on_all_pass"  # noqa: S105 - a policy, not a password
    FINAL_TIER = "final_tier"


def require_bool(value: object, what: str) -> None:
    """Refuse what is no bool: a word such as "false" would be true, and open a gate."""
    if not isinstance(value, bool):
        raise TypeError(f"{what} is True or False, not {value!r}")


class _Outcome:
    aggregated: Judgment

    @property
    def status(self) -> Status:
        """The aggregated status."""
        return self.aggregated.status

    def feedback(self, limit: int = FEEDBACK_LIMIT) -> str:
        """Say what is wrong, where, and what would make it pass; at most ``limit`` characters."""
        verdict = cast("JuryVerdict | Verdict", self)
        return feedback_on(verdict, limit)


@dataclass(frozen=True)
class JuryVerdict(_Outcome):
    """All ballots of one vote in the order of the roster, and what they add up to."""

    aggregated: Judgment
    ballots: tuple[Ballot, ...] = ()

    @property
    def individual(self) -> tuple[Judgment, ...]:
        """The judgments alone, in the order of the roster."""
        return tuple(ballot.judgment for ballot in self.ballots)

    @property
    def by_name(self) -> Mapping[str, Judgment]:
        """The judgments by the names of their judges."""
        return MappingProxyType({ballot.judge: ballot.judgment for ballot in self.ballots})

    @property
    def weights(self) -> Mapping[str, float]:
        """The weights by the names of their judges."""
        return MappingProxyType({ballot.judge: ballot.weight for ballot in self.ballots})

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of all judges, in the order of the roster."""
        return tuple(check for judgment in self.individual for check in judgment.checks)

    @property
    def children(self) -> Mapping[str, JuryVerdict | Verdict]:
        """The verdicts of the juries and cascades that sit here as judges, by name."""
        return MappingProxyType(children_of(self.ballots))

    @property
    def as_judgment(self) -> Judgment:
        """The result with all checks; ``metadata["jury"]`` keeps every ballot."""
        judgment = self.aggregated.with_metadata(jury=_ballots_to_json(self.ballots))
        return replace(judgment, checks=(*judgment.checks, *self.checks))

    def __str__(self) -> str:
        """The result in the first line, then a line for each judge."""
        lines = [f"  {ballot.judge}: {ballot.judgment}" for ballot in self.ballots]
        return "\n".join([str(self.aggregated), *lines])


@dataclass(frozen=True)
class TierAttempt:
    """What became of one tier, whether it ran or not."""

    name: str
    policy: TierPolicy
    advisory: bool = False
    verdict: JuryVerdict | None = None
    skipped_because: str | None = None
    elapsed_ms: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "policy", TierPolicy(self.policy))
        require_bool(self.advisory, "advisory")

    @property
    def ran(self) -> bool:
        """Return true if the tier's jury was asked."""
        return self.verdict is not None

    def __str__(self) -> str:
        if self.verdict is None or self.status is None:
            return f"{self.name}: not asked ({self.skipped_because})"
        ballots = [
            f"{ballot.judge} {ballot.judgment.status.name}" for ballot in self.verdict.ballots
        ]
        advice = " (advisory)" if self.advisory else ""
        return (
            f"{self.name}{advice}: {self.status.name}{': ' if ballots else ''}{', '.join(ballots)}"
        )

    @property
    def statuses(self) -> frozenset[Status]:
        """The statuses of the ballots as cast."""
        return frozenset(judgment.status for judgment in self._judgments)

    @property
    def _judgments(self) -> tuple[Judgment, ...]:
        return self.verdict.individual if self.verdict else ()

    @property
    def status(self) -> Status | None:
        """The end of the tier by its policy; None if it did not run."""
        if self.verdict is None:
            return None
        status = self.verdict.aggregated.status
        if self.policy is TierPolicy.FINAL_TIER:
            return status
        rejects = self.policy is TierPolicy.REJECT_ON_ANY_FAIL or status is Status.FAIL
        if rejects and Status.FAIL in self.statuses:
            return Status.FAIL
        return Status.ERROR if Status.ERROR in self.statuses else status

    @property
    def worrying_abstention(self) -> Judgment | None:
        """The first abstention that keeps a blocking tier from passing, if there is one."""
        for judgment in self._judgments:
            if judgment.status is Status.ABSTAIN and not is_benign(judgment):
                return judgment
        if self.verdict is None or self.status is not Status.ABSTAIN:
            return None
        excused = is_benign(self.verdict.aggregated) and self.statuses <= {Status.ABSTAIN}
        return None if excused else self.verdict.aggregated

    @property
    def outcomes(self) -> frozenset[Status]:
        """All that the tier brings into the verdict; a rejecting one counts every ballot."""
        statuses = {self.status} if self.status else set()
        if self.policy is TierPolicy.REJECT_ON_ANY_FAIL:
            statuses |= self.statuses & {Status.FAIL, Status.ERROR}
        worried = {Status.ABSTAIN} if self.worrying_abstention else set()
        return frozenset((statuses - {Status.ABSTAIN}) | worried)

    @property
    def asks_a_model(self) -> bool:
        """Return true if any of its judges is more than a program."""
        return len(self._programs) < len(self._judgments)

    @property
    def _programs(self) -> tuple[Judgment, ...]:
        ballots = self.verdict.ballots if self.verdict else ()
        return tuple(b.judgment for b in ballots if b.type is JudgeType.DETERMINISTIC)

    @property
    def escalated(self) -> frozenset[Status]:
        """The objections of its programs, for a tier that hands on to a model."""
        statuses = {judgment.status for judgment in self._programs if not is_benign(judgment)}
        return (self.outcomes & statuses if self.asks_a_model else self.outcomes) - {Status.PASS}


@dataclass(frozen=True)
class Verdict(_Outcome):
    """What the cascade says, which tier decided it, and every tier's attempt in order."""

    aggregated: Judgment
    decided_by: str | None
    attempts: tuple[TierAttempt, ...]

    @property
    def individual(self) -> tuple[Judgment, ...]:
        """The judgments of all tiers that ran, in their order."""
        return tuple(ballot.judgment for ballot in self._ballots)

    @property
    def by_name(self) -> Mapping[str, Judgment]:
        """The same by the names of their judges, with ``-2`` where another tier has that name."""
        names = disambiguate_names(ballot.judge for ballot in self._ballots)
        return MappingProxyType(dict(zip(names, self.individual, strict=True)))

    @property
    def _ballots(self) -> tuple[Ballot, ...]:
        return tuple(b for a in self.attempts if a.verdict for b in a.verdict.ballots)

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of all blocking tiers that ran."""
        ran = (a.verdict for a in self.attempts if a.verdict and not a.advisory)
        return tuple(check for verdict in ran for check in verdict.checks)

    @property
    def as_judgment(self) -> Judgment:
        """The result with all checks; ``metadata["cascade"]`` keeps every attempt."""
        judgment = self.aggregated.with_metadata(cascade=_decider_and_attempts_to_json(self))
        return replace(judgment, checks=(*judgment.checks, *self.checks))

    def __str__(self) -> str:
        """The result in the first line, then a line for each tier."""
        return "\n".join([str(self.aggregated), *(f"  {attempt}" for attempt in self.attempts)])


def _ballots_to_json(ballots: Sequence[Ballot]) -> Json:
    return {ballot.judge: ballot_to_json(ballot) for ballot in ballots}


def _ballots_from_json(data: Mapping[str, Any]) -> tuple[Ballot, ...]:
    return tuple(ballot_from_json(judge, ballot) for judge, ballot in data.items())


def _decider_and_attempts_to_json(verdict: Verdict) -> Json:
    attempts = [
        {
            "name": attempt.name,
            "policy": attempt.policy.value,
            "advisory": attempt.advisory,
            "aggregated": attempt.verdict and judgment_to_json(attempt.verdict.aggregated),
            "ballots": attempt.verdict and _ballots_to_json(attempt.verdict.ballots),
            "skipped_because": attempt.skipped_because,
            "elapsed_ms": attempt.elapsed_ms,
        }
        for attempt in verdict.attempts
    ]
    return {"decided_by": verdict.decided_by, "attempts": attempts}


def _attempt_from_json(data: Mapping[str, Any]) -> TierAttempt:
    values = dict(data)
    aggregated, ballots = values.pop("aggregated"), values.pop("ballots")
    if aggregated is None:
        return TierAttempt(**values)
    verdict = JuryVerdict(judgment_from_json(aggregated), _ballots_from_json(ballots))
    return TierAttempt(**values, verdict=verdict)


def children_of(ballots: Sequence[Ballot]) -> Mapping[str, JuryVerdict | Verdict]:
    """The verdicts of the juries and cascades among the judges, by name."""
    children = ((ballot.judge, _find_inner_verdict(ballot.judgment)) for ballot in ballots)
    return {name: verdict for name, verdict in children if verdict}


def _find_inner_verdict(judgment: Judgment) -> JuryVerdict | Verdict | None:
    metadata = plain(judgment.metadata)
    members, inner = metadata.pop("jury", None), metadata.pop("cascade", None)
    verdict: JuryVerdict | Verdict
    if isinstance(members, dict) and all(map(_is_ballot, members.values())):
        verdict = JuryVerdict(judgment, _ballots_from_json(members))
    elif isinstance(inner, dict) and "attempts" in inner:
        attempts = tuple(map(_attempt_from_json, inner["attempts"]))
        verdict = Verdict(judgment, inner.get("decided_by"), attempts)
    else:
        return None
    # Its own are what is left without the members' verdict, and without their checks.
    own = judgment.checks[: max(len(judgment.checks) - len(verdict.checks), 0)]
    return replace(verdict, aggregated=replace(judgment, checks=own, metadata=metadata))


def _is_ballot(data: object) -> bool:
    return isinstance(data, dict) and {"status", "type", "weight"} <= data.keys()
