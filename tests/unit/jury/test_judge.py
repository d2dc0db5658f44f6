from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fakes.refusals import refused
from prjury.jury.judge import FunctionJudge, Judge, JudgeType, ask, judge, type_of
from prjury.jury.judgment import Judgment

FINE = Judgment.passed("fine")


# Functions become judges in the tests, not above them: there the mutants are not at work yet.


def plain(context: str) -> Judgment:
    """Looks at the context.

    And thinks about it.
    """
    return Judgment.passed(f"saw {context}")


async def patient(context: str) -> Judgment:
    """Waits."""
    await asyncio.sleep(0)
    return Judgment.passed(f"waited for {context}")


class Nameless:
    __doc__ = None

    def __call__(self, context: object) -> Judgment:
        return FINE


def test_a_function_becomes_a_judge() -> None:
    made = judge()(plain)
    assert isinstance(made, Judge)
    assert (made.name, made.description) == ("plain", "Looks at the context.")
    assert made.type is JudgeType.DETERMINISTIC
    assert ask(made, "it").reasoning == "saw it"
    assert made("it") == made.judge("it")


def test_parentheses_are_not_needed() -> None:
    @judge
    def compiles(context: object) -> Judgment:
        """Whether it compiles."""
        return FINE

    assert (compiles.name, compiles.description) == ("compiles", "Whether it compiles.")
    assert compiles.judge(None) is FINE
    wrong: Any = "compiles"
    with refused(TypeError, "'compiles' is no function: write @judge or @judge(name=...)"):
        judge(wrong)


def test_a_judge_made_of_a_function_is_deterministic_unless_it_says_otherwise() -> None:
    made = FunctionJudge(plain, "plain")
    assert (made.description, made.type) == ("", JudgeType.DETERMINISTIC)


def test_a_type_that_nobody_knows_does_not_count_as_certain() -> None:
    oracle: Any = "oracle"
    with pytest.raises(ValueError, match="oracle"):
        FunctionJudge(lambda _: FINE, "a", type=oracle)

    class Oracle:
        type = oracle

    assert type_of(Oracle()) is JudgeType.HYBRID


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (None, "NoneType"),
        (True, "bool"),
        ("pass", "str"),
        (1.0, "float"),
        ({"status": "pass"}, "dict"),
    ],
)
def test_anything_but_a_judgment_is_refused(answer: Any, kind: str) -> None:
    with refused(TypeError, f"a returned a {kind} instead of a Judgment"):
        ask(FunctionJudge(lambda _: answer, "a"), None)
    with refused(TypeError, f"the judge returned a {kind} instead of a Judgment"):
        ask(FunctionJudge(lambda _: answer, ""), None)
