from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from prjury.jury.count import NeverLifting, NeverOverruling, aggregate_ballots
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

PASS, FAIL, ABSTAIN, ERROR = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR
WORSE = (PASS, ABSTAIN, ERROR, FAIL)
STORY = "description"


def ballot(judge: str, status: Status, score: float | None = None) -> Ballot:
    number = None if score is None else NumericalScore(score)
    said = Judgment(status, f"{judge} says {status}", number)
    return Ballot(judge, said, type=JudgeType.LLM_POWERED)


def held(voting: VotingStrategy) -> NeverLifting:
    return NeverLifting(voting, frozenset({STORY}))


@pytest.mark.parametrize(
    ("quality", "story", "status"),
    [
        (PASS, PASS, PASS),
        (PASS, FAIL, FAIL),
        (FAIL, PASS, FAIL),
        (FAIL, FAIL, FAIL),
        (ABSTAIN, PASS, ABSTAIN),
        (PASS, ABSTAIN, PASS),
        (ERROR, PASS, ERROR),
        (PASS, ERROR, ERROR),
    ],
)
def test_it_lowers_and_never_lifts(quality: Status, story: Status, status: Status) -> None:
    voting = held(ConsensusVoting(on_error=ErrorPolicy.PROPAGATE))
    said = voting.aggregate([ballot("quality", quality), ballot(STORY, story)])
    assert said.status is status


def test_a_high_score_lifts_no_mean() -> None:
    ballots = [ballot("quality", FAIL, 0.5), ballot(STORY, PASS, 1.0)]
    assert WeightedAverageVoting(0.7).aggregate(ballots).status is PASS
    said = held(WeightedAverageVoting(0.7)).aggregate(ballots)
    assert said.status is FAIL
    assert said.metadata["held_down_from"] == "pass"
    assert said.reasoning.endswith("; description may lower that, not lift it")


@pytest.mark.parametrize("status", Status)
def test_alone_it_is_taken_at_its_word(status: Status) -> None:
    ballots = [ballot(STORY, status)]
    voting = ConsensusVoting()
    assert held(voting).aggregate(ballots) == voting.aggregate(ballots)


def test_it_goes_by_the_name_of_what_counts() -> None:
    assert held(MajorityVoting()).name == MajorityVoting().name


def test_no_ballots_are_refused() -> None:
    with pytest.raises(ValueError, match="no ballots"):
        held(MajorityVoting()).aggregate([])


def lowering(ballots: list[Ballot]) -> list[Ballot]:
    """The same ballots as judges cast them that only lower, who are all backed by models."""
    return [
        replace(cast, judge=f"story-{at}", type=JudgeType.LLM_POWERED)
        for at, cast in enumerate(ballots)
    ]


def tier(voting: VotingStrategy, ballots: list[Ballot]) -> int:
    """How bad the result is of a tier with these ballots, in which the stories only lower."""
    stories = frozenset(cast.judge for cast in ballots if cast.judge.startswith("story-"))
    return WORSE.index(aggregate_ballots(NeverLifting(voting, stories), ballots).status)


benches = strategies.benches()
more = st.lists(strategies.ballots(), max_size=4).map(lowering)


@given(strategies.voting_strategies(), benches, more)
def test_no_bench_is_better_off_with_them_than_without(
    voting: VotingStrategy, others: list[Ballot], stories: list[Ballot]
) -> None:
    never = NeverLifting(voting, frozenset(story.judge for story in stories))
    bench = [*stories, *others]
    said, alone = never.aggregate(bench).status, voting.aggregate(others).status
    assert WORSE.index(said) >= WORSE.index(alone)
    assert WORSE.index(said) >= WORSE.index(voting.aggregate(bench).status)


@given(strategies.voting_strategies(), benches, more)
def test_nor_is_a_tier_on_which_others_voted(
    voting: VotingStrategy, others: list[Ballot], stories: list[Ballot]
) -> None:
    assert tier(voting, [*others, *stories]) >= tier(voting, others)


def test_nor_is_one_on_which_nobody_else_voted() -> None:
    others, stories = [ballot("quality", ERROR)], lowering([ballot(STORY, PASS)])
    assert tier(AverageVoting(0.0), [*others, *stories]) >= tier(AverageVoting(0.0), others)


def broken(judge: str, weight: float = 1.0) -> Ballot:
    said = Judgment.failed("3 of 4", NumericalScore(0.0), metadata={"must_failed": ["risk"]})
    return Ballot(judge, said, weight, JudgeType.LLM_POWERED)


def test_what_is_not_overruled_has_no_reason_for_an_abstention() -> None:
    ballots = [ballot("build", PASS), broken("quality")]
    tie = MajorityVoting(TiePolicy.ABSTAIN)
    assert tie.aggregate(ballots).reason == "tie"
    said = NeverOverruling(tie).aggregate(ballots)
    assert (said.status, said.reason) == (FAIL, "")
    assert said.metadata["held_down_from"] == "abstain"


@given(strategies.voting_strategies(), strategies.benches())
def test_a_broken_must_fails_every_vote_and_little_else_changes(
    voting: VotingStrategy, ballots: list[Ballot]
) -> None:
    said, held = voting.aggregate(ballots), NeverOverruling(voting).aggregate(ballots)
    votes = {b.judgment.status for b in ballots if b.weight > 0} & {PASS, FAIL}
    assert held == said or (said.status, held.status, votes) == (PASS, FAIL, {FAIL})
    assert held.status is not PASS or votes != {FAIL}
    with_one = [*ballots, broken("one more")]
    assert NeverOverruling(voting).aggregate(with_one).status is FAIL


def test_a_high_score_is_no_pass_where_nobody_passes() -> None:
    ballots = [ballot("quality", FAIL, 0.75), ballot("other", ABSTAIN)]
    assert WeightedAverageVoting(0.7).aggregate(ballots).status is PASS
    said = NeverOverruling(WeightedAverageVoting(0.7)).aggregate(ballots)
    assert said.status is FAIL
    assert said.reasoning.startswith("quality failed it and nobody passed it, whatever the vote: ")
