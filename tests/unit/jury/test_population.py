from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given

import strategies
from fakes.refusals import refused
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import (
    NOT_APPLICABLE,
    NOT_CONFIGURED,
    Ballot,
    ErrorPolicy,
    Population,
    is_benign,
    select_voters,
)

IGNORE, PROPAGATE = ErrorPolicy.IGNORE, ErrorPolicy.PROPAGATE
AS_FAIL, AS_ABSTAIN = ErrorPolicy.TREAT_AS_FAIL, ErrorPolicy.TREAT_AS_ABSTAIN
JUDGMENTS = {
    "P": Judgment.passed("fine"),
    "F": Judgment.failed("broken"),
    "A": Judgment.abstained("too dear", "budget"),
    "N": Judgment.abstained("docs only", "not_applicable"),
    "K": Judgment.abstained("no key", "not_configured"),
    "E": Judgment.errored("crashed", metadata={"reason": "timeout"}),
    "X": Judgment.errored("odd"),
    "Y": Judgment.errored("odder", metadata={"reason": None}),
}


def bench(letters: str, weight: float = 1.0) -> list[Ballot]:
    return [Ballot(f"{letter}{n}", JUDGMENTS[letter], weight) for n, letter in enumerate(letters)]


def silent(letters: str, on_error: ErrorPolicy = IGNORE) -> Judgment:
    """The judgment where there is nothing to count."""
    said = select_voters(bench(letters), "majority", on_error)
    assert isinstance(said, Judgment)
    return said


# Ballots.


def test_a_ballot_of_a_deterministic_judge_weighs_one() -> None:
    ballot = Ballot("build", JUDGMENTS["P"])
    assert (ballot.weight, ballot.type, ballot.elapsed_ms) == (1.0, JudgeType.DETERMINISTIC, 0)


@pytest.mark.parametrize("weight", [0, 0.0, 5e-324, 1, 1e308, 10**300])
def test_a_weight_is_anything_from_zero(weight: float) -> None:
    assert Ballot("a", JUDGMENTS["P"], weight).weight == weight


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (-1, "the weight of a is negative: -1"),
        (-5e-324, "the weight of a is negative: -5e-324"),
        (math.nan, "the weight of a must be finite, not nan"),
        (math.inf, "the weight of a must be finite, not inf"),
        (-math.inf, "the weight of a must be finite, not -inf"),
        (10**400, "the weight of a is larger than any number that can be counted with"),
    ],
)
def test_a_weight_is_finite_and_not_negative(weight: float, words: str) -> None:
    with refused(ValueError, words):
        Ballot("a", JUDGMENTS["P"], weight)


@pytest.mark.parametrize("said", [None, "pass", True])
def test_a_ballot_holds_a_judgment(said: Any) -> None:
    with refused(TypeError, f"a: a ballot holds a Judgment, not {said!r}"):
        Ballot("a", said)


def test_the_type_of_a_ballot_may_be_given_as_a_word() -> None:
    kind: Any = "agent"
    assert Ballot("a", JUDGMENTS["P"], type=kind).type is JudgeType.AGENT
    kind = "oracle"
    with refused(ValueError, "'oracle' is not a valid JudgeType"):
        Ballot("a", JUDGMENTS["P"], type=kind)


# Abstentions that are nobody's fault.


@pytest.mark.parametrize("status", [Status.PASS, Status.FAIL, Status.ABSTAIN])
@pytest.mark.parametrize("label", [NOT_APPLICABLE, NOT_CONFIGURED, "budget", None])
def test_only_an_abstention_can_be_benign(status: Status, label: str | None) -> None:
    benign = status is Status.ABSTAIN and label in {NOT_APPLICABLE, NOT_CONFIGURED}
    assert is_benign(Judgment(status, "so", label=label)) is benign


# Who votes.


@pytest.mark.parametrize(
    ("on_error", "voters"), [(AS_FAIL, "PFEX"), (AS_ABSTAIN, "PF"), (IGNORE, "PF")]
)
def test_abstentions_never_vote_and_errors_by_their_policy(
    on_error: ErrorPolicy, voters: str
) -> None:
    ballots = bench("PFANKEX")
    asked = select_voters(ballots, "majority", on_error)
    assert isinstance(asked, Population)
    assert asked.ballots == tuple(ballots)
    assert "".join(ballot.judge[0] for ballot in asked.voters) == voters
    assert (asked.strategy, asked.on_error) == ("majority", on_error)


@pytest.mark.parametrize(("weighted", "voters"), [(True, 2), (False, 4)])
def test_a_seat_without_weight_votes_only_where_weights_do_not_matter(
    weighted: bool, voters: int
) -> None:
    ballots = [*bench("PF"), *bench("PF", weight=0.0)]
    asked = select_voters(ballots, "any", AS_FAIL, weighted=weighted)
    assert isinstance(asked, Population)
    assert asked.ballots == tuple(ballots)
    assert asked.voters == tuple(ballots[:voters])


@pytest.mark.parametrize("on_error", ErrorPolicy)
def test_nobody_to_count_is_an_error_of_the_caller(on_error: ErrorPolicy) -> None:
    with refused(ValueError, "there are no ballots to count"):
        select_voters([], "majority", on_error)


# Where there is nothing to count.


@pytest.mark.parametrize(
    ("letters", "label", "reason", "words"),
    [
        ("A", None, "nobody_voted", "nobody voted; A0 abstained: too dear"),
        ("N", NOT_APPLICABLE, NOT_APPLICABLE, "nobody voted; N0 abstained: docs only"),
        ("K", NOT_CONFIGURED, NOT_CONFIGURED, "nobody voted; K0 abstained: no key"),
        (
            "NK",
            NOT_CONFIGURED,
            NOT_CONFIGURED,
            "nobody voted; K1 abstained: no key; N0 abstained: docs only",
        ),
        (
            "NA",
            None,
            "nobody_voted",
            "nobody voted; A1 abstained: too dear; N0 abstained: docs only",
        ),
        ("NE", None, "nobody_voted", "nobody voted; E1 erred: crashed; N0 abstained: docs only"),
        ("E", None, "nobody_voted", "nobody voted; E0 erred: crashed"),
    ],
)
@pytest.mark.parametrize("on_error", [IGNORE, AS_ABSTAIN])
def test_everybody_is_silent(
    letters: str, label: str | None, reason: str, words: str, on_error: ErrorPolicy
) -> None:
    said = silent(letters, on_error)
    assert (said.status, said.score, said.label) == (Status.ABSTAIN, None, label)
    assert said.reasoning == words
    assert said.metadata["reason"] == reason
    assert said.metadata["aggregation"]["eligible"] == 0


@pytest.mark.parametrize(
    ("letters", "reason", "words"),
    [
        ("PE", "timeout", "could not be decided because of E1; E1 erred: crashed"),
        (
            "XPAE",
            "timeout",
            (
                "could not be decided because of E3, X0; "
                "A2 abstained: too dear; E3 erred: crashed; X0 erred: odd"
            ),
        ),
        ("X", "judge_erred", "could not be decided because of X0; X0 erred: odd"),
        ("Y", "judge_erred", "could not be decided because of Y0; Y0 erred: odder"),
    ],
)
def test_an_error_propagates(letters: str, reason: str, words: str) -> None:
    said = silent(letters, PROPAGATE)
    assert (said.status, said.score, said.label) == (Status.ERROR, None, None)
    assert (said.reasoning, said.metadata["reason"]) == (words, reason)


# Evidence and sentence.


@pytest.mark.parametrize(
    ("on_error", "eligible", "abstain"),
    [(AS_FAIL, 5, 3), (AS_ABSTAIN, 3, 5), (IGNORE, 3, 3), (PROPAGATE, 3, 3)],
)
def test_the_counts(on_error: ErrorPolicy, eligible: int, abstain: int) -> None:
    asked = select_voters(bench("PPFANKEX"), "majority", on_error)
    counts = asked.metadata if isinstance(asked, Judgment) else asked.metadata(tied=False)
    expected = {
        "strategy": "majority",
        "input": 8,
        "eligible": eligible,
        "pass": 2,
        "fail": 1,
        "abstain": abstain,
        "error": 2,
        "error_policy": on_error.value,
    }
    if on_error is PROPAGATE:
        assert counts == {"aggregation": expected, "reason": "timeout"}
    else:
        assert counts == {"aggregation": {**expected, "tied": False}}
        assert isinstance(asked, Population)
        assert asked.metadata(reason="tie")["reason"] == "tie"


@given(strategies.benches(), strategies.error_policies)
def test_everybody_who_was_asked_is_in_the_counts(
    ballots: list[Ballot], on_error: ErrorPolicy
) -> None:
    asked = select_voters(ballots, "any", on_error)
    evidence = asked.metadata if isinstance(asked, Judgment) else asked.metadata()
    counts = evidence["aggregation"]
    voted = sum(counts[word] for word in ("pass", "fail", "abstain"))
    erred = 0 if on_error is AS_ABSTAIN else counts["error"]
    assert voted + erred == counts["input"] == len(ballots)
