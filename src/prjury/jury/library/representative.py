"""One result that stands for many of the same kind: the average, the median, the most frequent.

The representative is one of the results that were given, untouched but for its metadata. Scores
are compared raw, on the scale that they were given in, and read as the decimals that they are
written as, so that 0.1, 0.2, 0.3 and 0.4 have the mean 0.25 and nothing depends on the rounding of
floats.
"""

from __future__ import annotations

import statistics
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeAlias

from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import BooleanScore, CategoricalScore, Score


class AggregationMethod(StrEnum):
    """The strategies that have a name."""

    AVERAGE = "average"
    MEDIAN = "median"
    MAJORITY_VOTE = "majority_vote"


@dataclass(frozen=True, slots=True)
class RepeatedResults:
    """What several results of one judge hold, sorted into what counts and what does not.

    Attributes:
        valid_results: the results with a numeric score, in the order of the input; at least one.
        scores: their scores, raw as given; a yes is 1.0, a no 0.0.
        valid_indices: their positions in the input, from 0.
        errors: the reasonings of the results that are errors.
        unscored: the statuses and reasonings of the others that have no score, such as
            ``"abstain: docs only"``; they do not count, whatever they say.
        total_judges: how many results were asked for; more than were given if some never came.
    """

    valid_results: tuple[Judgment, ...]
    scores: tuple[float, ...]
    valid_indices: tuple[int, ...]
    errors: tuple[str, ...]
    unscored: tuple[str, ...]
    total_judges: int

    @property
    def decimals(self) -> tuple[Fraction, ...]:
        """The scores as exact numbers, for comparisons and sums without rounding."""
        return tuple(map(_decimal, self.scores))

    def represented_by(
        self,
        place: int,
        aggregate: float,
        strategy: str,
        **more: Any,  # noqa: ANN401 - JSON
    ) -> Judgment:
        """The valid result at this place, which tells in its metadata for what it stands.

        ``metadata["repeated"]`` has ``strategy``, ``aggregate`` (the number that the strategy
        came to, raw like the scores), ``total_judges``, ``valid_indices``, ``errors``,
        ``unscored``, ``scores``, ``representative`` (its position in the input) and what is given
        as ``more``. What the result itself had there, because it stands for others already, is
        kept in ``inner``.

        Args:
            place: a position among the valid results, from 0.
        """
        chosen = self.valid_results[place]
        repeated = {
            "strategy": str(strategy),
            "aggregate": aggregate,
            "total_judges": self.total_judges,
            "valid_indices": self.valid_indices,
            "errors": self.errors,
            "unscored": self.unscored,
            "scores": self.scores,
            "representative": self.valid_indices[place],
            **more,
        }
        if "repeated" in chosen.metadata:
            repeated["inner"] = chosen.metadata["repeated"]
        return replace(chosen, metadata={**chosen.metadata, "repeated": repeated})


def aggregate_repeated_results(results: Iterable[Judgment], total_judges: int) -> RepeatedResults:
    """Sorts the results: those with a numeric score count, the others are told.

    Args:
        total_judges: how many results were asked for; at least as many as there are.

    Raises:
        ValueError: for no results, none with a numeric score, one whose score is a word (convert
            it with `to_numerical` first), or fewer judges than results.
        TypeError: for results that are not judgments, or a number that is not a whole one.
    """
    heard = tuple(results)
    _refuse_nonsense(heard, total_judges)
    scores = [_number(said.score, place) for place, said in enumerate(heard)]
    valid = {place: score for place, score in enumerate(scores) if score is not None}
    errors, unscored = errors_of(heard), unscored_of(heard)
    if not valid:
        first = first_line((errors or unscored)[0])
        raise ValueError(f"none of {len(heard)} results has a numeric score; the first: {first}")
    chosen = tuple(heard[place] for place in valid)
    return RepeatedResults(
        chosen, tuple(valid.values()), tuple(valid), errors, unscored, total_judges
    )


def errors_of(results: Iterable[Judgment]) -> tuple[str, ...]:
    """The reasonings of the results that are errors, fit for metadata."""
    erred = (said for said in results if said.status is Status.ERROR)
    return tuple(_printable(said.reasoning) for said in erred)


def unscored_of(results: Iterable[Judgment]) -> tuple[str, ...]:
    """The statuses and reasonings of the results without a score that are not errors."""
    silent = (said for said in results if said.score is None and said.status is not Status.ERROR)
    return tuple(_printable(f"{said.status}: {said.reasoning}") for said in silent)


def first_line(text: str) -> str:
    """What of a reasoning fits into a sentence."""
    return text.strip().partition("\n")[0]


def whole_number(value: object, what: str) -> int:
    """The value itself, if it is a whole number.

    Raises:
        TypeError: for anything else (``True`` and 3.0 are not whole numbers).
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} is a whole number, not {value!r}")
    return value


def _refuse_nonsense(heard: Sequence[object], total_judges: object) -> None:
    for said in heard:
        if not isinstance(said, Judgment):
            raise TypeError(f"a result is a Judgment, not {said!r}")
    if whole_number(total_judges, "total_judges") < len(heard):
        raise ValueError(f"{len(heard)} results cannot come from {total_judges} judges")
    if not heard:
        raise ValueError("there are no results to aggregate")


def _number(score: Score | None, place: int) -> float | None:
    if isinstance(score, CategoricalScore):
        # The contract's word for a score of the wrong kind is ValueError.
        raise ValueError(  # noqa: TRY004
            f"result {place} has the score {score.value!r}, which is a word and not a number"
        )
    if isinstance(score, BooleanScore):
        return score.normalized
    return None if score is None else score.value


def _decimal(score: float) -> Fraction:
    """The number as it is written: 0.1 is a tenth."""
    return Fraction(score) if isinstance(score, int) else Fraction(float.__repr__(score))


def _printable(text: str) -> str:
    """The text without lone surrogates, which metadata cannot hold."""
    return text.encode(errors="backslashreplace").decode()


class BaseJudgeAggregator(ABC):
    """Makes one judgment out of several by the same judge; the base of strategies of your own.

    A strategy names itself and says which result stands for all::

        class Lowest(BaseJudgeAggregator):
            strategy = "lowest"

            def aggregate(self, results, total_judges):
                found = self.aggregate_repeated_results(results, total_judges)
                lowest = min(found.scores)
                return found.represented_by(found.scores.index(lowest), lowest, self.strategy)
    """

    @property
    @abstractmethod
    def strategy(self) -> AggregationMethod | str:
        """The strategy's name in metadata and messages."""

    @abstractmethod
    def aggregate(self, results: Sequence[Judgment], total_judges: int) -> Judgment:
        """The representative, with ``metadata["repeated"]`` (`RepeatedResults.represented_by`).

        Raises:
            ValueError: where nothing counts; for the rest see `aggregate_repeated_results`.
        """

    def aggregate_repeated_results(
        self, results: Sequence[Judgment], total_judges: int
    ) -> RepeatedResults:
        """What the function of the same name says."""
        return aggregate_repeated_results(results, total_judges)


@dataclass(frozen=True)
class AverageAggregationStrategy(BaseJudgeAggregator):
    """The result nearest the mean; of two equally near ones, the earlier."""

    @property
    def strategy(self) -> AggregationMethod:
        """``average``."""
        return AggregationMethod.AVERAGE

    def aggregate(self, results: Sequence[Judgment], total_judges: int) -> Judgment:
        """The representative; ``aggregate`` is the mean."""
        found = self.aggregate_repeated_results(results, total_judges)
        scores = found.decimals
        mean = Fraction(sum(scores), len(scores))
        distances = [abs(score - mean) for score in scores]
        place = distances.index(min(distances))
        return found.represented_by(place, float(mean), self.strategy)


@dataclass(frozen=True)
class MedianAggregationStrategy(BaseJudgeAggregator):
    """The earliest result with the median score; of an even number, the upper of the middle two."""

    @property
    def strategy(self) -> AggregationMethod:
        """``median``."""
        return AggregationMethod.MEDIAN

    def aggregate(self, results: Sequence[Judgment], total_judges: int) -> Judgment:
        """The representative; ``aggregate`` is its score."""
        found = self.aggregate_repeated_results(results, total_judges)
        place = _median_place(found.decimals)
        return found.represented_by(place, found.scores[place], self.strategy)


@dataclass(frozen=True)
class MajorityVoteAggregationStrategy(BaseJudgeAggregator):
    """The earliest result with the most frequent score; where several are, the median decides.

    That is the median of all scores, not only of the most frequent ones.
    """

    @property
    def strategy(self) -> AggregationMethod:
        """``majority_vote``."""
        return AggregationMethod.MAJORITY_VOTE

    def aggregate(self, results: Sequence[Judgment], total_judges: int) -> Judgment:
        """The representative; ``aggregate`` is its score, ``tied`` whether the median decided."""
        found = self.aggregate_repeated_results(results, total_judges)
        scores = found.decimals
        most_frequent = statistics.multimode(scores)
        tied = len(most_frequent) > 1
        place = _median_place(scores) if tied else scores.index(most_frequent[0])
        return found.represented_by(place, found.scores[place], self.strategy, tied=tied)


def _median_place(scores: Sequence[Fraction]) -> int:
    return scores.index(statistics.median_high(scores))


#: How a strategy can be named where one is needed.
AggregationSelector: TypeAlias = str | AggregationMethod | BaseJudgeAggregator

_STRATEGIES: Mapping[str, BaseJudgeAggregator] = {
    AggregationMethod.AVERAGE: AverageAggregationStrategy(),
    AggregationMethod.MEDIAN: MedianAggregationStrategy(),
    AggregationMethod.MAJORITY_VOTE: MajorityVoteAggregationStrategy(),
}


def build_aggregation_strategy(selector: AggregationSelector) -> BaseJudgeAggregator:
    """The strategy of this name, or the strategy itself.

    Raises:
        ValueError: for a name that is not known.
        TypeError: for something that is neither a name nor a `BaseJudgeAggregator`.
    """
    if isinstance(selector, BaseJudgeAggregator):
        return selector
    known = ", ".join(AggregationMethod)
    if not isinstance(selector, str):
        raise TypeError(
            f"an aggregation is one of {known} or a BaseJudgeAggregator, not {selector!r}"
        )
    if selector not in _STRATEGIES:
        raise ValueError(f"aggregation {selector!r} is none of {known}")
    return _STRATEGIES[selector]
