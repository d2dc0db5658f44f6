"""How sure an answer is taken to be, for juries that ask again when they are not sure.

A model calls itself sure, right or wrong; that it says the same again is worth more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeAlias

from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import finite
from prjury.jury.voting import Ballot


class Confidence(StrEnum):
    """The strategies that have a name.

    * ``self_report``: the confidence that the judgment carries.
    * ``agreement``: the share of the other votes of the round that have the same status.
    * ``flip``: 1 if the judge says the same when it is asked twice, the second time with the
      context's ``flipped()`` form where it has one, else 0.
    """

    SELF_REPORT = "self_report"
    AGREEMENT = "agreement"
    FLIP = "flip"


#: A named strategy, or a function from a judgment to a number in 0..1, or None for "no idea".
ConfidenceStrategy: TypeAlias = Confidence | str | Callable[[Judgment], float | None]

_VOTES = {Status.PASS, Status.FAIL}


def validate_strategy(
    strategy: ConfidenceStrategy | None,
) -> Confidence | Callable[[Judgment], float | None] | None:
    """The strategy itself, a name as a `Confidence`; Value- or TypeError for anything else."""
    if isinstance(strategy, str):
        names = ", ".join(Confidence)
        if strategy not in set(Confidence):
            raise ValueError(f"confidence {strategy!r} is none of {names} and no function")
        return Confidence(strategy)
    if strategy is not None and not callable(strategy):
        raise TypeError(f"a confidence strategy is a name or a function, not {strategy!r}")
    return strategy


def title_of(strategy: ConfidenceStrategy | None) -> str:
    """The strategy's name, or that of its function."""
    if strategy is None:
        return Confidence.SELF_REPORT.value
    if isinstance(strategy, str):
        return str(strategy)
    return str(getattr(strategy, "__name__", type(strategy).__name__))


def confidence_of(
    strategy: ConfidenceStrategy | None, ballot: Ballot, ballots: Sequence[Ballot]
) -> float | None:
    """Return how sure this ballot of the round is, 0..1; None where nothing can be said.

    Without a strategy it is the judge's own; an error has none. A number outside 0..1 is refused.
    """
    judgment = ballot.judgment
    if judgment.status is Status.ERROR:
        return None
    match validate_strategy(strategy):
        case None | Confidence.SELF_REPORT:
            return judgment.confidence
        case Confidence.AGREEMENT:
            return _agreement(judgment, ballots)
        case Confidence.FLIP:
            return _consistency(judgment)
        case function:
            return _check_range(function(judgment))


def _agreement(said: Judgment, ballots: Sequence[Ballot]) -> float | None:
    votes = [other.judgment.status for other in ballots if other.judgment.status in _VOTES]
    if said.status not in _VOTES or len(votes) == 1:
        return None
    return (votes.count(said.status) - 1) / (len(votes) - 1)


def _consistency(said: Judgment) -> float | None:
    flipped = said.metadata.get("flipped") if said.status in _VOTES else None
    return None if flipped is None else float(not flipped)


def _check_range(number: float | None) -> float | None:
    if number is None:
        return None
    if not 0.0 <= finite(number, "a confidence") <= 1.0:
        raise ValueError(f"a confidence is in 0..1, not {number}")
    return float(number)
