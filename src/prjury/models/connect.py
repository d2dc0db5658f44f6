"""From a choice to the model itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from prjury.deadline import Deadline
from prjury.models.choose import ModelChoice
from prjury.models.scripted import ScriptedModel
from prjury.models.wrappers import (
    Budget,
    BudgetedModel,
    BusyError,
    RateLimit,
    RateLimitedModel,
    RetryingModel,
    SchemaRefusedError,
    not_installed,
)
from prjury.ports import ChatModel
from prjury.ports.messages import Prompt, Reply, UnsentError

if TYPE_CHECKING:
    from prjury.models.wire import Mode


class ChosenModel:
    """Goes by its choice; how it is asked, and what that costs, is what differs."""

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        self.name = str(choice)
        self.identity = choice.identity
        self.room = choice.room


#: The status of a server that did not expect what it was sent.
_BROKEN = 500


class HostedModel(ChosenModel):
    """Asks with a JSON Schema that binds, and in plain JSON mode where the server takes none.

    It asks once; see `RetryingModel` for servers that are busy.
    """

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self._mode: Mode = "schema"
        self._answered = False

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars for so many tokens; None where the price is not known."""
        try:
            from prjury.models.wire import price  # noqa: PLC0415 - heavy and optional
        except ImportError:
            return None
        return price(self._choice, input_tokens, output_tokens)

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The reply, within the deadline and within the choice's own time for one call.

        Raises:
            BusyError: when asking again later may help.
            ModelError: when there is no reply in time, or none that may be read as an answer.
        """
        until = deadline.within(self._choice.timeout)
        try:
            reply = self._once(prompt, self._mode, until)
        except SchemaRefusedError:
            # Asked without it the server may still object, but then to something else.
            reply = self._once(prompt, "json", until)
            self._mode = "json"
        except BusyError as busy:
            self._turn(busy)
            raise
        self._answered = True
        return reply

    def _turn(self, busy: BusyError) -> None:
        """Has the next try go the other way: some servers break at a schema instead of refusing."""
        own_server = self._choice.base_url is not None
        if own_server and not self._answered and busy.status == _BROKEN:
            self._mode = "json" if self._mode == "schema" else "schema"

    def _once(self, prompt: Prompt, mode: Mode, deadline: Deadline) -> Reply:
        try:
            from prjury.models.wire import converse  # noqa: PLC0415 - heavy and optional
        except ImportError:
            raise not_installed(self._choice.provider) from None
        # Looked at last: to load the client takes seconds.
        if not deadline.remaining:
            raise UnsentError("There is no time left to ask the model", "timeout")
        return converse(self._choice, prompt, mode, deadline)


_NOTHING: Mapping[str, str] = {}


def connect(
    choice: ModelChoice,
    environ: Mapping[str, str] = _NOTHING,
    *,
    budget: Budget | None = None,
    pace: RateLimit | None = None,
) -> ChatModel:
    """The model that was chosen. Nothing is contacted and no client is loaded before it is asked.

    Each try of a hosted model waits for its turn and is counted; the pauses between them hold up
    nobody else.

    Args:
        choice: which model.
        environ: what a command may see of the operator's environment.
        budget: what may be spent; without one nothing is counted.
        pace: how fast it is asked; without one as fast as anybody asks.

    Raises:
        UsageError: when it is a script that cannot be read.
    """
    model = _bare(choice, environ)
    if budget is not None:
        model = BudgetedModel(model, budget, choice.max_output_tokens)
    if choice.provider == "scripted":
        return model
    if pace is not None:
        model = RateLimitedModel(model, pace)
    return RetryingModel(model)


def _bare(choice: ModelChoice, environ: Mapping[str, str]) -> ChatModel:
    if choice.provider == "scripted":
        return ScriptedModel.from_file(Path(choice.name), choice.room)
    if choice.provider == "command":
        from prjury.models.command import CommandModel  # noqa: PLC0415 - only where it is needed

        return CommandModel(choice, environ)
    return HostedModel(choice)
