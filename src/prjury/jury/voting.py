"""Five ways to make one judgment out of many, and what becomes of ties.

The order of the ballots never matters: sums are exactly rounded and names are sorted. Every
aggregate keeps the counts that it rests on in ``metadata["aggregation"]``.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from prjury.jury.judgment import Judgment, Status
from prjury.jury.population import (
    BENIGN_LABELS,
    NOT_APPLICABLE,
    NOT_CONFIGURED,
    Ballot,
    ErrorPolicy,
    Population,
    population,
)
from prjury.jury.score import NumericalScore, finite

__all__ = [
    "BENIGN_LABELS",
    "NOT_APPLICABLE",
    "NOT_CONFIGURED",
    "AverageVoting",
    "Ballot",
    "ConsensusVoting",
    "ErrorPolicy",
    "MajorityVoting",
    "MedianVoting",
    "TiePolicy",
    "VotingStrategy",
    "WeightedAverageVoting",
]

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
        """The judgment of the whole bench.

        Raises:
            ValueError: for no ballots at all.
        """
        ...


def _passed(ballot: Ballot) -> bool:
    return ballot.judgment.status is Status.PASS


def _score_of(ballot: Ballot) -> float:
    """The effective score; an error that counts as a fail counts as 0."""
    return ballot.judgment.effective_score or 0.0


@dataclass(frozen=True, slots=True)
class MajorityVoting:
    """More passes than fails among the votes cast; a tie follows the tie policy.

    Raises:
        ValueError: for a policy that does not exist.
    """

    tie: TiePolicy = TiePolicy.FAIL
    on_error: ErrorPolicy = ErrorPolicy.TREAT_AS_FAIL
    name: str = "majority"

    def __post_init__(self) -> None:
        object.__setattr__(self, "tie", TiePolicy(self.tie))
        object.__setattr__(self, "on_error", ErrorPolicy(self.on_error))

    def aggregate(self, ballots: Sequence[Ballot], /) -> Judgment:
        """The judgment of the majority; it carries no score."""
        bench = population(ballots, self.name, self.on_error)
        if isinstance(bench, Judgment):
            return bench
        passes = sum(map(_passed, bench.voters))
        fails = len(bench.voters) - passes
        tied = passes == fails
        status = Status(self.tie.value) if tied else _status(passed=passes > fails)
        words = f"a tie, which counts as {self.tie}: " if tied else ""
        reason = bench.sentence(f"{words}{passes} of {len(bench.voters)} passed")
        silent = "tie" if status is Status.ABSTAIN else None
        evidence = bench.evidence(reason=silent, tie_policy=self.tie.value, tied=tied)
        return Judgment(status, reason, metadata=evidence)


@dataclass(frozen=True, slots=True)
class ConsensusVoting:
    """All judges that vote agree; disagreement is ``on_disagreement``.

    Raises:
        ValueError: for a disagreement that would count as PASS, or a policy that does not exist.
    """

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
        bench = population(ballots, self.name, self.on_error)
        if isinstance(bench, Judgment):
            return bench
        passes = sum(map(_passed, bench.voters))
        unanimous = passes in {0, len(bench.voters)}
        status = _status(passed=passes > 0) if unanimous else self.on_disagreement
        words = "" if unanimous else f"no consensus, which counts as {self.on_disagreement}: "
        reason = bench.sentence(f"{words}{passes} of {len(bench.voters)} passed")
        silent = "disagreement" if status in {Status.ABSTAIN, Status.ERROR} else None
        evidence = bench.evidence(reason=silent, unanimous=unanimous)
        return Judgment(status, reason, metadata=evidence)


@dataclass(frozen=True, slots=True)
class _ScoreVoting:
    """What the three strategies on scores share: a threshold and a band of doubt around it.

    Raises:
        ValueError: for a threshold outside 0..1, a band that is not ``low <= high`` in 0..1, or a
            policy that does not exist.
    """

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

    def _decide(self, bench: Population, score: float, how: str) -> Judgment:
        score = round(score, _DIGITS)
        told = f"{how} {score:.2f} of {len(bench.voters)}"
        low, high = (round(end, _DIGITS) for end in self.undecided or (2.0, -1.0))
        if low <= score <= high:
            reason = bench.sentence(f"{told} lies in the undecided band {low:.2f} to {high:.2f}")
            unsure = bench.evidence(reason="undecided", score=score, threshold=self.threshold)
            return Judgment(Status.ABSTAIN, reason, metadata=unsure)
        status = _status(passed=score >= round(self.threshold, _DIGITS))
        verb = "reaches" if status is Status.PASS else "is below"
        reason = bench.sentence(f"{told} {verb} the threshold {self.threshold:.2f}")
        evidence = bench.evidence(score=score, threshold=self.threshold)
        return Judgment(status, reason, NumericalScore(score), metadata=evidence)


@dataclass(frozen=True, slots=True)
class AverageVoting(_ScoreVoting):
    """The mean of the effective scores reaches the threshold; weights are not looked at."""

    name: str = "average"

    def aggregate(self, ballots: Sequence[Ballot], /) -> Judgment:
        """The judgment with the mean as its score."""
        bench = population(ballots, self.name, self.on_error)
        if isinstance(bench, Judgment):
            return bench
        scores = [_score_of(ballot) for ballot in bench.voters]
        return self._decide(bench, math.fsum(scores) / len(scores), "mean")


@dataclass(frozen=True, slots=True)
class WeightedAverageVoting(_ScoreVoting):
    """The weighted mean reaches the threshold; weights need not sum to one, zero drops a seat."""

    name: str = "weighted_average"

    def aggregate(self, ballots: Sequence[Ballot], /) -> Judgment:
        """The judgment with the weighted mean as its score."""
        bench = population(ballots, self.name, self.on_error, weighted=True)
        if isinstance(bench, Judgment):
            return bench
        # Dividing by the largest weight first keeps huge and tiny weights from over- or underflow.
        largest = max(ballot.weight for ballot in bench.voters)
        shares = [ballot.weight / largest for ballot in bench.voters]
        scores = [_score_of(ballot) for ballot in bench.voters]
        total = math.fsum(share * score for share, score in zip(shares, scores, strict=True))
        return self._decide(bench, total / math.fsum(shares), "weighted mean")


@dataclass(frozen=True, slots=True)
class MedianVoting(_ScoreVoting):
    """The median of the effective scores reaches the threshold; one outlier changes nothing."""

    name: str = "median"

    def aggregate(self, ballots: Sequence[Ballot], /) -> Judgment:
        """The judgment with the median as its score; of an even number, the middle pair's mean."""
        bench = population(ballots, self.name, self.on_error)
        if isinstance(bench, Judgment):
            return bench
        return self._decide(bench, statistics.median(map(_score_of, bench.voters)), "median")


def _status(*, passed: bool) -> Status:
    return Status.PASS if passed else Status.FAIL
