from __future__ import annotations

import json
from typing import Any

import pytest

from prjury.calibration.records import cases_of, read_records
from prjury.calibration.strategies import StrategyResult, compare
from prjury.jury.judgment import Status


def lines(*records: dict[str, Any]) -> list[str]:
    return [json.dumps(record) for record in records]


def results(records: list[str], **more: Any) -> dict[str, StrategyResult]:
    return {one.name: one for one in compare(cases_of(read_records(records)), **more)}


def three(item: str, gold: int, *verdicts: int) -> list[str]:
    return lines(
        *(
            {"item": item, "gold": gold, "judge": f"j{number}", "verdict": verdict, "cost": 0.01}
            for number, verdict in enumerate(verdicts)
        )
    )


def test_strategies_and_judges_alone_are_compared() -> None:
    found = results([*three("a", 1, 1, 1, 0), *three("b", 0, 0, 0, 0), *three("c", 0, 1, 1, 1)])
    majority, consensus = found["majority"], found["consensus"]
    assert (majority.cases, majority.decided, majority.right) == (3, 3, 2)
    assert majority.cost == pytest.approx(0.03)
    assert (consensus.decided, consensus.right) == (2, 1)
    assert (found["j2"].right, found["j0"].right) == (1, 2)
    low, high = majority.interval or (0, 0)
    assert (round(low, 2), round(high, 2)) == (0.21, 0.94)


def test_thresholds_and_weights_count() -> None:
    records = lines(
        {"item": "a", "judge": "x", "score": 0.4, "gold": 0},
        {"item": "a", "judge": "y", "score": 0.8},
    )
    assert results(records, threshold=0.7)["average >= 0.7"].right == 1
    assert results(records)["average >= 0.5"].right == 0
    weighted = results(records, threshold=0.7, weights={"y": 9.0})
    assert weighted["weighted average >= 0.7"].passed == 1
    with pytest.raises(ValueError, match="no record of z"):
        results(records, weights={"z": 1.0})


def test_a_tie_is_undecided_and_gold_may_be_unknown() -> None:
    records = lines(
        {"item": "a", "judge": "x", "verdict": 0}, {"item": "a", "judge": "y", "verdict": 1}
    )
    majority = results(records)["majority"]
    assert (majority.decided, majority.accuracy, majority.interval) == (0, None, None)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "there are no records"),
        ("{", "line 1 is no JSON"),
        ("[]", "line 1"),
        ('{"item": "a", "judge": "x"}', "`verdict` "),
        ('{"item": "a", "judge": "x", "verdict": 2}', "line 1: verdict"),
        ('{"item": "a", "judge": "x", "score": NaN}', "line 1: score"),
    ],
)
def test_what_is_no_record_is_refused(line: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_records([line])


def test_comparisons_of_two_answers_are_read_as_whether_the_first_is_better() -> None:
    marks = (
        {"gold": 2, "verdict": 1},
        {"gold": 2, "verdict": 2},
        {"gold": 2, "verdict": 0},
        {"gold": 2},
    )
    rows = [
        json.dumps({"item": "a", "judge": f"j{number}", "score": [2, 5], **mark})
        for number, mark in enumerate(marks)
    ]
    (case,) = cases_of(read_records(rows))
    assert case.gold is Status.FAIL
    said = [record.ballot(record.judge, 1.0).judgment.status for record in case.records]
    assert said == [Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ABSTAIN]


def test_records_must_agree_on_what_is_right() -> None:
    records = read_records([*three("a", 1, 1), *three("a", 0, 1)])
    with pytest.raises(ValueError, match="disagree on `gold`"):
        cases_of(records)
