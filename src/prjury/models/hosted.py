"""A model behind a provider's API or any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from prjury.deadline import Deadline
from prjury.dialogue import ModelError, Prompt, Reply
from prjury.models.choose import ModelChoice
from prjury.models.pacing import BusyError, SchemaRefusedError, pause

if TYPE_CHECKING:
    from prjury.models.wire import Mode


class HostedModel:
    """Asks with a JSON Schema that binds, and in plain JSON mode where the server takes none.

    Args:
        choice: the model and how it is reached.
        sleep: waits so many seconds between two tries.
        chance: a random number in 0..1, which spreads the tries of several clients.
    """

    def __init__(
        self,
        choice: ModelChoice,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._choice = choice
        self._sleep = sleep
        self._chance = chance
        self._mode: Mode = "schema"

    @property
    def name(self) -> str:
        """``provider:model``."""
        return str(self._choice)

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The reply, after at most three tries in each mode.

        Raises:
            ModelError: when there is no reply in time, or none that may be read as an answer.
        """
        try:
            return self._patiently(prompt, self._mode, deadline)
        except SchemaRefusedError:
            # Asked without it the server may still object, but then to something else.
            reply = self._patiently(prompt, "json", deadline)
        self._mode = "json"
        return reply

    def _patiently(self, prompt: Prompt, mode: Mode, deadline: Deadline) -> Reply:
        tried = 0
        while True:
            tried += 1
            try:
                return self._once(prompt, mode, deadline)
            except BusyError as busy:
                seconds = pause(tried, busy.after, deadline.remaining, self._chance())
                if seconds is None:
                    raise
                self._sleep(seconds)

    def _once(self, prompt: Prompt, mode: Mode, deadline: Deadline) -> Reply:
        if not deadline.remaining:
            raise ModelError("There is no time left to ask the model", "timeout")
        try:
            from prjury.models.wire import converse  # noqa: PLC0415 - heavy and optional
        except ImportError:
            raise ModelError(
                "The client library for models is not installed",
                "not_installed",
                why="Model clients are optional",
                remedy=f"Install it: pip install 'prjury[{self._choice.provider}]'",
            ) from None
        return converse(self._choice, prompt, mode, deadline)
