"""The empty seat of a model that somebody wants and that cannot be had."""

from __future__ import annotations

from prjury.deadline import Deadline
from prjury.models.choose import MissingModel
from prjury.ports.messages import Prompt, Reply, UnsentError


class UnavailableModel:
    """Keeps its seat, so that nobody believes that all were asked, and answers with the reason."""

    def __init__(self, absent: MissingModel, room: int) -> None:
        self._absent = absent
        self._room = room

    @property
    def name(self) -> str:
        """``provider:model``."""
        return self._absent.name

    @property
    def identity(self) -> str:
        """Its name, and that it is not there."""
        return f"absent {self._absent.name}"

    @property
    def room(self) -> int:
        """Tokens of material that it would be given."""
        return self._room

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:  # noqa: ARG002 - nobody is asked
        """No reply.

        Raises:
            ModelError: always, and nothing is sent.
        """
        raise UnsentError(
            f"{self._absent.name} cannot be asked: {self._absent.why}",
            "unauthorized",
            remedy="Make it available, or take it out of models in the policy",
        )

    def price(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002
        """Nothing."""
        return 0.0
