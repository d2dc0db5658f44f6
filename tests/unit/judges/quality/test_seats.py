"""Several runs of a model, and several models."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.llm import (
    FAILING,
    FOUR,
    SMALL,
    Said,
    Talker,
    always,
    answer,
    context,
    judge,
    quote,
    reply,
)
from prjury.jury.judgment import Judgment, Status
from prjury.ports.messages import ModelError, Prompt

PASSING, HALF = reply(), reply(tests=FAILING, risk=FAILING)
SILENT = ModelError("no", "timeout")


def boom(prompt: Prompt) -> str:
    raise RuntimeError("boom")


def decided(*said: Said) -> Judgment:
    """What models come to that each say one thing."""
    models = [always(what, f"test:m{at}") for at, what in enumerate(said)]
    return judge(models).judge(context(SMALL))


def test_every_run_is_a_seat_and_asked_the_same() -> None:
    model = Talker([PASSING, HALF, HALF])
    judgment = judge(model, runs=3).judge(context(SMALL))
    assert judgment.status is Status.FAIL
    assert judgment.effective_score == 0.0
    assert judgment.reasoning.startswith("1 pass, 2 fail of 3 seats: 2 of 4 criteria passed, but ")
    assert [seat["seat"] for seat in judgment.metadata["panel"]] == [
        "test:talker",
        "test:talker#2",
        "test:talker#3",
    ]
    assert len({prompt.sha256 for prompt in model.asked}) == 1
    assert judgment.metadata["usage"]["llm_calls"] == 3


def test_every_model_has_as_many_seats_as_there_are_runs() -> None:
    models = [always(PASSING, "test:a"), always(PASSING, "test:b")]
    judgment = judge(models, runs=2).judge(context(SMALL))
    assert [seat["seat"] for seat in judgment.metadata["panel"]] == [
        "test:a",
        "test:a#2",
        "test:b",
        "test:b#2",
    ]
    assert [len(model.asked) for model in models] == [2, 2]


def leak(prompt: Prompt) -> str:
    return reply(risk={**answer(), "reasoning": prompt.nonces[1]})


@pytest.mark.parametrize("at", range(3))
def test_one_seat_that_is_steered_is_enough_not_to_approve(at: int) -> None:
    said: list[Said] = [PASSING] * 3
    said[at] = leak
    judgment = decided(*said)
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "tainted")


def test_one_leak_taints_all_runs() -> None:
    judgment = judge(Talker([PASSING, PASSING, leak]), runs=3).judge(context(SMALL))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "tainted")


def test_no_seat_hears_of_another() -> None:
    models = [always(HALF, "test:a"), always(PASSING, "test:b"), always(PASSING, "test:c")]
    judge(models).judge(context(SMALL))
    assert len({model.asked[0].sha256 for model in models}) == 1
    assert len({model.asked[0].nonces for model in models}) == 3


def test_what_all_seats_cost_adds_up() -> None:
    usage = judge([always(PASSING, "test:a"), always(SILENT, "test:b")]).judge(context(SMALL))
    calls = usage.metadata["usage"]["calls"]
    assert [(call["model"], call["usd"]) for call in calls] == [("test:a", 0.01), ("test:b", None)]
    assert usage.metadata["usage"]["usd"] is None


said: st.SearchStrategy[Said] = st.sampled_from([PASSING, HALF, SILENT, "no", boom, leak])


@given(st.lists(said, min_size=1, max_size=5))
def test_whatever_models_say_a_pass_has_a_majority_of_passes(them: list[Said]) -> None:
    judgment = decided(*them)
    if judgment.status is Status.PASS:
        assert them.count(PASSING) > them.count(HALF)
        assert (them.count(PASSING) + them.count(HALF)) * 2 > len(them)
        assert leak not in them


def test_a_seat_that_does_not_keep_to_its_time_has_not_answered() -> None:
    def sleeps(prompt: Prompt) -> str:
        threading.Event().wait(5)
        return PASSING

    made = replace(judge([always(sleeps)]), parallel=True)
    judgment = made.judge(context(SMALL, seconds=0.4))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "timeout")
    assert judgment.reasoning == "The model did not answer in time"
    assert judgment.metadata["scope"]["read"] == ()


def test_a_stand_in_is_named() -> None:
    judgment = judge(Talker([PASSING], stand_in=True)).judge(context(SMALL))
    assert judgment.metadata["stand_ins"] == ("talker-1",)


criteria = st.sets(st.sampled_from(FOUR), min_size=1).map(sorted)
verdicts = st.sampled_from(["pass", "fail", "abstain"])


@given(criteria, st.sets(st.sampled_from(FOUR)), st.floats(0, 1), st.data())
def test_no_majority_of_seats_that_fail_a_must_is_ever_passed_over(
    names: list[str], wanted: set[str], threshold: float, data: st.DataObject
) -> None:
    must = sorted(wanted & set(names))
    said = data.draw(
        st.lists(st.fixed_dictionaries(dict.fromkeys(names, verdicts)), min_size=1, max_size=4)
    )
    replies = [{name: answer(word, [quote()]) for name, word in them.items()} for them in said]
    models = [always(reply(names, **them), f"test:m{at}") for at, them in enumerate(replies)]
    judgment = judge(models, criteria=names, must=must, threshold=threshold).judge(context(SMALL))
    broken = [them for them in said if any(them[name] == "fail" for name in must)]
    if 2 * len(broken) >= len(said):
        assert judgment.status is not Status.PASS
    if 2 * len(broken) > len(said):
        assert (judgment.status, judgment.effective_score) == (Status.FAIL, 0.0)
        assert set(judgment.metadata["must_failed"]) <= set(must)
        assert judgment.metadata["must_failed"]
    for name in must if judgment.status is Status.PASS else ():
        assert judgment.metadata["criteria"][name]["verdict"] != "fail"
