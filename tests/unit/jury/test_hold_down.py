from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from prjury.jury.count import aggregate_ballots, cap_by_deterministic
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import NumericalScore
from prjury.jury.voting import (
    AverageVoting,
    Ballot,
    ConsensusVoting,
    ErrorPolicy,
    MajorityVoting,
    TiePolicy,
    VotingStrategy,
    WeightedAverageVoting,
)

SURE, MODEL = JudgeType.DETERMINISTIC, JudgeType.LLM_POWERED
PASS, FAIL, ABSTAIN, ERROR = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR
DOWN = {FAIL, ERROR}


def certain(ballots: list[Ballot]) -> list[Ballot]:
    return [ballot for ballot in ballots if ballot.type is SURE]


@given(
    strategies.voting_strategies(),
    strategies.benches(),
    strategies.judgments(evidence=False),
    st.sampled_from(JudgeType),
)
def test_nobody_lifts_what_the_certain_ones_come_to(
    voting: VotingStrategy, ballots: list[Ballot], said: Judgment, kind: JudgeType
) -> None:
    held = cap_by_deterministic(said, kind, voting, ballots)
    sure = certain(ballots)
    only_sure = kind is SURE and len(sure) == len(ballots)
    alone = voting.aggregate(sure) if sure else said
    undecided = alone.metadata.get("reason") in {"tie", "disagreement", "undecided"}
    rejects = alone.status in DOWN and said.status not in DOWN
    if (rejects or (undecided and said.status is PASS)) and not only_sure:
        assert held.status is alone.status
        assert held.metadata["held_down_from"] == said.status
    else:
        assert held is said


def test_a_model_breaks_no_tie_of_the_certain_ones() -> None:
    tied = [Ballot("a", Judgment.passed("fine")), Ballot("b", Judgment.failed("red"))]
    model = Ballot("m", Judgment.passed("lovely"), type=MODEL)
    said = aggregate_ballots(MajorityVoting(TiePolicy.ABSTAIN), [*tied, model])
    assert (said.status, said.metadata["reason"]) == (ABSTAIN, "tie")
    assert said.metadata["held_down_from"] == "pass"


def test_a_certain_one_whose_seat_is_dropped_holds_nobody_down() -> None:
    dropped = Ballot("a", Judgment.passed("fine"), 0.0)
    model = Ballot("m", Judgment.passed("lovely"), type=MODEL)
    assert aggregate_ballots(WeightedAverageVoting(), [dropped, model]).status is PASS


@given(strategies.voting_strategies(), strategies.benches(), st.lists(strategies.ballots()))
def test_more_models_never_make_a_bench_pass(
    voting: VotingStrategy, ballots: list[Ballot], more: list[Ballot]
) -> None:
    models = [
        Ballot(ballot.judge, ballot.judgment, ballot.weight, MODEL, ballot.elapsed_ms)
        for ballot in more
    ]
    sure = certain(ballots)
    if sure and voting.aggregate(sure).status in DOWN:
        assert aggregate_ballots(voting, [*sure, *models]).status in DOWN


@given(strategies.voting_strategies(), strategies.benches())
def test_certain_judges_among_themselves_are_counted_as_they_are(
    voting: VotingStrategy, ballots: list[Ballot]
) -> None:
    sure = certain(ballots)
    if any(ballot.judgment.status in {PASS, FAIL} for ballot in sure):
        assert aggregate_ballots(voting, sure) == voting.aggregate(sure)


@given(strategies.voting_strategies(), strategies.benches([ABSTAIN, ERROR]))
def test_where_nobody_votes_nothing_passes(voting: VotingStrategy, ballots: list[Ballot]) -> None:
    assert aggregate_ballots(voting, ballots).status is not PASS


@pytest.mark.parametrize(
    ("other", "expected"),
    [(Judgment.abstained("not mine"), ERROR), (Judgment.errored("crashed"), ERROR)],
)
def test_errors_do_not_reach_a_threshold_of_zero(other: Judgment, expected: Status) -> None:
    ballots = [Ballot("a", Judgment.errored("crashed")), Ballot("b", other)]
    said = aggregate_ballots(AverageVoting(0.0), ballots)
    assert (said.status, said.score) == (expected, None)
    assert said.reasoning.startswith("nobody voted, so nothing passed: mean 0.00 of ")
    assert said.metadata["reason"] == "nobody_voted"
    assert said.metadata["aggregation"]["error_policy"] == "treat_as_fail"


def test_a_strategy_of_ones_own_passes_no_abstentions() -> None:
    class Generous:
        name = "generous"

        def aggregate(self, ballots: object, /) -> Judgment:
            return Judgment.passed("why not")

    said = aggregate_ballots(Generous(), [Ballot("a", Judgment.abstained("not mine"))])
    assert said == Judgment.abstained(
        "nobody voted, so nothing passed: why not", metadata={"reason": "nobody_voted"}
    )
    assert aggregate_ballots(Generous(), [Ballot("a", Judgment.failed("no"))]).status is PASS


@pytest.mark.parametrize("kind", [MODEL, JudgeType.AGENT, JudgeType.HYBRID])
def test_a_model_lifts_no_bench_of_certain_judges(kind: JudgeType) -> None:
    ballots = [Ballot("a", Judgment.failed("red")), Ballot("b", Judgment.failed("red"))]
    lifted = Judgment.passed("looks fine", score=NumericalScore(0.9), label="fine", confidence=1.0)
    held = cap_by_deterministic(
        lifted.with_metadata(reason="mood"), kind, MajorityVoting(), ballots
    )
    assert held == Judgment(
        FAIL,
        "0 of 2 passed; no model-backed judge can lift that: looks fine",
        metadata={"held_down_from": "pass"},
    )


def test_a_certain_one_that_read_only_certain_answers_is_taken_at_its_word() -> None:
    ballots = [Ballot("a", Judgment.failed("red"))]
    said = Judgment.passed("only a warning")
    assert cap_by_deterministic(said, SURE, MajorityVoting(), ballots) is said


def test_an_abstention_is_no_way_out_either() -> None:
    ballots = [Ballot("a", Judgment.failed("red"))]
    held = cap_by_deterministic(
        Judgment.abstained("who knows", "mood"), MODEL, MajorityVoting(), ballots
    )
    assert (held.status, held.label) == (FAIL, None)
    assert held.metadata == {"held_down_from": "abstain"}


def test_an_error_of_the_certain_ones_keeps_its_reason() -> None:
    crash = Judgment.errored("crashed", metadata={"reason": "crashed"})
    voting = ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)
    held = cap_by_deterministic(Judgment.passed("fine"), MODEL, voting, [Ballot("a", crash)])
    assert held.status is ERROR
    assert held.metadata == {"held_down_from": "pass", "reason": "crashed"}


@pytest.mark.parametrize("silent", [Judgment.abstained("docs only"), Judgment.passed("green")])
def test_a_model_speaks_where_the_certain_ones_do_not_object(silent: Judgment) -> None:
    said = Judgment.passed("fine")
    assert cap_by_deterministic(said, MODEL, MajorityVoting(), [Ballot("a", silent)]) is said
