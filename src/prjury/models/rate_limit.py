"""How fast a provider is asked, by all judges and models together."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prjury.deadline import Deadline
from prjury.models.wrapped import WrappedModel
from prjury.policy.models import RateConfig
from prjury.ports import ChatModel
from prjury.ports.messages import ModelError, Prompt, Reply, UnsentError

_MINUTE = 60.0


class RateLimit:
    """Lets so many callers through at a time, and so many in any minute; first come, first served.

    Args:
        rate: how many.
        clock: seconds on a clock that never goes back.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        rate: RateConfig,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._free = rate.max_parallel
        self._per_minute = rate.requests_per_minute
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._queue: deque[threading.Event] = deque()
        self._begun: deque[float] = deque(maxlen=rate.requests_per_minute)

    @contextmanager
    def turn(self, deadline: Deadline) -> Iterator[None]:
        """Waits for a turn and holds it for the length of the block.

        Raises:
            ModelError: with the reason ``timeout`` when no turn comes before the deadline.
        """
        self._enter(deadline)
        try:
            self._sleep_until_the_minute_has_room(deadline)
            yield
        finally:
            self._leave()

    def _enter(self, deadline: Deadline) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            called = threading.Event()
            self._queue.append(called)
        if called.wait(deadline.remaining):
            return
        with self._lock:
            if called.is_set():  # the turn came between the end of the wait and here
                return
            self._queue.remove(called)
        raise _too_late("others are being asked")

    def _leave(self) -> None:
        with self._lock:
            if self._queue:
                self._queue.popleft().set()
            else:
                self._free += 1

    def _sleep_until_the_minute_has_room(self, deadline: Deadline) -> None:
        if self._per_minute is None:
            return
        with self._lock:
            now = self._clock()
            full = len(self._begun) == self._per_minute
            begin = max(now, self._begun[0] + _MINUTE) if full else now
            if begin > now and begin - now >= deadline.remaining:
                raise _too_late(f"models.rate.requests_per_minute is {self._per_minute}")
            self._begun.append(begin)
        if begin > now:
            self._sleep(begin - now)


class RateLimitedModel(WrappedModel):
    """Asks the inner model when it is its turn."""

    def __init__(self, inner: ChatModel, pace: RateLimit) -> None:
        super().__init__(inner)
        self._pace = pace

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The inner model's reply.

        Raises:
            ModelError: the inner model's, or ``timeout`` when its turn does not come.
        """
        with self._pace.turn(deadline):
            return self._inner.ask(prompt, deadline)


def _too_late(why: str) -> ModelError:
    return UnsentError(
        "There was no time left to wait for a turn with the model",
        "timeout",
        why=why,
        remedy="Raise models.rate or the time limit",
    )
