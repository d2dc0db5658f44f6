from __future__ import annotations

from typing import Any

import pytest

from prjury.jury.judgment import Judgment
from prjury.report.judge_facts import PanelFacts, SeatFacts
from prjury.report.view import seats_view

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
    rows = [(row.outcome.word, row.score, row.reason, *row.answers) for row in view.rows]
    assert rows == [
        ("pass", "0.75", None, "pass", "fail"),
        ("no answer", "", "rate limited", "–", "–"),
        ("fail", "0.50", None, "fail", "–"),
    ]


@pytest.mark.parametrize("metadata", [{}, {"panel": []}, {"panel": "x"}, {"panel": [1, None]}])
def test_where_there_are_none_there_is_no_table(metadata: dict[str, Any]) -> None:
    assert panel(metadata).seats == ()
