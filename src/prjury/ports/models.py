"""Ports to models, and to what they have answered before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from prjury.deadline import Deadline
from prjury.jury.voting import NOT_CONFIGURED
from prjury.ports.messages import Prompt, Reply


class ChatModel(Protocol):
    """A model behind whatever provider: one prompt in, one text out. It has no tools."""

    @property
    def name(self) -> str:
        """``provider:model``."""

    @property
    def identity(self) -> str:
        """Everything that its answers depend on: provider, model, address and options; no key."""

    @property
    def room(self) -> int:
        """Tokens of material that are laid before it in one prompt."""

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The reply.

        Raises:
            ModelError: refused, unreachable, out of time, not authorised, over the budget, or
                without a reply.
        """

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars for so many tokens; None where the price is not known."""


@dataclass(frozen=True)
class Panel:
    """The models that one judge asks, each of them alone.

    Attributes:
        models: one seat each; none where there is no provider or key.
        missing: why there is none.
        label: the label of the abstention then.
        absent: those among the models that will not answer, by name, and why.
        chair: who reads the answers of the last round and decides; None where votes are counted.
        confidence: the mean confidence, 0..1, below which everybody is asked again.
        rounds: how often everybody is asked at most.
        refusal: why so many input tokens and US dollars (None where the price is not known) would
            exceed what is left of the budget; None where they would not.
        trigger: what confidence is taken from: ``evidence`` (the share of quotes that are true),
            ``flip`` (asked twice, files in another order), ``agreement``, ``self_report``.
    """

    models: tuple[ChatModel, ...] = ()
    missing: str = "no model provider or key is configured"
    label: str = NOT_CONFIGURED
    absent: Mapping[str, str] = field(default_factory=dict)
    chair: ChatModel | None = None
    confidence: float = 0.7
    rounds: int = 1
    trigger: str = "evidence"
    refusal: Callable[[int, float | None], str | None] = lambda _tokens, _usd: None


class Models(Protocol):
    """The models that the operator has."""

    def panel(self, request: str = "auto") -> Panel:
        """Who is asked, by what a judge's ``model`` option says; ``auto`` is the policy's choice.

        Raises:
            ConfigError: for a provider that is not known.
        """


class Memory(Protocol):
    """Answers of earlier runs. It may forget anything at any time, and never fails."""

    def recall(self, key: str) -> str | None:
        """What was kept under the key."""

    def keep(self, key: str, value: str) -> None:
        """Keeps it, if that can be had."""


class NoModels:
    """There is no model."""

    def __init__(self, missing: str = Panel.missing, label: str = Panel.label) -> None:
        self._nobody = Panel(missing=missing, label=label)

    def panel(self, request: str = "auto") -> Panel:  # noqa: ARG002 - there is none of any name
        """Nobody."""
        return self._nobody


class NoMemory:
    """Remembers nothing."""

    def recall(self, key: str) -> str | None:  # noqa: ARG002
        """Nothing."""
        return None

    def keep(self, key: str, value: str) -> None:
        """Does nothing."""
