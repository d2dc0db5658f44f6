from __future__ import annotations

import asyncio
from typing import Any

import pytest

from prjury.jury.judge import FunctionJudge, Judge, JudgeType, ask, judge, type_of
from prjury.jury.judgment import Judgment

FINE = Judgment.passed("fine")


@judge()
def plain(context: str) -> Judgment:
    """Looks at the context.

    And thinks about it.
    """
    return Judgment.passed(f"saw {context}")


@judge(name="patient", description="waits", type=JudgeType.LLM_POWERED)
async def patient(context: str) -> Judgment:
    await asyncio.sleep(0)
    return Judgment.passed(f"waited for {context}")


def test_a_function_becomes_a_judge() -> None:
    assert isinstance(plain, Judge)
    assert (plain.name, plain.description) == ("plain", "Looks at the context.")
    assert plain.type is JudgeType.DETERMINISTIC
    assert ask(plain, "it").reasoning == "saw it"
    assert plain("it") == plain.judge("it")


def test_an_async_function_becomes_a_judge() -> None:
    assert (patient.name, patient.description) == ("patient", "waits")
    assert type_of(patient) is JudgeType.LLM_POWERED
    assert ask(patient, "it").reasoning == "waited for it"


def test_a_function_without_name_or_docstring() -> None:
    nameless = judge()(lambda _: FINE)
    assert (nameless.name, nameless.description) == ("<lambda>", "")


def test_any_object_with_a_name_and_a_method_is_a_judge() -> None:
    class Own:
        name = "own"

        def judge(self, context: object, /) -> Judgment:
            return FINE

    assert isinstance(Own(), Judge)
    assert ask(Own(), None) is FINE
    assert type_of(Own()) is JudgeType.DETERMINISTIC


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (JudgeType.AGENT, JudgeType.AGENT),
        ("llm_powered", JudgeType.LLM_POWERED),
        ("oracle", JudgeType.DETERMINISTIC),
        (None, JudgeType.DETERMINISTIC),
    ],
)
def test_the_type_may_be_given_as_a_word(named: Any, expected: JudgeType) -> None:
    assert type_of(FunctionJudge(lambda _: FINE, "a", type=named)) is expected


@pytest.mark.parametrize("answer", [None, True, "pass", 1.0, {"status": "pass"}])
def test_anything_but_a_judgment_is_refused(answer: Any) -> None:
    with pytest.raises(TypeError, match="a returned a"):
        ask(FunctionJudge(lambda _: answer, "a"), None)
