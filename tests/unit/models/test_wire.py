from __future__ import annotations

import asyncio
import json
import time

import pytest

from prjury.deadline import Deadline
from prjury.models.choose import HOSTED, ModelChoice
from prjury.models.providers import find_real_status
from prjury.models.wire import price_of, run_until
from prjury.ports.messages import ModelError


async def answered() -> str:
    return "yes"


async def stuck_in_name_resolution() -> str:
    # Like getaddrinfo: in an executor's thread that nobody can cancel.
    await asyncio.to_thread(time.sleep, 10.0)
    return "too late"


async def broken() -> str:
    raise KeyError("inner")


def test_the_result_comes_back() -> None:
    assert run_until(answered, Deadline.after(5)) == "yes"


def test_what_cannot_be_cancelled_is_left_behind() -> None:
    begun = time.monotonic()
    with pytest.raises(ModelError) as error:
        run_until(stuck_in_name_resolution, Deadline.after(0.1))
    assert error.value.reason == "timeout"
    assert time.monotonic() - begun < 8  # the sleeper goes on for 10 s


@pytest.mark.parametrize("provider", HOSTED)
def test_every_default_model_has_a_price(provider: str) -> None:
    choice = ModelChoice(provider, HOSTED[provider].model)  # type: ignore[arg-type, index]
    cost = price_of(choice, 1_000_000, 1_000_000)
    assert cost is not None
    assert 0.1 < cost < 50


def test_an_unknown_model_or_server_has_none() -> None:
    assert price_of(ModelChoice("openai", "no-such-model"), 1000, 10) is None
    local = ModelChoice("openai", HOSTED["openai"].model, None, "http://127.0.0.1:1/v1")
    assert price_of(local, 1000, 10) is None


def body(error: object) -> bytes:
    return json.dumps({"error": error}).encode()


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"message": "x", "code": 429}, 429),
        ({"message": "x", "code": "502"}, 502),
        ({"message": "x", "type": "overloaded_error"}, 529),
        ({"message": "x", "code": None, "type": "server_error"}, 500),
        ({"message": "x", "code": 14, "status": "UNAVAILABLE"}, 503),
        ({"message": "x", "code": "rate_limit_exceeded"}, 429),
        ("overloaded", 503),
        ({"message": "x", "code": 200}, 200),
        ({"message": "x", "code": 99_999}, 200),
        ({"message": "x", "code": "9" * 9_999}, 200),
        ({"message": "x"}, 200),
        ("something else", 200),
        (None, 200),
        ([503], 200),
        (503, 503),
    ],
)
def test_an_error_says_what_it_is(error: object, status: int) -> None:
    assert find_real_status(200, body(error)) == status


@pytest.mark.parametrize(
    "text", [b"", b"null", b'["error"]', b'{"error"', b'"error"', b'{"error": ' + b"[" * 99_999]
)
def test_what_is_no_error_keeps_its_status(text: bytes) -> None:
    assert find_real_status(200, text) == 200


def test_a_reply_that_speaks_of_errors_is_a_reply() -> None:
    text = json.dumps({"choices": [{"message": {"content": '{"error": {"code": 503}}'}}]})
    assert find_real_status(200, text.encode()) == 200


def test_any_other_status_speaks_for_itself() -> None:
    assert find_real_status(401, body({"code": 503})) == 401
