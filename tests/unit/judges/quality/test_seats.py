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
