"""What each voting strategy would have made of recorded ballots, and each judge alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from prjury.calibration.records import BallotCase, BallotRecord
from prjury.jury.judgment import Status
from prjury.jury.voting import (
    AverageVoting,
    Ballot,
    ConsensusVoting,
    MajorityVoting,
    MedianVoting,
    TiePolicy,
    VotingStrategy,
    WeightedAverageVoting,
)

_Z = 1.96  # of a 95 % interval


@dataclass(frozen=True)
class StrategyResult:
    """How a strategy did over all cases that it could vote on.

    Attributes:
        decided: cases that ended in PASS or FAIL.
        known: decided cases of which it is known what is right.
        right: how many of those were right.
        cost: US dollars a case; None where no ballot names its cost.
    """

    name: str
    cases: int
    decided: int
    passed: int
    known: int
    right: int
    cost: float | None = None

    @property
    def accuracy(self) -> float | None:
        """The share of the known cases that were right, 0..1."""
        return self.right / self.known if self.known else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval of the accuracy."""
        if not self.known:
            return None
        n, share = self.known, self.right / self.known
        middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
        return max(0.0, middle - half), min(1.0, middle + half)


def compare(
    cases: Sequence[BallotCase], threshold: float = 0.5, weights: Mapping[str, float] | None = None
) -> list[StrategyResult]:
    """Each strategy over all ballots, then each judge alone (the majority of its own).

    Args:
        threshold: of the strategies that read scores.
        weights: of judges by name; others have 1.

    Raises:
        ValueError: for a threshold or weight that no strategy takes, or a judge without records.
    """
    judges = sorted({record.judge for case in cases for record in case.records})
    weights = weights or {}
    if unknown := sorted(set(weights) - set(judges)):
        raise ValueError(f"there is no record of {', '.join(unknown)}")
    strategies: dict[str, VotingStrategy] = {
        "majority": MajorityVoting(TiePolicy.ABSTAIN),
        f"average >= {threshold:g}": AverageVoting(threshold),
        f"median >= {threshold:g}": MedianVoting(threshold),
        "consensus": ConsensusVoting(on_disagreement=Status.ABSTAIN),
    }
    if weights:
        strategies[f"weighted average >= {threshold:g}"] = WeightedAverageVoting(threshold)
    together = [_result(name, voting, cases, weights) for name, voting in strategies.items()]
    majority = strategies["majority"]
    alone = [_result(name, majority, list(_only(name, cases)), {}) for name in judges]
    return [*together, *alone] if len(judges) > 1 else together


def _only(judge: str, cases: Sequence[BallotCase]) -> Iterator[BallotCase]:
    for case in cases:
        own = tuple(record for record in case.records if record.judge == judge)
        if own:
            yield BallotCase(case.item, case.criterion, case.gold, own)


def _result(
    name: str, voting: VotingStrategy, cases: Sequence[BallotCase], weights: Mapping[str, float]
) -> StrategyResult:
    statuses = [voting.aggregate(_ballots(case.records, weights)).status for case in cases]
    decided = [
        (case.gold, status)
        for case, status in zip(cases, statuses, strict=True)
        if status in {Status.PASS, Status.FAIL}
    ]
    known = [(gold, status) for gold, status in decided if gold is not None]
    costs = [record.cost for case in cases for record in case.records if record.cost is not None]
    return StrategyResult(
        name,
        len(cases),
        len(decided),
        sum(status is Status.PASS for _, status in decided),
        len(known),
        sum(gold is status for gold, status in known),
        math.fsum(costs) / len(cases) if costs else None,
    )


def _ballots(records: Sequence[BallotRecord], weights: Mapping[str, float]) -> list[Ballot]:
    return [
        record.ballot(f"{record.judge}#{number}", weights.get(record.judge, 1.0))
        for number, record in enumerate(records)
    ]
