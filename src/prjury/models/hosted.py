"""A model behind a provider's API or any server that speaks OpenAI's chat completions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prjury.deadline import Deadline
from prjury.models.busy import BusyError, SchemaRefusedError
from prjury.models.choose import ModelChoice
from prjury.models.chosen import ChosenModel
from prjury.ports.messages import Prompt, Reply, UnsentError

if TYPE_CHECKING:
    from prjury.models.wire import Mode


#: The status of a server that did not expect what it was sent.
_BROKEN = 500


class HostedModel(ChosenModel):
    """Asks with a JSON Schema that binds, and in plain JSON mode where the server takes none.

    It asks once; see `PatientModel` for servers that are busy.
    """

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self._mode: Mode = "schema"
        self._answered = False

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars for so many tokens; None where the price is not known."""
        try:
            from prjury.models.price import price  # noqa: PLC0415 - heavy and optional
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
            raise UnsentError(
                "The client library for models is not installed",
                "not_installed",
                why="Model clients are optional",
                remedy=f"Install it: pip install 'prjury[{self._choice.provider}]'",
            ) from None
        # Looked at last: to load the client takes seconds.
        if not deadline.remaining:
            raise UnsentError("There is no time left to ask the model", "timeout")
        return converse(self._choice, prompt, mode, deadline)
