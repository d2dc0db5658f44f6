"""Voting that some ballots can only lower, and voting that cannot overrule certain failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import NOBODY_VOTED, Ballot, VotingStrategy


def aggregate_ballots(
    voting: VotingStrategy, ballots: Sequence[Ballot], *, models_lift: bool = False
) -> Judgment:
    """The judgment of the whole jury.

    Judges that are backed by a model may lower what the deterministic ones say among themselves;
    they lift it only if that is allowed. A jury in which nobody voted does not pass, whatever the
    strategy says: a threshold of 0 is reached by errors that count as fails.
    """
    outcome = _aggregate(voting, ballots)
    if outcome.status is Status.PASS and not has_vote(ballots):
        return _describe_unearned(outcome, ballots)
    return (
        outcome
        if models_lift
        else cap_by_deterministic(outcome, JudgeType.DETERMINISTIC, voting, ballots)
    )


def has_vote(ballots: Sequence[Ballot]) -> bool:
    """Return whether there is a PASS or a FAIL among the ballots."""
    return any(ballot.judgment.status in {Status.PASS, Status.FAIL} for ballot in ballots)


def cap_by_deterministic(
    judgment: Judgment, author_type: JudgeType, voting: VotingStrategy, ballots: Sequence[Ballot]
) -> Judgment:
    """Make a judgment of the ballots no better than what the deterministic ones come to."""
    certain = [ballot for ballot in ballots if ballot.type == JudgeType.DETERMINISTIC]
    better = judgment.status in {Status.PASS, Status.ABSTAIN}
    no_model = author_type is JudgeType.DETERMINISTIC and len(certain) == len(ballots)
    if not better or not certain or no_model:
        return judgment
    alone = _aggregate(voting, certain)
    against = alone.status in {Status.FAIL, Status.ERROR}
    lifted = against or (judgment.status is Status.PASS and _is_undecided(alone, certain))
    return _lower(judgment, alone) if lifted else judgment


def _is_undecided(alone: Judgment, certain: Sequence[Ballot]) -> bool:
    # An error that counts as a failure is no vote, and leaves the strategy undecided all the same.
    reason = alone.metadata.get("reason")
    voted = reason == "undecided" or (has_vote(certain) and reason != NOBODY_VOTED)
    return alone.status is Status.ABSTAIN and voted


def _aggregate(voting: VotingStrategy, ballots: Sequence[Ballot]) -> Judgment:
    judgment: object = voting.aggregate(ballots)
    if not isinstance(judgment, Judgment):
        raise TypeError(
            f"{voting.name} voting returned a {type(judgment).__name__}, not a Judgment"
        )
    return judgment


def _describe_unearned(judgment: Judgment, ballots: Sequence[Ballot]) -> Judgment:
    erred = any(ballot.judgment.status is Status.ERROR for ballot in ballots)
    return Judgment(
        Status.ERROR if erred else Status.ABSTAIN,
        f"nobody voted, so nothing passed: {judgment.reasoning}",
        metadata={**judgment.metadata, "reason": NOBODY_VOTED},
    )


def _lower(judgment: Judgment, alone: Judgment) -> Judgment:
    evidence = {**judgment.metadata, "held_down_from": judgment.status.value}
    evidence.pop("reason", None)
    if "reason" in alone.metadata:
        evidence["reason"] = alone.metadata["reason"]
    words = f"{alone.reasoning}; no model-backed judge can lift that: {judgment.reasoning}"
    return Judgment(alone.status, words, metadata=evidence)


#: Where the counts of a vote name the judges that could only lower it.
LOWERING = "only_lower"

#: From the best to the worst.
_ORDER = (Status.PASS, Status.ABSTAIN, Status.ERROR, Status.FAIL)


@dataclass(frozen=True)
class NeverLifting:
    """Counts all votes, and those without the named judges; the worse result stands."""

    inner: VotingStrategy
    lowering: frozenset[str]

    @property
    def name(self) -> str:
        """The inner strategy's name."""
        return self.inner.name

    def aggregate(self, ballots: Sequence[Ballot]) -> Judgment:
        """The worse of both results; a jury of such judges alone is taken at its word."""
        judgment = self.inner.aggregate(ballots)
        others = [ballot for ballot in ballots if ballot.judge not in self.lowering]
        if not others or len(others) == len(ballots):
            return judgment
        judgment = self._naming(judgment)
        alone = self._naming(aggregate_ballots(self.inner, others))
        if _rank(judgment) >= _rank(alone):
            return judgment
        names = ", ".join(sorted(self.lowering))
        words = f"{alone.reasoning}; {names} may lower that, not lift it"
        return replace(alone, reasoning=words).with_metadata(held_down_from=judgment.status.value)

    def _naming(self, judgment: Judgment) -> Judgment:
        counts = judgment.metadata.get("aggregation")
        if not counts:
            return judgment
        return judgment.with_metadata(aggregation={**counts, LOWERING: sorted(self.lowering)})


@dataclass(frozen=True)
class NeverOverruling:
    """Voting that passes nothing that every voter fails, nor what has ``must_failed`` criteria."""

    inner: VotingStrategy

    @property
    def name(self) -> str:
        """The inner strategy's name."""
        return self.inner.name

    def aggregate(self, ballots: Sequence[Ballot]) -> Judgment:
        """The inner strategy's judgment, or FAIL where it must not overrule one."""
        judgment = self.inner.aggregate(ballots)
        why = _name_broken(ballots) or (judgment.status is Status.PASS and _unanimous(ballots))
        if judgment.status is Status.FAIL or not why:
            return judgment
        words = f"{why}, whatever the vote: {judgment.reasoning}"
        metadata = {**judgment.metadata, "held_down_from": judgment.status.value}
        metadata.pop("reason", None)
        return Judgment.failed(words, metadata=metadata)


def _name_broken(ballots: Sequence[Ballot]) -> str:
    names = {
        ballot.judge: ballot.judgment.metadata.get("must_failed") for ballot in _fails(ballots)
    }
    listed = [f"{who}: {', '.join(map(str, them))}" for who, them in names.items() if them]
    return f"{'; '.join(listed)} failed and must pass" if listed else ""


def _unanimous(ballots: Sequence[Ballot]) -> str:
    passes = any(b.judgment.status is Status.PASS and b.weight > 0 for b in ballots)
    names = ", ".join(ballot.judge for ballot in _fails(ballots))
    return f"{names} failed it and nobody passed it" if names and not passes else ""


def _fails(ballots: Sequence[Ballot]) -> list[Ballot]:
    return [b for b in ballots if b.judgment.status is Status.FAIL and b.weight > 0]


def _rank(judgment: Judgment) -> int:
    return _ORDER.index(judgment.status)
