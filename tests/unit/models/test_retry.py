from __future__ import annotations

import pytest

from prjury.deadline import Deadline
from prjury.models.wrappers import RetryingModel
from prjury.ports.messages import ModelError
from unit.models.speakers import PROMPT, SOON, Speaker, busy, error, reply


def patient(inner: Speaker, naps: list[float]) -> RetryingModel:
    return RetryingModel(inner, naps.append, lambda: 1.0)


def test_a_busy_server_is_asked_again_when_it_says() -> None:
    naps: list[float] = []
    inner = Speaker([busy(3.0), busy(), reply("at last")])
    assert patient(inner, naps).ask(PROMPT, SOON).text == "at last"
    assert naps == [3.0, 2.0]


def test_after_three_tries_it_is_given_up() -> None:
    naps: list[float] = []
    inner = Speaker([busy()])
    with pytest.raises(ModelError, match="busy"):
        patient(inner, naps).ask(PROMPT, SOON)
    assert (inner.asked, naps) == (3, [1.0, 2.0])


@pytest.mark.parametrize("reason", ["refused", "unauthorized", "timeout", "provider_error"])
def test_what_does_not_pass_is_not_asked_again(reason: str) -> None:
    inner = Speaker([error(reason)])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=reason):
        patient(inner, []).ask(PROMPT, SOON)
    assert inner.asked == 1


def test_nobody_sleeps_beyond_the_deadline() -> None:
    naps: list[float] = []
    with pytest.raises(ModelError, match="busy"):
        patient(Speaker([busy(60.0)]), naps).ask(PROMPT, Deadline.after(30))
    assert naps == []


@pytest.mark.parametrize(("after", "nap"), [(7.0, 7.0), (0.0, 0.0), (-5.0, 0.0), (None, 1.0)])
def test_the_word_of_the_server_counts(after: float | None, nap: float) -> None:
    naps: list[float] = []
    patient(Speaker([busy(after), reply()]), naps).ask(PROMPT, SOON)
    assert naps == [nap]


@pytest.mark.parametrize(("after", "left"), [(86_400.0, 60), (None, 0.5), (0.0, 0.0)])
def test_nobody_waits_beyond_the_deadline(after: float | None, left: float) -> None:
    naps: list[float] = []
    with pytest.raises(ModelError, match="busy"):
        patient(Speaker([busy(after)]), naps).ask(PROMPT, Deadline.after(left))
    assert naps == []
