"""What all models around a model have in common."""

from __future__ import annotations

from prjury.ports import ChatModel


class WrappedModel:
    """Goes by the inner model's name, identity, room and price; `ask` is what differs."""

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """``provider:model``."""
        return self._inner.name

    @property
    def identity(self) -> str:
        """Everything that its answers depend on."""
        return self._inner.identity

    @property
    def room(self) -> int:
        """Tokens of material in one prompt."""
        return self._inner.room

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars for so many tokens; None where the price is not known."""
        return self._inner.price(input_tokens, output_tokens)
