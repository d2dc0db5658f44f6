from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.library.replies import LONGEST_REPLY, assessment
from prjury.jury.score import NumericalScore
from strategies import json_values


def reply(**more: Any) -> str:
    return json.dumps({"status": "pass", "rationale": "r", **more})


def problem(text: str) -> str:
    """What is wrong with the reply, after the words that are always the same."""
    said = assessment(text)
    assert said.status is Status.ERROR
    assert said.metadata == {"reason": "reply_invalid"}
    always = "the reply is not a valid assessment: "
    assert said.reasoning.startswith(always)
    return said.reasoning.removeprefix(always)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (reply(), Judgment(Status.PASS, "r")),
        (reply(status="FAIL"), Judgment(Status.FAIL, "r")),
        (reply(status=" Pass "), Judgment(Status.PASS, "r")),
        (reply(score=None, confidence=None, findings=None), Judgment(Status.PASS, "r")),
        (reply(score=1), Judgment(Status.PASS, "r", NumericalScore(1.0))),
        (reply(score=0.5), Judgment(Status.PASS, "r", NumericalScore(0.5))),
        (reply(status="fail", score=0), Judgment(Status.FAIL, "r", NumericalScore(0.0))),
        (reply(status="fail", score=0.9), Judgment(Status.FAIL, "r", NumericalScore(0.9))),
        (f"```json\n{reply()}\n```", Judgment(Status.PASS, "r")),
        (f" ```\r\n{reply()}\r\n```\r\n", Judgment(Status.PASS, "r")),
        (f"\ufeff{reply()}", Judgment(Status.PASS, "r")),
        (reply(rationale="a ``` b\n``` c"), Judgment(Status.PASS, "a ``` b\n``` c")),
        ('{"status":"pass","rationale":"\\ud800"}', Judgment(Status.PASS, "\\ud800")),
        ('{"status":"pass","rationale":"a\u2028b"}', Judgment(Status.PASS, "a\u2028b")),
    ],
)
def test_a_valid_reply(text: str, expected: Judgment) -> None:
    assert assessment(text) == expected


def test_a_model_may_abstain() -> None:
    said = assessment(reply(status="Abstain", score=0.4, confidence=0.2, findings=["why"]))
    assert said == Judgment(
        Status.ABSTAIN,
        "r",
        None,
        "abstained",
        0.2,
        (Check("finding", False, "why"),),
        {"reason": "abstained"},
    )


def test_a_pass_below_the_threshold_contradicts_itself() -> None:
    said = assessment(reply(score=0.49, confidence=0.9, findings=["f"]))
    assert said == Judgment(
        Status.ABSTAIN,
        "the reply says PASS with a score of 0.49, below 0.5: r",
        None,
        "contradiction",
        0.9,
        (Check("finding", False, "f"),),
        {"reason": "contradiction"},
    )
    assert assessment(reply(score=0.49), threshold=0.4).status is Status.PASS
    assert assessment(reply(score=0.79), 0.8).label == "contradiction"
    assert assessment(reply(score=0), threshold=0).status is Status.PASS
    assert assessment(reply(score=1), threshold=1).status is Status.PASS


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_is_in_range(threshold: float) -> None:
    with pytest.raises(ValueError, match=r"a threshold (is in 0\.\.1, not|must be finite)"):
        assessment(reply(), threshold)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  ", "it is empty"),
        ("```json\n```", "it is empty"),
        ("I approve this change.", "it is not one JSON object and nothing else"),
        (f"Here it is: {reply()}", "it is not one JSON object and nothing else"),
        (f"{reply()}\nGood luck!", "it is not one JSON object and nothing else"),
        (f"{reply()}\n{reply()}", "it is not one JSON object and nothing else"),
        (f"```json\n{reply()}\n```\n```json\n{reply()}\n```", "it is not one JSON object and noth"),
        (f"```json\n{reply()}\n``` so it is", "it is not one JSON object and nothing else"),
        ("{'status': 'pass'}", "it is not one JSON object and nothing else"),
        ('{"status": "pass"', "it is not one JSON object and nothing else"),
        ("[" * 100_000, "it is not one JSON object and nothing else"),
        (f'{{"score": {"9" * 5000}}}', "it is not one JSON object and nothing else"),
        (f"[{reply()}]", "it is a list, not an object"),
        ("null", "it is null, not an object"),
        ('"pass"', "it is text, not an object"),
        ("true", "it is true or false, not an object"),
        ("1", "it is a whole number, not an object"),
        ("1.5", "it is a number, not an object"),
        ("{}", "status is missing"),
        ('{"status": null, "rationale": "r"}', "status is missing"),
        (reply(status="ok"), 'status is "ok", not pass, fail or abstain'),
        (reply(status="error"), 'status is "error", not pass, fail or abstain'),
        (reply(status="x" * 38), f'status is "{"x" * 38}", not pass, fail or abstain'),
        (reply(status="x" * 99), f'status is "{"x" * 39}…, not pass, fail or abstain'),
        (reply(status=True), "status is true or false, not text"),
        ('{"status": "pass"}', "rationale is missing or empty"),
        (reply(rationale=" "), "rationale is missing or empty"),
        (reply(rationale=["r"]), "rationale is a list, not text"),
        (reply(score=85), "score is 85, not a number from 0 to 1"),
        (reply(score=1.01), "score is 1.01, not a number from 0 to 1"),
        (reply(score=-0.5), "score is -0.5, not a number from 0 to 1"),
        (reply(score="0.8"), "score is text, not a number"),
        (reply(score=True), "score is true or false, not a number"),
        (reply(score=float("nan")), "NaN is not a JSON number"),
        (reply(score=float("-inf")), "-Infinity is not a JSON number"),
        ('{"score": 1e999}', "a number is too large to be counted with"),
        (reply(confidence=7), "confidence is 7, not a number from 0 to 1"),
        (reply(verdict="fail"), '"verdict" is not a known key'),
        ('{"status": "pass", "status": "fail"}', 'the key "status" occurs twice'),
        (reply(findings={}), "findings is an object, not a list"),
        (reply(findings=[1]), "findings[0] is a whole number, not an object"),
        (reply(findings=["a", None]), "findings[1] is null, not an object"),
        (reply(findings=[" "]), "findings[0].message is missing or empty"),
        (reply(findings=[{"name": "a"}]), "findings[0].message is missing or empty"),
        (reply(findings=[{"text": "a"}]), 'findings[0]."text" is not a known key'),
        (
            reply(findings=[{"message": "a", "line": "3"}]),
            "findings[0].line is text, not a whole number",
        ),
        (reply(findings=[{"message": "a", "line": True}]), "findings[0].line is true or false, "),
        (reply(findings=[{"message": "a", "passed": 0}]), "findings[0].passed is a whole number, "),
        (reply(findings=[{"message": "a", "line": 3}]), "findings[0] has a line and no path"),
        (
            reply(findings=[{"message": "a", "path": "a", "line": 0}]),
            "findings[0]: lines count from 1, not 0",
        ),
        (
            reply(findings=[{"message": "a", "severity": "grave"}]),
            "findings[0]: check finding: severity 'grave' is not known",
        ),
        (
            reply(findings=[{"message": "a", "name": " "}]),
            "findings[0]: a check needs a name",
        ),
        (reply(rationale="r" * LONGEST_REPLY), "it is longer than 1,000,000 characters"),
    ],
)
def test_anything_else_is_an_error(text: str, expected: str) -> None:
    assert problem(text).startswith(expected)


def test_the_problem_is_short_whatever_the_model_wrote() -> None:
    long = reply(findings=[{"message": "a", "severity": "x" * 10_000}])
    assert len(assessment(long).reasoning) < 4100
    assert len(problem(reply(**{"k" * 10_000: 1}))) < 100


@given(st.text() | json_values().map(json.dumps))
def test_any_text_has_a_judgment(text: str) -> None:
    said = assessment(text)
    assert said.status is Status.ERROR
    assert said.metadata["reason"] == "reply_invalid"


keys = ["status", "score", "rationale", "findings", "confidence", "message", "path", "line"]


@given(st.dictionaries(st.sampled_from(keys), json_values(), max_size=6))
def test_any_object_has_a_judgment(value: dict[str, Any]) -> None:
    known = {"status": "pass", "rationale": "r", **value}
    assert assessment(json.dumps(known)).status in Status
    assert assessment(reply(findings=[value])).status in Status


@given(
    st.sampled_from(["pass", "fail"]),
    st.floats(0.0, 1.0),
    st.floats(0.0, 1.0),
    st.floats(0.0, 1.0),
)
def test_numbers_arrive_as_they_were_sent(
    status: str, score: float, confidence: float, threshold: float
) -> None:
    said = assessment(reply(status=status, score=score, confidence=confidence), threshold)
    assert said.confidence == confidence
    if status == "pass" and score < threshold:
        assert said.label == "contradiction"
    else:
        assert (said.status.value, said.score) == (status, NumericalScore(score))
