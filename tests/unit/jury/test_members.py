from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from fakes.unruly import BROKEN, FINE, Shy, raising
from prjury.jury.compose import all_of, any_of, both, either, kind_of, named
from prjury.jury.judge import JudgeType, ask, judge, type_of
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Jury
from prjury.jury.voting import MajorityVoting
from strategies import Says, seated

MODEL = JudgeType.LLM_POWERED
GOOD, BAD = Says("good", FINE), Says("bad", BROKEN)


def plain(context: object) -> Judgment:
    return FINE


async def patient(context: object) -> Judgment:
    await asyncio.sleep(0)
    return BROKEN


@judge(name="described", description="looks at it", type=MODEL)
def described(context: object) -> Judgment:
    return FINE


# Functions are judges.


@pytest.mark.parametrize(
    ("make", "expected", "name"),
    [
        (lambda: all_of(plain, patient), BROKEN, "all_of"),
        (lambda: any_of(patient, plain), FINE, "any_of"),
        (lambda: any_of(patient, plain, name="one will do"), FINE, "one will do"),
        (lambda: both(plain, patient), BROKEN, "plain and patient"),
        (lambda: either(patient, plain), FINE, "patient or plain"),
        (lambda: both(lambda _: FINE, plain), FINE, "Judge#1 and plain"),
        (lambda: either(plain, plain), FINE, "plain or plain-2"),
        (lambda: named(patient, "slow"), BROKEN, "slow"),
    ],
)
def test_functions_are_composed_like_judges(make: Any, expected: Judgment, name: str) -> None:
    made = make()
    assert made.name == name
    assert answer(made) == expected
    (said,) = seated([made], MajorityVoting()).vote(None).individual
    assert said.status is expected.status
    assert said.reasoning.endswith(expected.reasoning)


def answer(judge: Any) -> Judgment:
    """What it says, without what its members said."""
    said = ask(judge, None)
    metadata = {key: value for key, value in said.metadata.items() if key != "members"}
    *_, last = said.metadata.get("members", {"": {"reasoning": said.reasoning}}).values()
    return replace(said, metadata=metadata, reasoning=last["reasoning"])


@pytest.mark.parametrize("compose", [all_of, any_of])
@pytest.mark.parametrize("member", ["build", None, Jury([plain], MajorityVoting()), Says])
def test_nothing_else_is(compose: Any, member: Any) -> None:
    with pytest.raises(TypeError, match="is neither a judge nor a function"):
        compose(GOOD, member)


# Crashes are errors like any other.


def test_a_crash_ends_a_conjunction() -> None:
    said = answer(all_of(GOOD, raising(ValueError("no")), BAD))
    assert said == Judgment.errored("crashed with ValueError: no", metadata={"reason": "crashed"})


def test_after_a_crash_a_disjunction_goes_on() -> None:
    crashing = raising(SystemExit(1))
    assert answer(any_of(crashing, GOOD)) == FINE
    assert answer(any_of(BAD, crashing)).status is Status.ERROR
    assert answer(any_of(crashing, BAD)) == BROKEN


# Other names.


# Types.


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([MODEL], MODEL),
        ([MODEL, MODEL], MODEL),
        ([JudgeType.AGENT, MODEL], JudgeType.HYBRID),
        ([JudgeType.DETERMINISTIC, MODEL], JudgeType.HYBRID),
        ([], JudgeType.HYBRID),
    ],
)
def test_the_type_of_many(kinds: list[JudgeType], expected: JudgeType) -> None:
    assert kind_of(Says("a", FINE, kind) for kind in kinds) is expected


def test_a_judge_without_a_readable_type_is_deterministic_only_if_it_has_none() -> None:
    assert type_of(Shy("type", AttributeError())) is JudgeType.DETERMINISTIC
    with pytest.raises(ValueError, match="no"):
        type_of(Shy("type", ValueError("no")))


@pytest.mark.parametrize("compose", [all_of, any_of])
def test_a_chain_of_a_judge_without_a_readable_type_is_an_error(compose: Any) -> None:
    shy = Shy("type", ValueError("no"))
    said, good = seated([compose(shy), GOOD], MajorityVoting()).vote(None).individual
    assert said.reasoning == "crashed with ValueError: no"
    assert (good, shy.asked) == (FINE, 0)
