"""A model that is asked nothing here: it stands for the one that another zone asks."""

from __future__ import annotations

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.ports import Panel
from prjury.ports.messages import Prompt, Reply

#: Tokens; more than any model has, for here nothing is laid out for one.
_ROOM = 100_000_000


class RecordingModel:
    """Refuses every question (`prjury.ports.ChatModel`)."""

    name = "unasked"
    identity = "unasked"
    room = _ROOM

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:  # noqa: ARG002 - it refuses
        """Raises CannotJudgeError."""
        raise CannotJudgeError("models are asked in another job", reason="waiting")

    def price(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002 - as above
        """Nothing is known of it."""
        return None


class RecordingModels:
    """Seats a model that is not asked, so that what it would read is read."""

    def panel(self, request: str = "auto") -> Panel:  # noqa: ARG002 - it is nobody in particular
        """One seat."""
        return Panel((RecordingModel(),))
