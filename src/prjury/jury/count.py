"""Counting: what the voting strategy says, never better than the judges that are certain."""

from __future__ import annotations

from collections.abc import Sequence

from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.population import Ballot
from prjury.jury.voting import VotingStrategy


def count(voting: VotingStrategy, ballots: Sequence[Ballot]) -> Judgment:
    """The judgment of the bench.

    Judges that are backed by a model may lower what the deterministic ones say among themselves;
    they cannot lift it.

    Raises:
        ValueError: for no ballots at all.
        TypeError: when the strategy's answer is not a judgment.
    """
    said = _aggregate(voting, ballots)
    return hold_down(said, JudgeType.DETERMINISTIC, voting, ballots)


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
    return _held_down(said, alone) if alone.status in {Status.FAIL, Status.ERROR} else said


def _aggregate(voting: VotingStrategy, ballots: Sequence[Ballot]) -> Judgment:
    said: object = voting.aggregate(ballots)
    if not isinstance(said, Judgment):
        raise TypeError(f"{voting.name} voting returned a {type(said).__name__}, not a Judgment")
    return said


def _held_down(said: Judgment, alone: Judgment) -> Judgment:
    """The deterministic judges' status and reason, with the counts of the whole bench."""
    evidence = {**said.metadata, "held_down_from": said.status.value}
    evidence.pop("reason", None)
    if "reason" in alone.metadata:
        evidence["reason"] = alone.metadata["reason"]
    words = f"{alone.reasoning}; no model-backed judge can lift that: {said.reasoning}"
    return Judgment(alone.status, words, metadata=evidence)
