"""Judges that ask a model. Models here are scripted; a real one is a function from text to text."""

from __future__ import annotations

import json

import pytest

from prjury import (
    CRITERIA,
    CRITERIA_GROUPS,
    ConsensusVoting,
    Judgment,
    JudgmentContext,
    Jury,
    MajorityVoting,
    ModelJudge,
    NumericalScore,
    Status,
    assessment,
    criterion_judge,
    yes_or_no,
)

PASS, FAIL, ABSTAIN, ERROR = Status
WORK = JudgmentContext("sort the names", agent_output="def sort(names):\n    return sorted(names)")


# Correctness: YES or NO, with reasoning.


@pytest.mark.parametrize(
    ("reply", "expected", "reasoning"),
    [
        ("Answer: YES\nReasoning: sorted() sorts names.", PASS, "sorted() sorts names."),
        ("Answer: NO\nReasoning: the list is not changed.", FAIL, "the list is not changed."),
        ("It depends.", ABSTAIN, "It depends."),
        ("", ERROR, "is empty"),
    ],
)
def test_correctness_by_a_model(reply: str, expected: Status, reasoning: str) -> None:
    asked: list[str] = []

    def model(prompt: str) -> str:
        asked.append(prompt)
        return reply

    correctness = ModelJudge(
        "The goal: {goal}\nThe work:\n{agent_output}\nDoes the work reach the goal?",
        yes_or_no,
        model=model,
        name="correctness",
    )
    verdict = Jury.of(MajorityVoting(), correctness).vote(WORK)
    said = verdict.by_name["correctness"]
    assert said.status is expected
    assert said.reasoning.endswith(reasoning)
    assert asked[0].startswith("The goal: sort the names\nThe work:\ndef sort(names):")


# A model judge of your own: one function makes the prompt, another reads the reply.


def prompt_of(context: JudgmentContext) -> str:
    return f"Rate the readability of this from 0 to 10, number only:\n{context.agent_output}"


def marks_of(reply: str) -> Judgment:
    if not reply.strip().isdigit():
        return Judgment.errored(f"not a number: {reply}", metadata={"reason": "reply_invalid"})
    score = NumericalScore(int(reply), 0, 10)
    make = Judgment.passed if score.normalized >= 0.7 else Judgment.failed
    return make(f"{reply} of 10", score=score)


@pytest.mark.parametrize(("reply", "expected"), [("8", PASS), ("3", FAIL), ("quite good", ERROR)])
def test_a_model_judge_of_two_functions(reply: str, expected: Status) -> None:
    readability = ModelJudge(prompt_of, marks_of, model=lambda prompt: reply, name="readability")
    assert readability.judge(WORK).status is expected


# An assessment in JSON: status, score, confidence and findings, all of it checked.


def test_an_assessment_has_findings() -> None:
    reply = {
        "status": "fail",
        "score": 0.4,
        "rationale": "user input reaches the query",
        "confidence": 0.9,
        "findings": [{"message": "string concatenation", "path": "dao.py", "line": 12}],
    }

    async def model(prompt: str) -> str:
        return json.dumps(reply)

    said = ModelJudge("Review this: {agent_output}", assessment, model=model).judge(WORK)
    assert (said.status, said.score, said.confidence) == (FAIL, NumericalScore(0.4), 0.9)
    assert [str(check.location) for check in said.failed_checks] == ["dao.py:12"]


def test_an_assessment_that_contradicts_itself_decides_nothing() -> None:
    reply = '{"status": "pass", "score": 0.2, "rationale": "looks good"}'
    said = ModelJudge("Review this: {agent_output}", assessment, model=lambda _: reply).judge(WORK)
    assert (said.status, said.label) == (ABSTAIN, "contradiction")


def test_a_model_that_cannot_be_reached_is_an_error() -> None:
    def offline(prompt: str) -> str:
        raise TimeoutError("no answer within 30 s")

    said = ModelJudge("Review this: {agent_output}", model=offline).judge(WORK)
    assert (said.status, said.metadata["reason"]) == (ERROR, "timeout")


# Gates of criteria: one question each, and one objection is enough.


def gate(group: str, objection: str | None = None) -> Jury[JudgmentContext]:
    """A jury of the group's criteria, and a model that objects to at most one of them."""

    def model(prompt: str) -> str:
        if objection and CRITERIA[objection].question in prompt:
            return "Answer: NO\nReasoning: line 12 of dao.py"
        return "Answer: YES\nReasoning: nothing of that kind in the change"

    judges = [criterion_judge(CRITERIA[name], model) for name in CRITERIA_GROUPS[group]]
    return Jury(judges, ConsensusVoting(), name=group)


@pytest.mark.parametrize(
    ("group", "criteria"),
    [
        ("security", ["sql_injection", "xss", "csrf", "hard_coded_secrets"]),
        ("compliance", ["gdpr", "hipaa", "sox"]),
        ("quality", ["readability", "maintainability", "testability"]),
    ],
)
def test_a_gate_asks_about_every_criterion(group: str, criteria: list[str]) -> None:
    verdict = gate(group).vote(WORK)
    assert verdict.status is PASS
    assert list(verdict.by_name) == criteria
    for name in criteria:
        refused = gate(group, objection=name).vote(WORK)
        assert refused.status is FAIL
        assert refused.by_name[name].reasoning == "line 12 of dao.py"


def test_a_question_that_does_not_apply_is_left_out() -> None:
    def model(prompt: str) -> str:
        if CRITERIA["csrf"].question in prompt:
            return "Answer: ABSTAIN\nReasoning: the change touches no web request"
        return "Answer: YES\nReasoning: in order"

    judges = [criterion_judge(CRITERIA[name], model) for name in CRITERIA_GROUPS["security"]]
    verdict = Jury(judges, ConsensusVoting()).vote(WORK)
    assert verdict.status is PASS
    assert verdict.aggregated.reasoning.startswith("3 of 3 passed; csrf abstained: ")
