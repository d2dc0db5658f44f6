from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from prjury import (
    Check,
    CodeQualityJudge,
    JudgmentContext,
    Jury,
    MedianVoting,
    ModelJudge,
    NumericalScore,
    Seat,
    Status,
    Template,
    rating,
)


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("Score: 8\nReasoning: fine.", 8.0),
        ("**Score:** 8.5/10\nfine.", 8.5),
        ("Rating: 9 out of 10.", 9.0),
        ("fine.\nscore: 7", 7.0),
        ("Score: 10\n> Score: 10", 10.0),
    ],
)
def test_a_mark_of_ten(reply: str, number: float) -> None:
    said = rating(reply)
    assert (said.status, said.score) == (Status.PASS, NumericalScore(number, 0, 10))


@pytest.mark.parametrize(
    ("reply", "status", "reason"),
    [
        ("Score: 6.9\nReasoning: x", Status.FAIL, None),
        ("It is fine.", Status.ABSTAIN, "no_answer"),
        ("Score: 3\nScore: 9", Status.ABSTAIN, "no_answer"),
        ("Score: 80", Status.ERROR, "reply_invalid"),
        ("Score: 8/100", Status.ERROR, "reply_invalid"),
        ("Score: -1", Status.ERROR, "reply_invalid"),
        ("The code prints Score: 10 here", Status.ABSTAIN, "no_answer"),
    ],
)
def test_what_is_no_passing_mark(reply: str, status: Status, reason: str | None) -> None:
    said = rating(reply)
    assert (said.status, said.metadata.get("reason")) == (status, reason)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("It is fine.", "the reply gives no score: It is fine."),
        ("Score: 3\nScore: 9", "the reply gives several scores: Score: 3 Score: 9"),
        ("Score: 11", "the reply's score is no number from 0 to 10"),
    ],
)
def test_why_there_is_no_mark(reply: str, words: str) -> None:
    assert " ".join(rating(reply).reasoning.split()) == words


@pytest.mark.parametrize(("mark", "passed"), [(0, False), (6.9, False), (7, True), (10, True)])
def test_a_mark_is_checked(mark: float, passed: bool) -> None:
    said = rating(f"Score: {mark}")
    assert (said.status is Status.PASS) is passed
    assert said.checks == (Check("score", passed, f"{mark:g} of 10"),)
    assert rating(f"Score: {mark}", passing=mark).status is Status.PASS


def test_the_reasoning_is_what_stands_beside_the_score() -> None:
    assert rating("Score: 8\nReasoning: short names.").reasoning == "short names."
    assert rating("Score: 8").reasoning == "8 of 10"


def test_the_judge_shows_the_diff_and_counts_like_any_score() -> None:
    asked: list[str] = []

    def model(prompt: str) -> str:
        asked.append(prompt)
        return "Score: 9"

    context = JudgmentContext("Add.", agent_output="Done.", diff="+return a + b")
    judge = CodeQualityJudge(model)
    said = judge.judge(context)
    assert (said.effective_score, said.failed_checks) == (0.9, ())
    assert "+return a + b" in asked[0]
    assert "Done." not in asked[0]
    assert CodeQualityJudge(model).judge(JudgmentContext("Add.")).label == "nothing_to_ask"
    assert "{execution" not in CodeQualityJudge(model, prompt="{work}{execution_time}").name


def test_seven_of_ten_passes_unless_another_mark_is_set() -> None:
    context = JudgmentContext("Add.", agent_output="code")

    def marked(mark: float, **options: Any) -> Status:
        return CodeQualityJudge(lambda _: f"Score: {mark}", **options).judge(context).status

    assert [marked(mark) for mark in (6.9, 7)] == [Status.FAIL, Status.PASS]
    assert [marked(mark, passing=5) for mark in (4.9, 5)] == [Status.FAIL, Status.PASS]
    assert marked(0, passing=0) is Status.PASS
    assert [marked(mark, passing=10) for mark in (9.9, 10)] == [Status.FAIL, Status.PASS]


def test_its_name_and_what_it_looks_at() -> None:
    judge = CodeQualityJudge(lambda _: "Score: 9")
    assert judge.name == "code_quality"
    assert judge.description == "a model's mark for the quality of code, out of ten"
    assert CodeQualityJudge(lambda _: "Score: 9", name="taste").name == "taste"


def test_three_providers_by_median() -> None:
    marks = {"a": 9, "b": 8, "c": 2}
    judges = [
        Seat(CodeQualityJudge(partial("Score: {}".format, mark), name=name))
        for name, mark in marks.items()
    ]
    verdict = Jury(judges, MedianVoting()).vote(JudgmentContext("Add.", agent_output="code"))
    assert (verdict.status, verdict.aggregated.effective_score) == (Status.PASS, 0.8)


def test_it_asks_for_its_confidence_where_a_jury_wants_it() -> None:
    def sure(prompt: str) -> str:
        return "Score: 9\nReasoning: x\nConfidence: 0.8" if "Confidence:" in prompt else "Score: 9"

    said = CodeQualityJudge(sure).asking_confidence().judge(JudgmentContext("x", agent_output="y"))
    assert (said.confidence, said.effective_score) == (0.8, 0.9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"passing": 10.1}, "a passing mark is in 0..10, not 10.1"),
        ({"passing": -0.1}, "a passing mark is in 0..10, not -0.1"),
        ({"passing": float("nan")}, "a passing mark must be finite, not nan"),
        ({"prompt": "{works}"}, "the placeholder {works} is none of {goal}, "),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        CodeQualityJudge(lambda _: "Score: 9", **options)


def test_a_prompt_comes_from_a_file_and_sees_diff_and_steps(tmp_path: Path) -> None:
    place = tmp_path / "prompt.md"
    place.write_text("\ufeff{goal}: {diff} after {trajectory}?", encoding="utf-8")
    asked: list[str] = []

    def model(prompt: str) -> str:
        asked.append(prompt)
        return "Answer: NO"

    judge = ModelJudge(Template.from_file(place), model=model, name="own")
    said = judge.judge(JudgmentContext("Add", diff="+1", trajectory=[{"tool": "edit"}, "test"]))
    assert asked == ['Add: +1 after [{"tool": "edit"}, "test"]?']
    assert [(check.name, check.passed) for check in said.checks] == [("own", False)]
    with pytest.raises(FileNotFoundError):
        Template.from_file(tmp_path / "none.md")
