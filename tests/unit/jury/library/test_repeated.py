from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from prjury.errors import CannotJudgeError
from prjury.jury.codec import judgment_from_json, judgment_to_json
from prjury.jury.judge import Judge, JudgeType, ask
from prjury.jury.judgment import Judgment, Status
from prjury.jury.library.repeated import (
    AggregationMethod,
    MajorityVoteAggregationStrategy,
    MedianAggregationStrategy,
    RepeatedJudge,
)
from prjury.jury.score import CategoricalScore, NumericalScore
from prjury.jury.voting import ConsensusVoting, ErrorPolicy
from strategies import Says, seated

FINE = Judgment.passed("fine")
DOCS = Judgment.abstained("docs only", "not_applicable")
NO_KEY = Judgment.abstained("no key", "not_configured")
BROKE = Judgment.errored("no answer\nat all", metadata={"reason": "budget"})
WORD = Judgment.passed("good work", score=CategoricalScore("good", ("good", "bad")))
PROPAGATE = ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)


def scored(score: float, *, passes: bool = True) -> Judgment:
    status = Status.PASS if passes else Status.FAIL
    return Judgment(status, f"scored {score}", NumericalScore(score))


class InTurn:
    """A judge that says one thing after the other; what is an exception, it raises."""

    description = "says what it was told to"

    def __init__(
        self, *answers: Judgment | Exception, kind: JudgeType = JudgeType.DETERMINISTIC
    ) -> None:
        self.answers = iter(answers)
        self.name = "in turn"
        self.type = kind
        self.threads: list[str] = []

    def judge(self, context: object, /) -> Judgment:
        self.threads.append(threading.current_thread().name)
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


def heard(*answers: Judgment | Exception, aggregation: Any = "average") -> Judgment:
    return RepeatedJudge(InTurn(*answers), len(answers), aggregation).judge(None)


def told(judgment: Judgment) -> Any:
    return judgment.metadata["repeated"]


@contextmanager
def slow_from(run: int, answer: Judgment) -> Iterator[Callable[[object], Judgment]]:
    """A judge that answers until this run, from 1, and then hangs until the test is over."""
    released = threading.Event()
    asked: list[object] = []

    def answers(context: object) -> Judgment:
        asked.append(context)
        if len(asked) >= run:
            released.wait(30)
        return answer

    try:
        yield answers
    finally:
        released.set()


# Asking.


@pytest.mark.parametrize(
    ("aggregation", "representative"),
    [("average", 0.5), (AggregationMethod.MEDIAN, 0.3), (MajorityVoteAggregationStrategy(), 0.1)],
)
def test_the_aggregation_is_a_name_a_method_or_a_strategy(
    aggregation: Any, representative: float
) -> None:
    scores = map(scored, (0.1, 0.5, 0.1, 1.0, 0.3))
    said = heard(*scores, aggregation=aggregation)
    assert said.reasoning == f"scored {representative}"


FINE_JUDGE = Says("fine", scored(1.0))


def test_it_is_called_like_the_judge() -> None:
    inner = InTurn(kind=JudgeType.AGENT)
    repeated = RepeatedJudge(inner, 3, "median")
    assert isinstance(repeated, Judge)
    assert (repeated.name, repeated.type) == ("in turn", JudgeType.AGENT)
    assert repeated.description == "says what it was told to (median of 3 runs)"
    assert repeated.members == (inner,)
    assert repeated.runs == 3
    assert repeated.aggregation == MedianAggregationStrategy()


# One after the other, or all at once.


@pytest.mark.parametrize(
    ("kind", "parallel"),
    [
        (JudgeType.DETERMINISTIC, False),
        (JudgeType.LLM_POWERED, True),
        (JudgeType.HYBRID, False),
        (JudgeType.AGENT, False),
    ],
)
def test_only_models_are_asked_at_once_unless_told_otherwise(
    kind: JudgeType, parallel: bool
) -> None:
    inner = InTurn(kind=kind)
    assert RepeatedJudge(inner, 2).parallel is parallel
    assert RepeatedJudge(inner, 2, parallel=True).parallel is True
    assert RepeatedJudge(inner, 2, parallel=False).parallel is False


def test_one_after_the_other_needs_no_threads() -> None:
    inner = InTurn(*map(scored, (0.1, 0.2, 0.3)))
    assert told(RepeatedJudge(inner, 3).judge(None))["scores"] == (0.1, 0.2, 0.3)
    assert inner.threads == [threading.current_thread().name] * 3


@pytest.mark.parametrize("parallel", [True, False])
def test_a_run_that_outlasts_the_jurys_time_is_an_error_among_the_others(parallel: bool) -> None:
    with slow_from(2, scored(0.8)) as inner:
        repeated: Judge[object] = RepeatedJudge(inner, 2, parallel=parallel)
        started = time.monotonic()
        verdict = seated([repeated, FINE_JUDGE], PROPAGATE).vote(None, timeout=1.0)
        assert time.monotonic() - started < 5
        said = verdict.individual[0]
        assert (said.status, said.reasoning) == (Status.PASS, "scored 0.8")
        assert told(said)["total_judges"] == 2
        (late,) = told(said)["errors"]
        assert late.startswith("did not answer within ")
        assert "its thread prjury-answers-run " in late


# Runs that do not count.


def test_runs_that_raise_are_errors_among_the_others() -> None:
    refusal = CannotJudgeError("No Maven here", remedy="Install it", reason="tool_missing")
    said = heard(ValueError("boom"), scored(0.4), DOCS, refusal, scored(0.6))
    assert said.reasoning == "scored 0.4"
    assert told(said)["errors"] == ("crashed with ValueError: boom", "No Maven here. Install it.")
    assert told(said)["unscored"] == ("abstain: docs only",)
    assert told(said)["valid_indices"] == (1, 4)


@pytest.mark.parametrize(
    ("answers", "reasoning", "reason", "errors"),
    [
        ([BROKE], "1 of 1 runs erred; the first: no answer", "budget", ["no answer\nat all"]),
        (
            [ValueError("boom"), BROKE],
            "2 of 2 runs erred; the first: crashed with ValueError: boom",
            "crashed",
            ["crashed with ValueError: boom", "no answer\nat all"],
        ),
        (
            [DOCS, BROKE, DOCS],
            "1 of 3 runs erred; the first: no answer",
            "budget",
            ["no answer\nat all"],
        ),
        (
            [Judgment.errored("\n odd \n")],
            "1 of 1 runs erred; the first: odd",
            "judge_erred",
            ["\n odd \n"],
        ),
    ],
)
def test_errors_and_no_answer_are_an_error(
    answers: list[Judgment | Exception], reasoning: str, reason: str, errors: list[str]
) -> None:
    said = heard(*answers, aggregation="median")
    assert said == Judgment.errored(
        reasoning,
        metadata={
            "reason": reason,
            "repeated": {
                "strategy": "median",
                "aggregate": None,
                "total_judges": len(answers),
                "valid_indices": [],
                "errors": errors,
                "unscored": ["abstain: docs only"] * answers.count(DOCS),
            },
        },
    )


@pytest.mark.parametrize(
    ("answers", "label", "reason"),
    [
        ([DOCS], "not_applicable", "not_applicable"),
        ([DOCS, DOCS], "not_applicable", "not_applicable"),
        ([NO_KEY, NO_KEY], "not_configured", "not_configured"),
        ([DOCS, NO_KEY], "not_configured", "not_configured"),
        ([Judgment.abstained("too big", "too_large")] * 2, "too_large", "too_large"),
        ([DOCS, Judgment.abstained("too big", "too_large")], None, "nobody_voted"),
        ([DOCS, Judgment.abstained("cannot tell")], None, "nobody_voted"),
        ([Judgment.abstained("cannot tell")] * 2, None, "nobody_voted"),
        ([Judgment.abstained("spent", metadata={"reason": "budget"})] * 2, None, "budget"),
        (
            [
                Judgment.abstained("a", "budget", metadata={"reason": "usd"}),
                Judgment.abstained("b", "budget", metadata={"reason": "tokens"}),
            ],
            "budget",
            "budget",
        ),
    ],
)
def test_abstentions_alone_are_an_abstention(
    answers: list[Judgment], label: str | None, reason: str
) -> None:
    said = heard(*answers)
    count, first = len(answers), answers[0].reasoning
    assert (said.status, said.label) == (Status.ABSTAIN, label)
    assert said.reasoning == f"{count} of {count} runs abstained; the first: {first}"
    assert said.metadata["reason"] == reason
    assert told(said)["strategy"] == "average"
    assert told(said)["unscored"] == tuple(f"abstain: {a.reasoning}" for a in answers)
    assert told(said)["errors"] == ()


@pytest.mark.parametrize(
    ("answers", "aggregation", "refusal"),
    [
        ([FINE, FINE], "average", "none of 2 results has a numeric score; the first: pass: fine"),
        (
            [DOCS, FINE, BROKE],
            "median",
            "none of 3 results has a numeric score; the first: no answer",
        ),
        (
            [scored(0.5), WORD],
            AggregationMethod.MAJORITY_VOTE,
            "result 1 has the score 'good', which is a word and not a number",
        ),
        ([WORD], "average", "result 0 has the score 'good', which is a word and not a number"),
    ],
)
def test_votes_that_cannot_be_counted_are_an_error_that_says_what_to_do(
    answers: list[Judgment], aggregation: Any, refusal: str
) -> None:
    said = heard(*answers, aggregation=aggregation)
    assert said.status is Status.ERROR
    assert said.reasoning == (
        f"there is no {aggregation} of these runs: {refusal}. Give every judgment a numeric score, "
        "or seat the judge several times in a jury, whose voting counts PASS and FAIL"
    )
    assert said.metadata["reason"] == "no_numeric_score"
    assert told(said)["aggregate"] is None
    assert told(said)["strategy"] == str(aggregation)


# Strategies of one's own.


# What is refused.


@pytest.mark.parametrize("runs", [0, -1])
def test_a_judge_runs_at_least_once(runs: int) -> None:
    with pytest.raises(ValueError, match=r"\S") as refusal:
        RepeatedJudge(FINE_JUDGE, runs)
    assert str(refusal.value) == f"a judge runs at least once, not {runs} times"


@pytest.mark.parametrize("runs", [True, 2.0, "2", None])
def test_runs_are_a_whole_number(runs: Any) -> None:
    with pytest.raises(TypeError) as refusal:
        RepeatedJudge(FINE_JUDGE, runs)
    assert str(refusal.value) == f"runs is a whole number, not {runs!r}"


def test_the_aggregation_is_checked_at_once() -> None:
    with pytest.raises(ValueError, match="'mode' is none of average, median, majority_vote"):
        RepeatedJudge(FINE_JUDGE, 2, "mode")
    nothing: Any = None
    with pytest.raises(TypeError, match="not None"):
        RepeatedJudge(FINE_JUDGE, 2, nothing)


# What always holds.


@given(st.lists(strategies.judgments(evidence=False), min_size=1, max_size=6))
def test_an_answer_is_one_of_the_runs_or_says_why_there_is_none(answers: list[Judgment]) -> None:
    said = heard(*answers)
    if "scores" in told(said):
        assert any(replace(answer, metadata=said.metadata) == said for answer in answers)
    else:
        assert said.status in {Status.ABSTAIN, Status.ERROR}
        assert said.metadata["reason"]
    assert judgment_from_json(json.loads(json.dumps(judgment_to_json(said)))) == said


@given(st.lists(strategies.judgments(evidence=False), min_size=1, max_size=6))
def test_nothing_passes_without_a_run_that_passed(answers: list[Judgment]) -> None:
    for aggregation in AggregationMethod:
        said = heard(*answers, aggregation=aggregation)
        assert said.status in {answer.status for answer in answers} | {Status.ERROR}


@given(st.lists(st.sampled_from([DOCS, NO_KEY, Judgment.abstained("x", "budget")]), min_size=1))
def test_an_abstention_is_benign_only_if_all_are(answers: list[Judgment]) -> None:
    said = heard(*answers)
    benign = all(answer.label != "budget" for answer in answers)
    assert (said.label in {"not_applicable", "not_configured"}) is benign


def test_a_fail_without_a_score_is_not_swept_under_the_carpet() -> None:
    answers = iter([Judgment.passed("good", score=NumericalScore(0.9)), Judgment.failed("broken")])
    said = ask(RepeatedJudge(lambda _: next(answers), 2), None)
    assert (said.status, said.metadata["reason"]) == (Status.ERROR, "no_numeric_score")
    assert said.reasoning.startswith(
        "there is no average of these runs: a run failed without a score, which no strategy counts."
    )
    assert said.metadata["repeated"]["strategy"] == "average"
