"""One round of questions to a jury that asks again, and how sure it was."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic

from prjury.jury.confidence import confidence
from prjury.jury.guard import guarded, itself
from prjury.jury.judge import ContextT
from prjury.jury.judgment import Judgment
from prjury.jury.jury import Seat
from prjury.jury.population import Ballot

#: Digits to which a mean and the threshold are rounded, so that three times 0.7 is 0.7.
_DIGITS = 12


@dataclass(frozen=True)
class RoundContext(Generic[ContextT]):
    """What the chair reads: the question and the last round of answers to it.

    Attributes:
        context: what the judges were asked about.
        ballots: their answers, in the order of the roster.
        confidences: how sure each is taken to be, 0..1, by name; None where nothing can be said.
        iteration: which round it is, from 1.
        mean_confidence: the mean of those that have a number; None if none has.
        met_threshold: whether that was enough.
        confidence_errors: why a confidence could not be taken, by name.
    """

    context: ContextT
    ballots: tuple[Ballot, ...]
    confidences: Mapping[str, float | None]
    iteration: int
    mean_confidence: float | None
    met_threshold: bool
    confidence_errors: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        context: ContextT,
        seats: Sequence[Seat[ContextT]],
        ballots: tuple[Ballot, ...],
        iteration: int,
        threshold: float,
    ) -> RoundContext[ContextT]:
        """The round in which these seats cast these ballots, with its mean confidence."""
        said = {b.judge: _taken(s, b, ballots) for s, b in zip(seats, ballots, strict=True)}
        errors = {name: it.reasoning for name, it in said.items() if isinstance(it, Judgment)}
        sure = {name: None if isinstance(it, Judgment) else it for name, it in said.items()}
        mean = _mean([number for number in sure.values() if number is not None])
        met = mean is not None and mean >= round(threshold, _DIGITS)
        frozen = MappingProxyType(sure), MappingProxyType(errors)
        return cls(context, ballots, frozen[0], iteration, mean, met, frozen[1])

    @property
    def individual(self) -> tuple[Judgment, ...]:
        """The judgments alone, in the order of the roster."""
        return tuple(ballot.judgment for ballot in self.ballots)

    @property
    def by_name(self) -> Mapping[str, Judgment]:
        """The judgments by the names of their judges."""
        return MappingProxyType({ballot.judge: ballot.judgment for ballot in self.ballots})

    def evidence(self) -> dict[str, Any]:
        """The round as JSON: statuses and confidences by name."""
        return {
            "mean_confidence": self.mean_confidence,
            "confidences": dict(self.confidences),
            "confidence_errors": dict(self.confidence_errors),
            "statuses": {ballot.judge: ballot.judgment.status.value for ballot in self.ballots},
        }


def _taken(
    seat: Seat[ContextT], ballot: Ballot, ballots: Sequence[Ballot]
) -> float | Judgment | None:
    """The ballot's confidence; the error where it cannot be taken, which lifts nothing."""

    def take() -> float | Judgment | None:
        return confidence(seat.confidence, ballot, ballots)

    return guarded(take, itself)


def _mean(numbers: Sequence[float]) -> float | None:
    return round(math.fsum(numbers) / len(numbers), _DIGITS) if numbers else None
