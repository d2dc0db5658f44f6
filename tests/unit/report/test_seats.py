from __future__ import annotations

from typing import Any

import pytest

from fakes import reports as fake
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.report.facts import facts_of
from prjury.report.seats import SeatRow, facts_of_seats, seats_of

SEATS = [
    {"seat": "a:x", "status": "pass", "score": 0.75, "criteria": {"risk": "pass", "tests": "fail"}},
    {"seat": "b:y", "status": "abstain", "score": None, "criteria": {}, "reason": "rate_limited"},
    {"seat": "c:z", "status": "fail", "score": 0.5, "criteria": {"risk": "fail"}, "flipped": True},
]


def test_the_seats_stand_side_by_side() -> None:
    seats = seats_of({"panel": SEATS})
    assert seats is not None
    assert seats.criteria == ("risk", "tests")
    assert seats.rows == (
        SeatRow("a:x", "pass", 0.75, ("pass", "fail")),
        SeatRow("b:y", "abstain", None, ("–", "–"), "rate limited"),
        SeatRow("c:z", "fail", 0.5, ("fail", "–")),
    )


@pytest.mark.parametrize("metadata", [{}, {"panel": []}, {"panel": "x"}, {"panel": [1, None]}])
def test_where_there_are_none_there_is_no_table(metadata: dict[str, Any]) -> None:
    assert seats_of(metadata) is None


def test_facts_say_who_agrees_and_what_was_thrown_away() -> None:
    metadata = {
        "agreement": {"agree": 2, "seats": 3},
        "iterations": 2,
        "panel": SEATS,
        "evidence": {"verified": 4, "relocated": 0, "dropped": 2},
        "usage": {
            "llm_calls": 3,
            "cached_calls": 1,
            "input_tokens": 1000,
            "output_tokens": 20,
            "usd": 0.0123,
        },
    }
    assert list(facts_of_seats(metadata)) == [
        "2 of 3 seats agree",
        "asked in 2 rounds",
        "1 seat said otherwise with the files in another order",
        "2 quotes not in the material, thrown away",
        "1 answer from an earlier run",
        "3 questions, 1,020 tokens, $0.0123",
    ]


def test_an_unknown_price_is_said() -> None:
    usage = {"llm_calls": 1, "input_tokens": 5, "output_tokens": 0, "usd": None}
    assert list(facts_of_seats({"usage": usage})) == ["1 question, 5 tokens, price not known"]


@pytest.mark.parametrize(
    "metadata",
    [
        {"usage": 3, "agreement": [], "evidence": None, "iterations": "2", "panel": 7},
        {"usage": {"llm_calls": True, "cached_calls": "x"}, "agreement": {"seats": None}},
    ],
)
def test_a_report_of_another_form_is_not_trusted(metadata: dict[str, Any]) -> None:
    assert list(facts_of_seats(metadata)) == []


def test_they_are_among_the_facts_of_a_ballot() -> None:
    said = Judgment.passed("fine", metadata={"model": "a:x", "evidence": {"dropped": 1}})
    facts = facts_of(fake.ballot("quality", said, kind=JudgeType.LLM_POWERED))
    assert "1 quote not in the material, thrown away" in facts


def test_who_answered_in_anothers_place_is_named() -> None:
    assert list(facts_of_seats({"stand_ins": ["m-2"]})) == ["m-2 answered in its place"]
