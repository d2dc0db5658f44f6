"""Tiers of juries, cheap and certain ones first.

A tier's policy reads the ballots as they were cast, before any error policy:

* REJECT_ON_ANY_FAIL stops with FAIL when any ballot failed, with ERROR when any erred.
* ACCEPT_ON_ALL_PASS stops with PASS when every ballot passed with enough confidence. Otherwise the
  later tiers decide, and of this one only an ERROR counts, or what its deterministic judges say
  against a tier that asks a model.
* FINAL_TIER stops with whatever its jury says.

The verdict's status comes from the blocking tiers that ran: FAIL if one failed, else ERROR, else
ABSTAIN if one holds an abstention that is not benign, else PASS if a judge of theirs voted PASS,
else ABSTAIN, ``nobody_voted``. Advisory tiers change nothing but the headline.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias

from prjury.deadline import Deadline
from prjury.jury.compose import kind_of
from prjury.jury.guard import Listener, catch_crash, limit_by_vote
from prjury.jury.judge import ContextT, JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Bench, JuryJudge, Voter
from prjury.jury.score import finite
from prjury.jury.verdicts import JuryVerdict, TierAttempt, TierPolicy, Verdict, require_bool
from prjury.jury.voting import NOBODY_VOTED


@dataclass(frozen=True)
class Tier(Generic[ContextT]):
    """One jury of the cascade with the policy that says when it ends the matter.

    Attributes:
        jury: who judges; None where nobody was asked for: the tier is listed but does not run.
        continue_on_reject: later tiers still run, for feedback; the verdict stays FAIL.
        on_error: ``"continue"`` lets later tiers run; the verdict stays ERROR or worse.
        min_confidence: an accepting tier accepts only answers at least as sure as this, 0..1.
        advisory: the tier never stops the cascade and never changes the status.
    """

    name: str
    jury: Bench[ContextT] | None
    policy: TierPolicy = TierPolicy.REJECT_ON_ANY_FAIL
    continue_on_reject: bool = False
    on_error: Literal["block", "continue"] = "block"
    min_confidence: float | None = None
    advisory: bool = False

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("a tier needs a name")
        object.__setattr__(self, "policy", TierPolicy(self.policy))
        require_bool(self.advisory, "advisory")
        require_bool(self.continue_on_reject, "continue_on_reject")
        if isinstance(self.jury, CascadedJury):
            raise TypeError(f"{self.name}: seat the cascade's as_judge() on a jury of this tier")
        if self.on_error not in {"block", "continue"}:
            raise ValueError(f"on_error is 'block' or 'continue', not {self.on_error!r}")
        sure = self.min_confidence
        if sure is not None and not 0.0 <= finite(sure, "min_confidence") <= 1.0:
            raise ValueError(f"min_confidence is in 0..1, not {sure}")


@dataclass(frozen=True)
class CascadedJury(Voter[ContextT, Verdict]):
    """Tiers in the order in which they are asked; the last is final, and no name is repeated."""

    tiers: Sequence[Tier[ContextT]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "tiers", tuple(self.tiers))
        if not self.tiers:
            raise ValueError("a cascade needs at least one tier")
        names = [tier.name for tier in self.tiers]
        if len(set(names)) != len(names):
            raise ValueError(f"tier names must be unique: {', '.join(names)}")
        if self.tiers[-1].policy is not TierPolicy.FINAL_TIER:
            raise ValueError(f"the last tier, {names[-1]}, must be a FINAL_TIER")

    def vote(
        self,
        context: ContextT,
        *,
        timeout: float | None = None,
        listener: Listener | None = None,
    ) -> Verdict:
        """Ask tier after tier until one ends the matter; seconds for all of them together."""
        until = limit_by_vote(timeout)
        attempts: list[TierAttempt] = []
        stopped: str | None = None
        for tier in self.tiers:
            attempt = _try_tier(tier, stopped, context, until, listener)
            attempts.append(attempt)
            stopped = stopped or find_stop_reason(tier, attempt)
        return conclude(attempts)

    @property
    def type(self) -> JudgeType:
        """The type of the tiers where they agree, else a hybrid."""
        return kind_of(tier.jury for tier in self.tiers if tier.jury)

    @property
    def name(self) -> str:
        """The names of its tiers."""
        return ", ".join(tier.name for tier in self.tiers)

    def as_judge(self, name: str | None = "cascade") -> JuryJudge[ContextT]:
        """The whole cascade as one judge, for a seat on a jury."""
        return super().as_judge(name)


def _try_tier(
    tier: Tier[ContextT],
    stop_reason: str | None,
    context: ContextT,
    until: Deadline | None,
    listener: Listener | None,
) -> TierAttempt:
    """Run a tier; the verdict of a jury that crashes is an error without ballots."""
    jury = tier.jury
    if stop_reason or jury is None:
        reason = stop_reason or "no judge was asked for"
        return TierAttempt(tier.name, tier.policy, tier.advisory, skipped_because=reason)
    started = time.monotonic()
    timeout = None if until is None else until.remaining
    verdict = catch_crash(
        lambda: _verdict(jury.vote(context, timeout=timeout, listener=listener)), JuryVerdict
    )
    elapsed = round((time.monotonic() - started) * 1000)
    return TierAttempt(tier.name, tier.policy, tier.advisory, verdict, elapsed_ms=elapsed)


def _verdict(answer: object) -> JuryVerdict:
    if not isinstance(answer, JuryVerdict):
        raise TypeError(f"the vote returned a {type(answer).__name__} instead of a JuryVerdict")
    return answer


def find_stop_reason(tier: Tier[Any], attempt: TierAttempt) -> str | None:
    """The reason why no later tier is asked, or None to go on."""
    if attempt.verdict is None or tier.advisory:
        return None
    match attempt.status:
        case Status.FAIL if tier.policy is TierPolicy.REJECT_ON_ANY_FAIL:
            return None if tier.continue_on_reject else f"{tier.name} failed"
        case Status.ERROR if tier.policy is TierPolicy.REJECT_ON_ANY_FAIL:
            return None if tier.on_error == "continue" else f"{tier.name} could not be judged"
    if tier.policy is TierPolicy.ACCEPT_ON_ALL_PASS and _is_confident_pass(tier, attempt.verdict):
        return f"{tier.name} accepted"
    return f"{tier.name} was final" if tier.policy is TierPolicy.FINAL_TIER else None


def _is_confident_pass(tier: Tier[Any], verdict: JuryVerdict) -> bool:
    sure = tier.min_confidence
    agreed = bool(verdict.ballots) and verdict.aggregated.status is Status.PASS
    return agreed and all(
        judgment.status is Status.PASS
        and (sure is None or (judgment.confidence is not None and judgment.confidence >= sure))
        for judgment in verdict.individual
    )


def conclude(attempts: Sequence[TierAttempt]) -> Verdict:
    """The verdict that these attempts add up to; pure, so that a report can be re-derived."""
    status, decisive = _find_worst_status(list_blocking_tiers_with_statuses(attempts))
    if status is None or decisive is None or decisive.verdict is None:
        return Verdict(_abstain_without_votes(attempts), None, tuple(attempts))
    return Verdict(
        _judge_by_decisive_tier(status, decisive, decisive.verdict), decisive.name, tuple(attempts)
    )


#: A blocking tier that ran, with the statuses that it brings into the verdict.
Counted: TypeAlias = tuple[TierAttempt, frozenset[Status]]


def list_blocking_tiers_with_statuses(attempts: Sequence[TierAttempt]) -> list[Counted]:
    """The blocking tiers that ran, each with the statuses that it brings into the verdict.

    An accepting tier that escalated brings its errors, and what its programs say against a model.
    """
    blocking = [attempt for attempt in attempts if attempt.ran and not attempt.advisory]
    if not blocking:
        return []
    last, accepting = blocking[-1], TierPolicy.ACCEPT_ON_ALL_PASS
    deciding = [a for a in blocking if a is last or a.policy is not accepting]
    decisive = _find_worst_status([(a, a.outcomes) for a in deciding])[1] or last
    return [
        (a, a.outcomes if a is last or a.policy is not accepting else _pass_on(a, decisive))
        for a in blocking
    ]


def _pass_on(attempt: TierAttempt, decisive: TierAttempt) -> frozenset[Status]:
    errors = {Status.ERROR} & (attempt.statuses | attempt.outcomes)
    return frozenset(errors | (attempt.escalated if decisive.asks_a_model else set()))


def _find_worst_status(counted: Sequence[Counted]) -> tuple[Status | None, TierAttempt | None]:
    """The worst status and the tier that brings it; None where no judge voted PASS either."""
    for status in (Status.FAIL, Status.ERROR, Status.ABSTAIN):
        for attempt, outcomes in counted:
            if status in outcomes:
                return status, attempt
    for attempt, outcomes in reversed(counted):
        if Status.PASS in outcomes & attempt.statuses:
            return Status.PASS, attempt
    return None, None


def _abstain_without_votes(attempts: Sequence[TierAttempt]) -> Judgment:
    ran = [attempt for attempt in attempts if attempt.ran]
    words = "nobody voted for it" if ran else "no tier ran, so nobody judged"
    if ran and all(attempt.advisory for attempt in ran):
        words += ", because all tiers that ran are advisory"
    ballots = [b for a in ran if a.verdict and not a.advisory for b in a.verdict.ballots]
    reasons = [f"{ballot.judge}: {ballot.judgment.reasoning}" for ballot in ballots]
    return Judgment.abstained("; ".join([words, *reasons]), NOBODY_VOTED)


def _judge_by_decisive_tier(
    status: Status, decisive: TierAttempt, verdict: JuryVerdict
) -> Judgment:
    judgment = verdict.aggregated
    blaming = status in {Status.FAIL, Status.ERROR}
    guilty = [b for b in verdict.ballots if blaming and b.judgment.status is status]
    worry = decisive.worrying_abstention if status is Status.ABSTAIN else None
    telling = guilty[0].judgment if guilty else worry or judgment
    words = "; ".join(f"{ballot.judge}: {ballot.judgment.reasoning}" for ballot in guilty)
    return Judgment(
        status,
        f"{decisive.name}: {words or telling.reasoning}",
        score=judgment.score if judgment.status is status else None,
        label=telling.label if status is Status.ABSTAIN else None,
        metadata=_make_metadata(status, decisive.name, judgment, telling),
    )


def _make_metadata(status: Status, decider: str, vote: Judgment, cause: Judgment) -> dict[str, Any]:
    metadata = {**vote.metadata, "decided_by": decider}
    metadata.pop("reason", None)
    if status in {Status.ERROR, Status.ABSTAIN}:
        words = (one.metadata.get("reason") or one.label for one in (cause, vote))
        fallback = "judge_erred" if status is Status.ERROR else "judge_abstained"
        metadata["reason"] = next(filter(None, words), fallback)
    return metadata
