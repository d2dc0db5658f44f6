"""What all models that were chosen by name have in common."""

from __future__ import annotations

from prjury.models.choose import ModelChoice


class ChosenModel:
    """Goes by its choice; how it is asked, and what that costs, is what differs."""

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice

    @property
    def name(self) -> str:
        """``provider:model``."""
        return str(self._choice)

    @property
    def identity(self) -> str:
        """Provider, model, address or command, and options as a line of JSON; no key."""
        return self._choice.identity

    @property
    def room(self) -> int:
        """Tokens of material in one prompt."""
        return self._choice.room
