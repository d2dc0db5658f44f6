"""One question to one model: the reply, or the one repair of it, if neither leaks or misleads."""

from __future__ import annotations

import math
import re
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.quality.evidence import Answers, Lines, verify
from prjury.judges.quality.known_answers import keep, key_of, recall
from prjury.judges.quality.question import Answer, InvalidReplyError, Question, read_answers
from prjury.models.wrappers import FREE
from prjury.ports import ChatModel, Memory, NoMemory
from prjury.ports.messages import ModelError, Prompt, Reply, UnsentError


class ModelCall(Struct, frozen=True):
    """One call: who was asked, tokens, US dollars (None where the price is not known), time."""

    model: str
    input_tokens: int
    output_tokens: int
    usd: float | None
    elapsed_ms: int


class UsageLog(Struct, frozen=True):
    """Every call of one judgment, also those that come to nothing; several threads may enter."""

    calls: list[ModelCall] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    recalled: list[str] = field(default_factory=list)

    def ask(self, model: ChatModel, prompt: Prompt, deadline: Deadline) -> Reply:
        """Return the model's reply, or raise its error."""
        started = time.monotonic()
        try:
            reply = model.ask(prompt, deadline)
        except UnsentError:
            raise
        except CannotJudgeError as error:
            spent = error.spent if isinstance(error, ModelError) else None
            usd = 0.0 if error.reason in FREE else None
            self._enter(model, spent or Reply("", model.name, usd=usd), started)
            raise
        self._enter(model, reply, started)
        self.replies.append(reply)
        return reply

    def _enter(self, model: ChatModel, reply: Reply, started: float) -> None:
        elapsed = round((time.monotonic() - started) * 1000)
        tokens = reply.input_tokens, reply.output_tokens
        self.calls.append(ModelCall(model.name, *tokens, reply.usd, elapsed))

    @property
    def answered_by(self) -> str:
        """The names of those who answered, as the servers call their models."""
        return ", ".join(dict.fromkeys(reply.model for reply in self.replies if reply.model))

    @property
    def usage(self) -> dict[str, Any]:
        """The calls and their sum; ``usd`` is None as soon as one price is not known."""
        calls = list(self.calls)
        prices = [call.usd for call in calls if call.usd is not None]
        return {
            "llm_calls": len(calls),
            "cached_calls": len(self.recalled),
            "input_tokens": sum(call.input_tokens for call in calls),
            "output_tokens": sum(call.output_tokens for call in calls),
            "usd": math.fsum(prices) if len(prices) == len(calls) else None,
            "calls": [asdict(call) for call in calls],
        }


_SEPARATORS = re.compile(r"[^0-9a-z]+")
_ESCAPE = re.compile(r"\\u00([0-7][0-9a-f])")


def random_word() -> str:
    """Return 128 random bits as 32 hex digits."""
    return secrets.token_hex(16)


class TaintedError(CannotJudgeError):
    """The reply holds the canary: it repeats the instructions, so something else steered it."""

    default_reason = "tainted"


class UnusableError(CannotJudgeError):
    """Neither the reply nor its repair is what was asked for."""

    default_reason = "invalid_reply"


class CallContext(Struct, frozen=True):
    """How the seats of one judgment ask, whom besides, and which replies leaked instructions."""

    usage_log: UsageLog = field(default_factory=UsageLog)
    memory: Memory = field(default_factory=NoMemory)
    word: Callable[[], str] = random_word
    parallel: bool = True
    leaks: list[TaintedError] = field(default_factory=list)
    passes: int = 1
    confirmers: tuple[ChatModel, ...] = ()

    def ask(self, model: ChatModel, question: Question, turn: int, deadline: Deadline) -> Answers:
        """Return the verified answers to one of several equal questions, of memory if there."""
        key = key_of(model.identity, question, turn)
        answers = recall(self.memory, key, question.shown, question.form.criteria)
        if answers is not None:
            self.usage_log.recalled.append(key)
            return answers
        try:
            replies = self._interview(model, question, deadline)
        except TaintedError as error:
            self.leaks.append(error)
            raise
        answers = verify(replies, Lines(question.shown.sections))
        keep(self.memory, key, question.shown, answers)
        return answers

    def _interview(
        self, model: ChatModel, question: Question, deadline: Deadline
    ) -> Mapping[str, Answer]:
        prompt, problem = question.prompt, ""
        for _ in range(2):
            reply = self.usage_log.ask(model, prompt, deadline)
            _refuse_leak(reply.text, question.canary)
            try:
                return read_answers(reply.text, question.form.criteria)
            except InvalidReplyError as error:
                problem = str(error)
            prompt = question.with_problem(problem)
        raise UnusableError(f"The model's reply could not be used, twice: {problem}")


def _refuse_leak(reply: str, canary: str) -> None:
    """Raise where the canary came back, also escaped or with characters strewn between its own."""
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), reply.lower())
    if canary in _SEPARATORS.sub("", plain.lower()):
        raise TaintedError("The reply repeats the instructions, so it is not trusted")
