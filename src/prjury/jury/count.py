"""Counting: what the voting strategy says, never better than the judges that are certain."""

from __future__ import annotations

from collections.abc import Sequence

from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.population import NOBODY_VOTED, Ballot
from prjury.jury.voting import VotingStrategy


def count(voting: VotingStrategy, ballots: Sequence[Ballot]) -> Judgment:
    """The judgment of the bench.

    Judges that are backed by a model may lower what the deterministic ones say among themselves;
    they cannot lift it. A bench on which nobody voted does not pass, whatever the strategy says: a
    threshold of 0 is reached by errors that count as fails.

    Raises:
        ValueError: for no ballots at all.
        TypeError: when the strategy's answer is not a judgment.
    """
    said = _aggregate(voting, ballots)
    if said.status is Status.PASS and not anybody_voted(ballots):
        return _unearned(said, ballots)
    return hold_down(said, JudgeType.DETERMINISTIC, voting, ballots)


def anybody_voted(ballots: Sequence[Ballot]) -> bool:
    """Whether there is a PASS or a FAIL among the ballots."""
    return any(ballot.judgment.status in {Status.PASS, Status.FAIL} for ballot in ballots)


def hold_down(
    said: Judgment, kind: JudgeType, voting: VotingStrategy, ballots: Sequence[Ballot]
) -> Judgment:
    """What somebody made of the ballots, no better than what the deterministic ones come to.

    Args:
        kind: what the one is who made it: a deterministic one that only read deterministic answers
            is taken at its word.

    Raises:
        TypeError: when the strategy's answer is not a judgment.
    """
    certain = [ballot for ballot in ballots if ballot.type == JudgeType.DETERMINISTIC]
    better = said.status in {Status.PASS, Status.ABSTAIN}
    no_model = kind is JudgeType.DETERMINISTIC and len(certain) == len(ballots)
    if not better or not certain or no_model:
        return said
    alone = _aggregate(voting, certain)
    against = alone.status in {Status.FAIL, Status.ERROR}
    lifted = against or (said.status is Status.PASS and _undecided(alone, certain))
    return _held_down(said, alone) if lifted else said


def _undecided(alone: Judgment, certain: Sequence[Ballot]) -> bool:
    """Whether the certain ones voted and came to no result; dropped seats have not voted."""
    voted = anybody_voted(certain) and alone.metadata.get("reason") != NOBODY_VOTED
    return alone.status is Status.ABSTAIN and voted


def _aggregate(voting: VotingStrategy, ballots: Sequence[Ballot]) -> Judgment:
    said: object = voting.aggregate(ballots)
    if not isinstance(said, Judgment):
        raise TypeError(f"{voting.name} voting returned a {type(said).__name__}, not a Judgment")
    return said


def _unearned(said: Judgment, ballots: Sequence[Ballot]) -> Judgment:
    """What a PASS without votes comes to: an error if there was one."""
    erred = any(ballot.judgment.status is Status.ERROR for ballot in ballots)
    return Judgment(
        Status.ERROR if erred else Status.ABSTAIN,
        f"nobody voted, so nothing passed: {said.reasoning}",
        metadata={**said.metadata, "reason": NOBODY_VOTED},
    )


def _held_down(said: Judgment, alone: Judgment) -> Judgment:
    """The deterministic judges' status and reason, with the counts of the whole bench."""
    evidence = {**said.metadata, "held_down_from": said.status.value}
    evidence.pop("reason", None)
    if "reason" in alone.metadata:
        evidence["reason"] = alone.metadata["reason"]
    words = f"{alone.reasoning}; no model-backed judge can lift that: {said.reasoning}"
    return Judgment(alone.status, words, metadata=evidence)
