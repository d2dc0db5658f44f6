"""The same judge asked several times, and one of its answers that stands for all."""

from __future__ import annotations

import statistics
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any, Generic, TypeAlias

from prjury.jury.guard import ask_seats, limit_by_vote, printable
from prjury.jury.judge import ContextT, Judge, JudgeLike, JudgeType, judge_of, type_of
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Seat
from prjury.jury.score import BooleanScore, CategoricalScore, Score, require_whole_number
from prjury.jury.voting import NOT_CONFIGURED, is_benign


class AggregationMethod(StrEnum):
    """The strategies that have a name."""

    AVERAGE = "average"
    MEDIAN = "median"
    MAJORITY_VOTE = "majority_vote"


@dataclass(frozen=True, slots=True)
class RepeatedResults:
    """The results of one judge, sorted into what counts and what does not.

    Scores are raw as given, ``valid_indices`` their positions from 0; ``errors`` and ``unscored``
    say why others do not count. There may be fewer than the ``total_judges`` that were asked.
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
        return tuple(
            Fraction(score) if isinstance(score, int) else Fraction(float.__repr__(score))
            for score in self.scores
        )

    def represent(
        self,
        place: int,
        aggregate: float,
        strategy: str,
        **more: Any,  # noqa: ANN401 - JSON
    ) -> Judgment:
        """The valid result at this place, from 0; ``metadata["repeated"]`` describes all."""
        chosen = self.valid_results[place]
        facts = {each.name: getattr(self, each.name) for each in fields(self)}
        del facts["valid_results"]
        repeated = {
            "strategy": str(strategy),
            "aggregate": aggregate,
            **facts,
            "representative": self.valid_indices[place],
            **more,
        }
        if "repeated" in chosen.metadata:
            repeated["inner"] = chosen.metadata["repeated"]
        return chosen.with_metadata(repeated=repeated)


def aggregate_repeated_results(results: Iterable[Judgment], total_judges: int) -> RepeatedResults:
    """Sort the results: those with a numeric score count, the others are listed.

    ValueError for no results, none with a numeric score, a score that is a word (convert it with
    `to_numerical` first), or fewer judges than results; TypeError for other values.
    """
    heard = tuple(results)
    _refuse_invalid_results(heard, total_judges)
    scores = [_read_number_or_raise(result.score, place) for place, result in enumerate(heard)]
    valid = {place: score for place, score in enumerate(scores) if score is not None}
    errors, unscored = _errors_of(heard), _find_unscored(heard)
    if not valid:
        first = _first_line((errors or unscored)[0])
        raise ValueError(f"none of {len(heard)} results has a numeric score; the first: {first}")
    chosen = tuple(heard[place] for place in valid)
    return RepeatedResults(
        chosen, tuple(valid.values()), tuple(valid), errors, unscored, total_judges
    )


def _errors_of(results: Iterable[Judgment]) -> tuple[str, ...]:
    erred = (result for result in results if result.status is Status.ERROR)
    return tuple(printable(result.reasoning) for result in erred)


def _find_unscored(results: Iterable[Judgment]) -> tuple[str, ...]:
    silent = (
        result for result in results if result.score is None and result.status is not Status.ERROR
    )
    return tuple(printable(f"{result.status}: {result.reasoning}") for result in silent)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _refuse_invalid_results(heard: Sequence[object], total_judges: object) -> None:
    for result in heard:
        if not isinstance(result, Judgment):
            raise TypeError(f"a result is a Judgment, not {result!r}")
    if require_whole_number(total_judges, "total_judges") < len(heard):
        raise ValueError(f"{len(heard)} results cannot come from {total_judges} judges")
    if not heard:
        raise ValueError("there are no results to aggregate")


def _read_number_or_raise(score: Score | None, result_index: int) -> float | None:
    if isinstance(score, CategoricalScore):
        # The contract's word for a score of the wrong kind is ValueError.
        raise ValueError(  # noqa: TRY004
            f"result {result_index} has the score {score.value!r}, which is a word and not a number"
        )
    if isinstance(score, BooleanScore):
        return score.normalized
    return None if score is None else score.value


class BaseJudgeAggregator(ABC):
    """Makes one judgment out of several by the same judge; the base of strategies of your own.

    ``aggregate`` calls `aggregate_repeated_results` and returns what its `represent` makes.
    """

    @property
    @abstractmethod
    def strategy(self) -> AggregationMethod | str:
        """The strategy's name in metadata and messages."""

    @abstractmethod
    def aggregate(self, results: Sequence[Judgment], total_judges: int) -> Judgment:
        """The representative, with ``metadata["repeated"]``; ValueError where nothing counts."""

    def aggregate_repeated_results(
        self, results: Sequence[Judgment], total_judges: int
    ) -> RepeatedResults:
        """Sort the results as the function of the same name does."""
        return aggregate_repeated_results(results, total_judges)


@dataclass(frozen=True)
class AverageAggregationStrategy(BaseJudgeAggregator):
    """The result nearest the mean; of two equally near ones, the earlier."""

    strategy = AggregationMethod.AVERAGE

    def aggregate(self, results: Sequence[Judgment], total_judges: int) -> Judgment:
        """The representative; ``aggregate`` is the mean."""
        repeated = self.aggregate_repeated_results(results, total_judges)
        scores = repeated.decimals
        mean = Fraction(sum(scores), len(scores))
        distances = [abs(score - mean) for score in scores]
        place = distances.index(min(distances))
        return repeated.represent(place, float(mean), self.strategy)


@dataclass(frozen=True)
class MedianAggregationStrategy(BaseJudgeAggregator):
    """The earliest result with the median score; of an even number, the upper of the middle two."""

    strategy = AggregationMethod.MEDIAN

    def aggregate(self, results: Sequence[Judgment], total_judges: int) -> Judgment:
        """The representative; ``aggregate`` is its score."""
        repeated = self.aggregate_repeated_results(results, total_judges)
        place = _median_place(repeated.decimals)
        return repeated.represent(place, repeated.scores[place], self.strategy)


@dataclass(frozen=True)
class MajorityVoteAggregationStrategy(BaseJudgeAggregator):
    """The earliest result with the most frequent score; where several are, the median of all."""

    strategy = AggregationMethod.MAJORITY_VOTE

    def aggregate(self, results: Sequence[Judgment], total_judges: int) -> Judgment:
        """The representative; ``aggregate`` is its score, ``tied`` whether the median decided."""
        repeated = self.aggregate_repeated_results(results, total_judges)
        scores = repeated.decimals
        most_frequent = statistics.multimode(scores)
        tied = len(most_frequent) > 1
        place = _median_place(scores) if tied else scores.index(most_frequent[0])
        return repeated.represent(place, repeated.scores[place], self.strategy, tied=tied)


def _median_place(scores: Sequence[Fraction]) -> int:
    return scores.index(statistics.median_high(scores))


#: How a strategy can be named where one is needed.
AggregationSelector: TypeAlias = str | AggregationMethod | BaseJudgeAggregator

_STRATEGIES: Mapping[str, BaseJudgeAggregator] = {
    each.strategy: each
    for each in (
        AverageAggregationStrategy(),
        MedianAggregationStrategy(),
        MajorityVoteAggregationStrategy(),
    )
}


def build_aggregation_strategy(selector: AggregationSelector) -> BaseJudgeAggregator:
    """The strategy of this name, or the strategy itself; anything else is refused."""
    if isinstance(selector, BaseJudgeAggregator):
        return selector
    names = ", ".join(AggregationMethod)
    if not isinstance(selector, str):
        raise TypeError(
            f"an aggregation is one of {names} or a BaseJudgeAggregator, not {selector!r}"
        )
    if selector not in _STRATEGIES:
        raise ValueError(f"aggregation {selector!r} is none of {names}")
    return _STRATEGIES[selector]


@dataclass(frozen=True, init=False)
class RepeatedJudge(Generic[ContextT]):
    """Asks a judge several times and answers with the representative of its answers.

    The representative is a real answer with its own status; the aggregate in
    ``metadata["repeated"]`` may lie on the other side of a threshold. Where no run counts, the
    answer is ABSTAIN if all abstained, ERROR with the first error's reason if some erred, and
    ERROR, ``no_numeric_score``, if there are votes, which gives these strategies nothing to count.

    Args:
        judge: a judge, a jury as a judge, or a plain or async function.
        aggregation: ``average``, ``median``, ``majority_vote`` or a strategy of your own.
        parallel: by default only where the judge is backed by a model: a tool that runs several
            times at once in one workspace disturbs itself.
    """

    members: tuple[Judge[ContextT]]
    runs: int
    aggregation: BaseJudgeAggregator
    parallel: bool

    def __init__(
        self,
        judge: JudgeLike[ContextT],
        runs: int,
        aggregation: AggregationSelector = AggregationMethod.AVERAGE,
        *,
        parallel: bool | None = None,
    ) -> None:
        inner = judge_of(judge)
        if require_whole_number(runs, "runs") < 1:
            raise ValueError(f"a judge runs at least once, not {runs} times")
        by_model = type_of(inner) is JudgeType.LLM_POWERED
        # The class is frozen, and its first argument cannot be a field: `judge` is the method.
        object.__setattr__(self, "members", (inner,))
        object.__setattr__(self, "runs", runs)
        object.__setattr__(self, "aggregation", build_aggregation_strategy(aggregation))
        object.__setattr__(self, "parallel", by_model if parallel is None else parallel)

    @property
    def name(self) -> str:
        """The judge's own name."""
        return self.members[0].name

    @property
    def type(self) -> JudgeType:
        """The judge's own type."""
        return type_of(self.members[0])

    @property
    def description(self) -> str:
        """The judge's description, how often it is asked, and what is made of it."""
        message = getattr(self.members[0], "description", "") or self.name
        return f"{message} ({self.aggregation.strategy} of {self.runs} runs)"

    def judge(self, context: ContextT, /) -> Judgment:
        """The representative of the runs, or what their silence amounts to."""
        inner = self.members[0]
        seats = [Seat(inner, name=f"run {number}") for number in range(1, self.runs + 1)]
        ballots = ask_seats(
            seats, context, jury=self.name, until=limit_by_vote(None), parallel=self.parallel
        )
        results = [ballot.judgment for ballot in ballots]
        strategy = str(self.aggregation.strategy)
        try:
            judgment = self.aggregation.aggregate(results, self.runs)
        except ValueError as refusal:
            if _can_count(results):
                raise
            return _judge_without_scores(results, strategy, str(refusal))
        failed = (each.score for each in results if each.status is Status.FAIL)
        if judgment.status is Status.PASS and None in failed:
            refused = "a run failed without a score, which no strategy counts"
            return _judge_without_scores(results, strategy, refused)
        return judgment


def _can_count(results: Sequence[Judgment]) -> bool:
    scores = [result.score for result in results if result.score is not None]
    return bool(scores) and not any(isinstance(score, CategoricalScore) for score in scores)


def _judge_without_scores(results: Sequence[Judgment], strategy: str, refusal: str) -> Judgment:
    statuses = {result.status for result in results}
    erred = [result for result in results if result.status is Status.ERROR]
    if statuses == {Status.ABSTAIN}:
        label = _common_label(results)
        reasons = {result.metadata.get("reason") for result in results}
        common = reasons.pop() if len(reasons) == 1 else None
        evidence = _make_metadata(results, strategy, common or label or "nobody_voted")
        return Judgment.abstained(_silence(results, results, "abstained"), label, metadata=evidence)
    if statuses <= {Status.ABSTAIN, Status.ERROR}:
        evidence = _make_metadata(
            results, strategy, erred[0].metadata.get("reason") or "judge_erred"
        )
        return Judgment.errored(_silence(erred, results, "erred"), metadata=evidence)
    message = (
        f"there is no {strategy} of these runs: {refusal}. Give every judgment a numeric score, or "
        "seat the judge several times in a jury, whose voting counts PASS and FAIL"
    )
    return Judgment.errored(message, metadata=_make_metadata(results, strategy, "no_numeric_score"))


def _silence(silent: Sequence[Judgment], results: Sequence[Judgment], verb: str) -> str:
    first = _first_line(silent[0].reasoning)
    return f"{len(silent)} of {len(results)} runs {verb}; the first: {first}"


def _make_metadata(results: Sequence[Judgment], strategy: str, reason: object) -> dict[str, Any]:
    repeated = {
        "strategy": strategy,
        "aggregate": None,
        "total_judges": len(results),
        "valid_indices": (),
        "errors": _errors_of(results),
        "unscored": _find_unscored(results),
    }
    return {"reason": reason, "repeated": repeated}


def _common_label(results: Sequence[Judgment]) -> str | None:
    labels = {result.label for result in results}
    if len(labels) > 1 and all(map(is_benign, results)):
        return NOT_CONFIGURED
    return labels.pop() if len(labels) == 1 else None
