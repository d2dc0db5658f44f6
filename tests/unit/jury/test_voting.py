from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import strategies
from fakes.refusals import refused
from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import BooleanScore, CategoricalScore, NumericalScore
from prjury.jury.voting import (
    AverageVoting,
    Ballot,
    ConsensusVoting,
    ErrorPolicy,
    MajorityVoting,
    MedianVoting,
    TiePolicy,
    VotingStrategy,
    WeightedAverageVoting,
)

ALL: list[Callable[..., VotingStrategy]] = [
    MajorityVoting,
    AverageVoting,
    WeightedAverageVoting,
    MedianVoting,
    ConsensusVoting,
]
ON_SCORES = [AverageVoting, WeightedAverageVoting, MedianVoting]
JUDGMENTS = {
    "P": Judgment.passed("fine"),
    "F": Judgment.failed("broken"),
    "A": Judgment.abstained("not mine", "not_applicable"),
    "E": Judgment.errored("crashed", metadata={"reason": "crashed"}),
}


def bench(statuses: str) -> list[Ballot]:
    return [Ballot(f"judge{n}", JUDGMENTS[letter]) for n, letter in enumerate(statuses)]


def scored(*values: float, weights: tuple[float, ...] | None = None) -> list[Ballot]:
    return [
        Ballot(f"judge{n}", Judgment.passed("", score=NumericalScore(value)), weight)
        for n, (value, weight) in enumerate(
            zip(values, weights or (1.0,) * len(values), strict=True)
        )
    ]


def without_evidence(judgment: Judgment) -> Judgment:
    return replace(judgment, metadata={}, reasoning="-")


# Rules of every strategy.


@pytest.mark.parametrize("kind", ALL)
def test_nobody_to_count_is_an_error_of_the_caller(kind: Callable[..., VotingStrategy]) -> None:
    with refused(ValueError, "there are no ballots to count"):
        kind().aggregate([])


@given(strategies.voting_strategies(), strategies.benches(), st.randoms(use_true_random=False))
def test_the_order_of_the_ballots_never_matters(
    voting: VotingStrategy, ballots: list[Ballot], random: Any
) -> None:
    shuffled = list(ballots)
    random.shuffle(shuffled)
    assert voting.aggregate(shuffled) == voting.aggregate(ballots)


@given(
    strategies.voting_strategies(),
    strategies.benches(),
    strategies.benches([Status.ABSTAIN], min_size=0),
)
def test_abstentions_never_change_a_vote(
    voting: VotingStrategy, ballots: list[Ballot], silent: list[Ballot]
) -> None:
    before, after = voting.aggregate(ballots), voting.aggregate([*ballots, *silent])
    if all(ballot.judgment.status is Status.ABSTAIN for ballot in ballots):
        assert before.status is after.status is Status.ABSTAIN
    else:
        assert (after.status, after.score) == (before.status, before.score)


@given(strategies.voting_strategies(), strategies.benches())
def test_the_evidence(voting: VotingStrategy, ballots: list[Ballot]) -> None:
    counts = voting.aggregate(ballots).metadata["aggregation"]
    statuses = [ballot.judgment.status for ballot in ballots]
    assert counts["strategy"] == voting.name
    assert counts["input"] == len(ballots)
    assert counts["pass"] == statuses.count(Status.PASS)
    assert counts["fail"] == statuses.count(Status.FAIL)
    assert counts["error"] == statuses.count(Status.ERROR)
    assert ErrorPolicy(counts["error_policy"]) is voting.on_error  # type: ignore[attr-defined]
    errors_abstain = counts["error_policy"] == "treat_as_abstain"
    abstained = statuses.count(Status.ABSTAIN) + errors_abstain * statuses.count(Status.ERROR)
    assert counts["abstain"] == abstained
    errors_vote = counts["error_policy"] == "treat_as_fail"
    silent = statuses.count(Status.ABSTAIN) + (0 if errors_vote else statuses.count(Status.ERROR))
    dropped = len(ballots) - silent - counts["eligible"]
    assert dropped == 0 or voting.name == "weighted_average"


@given(strategies.voting_strategies(), strategies.benches())
def test_silence_of_the_bench_has_a_reason(voting: VotingStrategy, ballots: list[Ballot]) -> None:
    said = voting.aggregate(ballots)
    silent = said.status in {Status.ABSTAIN, Status.ERROR}
    assert bool(said.metadata.get("reason")) is silent


@given(strategies.benches(), st.sampled_from(ALL))
def test_errors_as_abstentions_and_ignored_ones_differ_in_the_evidence_only(
    ballots: list[Ballot], kind: Callable[..., VotingStrategy]
) -> None:
    abstained = kind(on_error=ErrorPolicy.TREAT_AS_ABSTAIN).aggregate(ballots)
    ignored = kind(on_error=ErrorPolicy.IGNORE).aggregate(ballots)
    assert without_evidence(abstained) == without_evidence(ignored)
    errors = sum(ballot.judgment.status is Status.ERROR for ballot in ballots)
    counted, left_out = abstained.metadata["aggregation"], ignored.metadata["aggregation"]
    assert counted["abstain"] - left_out["abstain"] == errors


@given(strategies.benches(), st.sampled_from(ALL))
def test_ignored_errors_change_nothing(
    ballots: list[Ballot], kind: Callable[..., VotingStrategy]
) -> None:
    voting = kind(on_error=ErrorPolicy.IGNORE)
    others = [ballot for ballot in ballots if ballot.judgment.status is not Status.ERROR]
    assume(others)
    said, alone = voting.aggregate(ballots), voting.aggregate(others)
    assert (said.status, said.score) == (alone.status, alone.score)


@given(strategies.benches(), st.sampled_from(ALL))
def test_an_error_that_is_treated_as_a_fail_votes_like_one(
    ballots: list[Ballot], kind: Callable[..., VotingStrategy]
) -> None:
    def fail(ballot: Ballot) -> Ballot:
        erred = ballot.judgment.status is Status.ERROR
        return replace(ballot, judgment=Judgment.failed("failed")) if erred else ballot

    said, plain = kind().aggregate(ballots), kind().aggregate(list(map(fail, ballots)))
    assert (said.status, said.score) == (plain.status, plain.score)


@given(strategies.voting_strategies(), strategies.benches())
def test_only_strategies_on_scores_carry_one(voting: VotingStrategy, ballots: list[Ballot]) -> None:
    said = voting.aggregate(ballots)
    decided = said.status in {Status.PASS, Status.FAIL}
    assert (said.score is not None) is (decided and isinstance(voting, tuple(ON_SCORES)))


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("policy", ErrorPolicy)
def test_policies_may_be_given_as_words(
    kind: Callable[..., VotingStrategy], policy: ErrorPolicy
) -> None:
    assert kind(on_error=policy.value) == kind(on_error=policy)
    with pytest.raises(ValueError, match="hope"):
        kind(on_error="hope")


# A vote against never helps.


@given(
    strategies.majorities() | strategies.consensuses(),
    strategies.benches(),
    strategies.ballots([Status.FAIL]),
)
def test_one_more_fail_turns_no_fail_into_a_pass(
    voting: VotingStrategy, ballots: list[Ballot], against: Ballot
) -> None:
    if voting.aggregate(ballots).status is Status.FAIL:
        assert voting.aggregate([*ballots, against]).status is not Status.PASS


@given(strategies.means(), strategies.benches(), strategies.weights, st.booleans())
def test_one_more_zero_turns_no_fail_into_a_pass(
    voting: VotingStrategy, ballots: list[Ballot], weight: float, failed: bool
) -> None:
    zero = Judgment.failed("") if failed else Judgment.passed("", score=BooleanScore.FAIL)
    if voting.aggregate(ballots).status is Status.FAIL:
        more = [*ballots, Ballot("against", zero, weight)]
        assert voting.aggregate(more).status is not Status.PASS


@given(strategies.means(), strategies.benches(strategies.VOTES))
def test_a_mean_lies_between_its_scores(voting: VotingStrategy, ballots: list[Ballot]) -> None:
    said = voting.aggregate(ballots)
    assume(said.score)
    found = [ballot.judgment.effective_score or 0.0 for ballot in ballots]
    assert said.effective_score is not None
    assert min(found) - 1e-12 <= said.effective_score <= max(found) + 1e-12


# Majority and consensus.


@pytest.mark.parametrize(
    ("statuses", "tie", "expected"),
    [
        ("PPF", TiePolicy.FAIL, Status.PASS),
        ("PFF", TiePolicy.PASS, Status.FAIL),
        ("PF", TiePolicy.FAIL, Status.FAIL),
        ("PF", TiePolicy.PASS, Status.PASS),
        ("PF", TiePolicy.ABSTAIN, Status.ABSTAIN),
        ("PAAA", TiePolicy.FAIL, Status.PASS),
        ("FAAA", TiePolicy.PASS, Status.FAIL),
    ],
)
def test_majority(statuses: str, tie: TiePolicy, expected: Status) -> None:
    assert MajorityVoting(tie).aggregate(bench(statuses)).status is expected
    assert MajorityVoting(tie.value).aggregate(bench(statuses)).status is expected  # type: ignore[arg-type]


@given(strategies.majorities(), strategies.benches(strategies.VOTES))
def test_majority_reads_statuses_only(voting: MajorityVoting, ballots: list[Ballot]) -> None:
    plain = [
        Ballot("x", Judgment(ballot.judgment.status, "-"), weight=n)
        for n, ballot in enumerate(ballots)
    ]
    assert without_evidence(voting.aggregate(ballots)) == without_evidence(voting.aggregate(plain))


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ("P", Status.PASS),
        ("F", Status.FAIL),
        ("PPP", Status.PASS),
        ("FFF", Status.FAIL),
        ("PPF", Status.FAIL),
        ("PFF", Status.FAIL),
        ("PAP", Status.PASS),
        ("AAF", Status.FAIL),
    ],
)
def test_consensus(statuses: str, expected: Status) -> None:
    assert ConsensusVoting().aggregate(bench(statuses)).status is expected


@given(
    strategies.benches(strategies.VOTES),
    st.sampled_from([Status.FAIL, Status.ABSTAIN, Status.ERROR]),
)
def test_disagreement(ballots: list[Ballot], outcome: Status) -> None:
    said = ConsensusVoting(outcome).aggregate(ballots)
    found = {ballot.judgment.status for ballot in ballots}
    assert said.status is (found.pop() if len(found) == 1 else outcome)


def test_a_disagreement_is_no_pass() -> None:
    for word in (Status.PASS, "pass"):
        with refused(ValueError, "a disagreement cannot count as PASS"):
            ConsensusVoting(word)  # type: ignore[arg-type]


# Average, weighted average, median.


@pytest.mark.parametrize(
    ("voting", "values", "score", "status"),
    [
        (AverageVoting(), (0.8, 0.7, 0.6), 0.7, Status.PASS),
        (AverageVoting(), (0.8, 0.2), 0.5, Status.PASS),
        (AverageVoting(), (0.49,), 0.49, Status.FAIL),
        (AverageVoting(0.7), (0.7, 0.7, 0.7), 0.7, Status.PASS),
        (AverageVoting(0.1), (0.1,) * 10, 0.1, Status.PASS),
        (MedianVoting(), (0.9, 0.8, 0.2), 0.8, Status.PASS),
        (MedianVoting(), (0.3, 0.7, 0.8, 0.9), 0.75, Status.PASS),
        (MedianVoting(), (0.0, 1.0), 0.5, Status.PASS),
        (MedianVoting(), (0.4,), 0.4, Status.FAIL),
        (AverageVoting(0.0), (0.0,), 0.0, Status.PASS),
        (AverageVoting(1.0), (1.0, 1.0, 1.0), 1.0, Status.PASS),
        (AverageVoting(1.0), (1.0, 0.999), 0.9995, Status.FAIL),
    ],
)
def test_scores_meet_thresholds(
    voting: VotingStrategy, values: tuple[float, ...], score: float, status: Status
) -> None:
    said = voting.aggregate(scored(*values))
    assert said.status is status
    assert said.effective_score == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("kind", ON_SCORES)
@pytest.mark.parametrize(
    ("judgment", "score"),
    [
        (Judgment.passed(""), 1.0),
        (Judgment.failed(""), 0.0),
        (Judgment.failed("", score=NumericalScore(7, 0, 10)), 0.7),
        (Judgment.passed("", score=CategoricalScore("b", ("a", "b"))), 1.0),
        (Judgment.passed("", score=CategoricalScore("b", ("a", "b"), {"b": 0.2})), 0.2),
        (Judgment.errored("crashed"), 0.0),
    ],
)
def test_what_a_ballot_is_worth(
    kind: Callable[..., VotingStrategy], judgment: Judgment, score: float
) -> None:
    assert kind().aggregate([Ballot("a", judgment)]).effective_score == pytest.approx(score)


@given(
    st.sampled_from(ON_SCORES),
    st.lists(strategies.shares, min_size=1, max_size=6),
    strategies.shares,
    strategies.shares,
    strategies.shares,
)
def test_the_undecided_band(
    kind: Callable[..., VotingStrategy],
    values: list[float],
    threshold: float,
    one_end: float,
    other_end: float,
) -> None:
    low, high = sorted([one_end, other_end])
    plain = kind(threshold).aggregate(scored(*values))
    unsure = kind(threshold, (low, high)).aggregate(scored(*values))
    assert plain.effective_score is not None
    if round(low, 12) <= plain.effective_score <= round(high, 12):
        assert (unsure.status, unsure.score, unsure.label) == (Status.ABSTAIN, None, None)
        assert unsure.metadata["reason"] == "undecided"
    else:
        assert unsure == plain


@pytest.mark.parametrize("kind", ON_SCORES)
@pytest.mark.parametrize(
    ("threshold", "band", "words"),
    [
        (-0.1, None, "a threshold is in 0..1, not -0.1"),
        (1.1, None, "a threshold is in 0..1, not 1.1"),
        (math.nan, None, "a threshold must be finite, not nan"),
        (0.5, (-1.0, 0.5), "a threshold is in 0..1, not -1.0"),
        (0.5, (0.5, 2), "a threshold is in 0..1, not 2"),
        (0.5, (0.6, 0.4), "the undecided band is empty: 0.6..0.4"),
    ],
)
def test_thresholds_are_shares(
    kind: Callable[..., VotingStrategy], threshold: float, band: Any, words: str
) -> None:
    with refused(ValueError, words):
        kind(threshold, band)


@pytest.mark.parametrize("kind", ON_SCORES)
@pytest.mark.parametrize("share", [0, 0.0, 1, 1.0])
def test_thresholds_may_be_as_low_and_as_high_as_scores(
    kind: Callable[..., VotingStrategy], share: float
) -> None:
    assert kind(share).aggregate(bench("P")).status is Status.PASS
    assert (
        kind(share, (share, share)).aggregate(bench("P")).metadata["aggregation"]
        == (kind(share).aggregate(bench("P")).metadata["aggregation"])
    )


@pytest.mark.parametrize("kind", ON_SCORES)
def test_a_threshold_is_a_number(kind: Callable[..., VotingStrategy]) -> None:
    with refused(TypeError, "a threshold must be a number, not '0.5'"):
        kind("0.5")


# Weights.


@given(strategies.benches(strategies.VOTES), st.integers(-300, 300))
def test_weights_scale(ballots: list[Ballot], power: int) -> None:
    usual = [replace(b, weight=b.weight if 1e-6 < b.weight < 1e6 else 0.0) for b in ballots]
    scaled = [replace(ballot, weight=math.ldexp(ballot.weight, power)) for ballot in usual]
    assert WeightedAverageVoting().aggregate(scaled) == WeightedAverageVoting().aggregate(usual)


@given(strategies.benches(), strategies.error_policies)
def test_a_weight_of_zero_drops_the_seat(ballots: list[Ballot], policy: ErrorPolicy) -> None:
    voting = WeightedAverageVoting(on_error=policy)
    dropped = [
        Ballot(f"dropped{n}", judgment, 0.0) for n, judgment in enumerate(JUDGMENTS.values())
    ]
    said, alone = voting.aggregate([*ballots, *dropped]), voting.aggregate(ballots)
    assert (said.status, said.score) == (alone.status, alone.score)


@given(strategies.benches(strategies.VOTES))
def test_eligible_weights_that_sum_to_zero(ballots: list[Ballot]) -> None:
    weightless = [replace(ballot, weight=0.0) for ballot in ballots]
    said = WeightedAverageVoting().aggregate(weightless)
    assert (said.status, said.score, said.label) == (Status.ABSTAIN, None, None)


def test_only_the_weighted_average_looks_at_weights() -> None:
    ballots = scored(1.0, 0.2, 0.0, weights=(100.0, 1.0, 1.0))
    equal = scored(1.0, 0.2, 0.0)
    for kind in (AverageVoting, MedianVoting, MajorityVoting, ConsensusVoting):
        assert kind().aggregate(ballots) == kind().aggregate(equal)
    assert WeightedAverageVoting().aggregate(ballots) != WeightedAverageVoting().aggregate(equal)


# What is told, and what is kept.


@pytest.mark.parametrize(
    ("voting", "strategy", "reason", "more"),
    [
        (MajorityVoting(), "majority", None, {"tie_policy": "fail", "tied": True}),
        (
            MajorityVoting(TiePolicy.ABSTAIN),
            "majority",
            "tie",
            {"tie_policy": "abstain", "tied": True},
        ),
        (ConsensusVoting(), "consensus", None, {"unanimous": False}),
        (ConsensusVoting(Status.ABSTAIN), "consensus", "disagreement", {"unanimous": False}),
        (ConsensusVoting(Status.ERROR), "consensus", "disagreement", {"unanimous": False}),
        (AverageVoting(), "average", None, {"score": 0.5, "threshold": 0.5}),
        (AverageVoting(0.6), "average", None, {"score": 0.5, "threshold": 0.6}),
        (
            AverageVoting(0.4, (0.3, 0.5)),
            "average",
            "undecided",
            {"score": 0.5, "threshold": 0.4},
        ),
        (WeightedAverageVoting(), "weighted_average", None, {"score": 0.5, "threshold": 0.5}),
        (MedianVoting(), "median", None, {"score": 0.5, "threshold": 0.5}),
    ],
)
def test_every_aggregate_keeps_its_counts(
    voting: VotingStrategy, strategy: str, reason: str | None, more: dict[str, Any]
) -> None:
    counts = {"input": 3, "eligible": 2, "pass": 1, "fail": 1, "abstain": 1, "error": 0}
    policy = {"strategy": strategy, "error_policy": "treat_as_fail"}
    evidence = {"aggregation": {**policy, **counts, **more}}
    expected = {**evidence, "reason": reason} if reason else evidence
    assert voting.aggregate(bench("PFA")).metadata == expected


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (MajorityVoting, "majority"),
        (AverageVoting, "average"),
        (WeightedAverageVoting, "weighted_average"),
        (MedianVoting, "median"),
        (ConsensusVoting, "consensus"),
    ],
)
def test_strategies_know_their_name_and_take_another(
    kind: Callable[..., VotingStrategy], name: str
) -> None:
    assert kind().name == name
    panel = kind(name="panel")
    assert panel.aggregate(bench("P")).metadata["aggregation"]["strategy"] == "panel"
