"""Tiers of juries, cheap and certain ones first.

A tier's policy reads the ballots as they were cast, before any error policy:

* REJECT_ON_ANY_FAIL stops with FAIL when any ballot failed, with ERROR when any erred.
* ACCEPT_ON_ALL_PASS stops with PASS when every ballot passed with enough confidence.
* FINAL_TIER stops with whatever its jury says.

The verdict's status comes from the blocking tiers that ran: FAIL if one failed, else ERROR, else
ABSTAIN if one holds an abstention that is somebody's concern, else PASS. Advisory tiers change
nothing but the headline.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Literal

from prjury.deadline import Deadline
from prjury.jury.asking import Listener, guarded, patience
from prjury.jury.bench import Bench, JuryVerdict
from prjury.jury.judge import ContextT
from prjury.jury.judgment import Judgment, Status
from prjury.jury.population import is_benign
from prjury.jury.score import finite


class TierPolicy(StrEnum):
    """When a tier ends the cascade."""

    REJECT_ON_ANY_FAIL = "reject_on_any_fail"
    ACCEPT_ON_ALL_PASS = "accept_on_all_pass"  # noqa: S105 - a policy, not a password
    FINAL_TIER = "final_tier"


def _yes_or_no(value: object, what: str) -> None:
    """A word such as "false" would be true, and open a gate."""
    if not isinstance(value, bool):
        raise TypeError(f"{what} is True or False, not {value!r}")


@dataclass(frozen=True)
class Tier(Generic[ContextT]):
    """One jury of the cascade with the policy that says when it ends the matter.

    Attributes:
        jury: the bench, or None where nobody was asked for: the tier is listed but does not run.
        continue_on_reject: later tiers still run after a rejection, for feedback; the verdict
            stays FAIL.
        on_error: ``"continue"`` lets later tiers run after an error; the verdict stays ERROR or
            worse.
        min_confidence: an accepting tier accepts only answers at least as sure as this.
        advisory: the tier never stops the cascade and never changes the status.

    Raises:
        ValueError: for a blank name, a policy that does not exist, or a confidence outside 0..1.
        TypeError: for an ``advisory`` or ``continue_on_reject`` that is not a bool.
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
        _yes_or_no(self.advisory, "advisory")
        _yes_or_no(self.continue_on_reject, "continue_on_reject")
        if self.on_error not in {"block", "continue"}:
            raise ValueError(f"on_error is 'block' or 'continue', not {self.on_error!r}")
        sure = self.min_confidence
        if sure is not None and not 0.0 <= finite(sure, "min_confidence") <= 1.0:
            raise ValueError(f"min_confidence is in 0..1, not {sure}")


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
        _yes_or_no(self.advisory, "advisory")

    @property
    def ran(self) -> bool:
        """Whether the tier's jury was asked."""
        return self.verdict is not None

    @property
    def statuses(self) -> frozenset[Status]:
        """The statuses of the ballots as cast."""
        return frozenset(judgment.status for judgment in self._judgments)

    @property
    def _judgments(self) -> tuple[Judgment, ...]:
        return self.verdict.individual if self.verdict else ()

    @property
    def status(self) -> Status | None:
        """How the tier ended, by its policy; None if it did not run."""
        if self.verdict is None:
            return None
        said = self.verdict.aggregated.status
        if self.policy is not TierPolicy.REJECT_ON_ANY_FAIL:
            return said
        if Status.FAIL in self.statuses:
            return Status.FAIL
        return Status.ERROR if Status.ERROR in self.statuses else said

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


@dataclass(frozen=True)
class Verdict:
    """What the cascade says, which tier decided it, and every tier's attempt in order."""

    aggregated: Judgment
    decided_by: str | None
    attempts: tuple[TierAttempt, ...]

    @property
    def status(self) -> Status:
        """The aggregated status."""
        return self.aggregated.status


@dataclass(frozen=True)
class CascadedJury(Generic[ContextT]):
    """Tiers in the order in which they are asked.

    Raises:
        ValueError: without tiers, with a last tier that is not final, or with repeated names.
    """

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
        """Asks tier after tier until one ends the matter.

        Args:
            timeout: seconds for all tiers together.
            listener: hears of each judge's start and end, with the name of the tier's jury.
        """
        until = patience(timeout)
        attempts: list[TierAttempt] = []
        stopped: str | None = None
        for tier in self.tiers:
            attempt = _attempt(tier, stopped, context, until, listener)
            attempts.append(attempt)
            stopped = stopped or _stop_reason(tier, attempt)
        return conclude(attempts)


def _attempt(
    tier: Tier[ContextT],
    stopped: str | None,
    context: ContextT,
    until: Deadline | None,
    listener: Listener | None,
) -> TierAttempt:
    """What becomes of the tier; the verdict of a jury that crashes is an error without ballots."""
    jury = tier.jury
    if stopped or jury is None:
        reason = stopped or "no judge was asked for"
        return TierAttempt(tier.name, tier.policy, tier.advisory, skipped_because=reason)
    started = time.monotonic()
    timeout = None if until is None else until.remaining
    verdict = guarded(
        lambda: _verdict(jury.vote(context, timeout=timeout, listener=listener)), JuryVerdict
    )
    elapsed = round((time.monotonic() - started) * 1000)
    return TierAttempt(tier.name, tier.policy, tier.advisory, verdict, elapsed_ms=elapsed)


def _verdict(said: object) -> JuryVerdict:
    """A bench that returns something else has not judged, which is not the same as not asked."""
    if not isinstance(said, JuryVerdict):
        raise TypeError(f"the vote returned a {type(said).__name__} instead of a JuryVerdict")
    return said


def _stop_reason(tier: Tier[Any], attempt: TierAttempt) -> str | None:
    """Why no later tier is asked, or None to go on."""
    if attempt.verdict is None or tier.advisory:
        return None
    match attempt.status:
        case Status.FAIL if tier.policy is TierPolicy.REJECT_ON_ANY_FAIL:
            return None if tier.continue_on_reject else f"{tier.name} failed"
        case Status.ERROR if tier.policy is TierPolicy.REJECT_ON_ANY_FAIL:
            return None if tier.on_error == "continue" else f"{tier.name} could not be judged"
    if tier.policy is TierPolicy.ACCEPT_ON_ALL_PASS and _accepts(tier, attempt.verdict):
        return f"{tier.name} accepted"
    return f"{tier.name} was final" if tier.policy is TierPolicy.FINAL_TIER else None


def _accepts(tier: Tier[Any], verdict: JuryVerdict) -> bool:
    sure = tier.min_confidence
    agreed = bool(verdict.ballots) and verdict.aggregated.status is Status.PASS
    return agreed and all(
        judgment.status is Status.PASS
        and (sure is None or (judgment.confidence is not None and judgment.confidence >= sure))
        for judgment in verdict.individual
    )


def conclude(attempts: Sequence[TierAttempt]) -> Verdict:
    """The verdict that these attempts add up to; pure, so that a report can be re-derived."""
    ran = [attempt for attempt in attempts if attempt.ran]
    blocking = [attempt for attempt in ran if not attempt.advisory]
    status, decisive = _worst(blocking) if blocking else _final(ran)
    return Verdict(_tell(status, decisive), decisive.name if decisive else None, tuple(attempts))


def _worst(blocking: Sequence[TierAttempt]) -> tuple[Status, TierAttempt | None]:
    for status in (Status.FAIL, Status.ERROR):
        for attempt in blocking:
            if attempt.status is status:
                return status, attempt
    for attempt in blocking:
        if attempt.worrying_abstention:
            return Status.ABSTAIN, attempt
    passed = [attempt for attempt in blocking if attempt.status is Status.PASS]
    return Status.PASS, (passed or blocking)[-1]


def _final(ran: Sequence[TierAttempt]) -> tuple[Status, TierAttempt | None]:
    """With no blocking tier at all, the last tier that ran stands; with none, nobody judged."""
    last = ran[-1] if ran else None
    return (last.status or Status.ABSTAIN, last) if last else (Status.ABSTAIN, None)


def _tell(status: Status, decisive: TierAttempt | None) -> Judgment:
    """The cascade's judgment: who in the deciding tier said what, under the final status."""
    if decisive is None or decisive.verdict is None:
        return Judgment.abstained("no tier ran, so nobody judged", "nobody_judged")
    said = decisive.verdict.aggregated
    blaming = status in {Status.FAIL, Status.ERROR}
    guilty = [b for b in decisive.verdict.ballots if blaming and b.judgment.status is status]
    worry = decisive.worrying_abstention if status is Status.ABSTAIN else None
    telling = guilty[0].judgment if guilty else worry or said
    words = "; ".join(f"{ballot.judge}: {ballot.judgment.reasoning}" for ballot in guilty)
    return Judgment(
        status,
        f"{decisive.name}: {words or telling.reasoning}",
        score=said.score if said.status is status else None,
        label=telling.label if status is Status.ABSTAIN else None,
        metadata=_evidence(status, decisive.name, said, telling),
    )


def _evidence(status: Status, tier: str, said: Judgment, telling: Judgment) -> dict[str, Any]:
    """The counts of the deciding tier, and the word for why nothing was decided."""
    metadata = {**said.metadata, "decided_by": tier}
    metadata.pop("reason", None)
    if status in {Status.ERROR, Status.ABSTAIN}:
        words = (one.metadata.get("reason") or one.label for one in (telling, said))
        fallback = "judge_erred" if status is Status.ERROR else "judge_abstained"
        metadata["reason"] = next(filter(None, words), fallback)
    return metadata
