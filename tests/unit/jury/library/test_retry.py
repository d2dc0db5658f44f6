from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from fakes.unruly import BROKEN, FINE, LONG, Chatty, hanging, raising
from prjury.jury.cascade import CascadedJury, Tier
from prjury.jury.confidence import Confidence
from prjury.jury.context import JudgmentContext
from prjury.jury.guard import limit_by_vote
from prjury.jury.judge import FunctionJudge, JudgeType, Opinion
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Seat
from prjury.jury.library.model_judge import ModelJudge
from prjury.jury.library.replies import CONFIDENCE_FORM
from prjury.jury.library.retry import JuryWithRetry, RoundContext
from prjury.jury.score import NumericalScore
from prjury.jury.verdicts import JuryVerdict, TierPolicy
from prjury.jury.voting import (
    AverageVoting,
    ConsensusVoting,
    ErrorPolicy,
    MajorityVoting,
    VotingStrategy,
    WeightedAverageVoting,
)
from strategies import Says, seated

PASS, FAIL, ABSTAIN, ERROR = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR
MODEL = JudgeType.LLM_POWERED
PROPAGATE = ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)


def sure(number: float | None, status: Status = PASS) -> Judgment:
    return Judgment(status, f"{number} sure", confidence=number)


@dataclass
class Rounds:
    """A judge that says one thing a round, and remembers what it was shown."""

    said: Sequence[Judgment]
    name: str = "judge"
    type: JudgeType = JudgeType.DETERMINISTIC
    shown: list[object] = field(default_factory=list)

    def judge(self, context: object, /) -> Judgment:
        self.shown.append(context)
        return self.said[len(self.shown) - 1]


@dataclass
class Chair:
    """A chair that remembers what it read."""

    says: Judgment = FINE
    type: JudgeType = JudgeType.DETERMINISTIC
    name: str = "president"
    read: list[RoundContext[Any]] = field(default_factory=list)

    def judge(self, context: RoundContext[Any], /) -> Judgment:
        self.read.append(context)
        return self.says


def retrying(judges: Sequence[Any], *more: Any, **options: Any) -> JuryWithRetry[Any]:
    return JuryWithRetry(judges, *more, **options)


def bench_of(*numbers: Sequence[float | None], **options: Any) -> JuryWithRetry[Any]:
    """A jury whose judges report these confidences, one sequence for each round."""
    judges = [Rounds([sure(n) for n in column]) for column in zip(*numbers, strict=True)]
    return retrying(judges, max_iterations=len(numbers), **options)


def told(judgment: Judgment) -> Any:
    return judgment.metadata["retry"]


# When it asks again.


@pytest.mark.parametrize(
    ("rounds", "threshold", "iterations", "met", "stopped"),
    [
        ([[0.9, 0.8], [0.1, 0.1]], 0.7, 1, True, "met_threshold"),
        ([[0.7, 0.7, 0.7], [0.1, 0.1, 0.1]], 0.7, 1, True, "met_threshold"),
        ([[0.1, 0.2, 0.3], [1, 1, 1]], 0.1 + 0.1, 1, True, "met_threshold"),
        ([[0.3], [0.1]], 0.1 + 0.2, 1, True, "met_threshold"),
        ([[0.69, 0.7], [0.9, 0.9]], 0.7, 2, True, "met_threshold"),
        ([[0.6, 0.6], [0.3, 0.2]], 0.7, 2, False, "max_iterations"),
        ([[0.6], [0.5], [0.4], [0.8]], 0.7, 4, True, "met_threshold"),
        ([[None, None], [0.9, 0.9]], 0.7, 2, True, "met_threshold"),
        ([[None, None], [None, None]], 0.0, 2, False, "max_iterations"),
        ([[None, 0.9], [0.1, 0.1]], 0.7, 1, True, "met_threshold"),
        ([[0.0], [0.9]], 0.0, 1, True, "met_threshold"),
        ([[1.0, 0.999999], [1.0, 1.0]], 1.0, 2, True, "met_threshold"),
        ([[1, 1], [0.0, 0.0]], 1, 1, True, "met_threshold"),
        ([[0.1]], 0.9, 1, False, "max_iterations"),
    ],
)
def test_rounds(
    rounds: Sequence[Sequence[float | None]],
    threshold: float,
    iterations: int,
    met: bool,
    stopped: str,
) -> None:
    jury = bench_of(*rounds, confidence_threshold=threshold)
    verdict = jury.vote("it")
    said = verdict.aggregated
    assert (said.metadata["iterations"], said.metadata["met_threshold"]) == (iterations, met)
    assert told(said)["stopped_because"] == stopped
    assert [ballot.judgment.confidence for ballot in verdict.ballots] == list(
        rounds[iterations - 1]
    )
    for seat in jury.seats:
        judge: Any = seat.judge
        assert len(judge.shown) == iterations


@given(
    st.lists(
        st.lists(st.none() | strategies.shares, min_size=2, max_size=2), min_size=1, max_size=4
    ),
    strategies.shares,
)
def test_it_stops_at_the_first_round_that_is_sure_enough(
    rounds: list[list[float | None]], threshold: float
) -> None:
    said = bench_of(*rounds, confidence_threshold=threshold).vote(None).aggregated
    asked = told(said)["rounds"]
    means = [entry["mean_confidence"] for entry in asked]
    enough = [mean is not None and mean >= round(threshold, 12) for mean in means]
    assert enough[:-1] == [False] * (len(asked) - 1)
    assert said.metadata["met_threshold"] is enough[-1]
    assert len(asked) == said.metadata["iterations"] <= len(rounds)
    assert enough[-1] or len(asked) == len(rounds)
    for entry, numbers in zip(asked, rounds, strict=False):
        known = [number for number in numbers if number is not None]
        assert (entry["mean_confidence"] is None) == (not known)
        assert not known or min(known) - 1e-9 <= entry["mean_confidence"] <= max(known) + 1e-9


def test_errors_do_not_count_as_sure() -> None:
    crash = Judgment(ERROR, "crashed", confidence=1.0)
    jury = retrying([Rounds([crash, crash]), Rounds([sure(0.8), sure(0.1)])])
    said = jury.vote(None).aggregated
    assert said.metadata["iterations"] == 1
    assert told(said)["rounds"][0]["confidences"] == {"judge": None, "judge-2": 0.8}


# What judges see.


# The roster.


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"confidence_threshold": 1.01}, ValueError, "confidence_threshold is in 0..1, not 1.01"),
        ({"confidence_threshold": -0.1}, ValueError, "confidence_threshold is in 0..1, not -0.1"),
        (
            {"confidence_threshold": float("nan")},
            ValueError,
            "confidence_threshold must be finite, not nan",
        ),
        (
            {"confidence_threshold": "0.7"},
            TypeError,
            "confidence_threshold must be a number, not '0.7'",
        ),
        ({"max_iterations": 0}, ValueError, "max_iterations is at least 1, not 0"),
        ({"max_iterations": -1}, ValueError, "max_iterations is at least 1, not -1"),
        ({"max_iterations": 2.0}, TypeError, "max_iterations is a whole number, not 2.0"),
        ({"max_iterations": True}, TypeError, "max_iterations is a whole number, not True"),
        ({"chair": "gpt"}, TypeError, "'gpt' is neither a judge nor a function"),
    ],
)
def test_what_it_refuses(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as refused:
        JuryWithRetry([Says("a", FINE)], **options)
    assert str(refused.value) == message


# How sure each is taken to be.


def logprob(judgment: Judgment) -> float:
    return 0.25


def test_each_seat_has_its_own_strategy() -> None:
    jury = retrying(
        [
            Says("a", sure(0.9)),
            Seat(Says("b", sure(0.9)), confidence=logprob),
            Seat(Says("c", sure(0.9)), confidence="agreement"),
            Seat(Says("d", sure(0.9)), confidence=Confidence.FLIP),
        ],
        max_iterations=1,
    )
    expected = {"a": "self_report", "b": "logprob", "c": "agreement", "d": "flip"}
    assert dict(jury.strategies) == expected
    said = jury.vote(None).aggregated
    assert told(said)["strategies"] == expected
    assert told(said)["rounds"][0]["confidences"] == {"a": 0.9, "b": 0.25, "c": 1.0, "d": 1.0}
    assert told(said)["rounds"][0]["mean_confidence"] == 0.7875


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (lambda judgment: judgment.metadata["p"], "crashed with KeyError: 'p'"),
        (lambda judgment: "high", "crashed with TypeError: a confidence must be a number"),
        (lambda judgment: 1.5, "crashed with ValueError: a confidence is in 0..1, not 1.5"),
    ],
)
def test_a_confidence_that_cannot_be_taken_is_told(
    strategy: Callable[[Judgment], Any], message: str
) -> None:
    seats = [Seat(Says("odd", sure(1.0)), confidence=strategy), Says("even", sure(0.9))]
    chair = Chair()
    verdict = retrying(seats, chair).vote(None)
    asked = told(verdict.aggregated)["rounds"][0]
    assert asked["confidences"] == {"odd": None, "even": 0.9}
    assert set(asked["confidence_errors"]) == {"odd"}
    assert asked["confidence_errors"]["odd"].startswith(message)
    assert verdict.aggregated.metadata["iterations"] == 1
    assert chair.read[0].confidence_errors == asked["confidence_errors"]


# Asked twice, the second time the other way round.


@dataclass(frozen=True)
class Pair:
    first: str
    second: str

    def flipped(self) -> Pair:
        return Pair(self.second, self.first)


def flipping(judge: Callable[[Pair], Opinion]) -> Seat[Pair]:
    return Seat(judge, confidence="flip")


def prefers_the_first(pair: Pair) -> Judgment:
    return Judgment.passed("first") if pair.first == "ours" else Judgment.failed("second")


def prefers_ours(pair: Pair) -> Judgment:
    return Judgment.passed("ours") if "ours" in {pair.first, pair.second} else BROKEN


@pytest.mark.parametrize(
    ("judge", "number", "flipped"), [(prefers_the_first, 0.0, True), (prefers_ours, 1.0, False)]
)
def test_a_judge_that_follows_the_order_is_not_sure(
    judge: Callable[[Pair], Judgment], number: float, flipped: bool
) -> None:
    jury = retrying([flipping(judge)], max_iterations=1)
    verdict = jury.vote(Pair("ours", "theirs"))
    assert told(verdict.aggregated)["rounds"][0]["mean_confidence"] == number
    (said,) = verdict.individual
    assert (said.status, dict(said.metadata)) == (PASS, {"flipped": flipped})


@pytest.mark.parametrize("first", [Judgment.abstained("not mine"), Judgment.errored("crashed")])
def test_only_votes_are_asked_for_twice(first: Judgment) -> None:
    judge = Rounds([first])
    verdict = retrying([Seat(judge, confidence="flip")], max_iterations=1).vote(None)
    assert len(judge.shown) == 1
    assert verdict.individual == (first,)
    assert told(verdict.aggregated)["rounds"][0]["mean_confidence"] is None


def test_a_second_answer_that_fails_says_nothing_of_the_first() -> None:
    class Stuck:
        def flipped(self) -> Stuck:
            raise ValueError("one side only")

    seat = Seat(Says("a", sure(0.9).with_metadata(flipped="as given")), confidence="flip")
    verdict = retrying([seat], max_iterations=1).vote(Stuck())
    (said,) = verdict.individual
    assert said.status is PASS
    assert dict(said.metadata) == {
        "flipped": None,
        "flip_error": "crashed with ValueError: one side only",
    }
    assert told(verdict.aggregated)["rounds"][0]["confidences"] == {"a": None}


# Counting without a chair.


@pytest.mark.parametrize(
    ("voting", "weights", "expected"),
    [
        (MajorityVoting(), (1, 1, 1), PASS),
        (ConsensusVoting(), (1, 1, 1), FAIL),
        (WeightedAverageVoting(), (1, 1, 3), FAIL),
        (WeightedAverageVoting(), (2, 1, 3), PASS),
        (AverageVoting(0.7), (1, 1, 1), FAIL),
    ],
)
def test_the_last_round_is_counted(
    voting: VotingStrategy, weights: Sequence[float], expected: Status
) -> None:
    answers = [
        (sure(0.1, FAIL), sure(0.1)),
        (sure(0.1, FAIL), sure(0.1)),
        (sure(0.1), sure(0.1, FAIL)),
    ]
    seats = [Seat(Rounds(said), weight) for said, weight in zip(answers, weights, strict=True)]
    verdict = retrying(seats, voting=voting).vote(None)
    assert verdict.status is expected
    assert [said.status for said in verdict.individual] == [PASS, PASS, FAIL]
    assert verdict.aggregated.metadata["aggregation"]["strategy"] == voting.name


# The chair.


def test_the_chair_reads_the_last_round_and_nothing_else() -> None:
    first = Rounds([sure(0.2), sure(0.9, FAIL)], "first")
    second = Rounds([sure(0.3), sure(None)], "second")
    chair = Chair(Judgment.failed("too risky", score=NumericalScore(0.2)))
    verdict = retrying([first, second], chair).vote("the question")
    (read,) = chair.read
    assert read.context == "the question"
    assert read.individual == (sure(0.9, FAIL), sure(None))
    assert dict(read.by_name) == {"first": sure(0.9, FAIL), "second": sure(None)}
    assert dict(read.confidences) == {"first": 0.9, "second": None}
    assert dict(read.confidence_errors) == {}
    assert (read.iteration, read.mean_confidence, read.met_threshold) == (2, 0.9, True)
    assert read.ballots == verdict.ballots
    said = verdict.aggregated
    assert (said.status, said.reasoning, said.score) == (FAIL, "too risky", NumericalScore(0.2))
    assert (said.metadata["iterations"], said.metadata["met_threshold"]) == (2, True)


@pytest.mark.parametrize("parallel", [True, False])
def test_a_chair_may_be_a_function(parallel: bool) -> None:
    def plain(last: RoundContext[Any]) -> Judgment:
        return last.ballots[-1].judgment

    async def patient(last: RoundContext[Any]) -> Judgment:
        await asyncio.sleep(0)
        return last.individual[0]

    judges = [Says("a", sure(1.0)), Says("b", sure(1.0, FAIL))]
    assert retrying(judges, plain, parallel=parallel).vote(None).status is FAIL
    assert retrying(judges, patient, parallel=parallel).vote(None).status is PASS


@pytest.mark.parametrize("answer", [None, True, "pass", 0.9])
def test_a_chair_that_talks_nonsense_is_an_error(answer: Any) -> None:
    verdict = retrying([Says("a", sure(1.0))], FunctionJudge(lambda _: answer, "x")).vote(None)
    assert verdict.aggregated.reasoning == (
        f"chair: crashed with TypeError: x returned a {type(answer).__name__} instead of a Judgment"
    )
    assert verdict.aggregated.metadata["reason"] == "crashed"
    assert verdict.aggregated.metadata["iterations"] == 1
    assert verdict.individual == (sure(1.0),)


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("crash", [ValueError("no"), SystemExit("no")])
def test_a_chair_that_raises_is_an_error(crash: BaseException, parallel: bool) -> None:
    chair: Any = raising(crash)
    verdict = retrying([Says("a", sure(1.0))], chair, parallel=parallel).vote(None)
    assert verdict.status is ERROR
    assert verdict.aggregated.reasoning == f"chair: crashed with {type(crash).__name__}: no"
    assert told(verdict.aggregated)["stopped_because"] == "met_threshold"


def test_a_chair_cannot_be_checked_by_a_strategy_that_fails() -> None:
    class Broken:
        name = "broken"

        def aggregate(self, ballots: object, /) -> Judgment:
            raise ValueError("odd")

    jury = retrying([Says("build", sure(1.0, FAIL))], Chair(FINE, MODEL), voting=Broken())
    said = jury.vote(None).aggregated
    assert (said.status, said.reasoning) == (ERROR, "crashed with ValueError: odd")


@given(
    st.lists(st.sampled_from(Status), min_size=1, max_size=5),
    st.lists(st.sampled_from(JudgeType), min_size=5, max_size=5),
    strategies.voting_strategies(),
    st.sampled_from(JudgeType),
)
def test_no_chair_lifts_what_certain_judges_doubt(
    statuses: list[Status], kinds: list[JudgeType], voting: VotingStrategy, kind: JudgeType
) -> None:
    judges = [
        Says(f"judge{place}", Judgment(status, "as given", confidence=None), kinds[place])
        for place, status in enumerate(statuses)
    ]
    chair = Chair(Judgment.passed("lovely"), kind)
    jury = retrying(judges, chair, voting=voting, max_iterations=1, parallel=False)
    verdict = jury.vote(None)
    certain = [ballot for ballot in verdict.ballots if ballot.type is JudgeType.DETERMINISTIC]
    alone = voting.aggregate(certain) if certain else FINE
    voted = any(b.judgment.status in {PASS, FAIL} for b in certain)
    # An error that counts as a failure is no vote, and may leave a strategy undecided.
    undecided = alone.status is ABSTAIN and (voted or alone.reason == "undecided")
    at_its_word = kind is JudgeType.DETERMINISTIC and len(certain) == len(judges)
    if not {PASS, FAIL} & set(statuses):
        assert chair.read == []
        assert verdict.status is not PASS
    elif not at_its_word and (alone.status in {FAIL, ERROR} or undecided):
        assert verdict.status is alone.status
    else:
        assert verdict.status is PASS


# Time.


def test_a_judge_that_hangs_leaves_time_for_the_chair() -> None:
    chair = Chair(Judgment.passed("good enough"))
    with hanging() as stuck:
        verdict = retrying([Says("a", sure(0.1)), stuck], chair).vote(None, timeout=1.0)
    said = verdict.aggregated
    assert (said.status, said.reasoning) == (PASS, "good enough")
    assert [ballot.judgment.status for ballot in chair.read[0].ballots] == [PASS, ERROR]
    assert (said.metadata["iterations"], said.metadata["met_threshold"]) == (1, False)
    assert told(said)["stopped_because"] == "timeout"


@pytest.mark.parametrize("chair", [None, Chair()])
def test_without_any_time_nobody_is_asked(chair: Chair | None) -> None:
    judge = Rounds([sure(1.0)])
    verdict = retrying([judge], chair, voting=PROPAGATE).vote(None, timeout=0)
    assert (verdict.status, verdict.aggregated.metadata["reason"]) == (ERROR, "timeout")
    assert judge.shown == []
    assert told(verdict.aggregated)["stopped_because"] == "timeout"


@pytest.mark.parametrize(("chair", "expected"), [(None, 100.0), (Chair(), 80.0)])
def test_a_fifth_of_the_time_is_kept_for_the_chair(chair: Chair | None, expected: float) -> None:
    seconds: list[float] = []

    def looks(context: object) -> Judgment:
        until = limit_by_vote(None)
        assert until
        seconds.append(until.remaining)
        return sure(1.0)

    retrying([looks], chair).vote(None, timeout=100)
    assert seconds == [pytest.approx(expected - 0.25, abs=0.2)]


# Judges that ask a model are asked how sure they are.


class Model:
    """A model that answers these, one after the other, and remembers what it was asked."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return self.replies[min(len(self.prompts), len(self.replies)) - 1]


def test_plain_model_judges_are_asked_for_their_confidence() -> None:
    models = [Model(f"Answer: YES\nReasoning: fine\nConfidence: {n}") for n in (0.7, 0.8, 0.9)]
    judges = [ModelJudge("Is {goal} done?", model=model, name="m") for model in models]
    verdict = JuryWithRetry(judges, max_iterations=3).vote(JudgmentContext("it"))
    metadata = verdict.aggregated.metadata
    assert (metadata["iterations"], metadata["met_threshold"]) == (1, True)
    assert metadata["retry"]["rounds"][0]["mean_confidence"] == 0.8
    assert [said.confidence for said in verdict.individual] == [0.7, 0.8, 0.9]
    assert {said.reasoning for said in verdict.individual} == {"fine"}
    for model in models:
        assert model.prompts == [f"Is it done?\n\n{CONFIDENCE_FORM}"]


@pytest.mark.parametrize("strategy", ["agreement", "flip", lambda said: 1.0])
def test_where_another_strategy_is_set_the_prompt_is_left_alone(strategy: Any) -> None:
    model = Model("YES")
    seat = Seat(ModelJudge("So?", model=model), confidence=strategy)
    JuryWithRetry([seat], max_iterations=1).vote(JudgmentContext("it"))
    assert set(model.prompts) == {"So?"}


# Within other juries.


def test_as_a_member_of_a_jury() -> None:
    inner = retrying([Rounds([sure(0.1), sure(0.9)])], Chair(Judgment.failed("no")), name="panel")
    judge = inner.as_judge()
    assert (judge.name, judge.description) == ("panel", "the jury panel")
    assert inner.as_judge("again").name == "again"
    verdict = seated([judge, Says("b", FINE)], ConsensusVoting()).vote(None)
    said = verdict.by_name["panel"]
    assert (said.status, said.reasoning) == (FAIL, "no")
    assert said.metadata["iterations"] == 2
    assert said.metadata["jury"]["judge"]["reasoning"] == "0.9 sure"
    inside = verdict.children["panel"]
    assert isinstance(inside, JuryVerdict)
    assert (inside.status, inside.individual) == (FAIL, (sure(0.9),))
    assert inside.aggregated.metadata["iterations"] == 2


class Late:
    """A judge that answers with what it was asked, or later than anybody waits."""

    name, type = "late", JudgeType.DETERMINISTIC

    def judge(self, context: object, /) -> Judgment:
        if context == "wait":
            time.sleep(0.5)
        return Judgment.passed(str(context), confidence=1)


@pytest.mark.parametrize(
    "court",
    [
        seated([Late()], PROPAGATE, "court"),
        retrying([Late()], name="court"),
        CascadedJury([Tier("court", retrying([Late()]), TierPolicy.FINAL_TIER)]),
    ],
    ids=lambda court: type(court).__name__,
)
def test_a_vote_in_an_event_loop_is_the_same_vote(court: Any) -> None:
    listener = Chatty()
    verdict = asyncio.run(court.vote_async("it", timeout=LONG, listener=listener))
    assert [one.reasoning for one in verdict.individual] == ["it"]
    assert len(listener.heard) == 2
    late = asyncio.run(court.vote_async("wait", timeout=0.05))
    assert [one.status for one in late.individual] == [ERROR]
