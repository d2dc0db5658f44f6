"""One question to one model: the reply, or the one repair of it, if neither leaks or misleads."""

from __future__ import annotations

import math
import re
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.quality.question import Answer, InvalidReplyError, Question, read
from prjury.models.wrappers import FREE
from prjury.ports import ChatModel
from prjury.ports.messages import ModelError, Prompt, Reply, UnsentError


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
        """Return who answered, as the servers call their models."""
        return ", ".join(self._answered_by)

    @property
    def stand_ins(self) -> list[str]:
        """Return who answered in the place of somebody who could not, as the servers call them."""
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
            "calls": [asdict(entry) for entry in entries],
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
    free = Reply("", model.name, usd=0.0 if error.reason in FREE else None)
    return _entry(model, spent or free, started)


_SEPARATORS = re.compile(r"[^0-9a-z]+")
_ESCAPE = re.compile(r"\\u00([0-7][0-9a-f])")


def random_word() -> str:
    """128 random bits as 32 hex digits."""
    return secrets.token_hex(16)


class TaintedError(CannotJudgeError):
    """The reply holds the canary: it repeats the instructions, so something else steered it."""

    default_reason = "tainted"


class UnusableError(CannotJudgeError):
    """Neither the reply nor its repair is what was asked for."""

    default_reason = "invalid_reply"


def interview(
    model: ChatModel,
    question: Question,
    criteria: Mapping[str, str],
    usage_log: UsageLog,
    deadline: Deadline,
) -> tuple[Mapping[str, Answer], bool]:
    """The answers by criterion, and whether they may be kept for another time.

    Raises:
        TaintedError: when the canary comes back.
        UnusableError: when neither of two replies is what was asked for.
        CannotJudgeError: when the model does not reply.
    """
    first = usage_log.ask(model, question.prompt, deadline)
    _refuse_leak(first.text, question.canary)
    try:
        return read(first.text, criteria), not first.stand_in
    except InvalidReplyError as error:
        problem = str(error)
    second = usage_log.ask(model, question.again(problem), deadline)
    _refuse_leak(second.text, question.canary)
    try:
        return read(second.text, criteria), not second.stand_in
    except InvalidReplyError as error:
        raise UnusableError(f"The model's reply could not be used, twice: {error}") from None


def _refuse_leak(reply: str, canary: str) -> None:
    """Raises where the canary came back, also escaped or with characters strewn between its own."""
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), reply.lower())
    if canary in _SEPARATORS.sub("", plain.lower()):
        raise TaintedError("The reply repeats the instructions, so it is not trusted")
