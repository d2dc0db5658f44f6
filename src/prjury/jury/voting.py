"""Five ways to make one judgment out of many, and what becomes of ties and errors.

Abstentions never vote. Errors follow the `ErrorPolicy`. The order of the ballots never matters:
sums are exactly rounded and names are sorted. Every aggregate keeps the counts that it rests on in
``metadata["aggregation"]``.
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

#: Digits to which a mean is rounded before it meets a threshold, so that three times 0.7 is 0.7.
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Ballot:
    """One judge's judgment with the judge's name and weight, as counted by a voting strategy.

    Raises:
        ValueError: for a weight that is negative or not finite.
    """

    judge: str
    judgment: Judgment
    weight: float = 1.0
    type: JudgeType = JudgeType.DETERMINISTIC
    elapsed_ms: int = 0

    def __post_init__(self) -> None:
        if finite(self.weight, f"the weight of {self.judge}") < 0:
            raise ValueError(f"the weight of {self.judge} is negative: {self.weight}")


class TiePolicy(StrEnum):
    """What as many passes as fails mean."""

    PASS = "pass"  # noqa: S105 - a status, not a password
    FAIL = "fail"
    ABSTAIN = "abstain"


class ErrorPolicy(StrEnum):
    """What becomes of a ballot that is an error."""

    TREAT_AS_FAIL = "treat_as_fail"
    TREAT_AS_ABSTAIN = "treat_as_abstain"
    IGNORE = "ignore"
    PROPAGATE = "propagate"


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


@dataclass(frozen=True, slots=True)
class _Population:
    """Who was asked, who votes, and the sentence that tells it."""

    ballots: tuple[Ballot, ...]
    voters: tuple[Ballot, ...]
    strategy: str
    on_error: ErrorPolicy

    def names(self, status: Status) -> list[str]:
        return sorted(b.judge for b in self.ballots if b.judgment.status is status)

    def evidence(self, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
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
        return {"aggregation": aggregation}

    def sentence(self, main: str) -> str:
        """The main clause, then who did not vote and why."""
        silent = [_why_silent(b) for b in sorted(self.ballots, key=lambda b: b.judge)]
        return "; ".join([main, *filter(None, silent)])


def _why_silent(ballot: Ballot) -> str:
    verb = {Status.ABSTAIN: "abstained", Status.ERROR: "erred"}.get(ballot.judgment.status)
    first_line = ballot.judgment.reasoning.strip().partition("\n")[0]
    return f"{ballot.judge} {verb}: {first_line}" if verb else ""


def _population(
    ballots: Iterable[Ballot], strategy: str, on_error: ErrorPolicy, *, weighted: bool = False
) -> _Population | Judgment:
    """Who votes; a judgment instead where there is nothing to count."""
    everyone = tuple(ballots)
    if not everyone:
        raise ValueError("there are no ballots to count")
    seated = tuple(b for b in everyone if b.weight > 0) if weighted else everyone
    votes = {Status.PASS, Status.FAIL}
    if on_error is ErrorPolicy.TREAT_AS_FAIL:
        votes.add(Status.ERROR)
    voters = tuple(b for b in seated if b.judgment.status in votes)
    population = _Population(everyone, voters, strategy, on_error)
    if on_error is ErrorPolicy.PROPAGATE and any(b.judgment.status is Status.ERROR for b in seated):
        erred = ", ".join(population.names(Status.ERROR))
        reason = population.sentence(f"could not be decided because of {erred}")
        return Judgment.errored(reason, metadata=population.evidence())
    return population if voters else _nobody_votes(population)


def _nobody_votes(population: _Population) -> Judgment:
    labels = {b.judgment.label for b in population.ballots}
    label = None
    if labels <= BENIGN_LABELS:
        label = NOT_CONFIGURED if NOT_CONFIGURED in labels else NOT_APPLICABLE
    reason = population.sentence("nobody voted")
    return Judgment(Status.ABSTAIN, reason, label=label, metadata=population.evidence())


def _passed(ballot: Ballot) -> bool:
    return ballot.judgment.status is Status.PASS


def _score_of(ballot: Ballot) -> float:
    """The effective score; an error that counts as a fail counts as 0."""
    return ballot.judgment.effective_score or 0.0


@dataclass(frozen=True, slots=True)
class MajorityVoting:
    """More passes than fails among the votes cast; a tie follows the tie policy."""

    tie: TiePolicy = TiePolicy.FAIL
    on_error: ErrorPolicy = ErrorPolicy.TREAT_AS_FAIL
    name: str = "majority"

    def aggregate(self, ballots: Sequence[Ballot], /) -> Judgment:
        """The judgment of the majority; it carries no score."""
        bench = _population(ballots, self.name, self.on_error)
        if isinstance(bench, Judgment):
            return bench
        passes = sum(map(_passed, bench.voters))
        fails = len(bench.voters) - passes
        tied = passes == fails
        status = Status(self.tie.value) if tied else _status(passed=passes > fails)
        words = f"a tie, which counts as {self.tie}: " if tied else ""
        reason = bench.sentence(f"{words}{passes} of {len(bench.voters)} passed")
        return Judgment(
            status, reason, metadata=bench.evidence(tie_policy=self.tie.value, tied=tied)
        )


@dataclass(frozen=True, slots=True)
class ConsensusVoting:
    """All judges that vote agree; disagreement is ``on_disagreement``.

    Raises:
        ValueError: for a disagreement that would count as PASS.
    """

    on_disagreement: Status = Status.FAIL
    on_error: ErrorPolicy = ErrorPolicy.TREAT_AS_FAIL
    name: str = "consensus"

    def __post_init__(self) -> None:
        if self.on_disagreement is Status.PASS:
            raise ValueError("a disagreement cannot count as PASS")

    def aggregate(self, ballots: Sequence[Ballot], /) -> Judgment:
        """The judgment on which all agree; it carries no score."""
        bench = _population(ballots, self.name, self.on_error)
        if isinstance(bench, Judgment):
            return bench
        passes = sum(map(_passed, bench.voters))
        unanimous = passes in {0, len(bench.voters)}
        status = _status(passed=passes > 0) if unanimous else self.on_disagreement
        words = "" if unanimous else f"no consensus, which counts as {self.on_disagreement}: "
        reason = bench.sentence(f"{words}{passes} of {len(bench.voters)} passed")
        return Judgment(status, reason, metadata=bench.evidence(unanimous=unanimous))


@dataclass(frozen=True, slots=True)
class _ScoreVoting:
    """What the three strategies on scores share: a threshold and a band of doubt around it.

    Raises:
        ValueError: for a threshold outside 0..1 or a band that is not ``low <= high`` in 0..1.
    """

    threshold: float = 0.5
    undecided: tuple[float, float] | None = None
    on_error: ErrorPolicy = ErrorPolicy.TREAT_AS_FAIL

    def __post_init__(self) -> None:
        low, high = self.undecided or (self.threshold, self.threshold)
        for value in (self.threshold, low, high):
            if not 0.0 <= finite(value, "a threshold") <= 1.0:
                raise ValueError(f"a threshold is in 0..1, not {value}")
        if low > high:
            raise ValueError(f"the undecided band is empty: {low}..{high}")

    def _decide(self, bench: _Population, score: float, how: str) -> Judgment:
        score = round(score, _DIGITS)
        evidence = bench.evidence(score=score, threshold=self.threshold)
        told = f"{how} {score:.2f} of {len(bench.voters)}"
        if self.undecided and self.undecided[0] <= score <= self.undecided[1]:
            low, high = self.undecided
            reason = bench.sentence(f"{told} lies in the undecided band {low:.2f} to {high:.2f}")
            return Judgment(Status.ABSTAIN, reason, metadata=evidence)
        status = _status(passed=score >= self.threshold)
        verb = "reaches" if status is Status.PASS else "is below"
        reason = bench.sentence(f"{told} {verb} the threshold {self.threshold:.2f}")
        return Judgment(status, reason, NumericalScore(score), metadata=evidence)


@dataclass(frozen=True, slots=True)
class AverageVoting(_ScoreVoting):
    """The mean of the effective scores reaches the threshold; weights are not looked at."""

    name: str = "average"

    def aggregate(self, ballots: Sequence[Ballot], /) -> Judgment:
        """The judgment with the mean as its score."""
        bench = _population(ballots, self.name, self.on_error)
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
        bench = _population(ballots, self.name, self.on_error, weighted=True)
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
        bench = _population(ballots, self.name, self.on_error)
        if isinstance(bench, Judgment):
            return bench
        return self._decide(bench, statistics.median(map(_score_of, bench.voters)), "median")


def _status(*, passed: bool) -> Status:
    return Status.PASS if passed else Status.FAIL
