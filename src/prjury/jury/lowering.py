"""Voting that some ballots can only lower, and voting that cannot outvote a broken must."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from prjury.jury.count import count
from prjury.jury.judgment import Judgment, Status
from prjury.jury.population import Ballot
from prjury.jury.voting import VotingStrategy

#: From the best to the worst.
_ORDER = (Status.PASS, Status.ABSTAIN, Status.ERROR, Status.FAIL)


@dataclass(frozen=True)
class NeverLifting:
    """Counts all votes, and those without the named judges; the worse result stands.

    Attributes:
        inner: the strategy that counts.
        lowering: the names of the judges whose votes cannot lift the result.
    """

    inner: VotingStrategy
    lowering: frozenset[str]

    @property
    def name(self) -> str:
        """The inner strategy's name."""
        return self.inner.name

    def aggregate(self, ballots: Sequence[Ballot]) -> Judgment:
        """The worse of both results; a bench of such judges alone is taken at its word.

        Raises:
            ValueError: for no ballots at all.
        """
        said = self.inner.aggregate(ballots)
        others = [ballot for ballot in ballots if ballot.judge not in self.lowering]
        if not others or len(others) == len(ballots):
            return said
        alone = count(self.inner, others)
        if _rank(said) >= _rank(alone):
            return said
        names = ", ".join(sorted(self.lowering))
        words = f"{alone.reasoning}; {names} may lower that, not lift it"
        return replace(alone, reasoning=words).told(held_down_from=said.status.value)


@dataclass(frozen=True)
class MustsHold:
    """Voting in which no other judge outvotes the failure of a criterion that must pass.

    A judge names such criteria in ``metadata["must_failed"]``. Seats of weight 0 have no vote.
    """

    inner: VotingStrategy

    @property
    def name(self) -> str:
        """The inner strategy's name."""
        return self.inner.name

    def aggregate(self, ballots: Sequence[Ballot]) -> Judgment:
        """Return what the inner strategy says, or FAIL where a criterion that must pass fails.

        Raises:
            ValueError: for no ballots at all.
        """
        said = self.inner.aggregate(ballots)
        broken = [f"{b.judge}: {', '.join(names)}" for b in ballots if (names := _broken(b))]
        if said.status is Status.FAIL or not broken:
            return said
        words = f"{'; '.join(broken)} must pass and failed, whatever the vote: {said.reasoning}"
        metadata = {**said.metadata, "held_down_from": said.status.value}
        metadata.pop("reason", None)
        return Judgment.failed(words, metadata=metadata)


def _broken(ballot: Ballot) -> Sequence[str]:
    """The criteria that must pass and failed, of a seat that votes."""
    names = ballot.judgment.metadata.get("must_failed", ())
    votes = ballot.judgment.status is Status.FAIL and ballot.weight > 0
    return [str(name) for name in names] if votes and isinstance(names, list | tuple) else ()


def _rank(judgment: Judgment) -> int:
    return _ORDER.index(judgment.status)
