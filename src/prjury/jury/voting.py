"""Ballots, who votes, and five ways to make one judgment of many.

The order of the ballots never matters: sums are exactly rounded and names are sorted. Every
aggregate keeps the counts that it rests on in ``metadata["aggregation"]``. Abstentions leave the
population of every strategy; errors follow the `ErrorPolicy`.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import NumericalScore, finite

#: Labels of abstentions that are nobody's fault: they open a gate rather than close it.
NOT_APPLICABLE = "not_applicable"
NOT_CONFIGURED = "not_configured"
BENIGN_LABELS = frozenset({NOT_APPLICABLE, NOT_CONFIGURED})

#: Why an aggregate abstains when nobody's vote counted.
NOBODY_VOTED = "nobody_voted"

#: Judges whose silence a sentence explains; the rest is counted.
_MOST_TOLD = 10


def is_benign(judgment: Judgment) -> bool:
    """Return whether the judge abstained for a reason that is nobody's fault."""
    return judgment.status is Status.ABSTAIN and judgment.label in BENIGN_LABELS


@dataclass(frozen=True, slots=True)
class Ballot:
    """One judge's judgment with the judge's name and its weight, finite and not negative."""

    judge: str
    judgment: Judgment
    weight: float = 1.0
    type: JudgeType = JudgeType.DETERMINISTIC
    elapsed_ms: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.judgment, Judgment):
            raise TypeError(f"{self.judge}: a ballot holds a Judgment, not {self.judgment!r}")
        object.__setattr__(self, "type", JudgeType(self.type))
        if finite(self.weight, f"the weight of {self.judge}") < 0:
            raise ValueError(f"the weight of {self.judge} is negative: {self.weight}")


class ErrorPolicy(StrEnum):
    """What becomes of a ballot that is an error."""

    TREAT_AS_FAIL = "treat_as_fail"
    TREAT_AS_ABSTAIN = "treat_as_abstain"
    IGNORE = "ignore"
    PROPAGATE = "propagate"


@dataclass(frozen=True, slots=True)
class Population:
    """All ballots, those that vote, and the sentence about it."""

    ballots: tuple[Ballot, ...]
    voters: tuple[Ballot, ...]
    strategy: str
    on_error: ErrorPolicy

    def metadata(self, *, reason: str | None = None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """The metadata of an aggregate: its counts, and a word for why it decides nothing."""
        counts = Counter(ballot.judgment.status for ballot in self.ballots)
        errors_are_abstentions = self.on_error is ErrorPolicy.TREAT_AS_ABSTAIN
        abstained = counts[Status.ABSTAIN] + counts[Status.ERROR] * errors_are_abstentions
        aggregation = {
            "strategy": self.strategy,
            "input": len(self.ballots),
            "eligible": len(self.voters),
            "pass": counts[Status.PASS],
            "fail": counts[Status.FAIL],
            "abstain": abstained,
            "error": counts[Status.ERROR],
            "error_policy": self.on_error.value,
            **more,
        }
        return {"aggregation": aggregation, **({"reason": reason} if reason else {})}

    def sentence(self, main: str) -> str:
        """The main clause, then who did not vote and why."""
        silent = sorted(filter(None, map(_why_silent, self.ballots)))
        more = [f"{len(silent) - _MOST_TOLD} more did not vote"] if silent[_MOST_TOLD:] else []
        return "; ".join([main, *silent[:_MOST_TOLD], *more])


def select_voters(
    ballots: Iterable[Ballot], strategy: str, on_error: ErrorPolicy, *, weighted: bool = False
) -> Population | Judgment:
    """Those who vote; a judgment instead where there is nothing to count."""
    everyone = tuple(ballots)
    if not everyone:
        raise ValueError("there are no ballots to count")
    seated = tuple(b for b in everyone if b.weight > 0) if weighted else everyone
    votes = {Status.PASS, Status.FAIL}
    if on_error is ErrorPolicy.TREAT_AS_FAIL:
        votes.add(Status.ERROR)
    voters = tuple(b for b in seated if b.judgment.status in votes)
    eligible = Population(everyone, voters, strategy, on_error)
    erred = [b for b in seated if b.judgment.status is Status.ERROR]
    if erred and on_error is ErrorPolicy.PROPAGATE:
        return _undecidable(eligible, erred)
    return eligible if voters else _abstain_without_votes(eligible)


def _undecidable(asked: Population, erred: Iterable[Ballot]) -> Judgment:
    names = ", ".join(sorted(ballot.judge for ballot in erred))
    words = sorted(str(ballot.judgment.metadata.get("reason") or "") for ballot in erred)
    return Judgment.errored(
        asked.sentence(f"could not be decided because of {names}"),
        metadata=asked.metadata(reason=next(filter(None, words), "judge_erred")),
    )


def _abstain_without_votes(asked: Population) -> Judgment:
    label = None
    if all(is_benign(ballot.judgment) for ballot in asked.ballots):
        labels = {ballot.judgment.label for ballot in asked.ballots}
        label = NOT_CONFIGURED if NOT_CONFIGURED in labels else NOT_APPLICABLE
    return Judgment(
        Status.ABSTAIN,
        asked.sentence("nobody voted"),
        label=label,
        metadata=asked.metadata(reason=label or NOBODY_VOTED),
    )


def _why_silent(ballot: Ballot) -> str:
    verb = {Status.ABSTAIN: "abstained", Status.ERROR: "erred"}.get(ballot.judgment.status)
    first_line = ballot.judgment.reasoning.strip().partition("\n")[0]
    return f"{ballot.judge} {verb}: {first_line}" if verb else ""


# Strategies.

#: Digits to which a mean is rounded before it meets a threshold, so that three times 0.7 is 0.7.
_DIGITS = 12


class TiePolicy(StrEnum):
    """What as many passes as fails mean."""

    PASS = "pass"  # noqa: S105 - a status, not a password
    FAIL = "fail"
    ABSTAIN = "abstain"


class VotingStrategy(Protocol):
    """Makes one judgment out of many ballots."""

    @property
    def name(self) -> str:
        """The strategy's name in configuration and reports."""
        ...

    def aggregate(self, ballots: Sequence[Ballot], /) -> Judgment:
        """The judgment of all ballots; ValueError for none at all."""
        ...


def _passed(ballot: Ballot) -> bool:
    return ballot.judgment.status is Status.PASS


def _score_of(ballot: Ballot) -> float:
    return ballot.judgment.effective_score or 0.0


@dataclass(frozen=True, slots=True)
class MajorityVoting:
    """More passes than fails among the votes cast; a tie follows the tie policy."""

    tie: TiePolicy = TiePolicy.FAIL
    on_error: ErrorPolicy = ErrorPolicy.TREAT_AS_FAIL
    name: str = "majority"

    def __post_init__(self) -> None:
        object.__setattr__(self, "tie", TiePolicy(self.tie))
        object.__setattr__(self, "on_error", ErrorPolicy(self.on_error))

    def aggregate(self, ballots: Sequence[Ballot], /) -> Judgment:
        """The judgment of the majority; it carries no score."""
        counted = select_voters(ballots, self.name, self.on_error)
        if isinstance(counted, Judgment):
            return counted
        passes = sum(map(_passed, counted.voters))
        fails = len(counted.voters) - passes
        tied = passes == fails
        status = Status(self.tie.value) if tied else _status(passed=passes > fails)
        words = f"a tie, which counts as {self.tie}: " if tied else ""
        reason = counted.sentence(f"{words}{passes} of {len(counted.voters)} passed")
        silent = "tie" if status is Status.ABSTAIN else None
        evidence = counted.metadata(reason=silent, tie_policy=self.tie.value, tied=tied)
        return Judgment(status, reason, metadata=evidence)


@dataclass(frozen=True, slots=True)
class ConsensusVoting:
    """All judges that vote agree; disagreement is ``on_disagreement``, which cannot be PASS."""

    on_disagreement: Status = Status.FAIL
    on_error: ErrorPolicy = ErrorPolicy.TREAT_AS_FAIL
    name: str = "consensus"

    def __post_init__(self) -> None:
        object.__setattr__(self, "on_disagreement", Status(self.on_disagreement))
        object.__setattr__(self, "on_error", ErrorPolicy(self.on_error))
        if self.on_disagreement is Status.PASS:
            raise ValueError("a disagreement cannot count as PASS")

    def aggregate(self, ballots: Sequence[Ballot], /) -> Judgment:
        """The judgment on which all agree; it carries no score."""
        counted = select_voters(ballots, self.name, self.on_error)
        if isinstance(counted, Judgment):
            return counted
        passes = sum(map(_passed, counted.voters))
        unanimous = passes in {0, len(counted.voters)}
        status = _status(passed=passes > 0) if unanimous else self.on_disagreement
        words = "" if unanimous else f"no consensus, which counts as {self.on_disagreement}: "
        reason = counted.sentence(f"{words}{passes} of {len(counted.voters)} passed")
        silent = "disagreement" if status in {Status.ABSTAIN, Status.ERROR} else None
        evidence = counted.metadata(reason=silent, unanimous=unanimous)
        return Judgment(status, reason, metadata=evidence)


@dataclass(frozen=True, slots=True)
class _ScoreVoting:
    """A threshold in 0..1, and a band ``low <= high`` of doubt around it."""

    threshold: float = 0.5
    undecided: tuple[float, float] | None = None
    on_error: ErrorPolicy = ErrorPolicy.TREAT_AS_FAIL

    def __post_init__(self) -> None:
        object.__setattr__(self, "on_error", ErrorPolicy(self.on_error))
        low, high = (self.threshold,) * 2 if self.undecided is None else self.undecided
        for value in (self.threshold, low, high):
            if not 0.0 <= finite(value, "a threshold") <= 1.0:
                raise ValueError(f"a threshold is in 0..1, not {value}")
        if self.undecided is not None:
            object.__setattr__(self, "undecided", (low, high))
        if low > high:
            raise ValueError(f"the undecided band is empty: {low}..{high}")

    def _apply_threshold_or_abstain(self, counted: Population, score: float, how: str) -> Judgment:
        score = round(score, _DIGITS)
        message = f"{how} {score:.2f} of {len(counted.voters)}"
        low, high = (round(end, _DIGITS) for end in self.undecided or (2.0, -1.0))
        if low <= score <= high:
            reason = counted.sentence(
                f"{message} lies in the undecided band {low:.2f} to {high:.2f}"
            )
            unsure = counted.metadata(reason="undecided", score=score, threshold=self.threshold)
            return Judgment(Status.ABSTAIN, reason, metadata=unsure)
        status = _status(passed=score >= round(self.threshold, _DIGITS))
        verb = "reaches" if status is Status.PASS else "is below"
        reason = counted.sentence(f"{message} {verb} the threshold {self.threshold:.2f}")
        evidence = counted.metadata(score=score, threshold=self.threshold)
        return Judgment(status, reason, NumericalScore(score), metadata=evidence)


@dataclass(frozen=True, slots=True)
class AverageVoting(_ScoreVoting):
    """The mean of the effective scores reaches the threshold; weights are not looked at."""

    name: str = "average"

    def aggregate(self, ballots: Sequence[Ballot], /) -> Judgment:
        """The judgment with the mean as its score."""
        counted = select_voters(ballots, self.name, self.on_error)
        if isinstance(counted, Judgment):
            return counted
        scores = [_score_of(ballot) for ballot in counted.voters]
        return self._apply_threshold_or_abstain(counted, math.fsum(scores) / len(scores), "mean")


@dataclass(frozen=True, slots=True)
class WeightedAverageVoting(_ScoreVoting):
    """The weighted mean reaches the threshold; weights need not sum to one, zero drops a seat."""

    name: str = "weighted_average"

    def aggregate(self, ballots: Sequence[Ballot], /) -> Judgment:
        """The judgment with the weighted mean as its score."""
        counted = select_voters(ballots, self.name, self.on_error, weighted=True)
        if isinstance(counted, Judgment):
            return counted
        # Dividing by the largest weight first keeps huge and tiny weights from over- or underflow.
        largest = max(ballot.weight for ballot in counted.voters)
        shares = [ballot.weight / largest for ballot in counted.voters]
        scores = [_score_of(ballot) for ballot in counted.voters]
        total = math.fsum(share * score for share, score in zip(shares, scores, strict=True))
        return self._apply_threshold_or_abstain(counted, total / math.fsum(shares), "weighted mean")


@dataclass(frozen=True, slots=True)
class MedianVoting(_ScoreVoting):
    """The median of the effective scores reaches the threshold; one outlier changes nothing."""

    name: str = "median"

    def aggregate(self, ballots: Sequence[Ballot], /) -> Judgment:
        """The judgment with the median as its score; of an even number, the middle pair's mean."""
        counted = select_voters(ballots, self.name, self.on_error)
        if isinstance(counted, Judgment):
            return counted
        return self._apply_threshold_or_abstain(
            counted, statistics.median(map(_score_of, counted.voters)), "median"
        )


def _status(*, passed: bool) -> Status:
    return Status.PASS if passed else Status.FAIL
