from __future__ import annotations

from typing import Any

import pytest

from fakes import reports as fake
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.report.judge_facts import PanelFacts, SeatFacts
from prjury.report.view import seats_view
from prjury.report.wording import facts_of, panel_words

SEATS = [
    {"seat": "a:x", "status": "pass", "score": 0.75, "criteria": {"risk": "pass", "tests": "fail"}},
    {"seat": "b:y", "status": "abstain", "score": None, "criteria": {}, "reason": "rate_limited"},
    {"seat": "c:z", "status": "fail", "score": 0.5, "criteria": {"risk": "fail"}, "flipped": True},
]


def panel(metadata: dict[str, Any]) -> PanelFacts:
    return PanelFacts.of(Judgment.passed("ok", metadata=metadata))


def test_the_seats_stand_side_by_side() -> None:
    assert panel({"panel": SEATS}).seats == (
        SeatFacts("a:x", "pass", 0.75, {"risk": "pass", "tests": "fail"}),
        SeatFacts("b:y", "abstain", reason="rate_limited"),
        SeatFacts("c:z", "fail", 0.5, {"risk": "fail"}, flipped=True),
    )
    view = seats_view(Judgment.passed("ok", metadata={"panel": SEATS}))
    assert view is not None
    assert view.criteria == ("risk", "tests")
    assert [list(row.answers) for row in view.rows] == [
        ["pass", "fail"],
        ["–", "–"],
        ["fail", "–"],
    ]
    assert view.rows[1].result == "abstain (rate limited)"


@pytest.mark.parametrize("metadata", [{}, {"panel": []}, {"panel": "x"}, {"panel": [1, None]}])
def test_where_there_are_none_there_is_no_table(metadata: dict[str, Any]) -> None:
    assert panel(metadata).seats == ()


def test_facts_say_who_agrees_and_what_was_thrown_away() -> None:
    metadata = {
        "agreement": {"agree": 2, "seats": 3},
        "iterations": 2,
        "panel": SEATS,
        "review": {"dropped": {"no_quote": 2, "not_changed": 0}},
    }
    assert list(panel_words(panel(metadata))) == [
        "2 of 3 seats agree",
        "asked in 2 rounds",
        "1 seat answered differently with the files in another order",
        "2 quotes not found in what was read, discarded",
    ]


@pytest.mark.parametrize(
    "metadata",
    [
        {"usage": 3, "agreement": [], "evidence": None, "iterations": "2", "panel": 7},
        {"usage": {"llm_calls": True, "cached_calls": "x"}, "agreement": {"seats": None}},
    ],
)
def test_a_report_of_another_form_is_not_trusted(metadata: dict[str, Any]) -> None:
    assert list(panel_words(panel(metadata))) == []


def test_they_are_among_the_facts_of_a_ballot() -> None:
    said = Judgment.passed(
        "fine", metadata={"model": "a:x", "review": {"dropped": {"no_quote": 1}}}
    )
    facts = facts_of(fake.ballot("quality", said, kind=JudgeType.LLM_POWERED))
    assert "1 quote not found in what was read, discarded" in facts


def test_who_answered_in_anothers_place_is_named() -> None:
    assert list(panel_words(panel({"stand_ins": ["m-2"]}))) == ["m-2 answered in its place"]
