from __future__ import annotations

import json

import pytest

from prjury.deadline import Deadline
from prjury.models.panel import FallbackModel
from prjury.ports.messages import ModelError, ModelReason, Reply
from unit.models.speakers import PROMPT, SOON, Speaker, error, reply


def test_the_first_answers_alone() -> None:
    first, second = Speaker([reply("first")]), Speaker([reply("second")])
    answer = FallbackModel([first, second]).ask(PROMPT, SOON)
    assert (answer.text, answer.stand_in, second.asked) == ("first", False, 0)


@pytest.mark.parametrize(
    "reason",
    ["rate_limited", "unreachable", "unauthorized", "timeout", "provider_error", "not_installed"],
)
def test_where_there_is_no_way_to_one_the_next_stands_in(reason: ModelReason) -> None:
    answer = FallbackModel([Speaker([error(reason)]), Speaker([reply("second")])])
    said = answer.ask(PROMPT, SOON)
    assert (said.text, said.stand_in) == ("second", True)


@pytest.mark.parametrize(
    "reason", ["refused", "content_filter", "truncated", "reply_too_large", "budget"]
)
def test_nobody_asks_around_for_a_better_answer(reason: ModelReason) -> None:
    second = Speaker()
    with pytest.raises(ModelError, match=reason):
        FallbackModel([Speaker([error(reason)]), second]).ask(PROMPT, SOON)
    assert second.asked == 0


def test_the_last_failure_is_told_with_those_before_it() -> None:
    models = [
        Speaker([error("timeout")], "openai:a"),
        Speaker([error("rate_limited")], "openai:b"),
        Speaker([error("unauthorized")], "google:c"),
    ]
    with pytest.raises(ModelError) as told:
        FallbackModel(models).ask(PROMPT, SOON)
    assert told.value.reason == "unauthorized"
    assert str(told.value) == (
        "it is unauthorized; 3 models were asked, before it openai:a (timeout), "
        "openai:b (rate_limited)."
    )


def test_one_that_hangs_leaves_time_for_the_next() -> None:
    first, second, third = Speaker([error("timeout")]), Speaker([error("timeout")]), Speaker()
    deadline = Deadline.after(3_000)
    FallbackModel([first, second, third]).ask(PROMPT, deadline)
    assert first.deadlines[0].at == pytest.approx(deadline.at - 2_000, abs=60)
    assert second.deadlines[0].at == pytest.approx(deadline.at - 1_500, abs=60)
    assert third.deadlines[0].at == pytest.approx(deadline.at)


def test_after_the_deadline_nobody_else_is_asked() -> None:
    second = Speaker()
    with pytest.raises(ModelError) as told:
        FallbackModel([Speaker([error("timeout")]), second]).ask(PROMPT, Deadline.after(0))
    assert (told.value.reason, second.asked) == ("timeout", 0)


def test_a_stand_in_behind_a_stand_in_is_told_as_one() -> None:
    inner = Speaker([Reply("x", "m", stand_in=True)])
    assert FallbackModel([inner, Speaker()]).ask(PROMPT, SOON).stand_in


def test_its_identity_names_all_and_its_room_is_the_smallest() -> None:
    model = FallbackModel([Speaker(name="a", room=9_000), Speaker(name="b", room=4_000)])
    assert (model.name, model.room) == ("a", 4_000)
    assert json.loads(model.identity) == ["identity of a", "identity of b"]
