"""Counts what the model is asked and what that costs."""

from __future__ import annotations

from typing import Any

from prjury.deadline import Deadline
from prjury.dialogue import ModelError, Prompt, Reply
from prjury.errors import CannotJudgeError
from prjury.ports import ChatModel

#: Failures before or without any work of the model, which no provider charges for.
_FREE = frozenset({"not_installed", "rate_limited", "unauthorized", "unreachable"})


class Ledger:
    """A model whose every call is entered, also those that come to nothing."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._calls = 0
        self._input_tokens = 0
        self._output_tokens = 0
        self._usd: float | None = 0.0
        self.answered_by = ""

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The model's reply.

        Raises:
            CannotJudgeError: what the model raises.
        """
        self._calls += 1
        try:
            reply = self._model.ask(prompt, deadline)
        except CannotJudgeError as error:
            self._enter_failure(error)
            raise
        self._enter(reply)
        return reply

    @property
    def usage(self) -> dict[str, Any]:
        """The entries' sum; ``usd`` is None as soon as one price is not known."""
        return {
            "llm_calls": self._calls,
            "cached_calls": 0,
            "input_tokens": self._input_tokens,
            "output_tokens": self._output_tokens,
            "usd": self._usd,
        }

    def _enter(self, reply: Reply) -> None:
        self.answered_by = reply.model
        self._input_tokens += reply.input_tokens
        self._output_tokens += reply.output_tokens
        known = self._usd is not None and reply.usd is not None
        self._usd = (self._usd or 0.0) + (reply.usd or 0.0) if known else None

    def _enter_failure(self, error: CannotJudgeError) -> None:
        spent = error.spent if isinstance(error, ModelError) else None
        if spent:
            self._enter(spent)
        elif error.reason not in _FREE:
            self._usd = None
