"""What stands between a judge and a model: retry, rate limit, budget and record, each a wrapper."""

from __future__ import annotations

import hashlib
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prjury.deadline import Deadline
from prjury.ports import ChatModel, Recorder
from prjury.ports.messages import ModelError, Prompt, Reply, UnsentError, tokens_of

if TYPE_CHECKING:  # pydantic is slow
    from prjury.models.panel import AnswerFile
    from prjury.policy.schema import LimitsConfig, RateConfig


class WrappedModel:
    """Goes by the inner model's name, identity, room and price; `ask` is what differs."""

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner
        self.name, self.identity, self.room = inner.name, inner.identity, inner.room

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        return self._inner.price(input_tokens, output_tokens)


# What is wrong with a reply, or with the way to it.

#: Bytes of a reply's text; more than this is not read as an answer.
REPLY_LIMIT = 64 * 1024


def late() -> ModelError:
    return ModelError("The model did not answer in time", "timeout")


def refuse_size(spent: Reply | None = None) -> ModelError:
    return ModelError("The model's reply is too large", "reply_too_large", spent=spent)


def not_installed(provider: str) -> ModelError:
    return UnsentError(
        f"The client library for {provider} is not installed",
        "not_installed",
        why="Model clients are optional",
        remedy=f"Install it: pip install 'prjury[{provider}]'",
    )


def refuse_no_answer(text: str, spent: Reply | None = None) -> None:
    """Raise a ModelError for a reply that is too long or empty."""
    if len(text.encode(errors="replace")) > REPLY_LIMIT:
        raise refuse_size(spent)
    if not text.strip():
        raise ModelError("The model's reply is empty", "refused", spent=spent)


class UnansweredError(ModelError):
    """The server turned the request away before a model saw it, so that nothing is charged."""


class BusyError(UnansweredError):
    """The server asks for patience, and perhaps for so many seconds (``after``)."""

    after: float | None = None
    status: int | None = None


class SchemaRefusedError(UnansweredError):
    """The server does not take a JSON Schema for its reply."""


# Retry.

#: How often one question is put at most.
TRIES = 3
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 20.0


class RetryingModel(WrappedModel):
    """Puts the question at most three times while the server is busy, and when the server says."""

    def __init__(
        self,
        inner: ChatModel,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(inner)
        self._sleep, self._chance = sleep, chance

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        for number in range(1, TRIES):
            try:
                return self._inner.ask(prompt, deadline)
            except BusyError as busy:
                seconds = pause(number, busy.after, self._chance())
                if seconds >= deadline.remaining:
                    raise
                self._sleep(seconds)
        return self._inner.ask(prompt, deadline)


def pause(number: int, after: float | None, chance: float) -> float:
    """Return the seconds to wait after so many tries; the server's word counts where it has one."""
    if after is not None:
        return max(0.0, after)
    return min(_FIRST_PAUSE * 2.0 ** (number - 1), _LONGEST_PAUSE) * (0.5 + chance / 2)


# Rate limit.

_MINUTE = 60.0


class RateLimit:
    """Lets so many callers through at a time, and so many in any minute."""

    def __init__(
        self,
        rate: RateConfig,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._free = threading.Semaphore(rate.max_parallel)
        self._per_minute = rate.requests_per_minute
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._begun: deque[float] = deque(maxlen=rate.requests_per_minute)

    @contextmanager
    def wait_for_turn(self, deadline: Deadline) -> Iterator[None]:
        """Wait for a turn and hold it for the block; raise ``timeout`` where none comes."""
        if not self._free.acquire(timeout=deadline.remaining):
            raise _refuse_late("others are being asked")
        try:
            self._sleep_until_the_minute_has_room(deadline)
            yield
        finally:
            self._free.release()

    def _sleep_until_the_minute_has_room(self, deadline: Deadline) -> None:
        if self._per_minute is None:
            return
        with self._lock:
            now = self._clock()
            full = len(self._begun) == self._per_minute
            begin = max(now, self._begun[0] + _MINUTE) if full else now
            if begin > now and begin - now >= deadline.remaining:
                raise _refuse_late(f"models.rate.requests_per_minute is {self._per_minute}")
            self._begun.append(begin)
        if begin > now:
            self._sleep(begin - now)


class RateLimitedModel(WrappedModel):
    """Asks the inner model when it is its turn."""

    def __init__(self, inner: ChatModel, pace: RateLimit) -> None:
        super().__init__(inner)
        self._pace = pace

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        with self._pace.wait_for_turn(deadline):
            return self._inner.ask(prompt, deadline)


def _refuse_late(why: str) -> ModelError:
    return UnsentError(
        "There was no time left to wait for a turn with the model",
        "timeout",
        why=why,
        remedy="Raise models.rate or the time limit",
    )


# Budget.

#: Failures before or without any work of the model, which no provider charges for.
FREE = frozenset({"rate_limited", "unauthorized", "unreachable"})


class Spent(Struct, frozen=True):
    """What calls have used, or may use; ``usd`` is None where a price is not known."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0

    def __add__(self, other: Spent) -> Spent:
        has_prices = self.usd is not None and other.usd is not None
        return Spent(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            (self.usd or 0.0) + (other.usd or 0.0) if has_prices else None,
        )


class Budget:
    """The limits of one run, which calls side by side cannot exceed together."""

    def __init__(self, limits: LimitsConfig) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._spent = Spent()
        #: Tokens and dollars that are used or promised.
        self._tokens, self._usd = 0, 0.0

    @property
    def spent(self) -> Spent:
        """Return what has been used, with the estimates for calls whose usage is not known."""
        with self._lock:
            return self._spent

    def refusal(self, input_tokens: int, usd: float | None) -> str | None:
        with self._lock:
            return self._explain_excess(input_tokens, usd)

    def reserve(self, estimate: Spent) -> None:
        with self._lock:
            if refusal := self._explain_excess(estimate.input_tokens, estimate.usd):
                raise UnsentError(refusal, "budget")
            self._tokens += estimate.input_tokens
            self._usd += estimate.usd or 0.0

    def replace_estimate(self, estimate: Spent, used: Spent | None) -> None:
        """Take what was set aside back, and count what was really used; None for no request."""
        real = used or Spent()
        with self._lock:
            self._spent += real
            self._tokens += real.input_tokens - estimate.input_tokens
            self._usd += (real.usd or 0.0) - (estimate.usd or 0.0)

    def _explain_excess(self, tokens: int, usd: float | None) -> str | None:
        most = self._limits
        if self._tokens + tokens > most.input_tokens:
            limit = "limits.input_tokens"
            figures = (
                f"{self._tokens:,} of {most.input_tokens:,} input tokens are used or promised, and "
                f"this takes about {tokens:,}"
            )
        elif usd is None and not most.usd:
            limit = "limits.usd"
            figures = "nothing may be spent, and the price of this is not known"
        elif usd and self._usd + usd > most.usd:
            limit = "limits.usd"
            figures = (
                f"{self._usd:.4f} of {most.usd:.4f} US dollars are spent or promised, and this may "
                f"cost {usd:.4f}"
            )
        else:
            return None
        remedy = f"Raise {limit} in the policy, or judge less at once"
        return f"The budget of this run does not allow it: {figures}. {remedy}"


class BudgetedModel(WrappedModel):
    """Asks the inner model, which makes one request per question, where the budget allows it."""

    def __init__(
        self, inner: ChatModel, budget: Budget, max_output_tokens: int | None = None
    ) -> None:
        super().__init__(inner)
        self._budget = budget
        self._output = max_output_tokens

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        if not deadline.remaining:
            raise UnsentError("There is no time left to ask the model", "timeout")
        output = min(self._output or prompt.answer_tokens, prompt.answer_tokens)
        estimate = Spent(1, prompt.tokens, output, self.price(prompt.tokens, output))
        self._budget.reserve(estimate)
        used: Spent | None = estimate
        try:
            reply = self._inner.ask(prompt, deadline)
            used = self._measure(reply, estimate)
        except ModelError as error:
            used = self._measure_failure(error, estimate)
            if used is not None:
                error.spent = _charge(error.spent or Reply("", self.name), used)
            raise
        finally:
            self._budget.replace_estimate(estimate, used)
        return _charge(reply, used)

    def _measure(self, reply: Reply, estimate: Spent) -> Spent:
        tokens_in, tokens_out = reply.input_tokens, reply.output_tokens
        if not tokens_in and estimate.usd != 0.0:
            tokens_in = estimate.input_tokens
            tokens_out = tokens_out or tokens_of(reply.text)
        usd = reply.usd if reply.usd is not None else self.price(tokens_in, tokens_out)
        return Spent(1, tokens_in, tokens_out, usd)

    def _measure_failure(self, error: ModelError, estimate: Spent) -> Spent | None:
        if error.spent is not None:
            return self._measure(error.spent, estimate)
        if isinstance(error, UnsentError):
            return None
        if isinstance(error, UnansweredError) or error.reason in FREE:
            return Spent(calls=1)
        # It may have thought until the time was over; providers charge for that.
        return estimate


def _charge(reply: Reply, used: Spent) -> Reply:
    """Return the reply with the figures of the budget, so that everybody counts the same."""
    tokens_in, tokens_out = used.input_tokens, used.output_tokens
    return replace(reply, input_tokens=tokens_in, output_tokens=tokens_out, usd=used.usd)


# Journal.


class RecordedModel(WrappedModel):
    """Asks the inner model, and keeps what the call took; prompt and reply only as hashes."""

    def __init__(
        self, inner: ChatModel, recorder: Recorder, answers: AnswerFile | None = None
    ) -> None:
        super().__init__(inner)
        self._recorder, self._answers = recorder, answers

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        started = time.monotonic()
        try:
            reply = self._inner.ask(prompt, deadline)
        except ModelError as error:
            self._record(prompt, error.spent, error.reason, started)
            raise
        self._record(prompt, reply, None, started)
        return reply

    def _record(
        self, prompt: Prompt, reply: Reply | None, reason: str | None, started: float
    ) -> None:
        if self._answers:
            self._answers.keep(prompt, reply, reason)
        text = "" if reply is None or reason else reply.text
        spent = reply or Reply("", "")
        self._recorder.record(
            "model",
            model=self.name,
            answered_by=spent.model or None,
            prompt=prompt.name,
            prompt_sha256=prompt.sha256,
            reply_sha256=hashlib.sha256(text.encode(errors="replace")).hexdigest(),
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            usd=spent.usd,
            reason=reason,
            ms=round((time.monotonic() - started) * 1000),
        )
