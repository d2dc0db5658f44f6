"""Asks a busy server again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from prjury.deadline import Deadline
from prjury.models.busy import BusyError, pause
from prjury.models.wrapped import WrappedModel
from prjury.ports import ChatModel
from prjury.ports.messages import Prompt, Reply


class RetryingModel(WrappedModel):
    """Puts the question at most three times while the server is busy, and when the server says.

    Args:
        inner: raises `BusyError` where asking again may help.
        sleep: waits so many seconds between two tries.
        chance: a random number in 0..1, which spreads the tries of several clients.
    """

    def __init__(
        self,
        inner: ChatModel,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(inner)
        self._sleep = sleep
        self._chance = chance

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The reply of the first try that brings one.

        Raises:
            ModelError: the last failure, or one that does not pass by waiting.
        """
        tried = 0
        while True:
            tried += 1
            try:
                return self._inner.ask(prompt, deadline)
            except BusyError as busy:
                seconds = pause(tried, busy.after, deadline.remaining, self._chance())
                if seconds is None:
                    raise
                self._sleep(seconds)
