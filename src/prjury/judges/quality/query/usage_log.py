"""Counts what models are asked for one judgment, and what that costs."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.ports import ChatModel
from prjury.ports.messages import ModelError, Prompt, Reply, UnsentError

#: Failures before or without any work of the model, which no provider charges for.
_FREE = frozenset({"rate_limited", "unauthorized", "unreachable"})


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call: who was asked, tokens, US dollars (None where the price is not known), time."""

    model: str
    input_tokens: int
    output_tokens: int
    usd: float | None
    elapsed_ms: int


@dataclass
class UsageLog:
    """Every call of one judgment, also those that come to nothing; several threads may enter."""

    _entries: list[ModelCall] = field(default_factory=list)
    _cached: int = 0
    _answered_by: dict[str, None] = field(default_factory=dict)
    _stand_ins: dict[str, None] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, model: ChatModel, prompt: Prompt, deadline: Deadline) -> Reply:
        """The model's reply.

        Raises:
            CannotJudgeError: what the model raises.
        """
        started = time.monotonic()
        try:
            reply = model.ask(prompt, deadline)
        except CannotJudgeError as error:
            if not isinstance(error, UnsentError):
                self._enter(_failure(model, error, started))
            raise
        self._enter(_entry(model, reply, started), reply)
        return reply

    def recalled(self) -> None:
        """An answer came from memory."""
        with self._lock:
            self._cached += 1

    @property
    def answered_by(self) -> str:
        """Who answered, as the servers call their models."""
        return ", ".join(self._answered_by)

    @property
    def stand_ins(self) -> list[str]:
        """Who answered in the place of somebody who could not, as the servers call them."""
        return list(self._stand_ins)

    @property
    def usage(self) -> dict[str, Any]:
        """The entries and their sum; ``usd`` is None as soon as one price is not known."""
        with self._lock:
            entries, cached = list(self._entries), self._cached
        prices = [entry.usd for entry in entries]
        known = [price for price in prices if price is not None]
        return {
            "llm_calls": len(entries),
            "cached_calls": cached,
            "input_tokens": sum(entry.input_tokens for entry in entries),
            "output_tokens": sum(entry.output_tokens for entry in entries),
            "usd": math.fsum(known) if len(known) == len(prices) else None,
            "calls": [_told(entry) for entry in entries],
        }

    def _enter(self, entry: ModelCall, reply: Reply | None = None) -> None:
        with self._lock:
            self._entries.append(entry)
            if reply and reply.model:
                self._answered_by[reply.model] = None
            if reply and reply.stand_in:
                self._stand_ins[reply.model] = None


def _entry(model: ChatModel, reply: Reply, started: float) -> ModelCall:
    elapsed = round((time.monotonic() - started) * 1000)
    return ModelCall(model.name, reply.input_tokens, reply.output_tokens, reply.usd, elapsed)


def _failure(model: ChatModel, error: CannotJudgeError, started: float) -> ModelCall:
    spent = error.spent if isinstance(error, ModelError) else None
    free = Reply("", model.name, usd=0.0 if error.reason in _FREE else None)
    return _entry(model, spent or free, started)


def _told(entry: ModelCall) -> dict[str, Any]:
    return {
        "model": entry.model,
        "input_tokens": entry.input_tokens,
        "output_tokens": entry.output_tokens,
        "usd": entry.usd,
        "elapsed_ms": entry.elapsed_ms,
    }
