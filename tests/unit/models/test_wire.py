from __future__ import annotations

import asyncio
import time

import pytest

from prjury.deadline import Deadline
from prjury.models.wire import wait_for
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
    assert wait_for(answered, Deadline.after(5)) == "yes"


def test_what_cannot_be_cancelled_is_left_behind() -> None:
    begun = time.monotonic()
    with pytest.raises(ModelError) as error:
        wait_for(stuck_in_name_resolution, Deadline.after(0.1))
    assert error.value.reason == "timeout"
    assert time.monotonic() - begun < 8  # the sleeper goes on for 10 s
