from __future__ import annotations

import functools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from prjury.jury.confidence import Confidence, confidence_of, title_of, validate_strategy
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import Ballot

PASS, FAIL, ABSTAIN, ERROR = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR


def cast_by(*statuses: Status) -> list[Ballot]:
    return [
        Ballot(f"judge{place}", Judgment(status, "as given", confidence=0.4))
        for place, status in enumerate(statuses)
    ]


def taken(strategy: Any, judgment: Judgment) -> float | None:
    ballot = Ballot("a", judgment)
    return confidence_of(strategy, ballot, [ballot])


# Strategies by name, or functions.


def logprob(judgment: Judgment) -> float:
    return 0.8


class Calibrated:
    def __call__(self, judgment: Judgment) -> float:
        return 0.7


@pytest.mark.parametrize(
    ("strategy", "title"),
    [
        (None, "self_report"),
        ("self_report", "self_report"),
        (Confidence.AGREEMENT, "agreement"),
        ("flip", "flip"),
        (logprob, "logprob"),
        (lambda judgment: None, "<lambda>"),
        (functools.partial(logprob), "partial"),
        (Calibrated(), "Calibrated"),
    ],
)
def test_strategies_have_titles(strategy: Any, title: str) -> None:
    assert title_of(validate_strategy(strategy)) == title
    assert title_of(strategy) == title


@pytest.mark.parametrize("name", ["", "gut", "FLIP", "self-report", "logprob"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(
        ValueError,
        match=rf"^confidence '{name}' is none of self_report, agreement, flip and no function$",
    ):
        validate_strategy(name)


@pytest.mark.parametrize("strategy", [0.7, 1, True, ["flip"]])
def test_anything_else_is_refused(strategy: Any) -> None:
    with pytest.raises(TypeError, match=r"^a confidence strategy is a name or a function, not "):
        validate_strategy(strategy)


# What they say.


@given(strategies.judgments([PASS, FAIL, ABSTAIN], evidence=False))
def test_self_report_is_the_judgments_own(judgment: Judgment) -> None:
    assert taken(None, judgment) == judgment.confidence
    assert taken("self_report", judgment) == judgment.confidence


@given(st.sampled_from([None, *Confidence, logprob]), st.none() | strategies.shares)
def test_an_error_has_no_confidence(strategy: Any, reported: float | None) -> None:
    judgment = Judgment(ERROR, "x", confidence=reported, metadata={"flipped": False})
    ballots = [Ballot("a", judgment), Ballot("b", judgment)]
    assert confidence_of(strategy, ballots[0], ballots) is None


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([PASS], [None]),
        ([PASS, PASS], [1.0, 1.0]),
        ([PASS, FAIL], [0.0, 0.0]),
        ([PASS, PASS, FAIL], [0.5, 0.5, 0.0]),
        ([FAIL, PASS, PASS, PASS, PASS], [0.0, 0.75, 0.75, 0.75, 0.75]),
        ([PASS, PASS, ABSTAIN, ERROR], [1.0, 1.0, None, None]),
        ([PASS, ABSTAIN, ABSTAIN], [None, None, None]),
        ([ABSTAIN, ABSTAIN], [None, None]),
        ([ABSTAIN, PASS, FAIL], [None, 0.0, 0.0]),
    ],
)
def test_agreement_is_the_share_of_the_other_votes(
    statuses: list[Status], expected: list[float | None]
) -> None:
    ballots = cast_by(*statuses)
    assert [confidence_of("agreement", ballot, ballots) for ballot in ballots] == expected


@given(strategies.benches())
def test_agreement_is_a_share(ballots: list[Ballot]) -> None:
    for ballot in ballots:
        share = confidence_of(Confidence.AGREEMENT, ballot, ballots)
        assert share is None or 0.0 <= share <= 1.0


@pytest.mark.parametrize(
    ("status", "metadata", "expected"),
    [
        (PASS, {"flipped": False}, 1.0),
        (PASS, {"flipped": True}, 0.0),
        (FAIL, {"flipped": False}, 1.0),
        (FAIL, {"flipped": None}, None),
        (PASS, {}, None),
        (ABSTAIN, {"flipped": False}, None),
    ],
)
def test_flip_is_all_or_nothing(
    status: Status, metadata: dict[str, Any], expected: float | None
) -> None:
    assert taken("flip", Judgment(status, "x", confidence=0.3, metadata=metadata)) == expected


@pytest.mark.parametrize(("number", "expected"), [(0, 0.0), (1, 1.0), (0.25, 0.25), (None, None)])
def test_a_function_says_a_number_or_none(number: Any, expected: float | None) -> None:
    found = taken(lambda judgment: number, Judgment.passed("x", confidence=0.9))
    assert found == expected
    assert not isinstance(found, int)


@pytest.mark.parametrize("number", [1.01, -0.01, 2, float("nan"), float("inf")])
def test_a_number_is_in_its_range(number: float) -> None:
    with pytest.raises(ValueError, match=r"^a confidence (is in 0\.\.1, not|must be finite, not) "):
        taken(lambda judgment: number, Judgment.passed("x"))


@pytest.mark.parametrize("answer", ["high", True, [0.5], Judgment.passed("x")])
def test_nothing_else_is_a_number(answer: Any) -> None:
    with pytest.raises(TypeError, match=r"^a confidence must be a number, not "):
        taken(lambda judgment: answer, Judgment.passed("x"))


def test_an_unknown_strategy_says_nothing() -> None:
    with pytest.raises(ValueError, match="'gut'"):
        taken("gut", Judgment.passed("x", confidence=0.9))
