from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given

import strategies
from fakes.refusals import refused
from prjury.jury import codec
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.score import BooleanScore, CategoricalScore, NumericalScore, Score


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


@given(strategies.scores())
def test_scores(score: Score) -> None:
    assert codec.score_from_json(through_json(codec.score_to_json(score))) == score


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


# The form of the published report, key by key.

BARE_CHECK = {
    "name": "merge",
    "passed": True,
    "message": "",
    "severity": "error",
    "location": None,
    "evidence": None,
    "fix": None,
    "fingerprint": "061f37a7c41d5638",
}
FULL_CHECK = {
    "name": "jakarta",
    "passed": False,
    "message": "moved",
    "severity": "warning",
    "location": {"path": "A.java", "line": 7, "end_line": 8},
    "evidence": "import javax.persistence.Entity;",
    "fix": "import jakarta.persistence.Entity;",
    "fingerprint": "685e6ca6df46ad8a",
}
BARE_JUDGMENT: codec.Json = {
    "status": "pass",
    "reasoning": "fine",
    "score": None,
    "label": None,
    "confidence": None,
    "checks": [],
    "metadata": {},
}
FULL_JUDGMENT = {
    "status": "fail",
    "reasoning": "1 of 2 checks failed",
    "score": {"type": "numerical", "value": 2, "minimum": 0, "maximum": 10},
    "label": "moved",
    "confidence": 0.75,
    "checks": [FULL_CHECK, BARE_CHECK],
    "metadata": {"scope": {"read": ["A.java", ["B.java", {"lines": 3}]]}},
}
BUILT_CHECKS = (
    Check(
        "jakarta",
        passed=False,
        message="moved",
        location=Location("A.java", 7, 8),
        severity="warning",
        evidence="import javax.persistence.Entity;",
        fix="import jakarta.persistence.Entity;",
    ),
    Check("merge", passed=True),
)
BUILT_JUDGMENT = Judgment(
    Status.FAIL,
    "1 of 2 checks failed",
    NumericalScore(2, 0, 10),
    "moved",
    0.75,
    BUILT_CHECKS,
    {"scope": {"read": ["A.java", ["B.java", {"lines": 3}]]}},
)


@pytest.mark.parametrize(
    ("write", "read", "value", "written"),
    [
        (codec.check_to_json, codec.check_from_json, BUILT_CHECKS[0], FULL_CHECK),
        (codec.check_to_json, codec.check_from_json, BUILT_CHECKS[1], BARE_CHECK),
        (
            codec.judgment_to_json,
            codec.judgment_from_json,
            Judgment.passed("fine"),
            BARE_JUDGMENT,
        ),
        (codec.judgment_to_json, codec.judgment_from_json, BUILT_JUDGMENT, FULL_JUDGMENT),
    ],
    ids=["check", "bare check", "bare judgment", "judgment"],
)
def test_what_is_written_and_read(write: Any, read: Any, value: Any, written: Any) -> None:
    assert write(value) == written
    assert read(written) == value


@pytest.mark.parametrize(
    ("score", "written"),
    [
        (BooleanScore.PASS, {"type": "boolean", "value": True}),
        (
            NumericalScore(0.5),
            {"type": "numerical", "value": 0.5, "minimum": 0.0, "maximum": 1.0},
        ),
        (
            CategoricalScore("b", ("a", "b")),
            {"type": "categorical", "value": "b", "allowed": ["a", "b"], "weights": None},
        ),
        (
            CategoricalScore("b", ("a", "b"), {"b": 0.5}),
            {"type": "categorical", "value": "b", "allowed": ["a", "b"], "weights": {"b": 0.5}},
        ),
    ],
)
def test_what_a_score_looks_like(score: Score, written: dict[str, Any]) -> None:
    assert codec.score_to_json(score) == written
    assert codec.score_from_json(written) == score
    assert type(codec.score_from_json(written)) is type(score)


def test_undecodable_text_survives() -> None:
    judgment = Judgment.failed("\udc80", checks=[Check("a", passed=False, evidence="\udcff")])
    assert codec.judgment_from_json(through_json(codec.judgment_to_json(judgment))) == judgment


@pytest.mark.parametrize(
    ("score", "words"),
    [
        ({"type": "stars", "value": 5}, "unknown score type 'stars'"),
        ({"type": "numerical", "value": 5}, "score 5 is outside 0.0..1.0"),
        (
            {"type": "numerical", "value": math.nan},
            "a numerical score's value must be finite, not nan",
        ),
        (
            {"type": "categorical", "value": "a", "allowed": []},
            "the allowed words must be distinct and at least one: ()",
        ),
    ],
)
def test_an_impossible_score_is_refused(score: dict[str, Any], words: str) -> None:
    with refused(ValueError, words):
        codec.score_from_json(score)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "passed"}, "'passed' is not a valid Status"),
        (
            {"status": "abstain", "score": {"type": "boolean", "value": True}},
            "abstain carries no score",
        ),
        ({"status": "error", "reasoning": " "}, "error needs a reason"),
        ({"confidence": 2}, "confidence must be in 0..1, not 2"),
    ],
)
def test_an_impossible_judgment_is_refused(change: dict[str, Any], words: str) -> None:
    with refused(ValueError, words):
        codec.judgment_from_json({"status": "pass", "reasoning": "fine", **change})
