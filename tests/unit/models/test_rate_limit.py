from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from prjury.deadline import Deadline
from prjury.models.wrappers import RateLimit, RateLimitedModel
from prjury.policy.models import RateConfig
from prjury.ports.messages import ModelError
from unit.models.speakers import PROMPT, SOON, Speaker, error, reply

LONG = 30


@dataclass
class Time:
    """A clock that goes on only while somebody sleeps."""

    now: float = 1_000.0
    naps: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        with self.lock:
            self.naps.append(seconds)
            self.now += seconds


def threads(count: int, work: Callable[[], object]) -> list[threading.Thread]:
    begun = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for thread in begun:
        thread.start()
    return begun


def test_who_waits_too_long_gives_up_and_blocks_nobody() -> None:
    pace = RateLimit(RateConfig(max_parallel=1))
    inner = Speaker()
    model = RateLimitedModel(inner, pace)
    with pace.turn(SOON), pytest.raises(ModelError, match="wait for a turn") as told:
        model.ask(PROMPT, Deadline.after(0.01))
    assert (told.value.reason, inner.asked) == ("timeout", 0)
    assert model.ask(PROMPT, SOON).text == "yes"


def test_a_turn_ends_with_a_failure_too() -> None:
    model = RateLimitedModel(
        Speaker([error("refused"), reply()]), RateLimit(RateConfig(max_parallel=1))
    )
    with pytest.raises(ModelError, match="refused"):
        model.ask(PROMPT, SOON)
    assert model.ask(PROMPT, SOON).text == "yes"


def test_nobody_sleeps_for_a_minute_that_begins_after_the_deadline() -> None:
    time = Time()
    pace = RateLimit(RateConfig(requests_per_minute=1), time.clock, time.sleep)
    with pace.turn(SOON):
        pass
    late = pace.turn(Deadline.after(30))
    with pytest.raises(ModelError, match=r"requests_per_minute is 1"), late:
        pass
    assert time.naps == []
    with pace.turn(SOON):
        assert time.now == 1_060


def test_a_minute_is_shared_by_all_threads() -> None:
    time = Time()
    pace = RateLimit(RateConfig(requests_per_minute=3), time.clock, time.sleep)
    model = RateLimitedModel(Speaker(), pace)
    for thread in threads(7, lambda: model.ask(PROMPT, SOON)):
        thread.join(LONG)
    assert len(pace._begun) == 3
    assert time.now >= 1_120
