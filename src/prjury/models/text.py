"""A user's own text model, asked like a provider's."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import TimeoutError as LateError
from itertools import count

from prjury.deadline import Deadline
from prjury.jury.context import ExecutionStatus
from prjury.jury.library.execution import perform
from prjury.jury.library.responses import output_of, usage_of
from prjury.jury.threads import aside
from prjury.models.wrappers import late, refuse_no_answer
from prjury.ports.messages import ModelError, Prompt, Reply

_NUMBERS = count(1)


class TextModel:
    """Asks a function from text to text; what it returns may be awaitable, or a response.

    Args:
        function: gets the instructions and the material as one text.
        room: tokens of material in one prompt.
    """

    def __init__(self, function: Callable[[str], object], room: int = 30_000) -> None:
        self._function = function
        self.name = "model"
        self.identity = f"function {next(_NUMBERS)}"  # its answers are nobody else's
        self.room = room

    def price(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002
        """Not known."""
        return None

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The reply, with the tokens that the response names.

        Raises:
            ModelError: for a function that raises, takes too long, or returns no text.
        """
        try:
            done = aside(lambda: perform(lambda: self._function(prompt.text))).result(
                deadline.remaining
            )
        except LateError:
            raise late() from None
        if done.status is ExecutionStatus.TIMEOUT:
            raise late()
        if done.status is not ExecutionStatus.SUCCESS:
            raise ModelError(f"The model failed: {done.error}", "provider_error")
        text = output_of(done.result)
        if text is None:
            kind = type(done.result).__name__
            raise ModelError(f"The model returned a {kind} without a text", "provider_error")
        refuse_no_answer(text)
        usage = usage_of(done.result)
        found, answered = (int(usage.get(key, 0)) for key in ("input_tokens", "output_tokens"))
        return Reply(text, self.name, found, answered, usage.get("usd"))
