from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

import strategies
from prjury.jury import codec
from prjury.jury.bench import JuryVerdict
from prjury.jury.cascade import Verdict, conclude
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import BooleanScore, NumericalScore, Score


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


@given(strategies.scores())
def test_scores(score: Score) -> None:
    assert codec.score_from_json(through_json(codec.score_to_json(score))) == score


def test_no_score() -> None:
    assert codec.score_from_json(through_json(codec.score_to_json(None))) is None


@given(strategies.checks())
def test_checks(check: Check) -> None:
    written = through_json(codec.check_to_json(check))
    assert codec.check_from_json(written) == check
    assert written["fingerprint"] == check.fingerprint


@given(strategies.judgments())
def test_judgments(judgment: Judgment) -> None:
    again = codec.judgment_from_json(through_json(codec.judgment_to_json(judgment)))
    assert again == judgment
    assert type(again.score) is type(judgment.score)


@given(strategies.verdicts(evidence=True))
def test_verdicts(verdict: Verdict) -> None:
    again = codec.verdict_from_json(through_json(codec.verdict_to_json(verdict)))
    assert again == verdict
    assert conclude(again.attempts) == verdict


@given(strategies.benches(evidence=True), strategies.judgments())
def test_jury_verdicts(ballots: list[Any], aggregated: Judgment) -> None:
    verdict = JuryVerdict(aggregated, tuple(ballots))
    written = through_json(codec.jury_verdict_to_json(verdict))
    assert codec.jury_verdict_from_json(written) == verdict


def test_what_a_judgment_looks_like() -> None:
    judgment = Judgment.failed(
        "two conflicts",
        score=NumericalScore(2, 0, 10),
        checks=[Check("merge", passed=False, location=Location("a.py", 3))],
        metadata={"scope": {"read": ["a.py"]}},
    )
    written = codec.judgment_to_json(judgment)
    check = written["checks"][0]
    assert written == {
        "status": "fail",
        "reasoning": "two conflicts",
        "score": {"type": "numerical", "value": 2, "minimum": 0, "maximum": 10},
        "label": None,
        "confidence": None,
        "checks": [check],
        "metadata": {"scope": {"read": ["a.py"]}},
    }
    assert check["location"] == {"path": "a.py", "line": 3, "end_line": None}


def test_undecodable_text_survives() -> None:
    judgment = Judgment.failed("\udc80", checks=[Check("a", passed=False, evidence="\udcff")])
    assert codec.judgment_from_json(through_json(codec.judgment_to_json(judgment))) == judgment


def test_a_short_form_is_read_too() -> None:
    assert codec.judgment_from_json({"status": "pass", "reasoning": ""}) == Judgment.passed("")
    assert codec.check_from_json({"name": "a", "passed": True}) == Check("a", passed=True)


@pytest.mark.parametrize(
    "score",
    [
        {"type": "stars", "value": 5},
        {"type": "numerical", "value": 5},
        {"type": "numerical", "value": float("nan")},
        {"type": "categorical", "value": "a", "allowed": []},
    ],
)
def test_an_impossible_score_is_refused(score: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"score|words"):
        codec.score_from_json(score)


@pytest.mark.parametrize(
    "change",
    [
        {"status": "passed"},
        {"status": "abstain", "score": codec.score_to_json(BooleanScore.PASS)},
        {"status": "error", "reasoning": " "},
        {"confidence": 2},
    ],
)
def test_an_impossible_judgment_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"passed|score|reason|confidence"):
        codec.judgment_from_json({"status": "pass", "reasoning": "fine", **change})
