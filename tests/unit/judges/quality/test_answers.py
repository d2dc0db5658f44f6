"""Judges of answers in memory, over models that say what they are told to."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from fakes.llm import quote as finding
from prjury import (
    CorrectnessJudge,
    FaithfulnessJudge,
    HallucinationJudge,
    JudgmentContext,
    Jury,
    MajorityVoting,
    RagContext,
    Status,
    evaluate,
)
from prjury.judges.quality.kinds import MOST_CRITERIA, RELEVANCE, group_texts_by_criterion

TERMS = "A parcel is sent within three days. Returns are free for 30 days."
RAG = RagContext(
    "How long can I return it?",
    "You may return it within 60 days. Returns are free.",
    {"terms.md": TERMS, "weather.md": "It rains."},
)


def said(verdict: str, path: str = "", quote: str = "", confidence: float = 0.9) -> dict[str, Any]:
    findings = [finding(path, 1, quote)] if quote and verdict == "fail" else []
    return {
        "findings": findings,
        "reasoning": "So it says.",
        "verdict": verdict,
        "confidence": confidence,
    }


def model(**answers: Mapping[str, Any]) -> Callable[[str], str]:
    """Passes every criterion that the prompt asks for, but for these."""

    def ask(prompt: str) -> str:
        schema = json.loads(prompt.partition("JSON Schema: ")[2].partition("\n")[0])
        names = schema["properties"]["criteria"]["required"]
        given = {name.replace("_", "-"): it for name, it in answers.items()}
        return json.dumps({"criteria": {name: given.get(name, said("pass")) for name in names}})

    return ask


WRONG = said("fail", "/answer", "You may return it within 60 days.")


@pytest.mark.parametrize("kind", [FaithfulnessJudge, HallucinationJudge])
def test_each_statement_has_a_check_and_a_failure_quotes_it(
    kind: type[FaithfulnessJudge | HallucinationJudge],
) -> None:
    judgment = kind(model(statement_1=WRONG)).judge(RAG)
    assert judgment.status is Status.FAIL
    assert judgment.effective_score == 0.5
    checks = {check.name: (check.passed, check.evidence) for check in judgment.checks}
    assert checks["statement-1"] == (False, "You may return it within 60 days.")
    assert checks["statement-2"][0]
    assert judgment.metadata["subjects"]["statement-2"] == "Returns are free."
    assert kind(model(statement_1=WRONG), threshold=0.5).judge(RAG).status is Status.PASS


def test_a_failure_whose_quote_is_not_there_does_not_count_and_is_no_pass() -> None:
    lying = said("fail", "/answer", "You may never return it.")
    judgment = FaithfulnessJudge(model(statement_1=lying)).judge(RAG)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "no_opinion")


def test_a_statement_that_was_not_judged_is_no_pass() -> None:
    unknown = said("abstain")
    judgment = FaithfulnessJudge(model(statement_1=unknown)).judge(RAG)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "no_opinion")
    assert "statement-1" in judgment.reasoning
    half = FaithfulnessJudge(model(statement_1=unknown), threshold=0.5).judge(RAG)
    assert half.status is Status.PASS


def test_odd_characters_and_secrets_do_no_harm() -> None:
    key = "ghp_" + "a1B2" * 9
    odd = RagContext("q \udc80", f"It is \udc80 {key}\u202e.", [f"\x00 {key}"])
    told = FaithfulnessJudge(model()).judge(odd)
    assert told.status is Status.PASS
    shown = told.metadata["subjects"]["statement-1"]
    assert key not in shown
    assert "\u202e" not in shown


def test_documents_come_from_the_constructor_or_from_the_context() -> None:
    asked: list[str] = []

    def listening(prompt: str) -> str:
        asked.append(prompt)
        return model()(prompt)

    @dataclass
    class Retrieved:
        page_content: str

    context = JudgmentContext("How long?", agent_output="30 days.", metadata={"documents": [TERMS]})
    assert FaithfulnessJudge(listening).judge(context).status is Status.PASS
    judge = FaithfulnessJudge(listening, documents=[Retrieved(TERMS)])
    jury = Jury([judge], MajorityVoting())
    verdict = jury.vote(JudgmentContext("How long?", agent_output="30 days."))
    assert verdict.status is Status.PASS
    assert [TERMS in prompt for prompt in asked] == [True, True]


@dataclass
class Node:
    text: str


@dataclass
class Indexed:
    response: str
    source_nodes: list[Node]


@pytest.mark.parametrize(
    "response",
    [
        {"input": "How long?", "context": [Node(TERMS)], "answer": "30 days."},
        {"output": "30 days.", "documents": [{"page_content": TERMS}]},
        Indexed("30 days.", [Node(TERMS)]),
    ],
)
def test_a_retrieval_chains_response_brings_its_documents(response: object) -> None:
    _, verdict = evaluate("How long?", lambda _: response, FaithfulnessJudge(model()))
    assert verdict.status is Status.PASS
    assert verdict.by_name["faithfulness"].metadata["subjects"] == {"statement-1": "30 days."}


def test_correctness_compares_output_and_diff_with_the_goal() -> None:
    stub = said("fail", "/diff", "+    raise NotImplementedError")
    context = JudgmentContext(
        "Add it.", agent_output="Done.", diff="+    raise NotImplementedError"
    )
    judgment = CorrectnessJudge(model(works=stub)).judge(context)
    assert judgment.status is Status.FAIL
    assert [check.name for check in judgment.failed_checks] == ["works"]
    assert CorrectnessJudge(model()).judge(RAG).status is Status.PASS
    nothing = CorrectnessJudge(model()).judge(JudgmentContext("Add it."))
    assert (nothing.status, nothing.label) == (Status.ABSTAIN, "not_applicable")


def test_correctness_reads_the_files_of_a_workspace(tmp_path: Path) -> None:
    (tmp_path / "sum.py").write_text("def add(a, b):\n    return a - b\n")
    wrong = {**said("fail", "sum.py", "    return a - b")}
    wrong["findings"] = [{**wrong["findings"][0], "line": 2, "end_line": 2}]
    context = JudgmentContext("Add.", tmp_path, agent_output="Done.")
    judgment = CorrectnessJudge(model(works=wrong)).judge(context)
    assert judgment.status is Status.FAIL
    assert [str(check.location) for check in judgment.failed_checks] == ["sum.py:2"]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert CorrectnessJudge(model()).judge(replace(context, workspace=empty)).status is Status.PASS
    gone = CorrectnessJudge(model()).judge(replace(context, workspace=tmp_path / "gone"))
    assert (gone.status, gone.metadata["reason"]) == (Status.ERROR, "no_workspace")


@pytest.mark.parametrize(
    ("rag", "label"),
    [
        (RagContext("q", "It is so.", []), "no_documents"),
        (RagContext("q", " ", [TERMS]), "not_applicable"),
    ],
)
def test_where_there_is_nothing_to_compare_nobody_is_asked(rag: RagContext, label: str) -> None:
    judgment = FaithfulnessJudge(lambda _: pytest.fail("asked")).judge(rag)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, label)


def broken(_: str) -> str:
    raise ConnectionError("no route")


@pytest.mark.parametrize(
    ("function", "label"),
    [(broken, "provider_error"), (lambda _: "Sure!", "invalid_reply"), (lambda _: " ", "refused")],
)
def test_a_model_without_a_usable_answer_is_no_verdict(
    function: Callable[[str], str], label: str
) -> None:
    judgment = HallucinationJudge(function).judge(RAG)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, label)


def test_the_tokens_of_a_response_are_kept() -> None:
    @dataclass
    class Response:
        text: str
        usage: Mapping[str, int]

    def ask(prompt: str) -> Response:
        return Response(model()(prompt), {"input_tokens": 700, "output_tokens": 80})

    usage = FaithfulnessJudge(ask).judge(RAG).metadata["usage"]
    assert (usage["llm_calls"], usage["input_tokens"], usage["output_tokens"]) == (1, 700, 80)


def test_an_async_model_is_waited_for() -> None:
    async def ask(prompt: str) -> str:
        return model()(prompt)

    assert FaithfulnessJudge(ask, runs=3).judge(RAG).status is Status.PASS


@pytest.mark.parametrize(
    "make",
    [
        lambda: RagContext("q", "a", "one text"),
        lambda: RagContext("q", "a", [7]),
        lambda: FaithfulnessJudge(7),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_meant_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(TypeError):
        make()


@pytest.mark.parametrize("make", [{"threshold": 2.0}, {"runs": 0}])
def test_numbers_that_make_no_sense_are_refused(make: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"not (2\.0|0 times)"):
        FaithfulnessJudge(model(), **make)


def split_statements(answer: str) -> tuple[str, ...]:
    return RagContext(None, answer).statements


def test_sentences() -> None:
    assert split_statements("One, e.g. Maven. Two!\n\n3. Three? 1.5 is four. J. Doe is five.") == (
        "One, e.g. Maven.",
        "Two!",
        "3. Three?",
        "1.5 is four.",
        "J. Doe is five.",
    )
    assert split_statements("第一。第二。") == ("第一。", "第二。")
    assert split_statements("") == ()


@pytest.mark.parametrize("count", [0, 1, 20, 21, 399])
def test_many_statements_share_criteria(count: int) -> None:
    subjects = group_texts_by_criterion(
        RELEVANCE, RagContext("?", documents=["text"] * count)
    ).values()
    assert len(subjects) <= MOST_CRITERIA
    assert sum(text.count(",") + 1 for _, text in subjects) == count


def test_many_statements_take_no_time() -> None:
    started = time.monotonic()
    split_statements("a. " * 50_000)
    assert time.monotonic() - started < 2.0
