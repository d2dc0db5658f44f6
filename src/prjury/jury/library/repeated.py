"""The same judge asked several times, and one of its answers that stands for all.

Self-consistency, a judge of a model asked five times and the median of its scores::

    RepeatedJudge(quality, 5, "median")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from prjury.jury.guard import hear, patience
from prjury.jury.judge import ContextT, Judge, JudgeType, Opinion, judge_of, type_of
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Seat
from prjury.jury.library.representative import (
    AggregationMethod,
    AggregationSelector,
    BaseJudgeAggregator,
    build_aggregation_strategy,
    errors_of,
    first_line,
    unscored_of,
    whole_number,
)
from prjury.jury.nesting import Extent
from prjury.jury.population import NOT_CONFIGURED, is_benign
from prjury.jury.score import CategoricalScore


@dataclass(frozen=True, init=False)
class RepeatedJudge(Generic[ContextT]):
    """Asks a judge several times and answers with the representative of its answers.

    The representative is a real answer with its own status, which this never changes. The
    aggregate in ``metadata["repeated"]`` may lie on the other side of a threshold than the
    representative's score: of 0.2, 0.4 and 0.9 the mean is 0.5, and the answer that scored 0.4
    stands for it.

    Runs that erred or have no score do not count and are told in the metadata, so one good run of
    five is enough for an answer. When no run counts, the answer is

    * ABSTAIN if all abstained, with their label if it is the same or benign in all,
    * ERROR with the reason of the first error if the others abstained,
    * ERROR with the reason ``no_numeric_score`` if there are votes among the runs: a judge that
      only says PASS or FAIL, or scores in words, gives these strategies nothing to count.

    Runs keep to the deadline of the jury that asks; a run that comes too late is an error among
    the others.

    Attributes:
        members: the judge that is asked, alone.
        runs: how often it is asked.
        aggregation: the strategy that picks the representative.
        parallel: whether all runs are asked at once.

    Args:
        judge: a judge, a jury as a judge, or a plain or async function.
        runs: at least 1.
        aggregation: ``average``, ``median``, ``majority_vote`` or a strategy of your own.
        parallel: by default only where the judge is backed by a model: a tool that runs several
            times at once in one workspace disturbs itself.

    Raises:
        ValueError: for less than one run, an aggregation that is not known, or more questions in
            one vote than a jury may ask.
        TypeError: for something that is neither a judge nor a function, runs that are not a whole
            number, or an aggregation that is neither a name nor a strategy.
    """

    members: tuple[Judge[ContextT]]
    runs: int
    aggregation: BaseJudgeAggregator
    parallel: bool

    def __init__(
        self,
        judge: Judge[ContextT] | Callable[[ContextT], Opinion],
        runs: int,
        aggregation: AggregationSelector = AggregationMethod.AVERAGE,
        *,
        parallel: bool | None = None,
    ) -> None:
        inner = judge_of(judge)
        if whole_number(runs, "runs") < 1:
            raise ValueError(f"a judge runs at least once, not {runs} times")
        by_model = type_of(inner) is JudgeType.LLM_POWERED
        # The class is frozen, and its first argument cannot be a field: `judge` is the method.
        object.__setattr__(self, "members", (inner,))
        object.__setattr__(self, "runs", runs)
        object.__setattr__(self, "aggregation", build_aggregation_strategy(aggregation))
        object.__setattr__(self, "parallel", by_model if parallel is None else parallel)
        Extent.of(self).within_limits(f"{self.name} repeated")

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
        """What the judge does, how often, and what is made of it."""
        told = getattr(self.members[0], "description", "") or self.name
        return f"{told} ({self.aggregation.strategy} of {self.runs} runs)"

    def judge(self, context: ContextT, /) -> Judgment:
        """The representative of the runs, or what their silence amounts to."""
        inner = self.members[0]
        seats = [Seat(inner, name=f"run {number}") for number in range(1, self.runs + 1)]
        ballots = hear(seats, context, jury=self.name, until=patience(None), parallel=self.parallel)
        results = [ballot.judgment for ballot in ballots]
        strategy = str(self.aggregation.strategy)
        try:
            said = self.aggregation.aggregate(results, self.runs)
        except ValueError as refusal:
            if _can_count(results):
                raise
            return _Uncounted(results, strategy, str(refusal)).judgment()
        if said.status is Status.PASS and any(map(_is_uncounted_fail, results)):
            refused = "a run failed without a score, which no strategy counts"
            return _Uncounted(results, strategy, refused).judgment()
        return said


def _is_uncounted_fail(said: Judgment) -> bool:
    """Whether a pass of the other runs would sweep this one under the carpet."""
    return said.status is Status.FAIL and said.score is None


def _can_count(results: Sequence[Judgment]) -> bool:
    """Whether there are scores, and all of them are numbers: then a refusal is a mistake."""
    scores = [said.score for said in results if said.score is not None]
    return bool(scores) and not any(isinstance(score, CategoricalScore) for score in scores)


@dataclass(frozen=True)
class _Uncounted:
    """Runs that the strategy cannot count, and its own words for that."""

    results: Sequence[Judgment]
    strategy: str
    refusal: str

    def judgment(self) -> Judgment:
        """What the runs amount to."""
        statuses = {said.status for said in self.results}
        if statuses == {Status.ABSTAIN}:
            return self._abstention()
        return self._error() if statuses <= {Status.ABSTAIN, Status.ERROR} else self._no_number()

    def _abstention(self) -> Judgment:
        label = _common_label(self.results)
        reasons = {said.metadata.get("reason") for said in self.results}
        common = reasons.pop() if len(reasons) == 1 else None
        evidence = self._evidence(common or label or "nobody_voted")
        return Judgment.abstained(self._told(self.results, "abstained"), label, metadata=evidence)

    def _error(self) -> Judgment:
        erred = [said for said in self.results if said.status is Status.ERROR]
        evidence = self._evidence(erred[0].metadata.get("reason") or "judge_erred")
        return Judgment.errored(self._told(erred, "erred"), metadata=evidence)

    def _no_number(self) -> Judgment:
        told = (
            f"there is no {self.strategy} of these runs: {self.refusal}. Give every judgment a "
            "numeric score, or seat the judge several times in a jury, whose voting counts PASS "
            "and FAIL"
        )
        return Judgment.errored(told, metadata=self._evidence("no_numeric_score"))

    def _told(self, silent: Sequence[Judgment], verb: str) -> str:
        first = first_line(silent[0].reasoning)
        return f"{len(silent)} of {len(self.results)} runs {verb}; the first: {first}"

    def _evidence(self, reason: object) -> Mapping[str, Any]:
        repeated = {
            "strategy": self.strategy,
            "aggregate": None,
            "total_judges": len(self.results),
            "valid_indices": (),
            "errors": errors_of(self.results),
            "unscored": unscored_of(self.results),
        }
        return {"reason": reason, "repeated": repeated}


def _common_label(results: Sequence[Judgment]) -> str | None:
    """The label that all have; where all are benign, the one that asks for more attention."""
    labels = {said.label for said in results}
    if len(labels) > 1 and all(map(is_benign, results)):
        return NOT_CONFIGURED
    return labels.pop() if len(labels) == 1 else None
