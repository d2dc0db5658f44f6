"""What stands between a judge and a model: retry, rate limit and budget, each a wrapper."""

from __future__ import annotations

import hashlib
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prjury.deadline import Deadline
from prjury.ports import ChatModel, Recorder
from prjury.ports.messages import ModelError, Prompt, Reply, UnsentError, tokens_of

if TYPE_CHECKING:  # pydantic is slow
    from prjury.models.connect import AnswerFile
    from prjury.policy.models import RateConfig
    from prjury.policy.schema import LimitsConfig


class WrappedModel:
    """Goes by the inner model's name, identity, room and price; `ask` is what differs."""

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner
        self.name, self.identity, self.room = inner.name, inner.identity, inner.room

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars for so many tokens; None where the price is not known."""
        return self._inner.price(input_tokens, output_tokens)


# What is wrong with a reply, or with the way to it.

#: Bytes of a reply's text; more than this is not read as an answer.
REPLY_LIMIT = 64 * 1024


def late() -> ModelError:
    """The error for a model that takes too long."""
    return ModelError("The model did not answer in time", "timeout")


def too_large(spent: Reply | None = None) -> ModelError:
    """The error for a reply that is longer than anybody needs."""
    return ModelError("The model's reply is too large", "reply_too_large", spent=spent)


def not_installed(provider: str) -> ModelError:
    """The error for a provider whose library is missing."""
    return UnsentError(
        f"The client library for {provider} is not installed",
        "not_installed",
        why="Model clients are optional",
        remedy=f"Install it: pip install 'prjury[{provider}]'",
    )


def refuse_no_answer(text: str, spent: Reply | None = None) -> None:
    """Raises a ModelError for a reply that is too long or empty."""
    if len(text.encode(errors="replace")) > REPLY_LIMIT:
        raise too_large(spent)
    if not text.strip():
        raise ModelError("The model's reply is empty", "refused", spent=spent)


# Retry.

#: How often one question is put at most.
TRIES = 3

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 20.0


class UnansweredError(ModelError):
    """The server turned the request away before a model saw it, so that nothing is charged."""


class BusyError(UnansweredError):
    """The server asks for patience: too many requests, overloaded, or failing for now.

    Attributes:
        after: the seconds that it asks for, None where it names no usable number.
        status: the HTTP status, None where there is none.
    """

    after: float | None = None
    status: int | None = None


class SchemaRefusedError(UnansweredError):
    """The server does not take a JSON Schema for its reply."""


def pause(tried: int, after: float | None, remaining: float, chance: float) -> float | None:
    """The seconds to wait before the next try; None where trying again is of no use.

    Args:
        tried: how often the question has been put already.
        after: what the server asks for; its word counts, even if it exceeds our own pauses.
        remaining: the seconds until nobody waits any longer.
        chance: a random number in 0..1 that keeps clients from returning all at once.
    """
    if tried >= TRIES:
        return None
    own = min(_FIRST_PAUSE * 2 ** (tried - 1), _LONGEST_PAUSE) * (0.5 + chance / 2)
    seconds = own if after is None else max(0.0, after)
    return seconds if seconds < remaining else None


class RetryingModel(WrappedModel):
    """Puts the question at most three times while the server is busy, and when the server says.

    Args:
        inner: raises `BusyError` where asking again may help.
        sleep: waits so many seconds between two tries.
        chance: a random number in 0..1, which spreads the tries of several clients.
    """

    def __init__(
        self,
        inner: ChatModel,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(inner)
        self._sleep = sleep
        self._chance = chance

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The reply of the first try that brings one.

        Raises:
            ModelError: the last failure, or one that does not pass by waiting.
        """
        tried = 0
        while True:
            tried += 1
            try:
                return self._inner.ask(prompt, deadline)
            except BusyError as busy:
                seconds = pause(tried, busy.after, deadline.remaining, self._chance())
                if seconds is None:
                    raise
                self._sleep(seconds)


# Rate limit.

_MINUTE = 60.0


class RateLimit:
    """Lets so many callers through at a time, and so many in any minute.

    Args:
        rate: how many.
        clock: seconds on a clock that never goes back.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        rate: RateConfig,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._free = threading.Semaphore(rate.max_parallel)
        self._per_minute = rate.requests_per_minute
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._begun: deque[float] = deque(maxlen=rate.requests_per_minute)

    @contextmanager
    def turn(self, deadline: Deadline) -> Iterator[None]:
        """Waits for a turn and holds it for the length of the block.

        Raises:
            ModelError: with the reason ``timeout`` when no turn comes before the deadline.
        """
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
        """The inner model's reply.

        Raises:
            ModelError: the inner model's, or ``timeout`` when its turn does not come.
        """
        with self._pace.turn(deadline):
            return self._inner.ask(prompt, deadline)


def _refuse_late(why: str) -> ModelError:
    return UnsentError(
        "There was no time left to wait for a turn with the model",
        "timeout",
        why=why,
        remedy="Raise models.rate or the time limit",
    )


# Budget.

#: Failures that no provider charges for.
_FREE = frozenset({"unauthorized", "rate_limited", "unreachable"})


@dataclass(frozen=True)
class Spent:
    """What calls have used, or may use.

    Attributes:
        calls: requests that were sent.
        usd: US dollars; None where tokens were used whose price is not known.
    """

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
    """The limits of one run. Calls that run side by side cannot exceed them together.

    Where no price is known, only tokens count.
    """

    def __init__(self, limits: LimitsConfig) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._spent = Spent()
        self._usd = self._promised_usd = 0.0
        self._promised_tokens = 0

    @property
    def spent(self) -> Spent:
        """Return what has been used, with the estimates for calls whose usage is not known."""
        with self._lock:
            return self._spent

    def refusal(self, input_tokens: int, usd: float | None) -> str | None:
        """Return why so much cannot be spent besides what is promised; None if it can."""
        with self._lock:
            return self._refusal(Spent(0, input_tokens, 0, usd))

    def reserve(self, estimate: Spent) -> None:
        """Sets aside what a call may use.

        Raises:
            ModelError: with the reason ``budget`` when it may exceed a limit; nothing is set aside.
        """
        with self._lock:
            refusal = self._refusal(estimate)
            if refusal:
                raise UnsentError(refusal, "budget")
            self._promise(estimate, 1)

    def settle(self, estimate: Spent, used: Spent | None) -> None:
        """Takes what was set aside back, and counts what was really used; None for no request."""
        with self._lock:
            self._promise(estimate, -1)
            if used is not None:
                self._spent += used
                self._usd += used.usd or 0.0

    def _refusal(self, estimate: Spent) -> str | None:
        tokens = self._spent.input_tokens + self._promised_tokens
        if tokens + estimate.input_tokens > self._limits.input_tokens:
            return _refuse_spending(
                f"{tokens:,} of {self._limits.input_tokens:,} input tokens are used or promised, "
                f"and this takes about {estimate.input_tokens:,}",
                "limits.input_tokens",
            )
        if estimate.usd is None and not self._limits.usd:
            return _refuse_spending(
                "nothing may be spent, and the price of this is not known", "limits.usd"
            )
        usd = self._usd + self._promised_usd
        if estimate.usd and usd + estimate.usd > self._limits.usd:
            return _refuse_spending(
                f"{usd:.4f} of {self._limits.usd:.4f} US dollars are spent or promised, and this "
                f"may cost {estimate.usd:.4f}",
                "limits.usd",
            )
        return None

    def _promise(self, estimate: Spent, sign: int) -> None:
        self._promised_tokens += sign * estimate.input_tokens
        self._promised_usd += sign * (estimate.usd or 0.0)


class BudgetedModel(WrappedModel):
    """Ask the inner model where the budget allows it.

    Args:
        inner: makes one request per question.
        budget: shared by all models of the run.
        max_output_tokens: the limit of an answer, if it has one.
    """

    def __init__(
        self, inner: ChatModel, budget: Budget, max_output_tokens: int | None = None
    ) -> None:
        super().__init__(inner)
        self._budget = budget
        self._output = max_output_tokens

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The inner model's reply, with what it counts for where the server did not say.

        Raises:
            ModelError: the inner model's, with what it counts for; or ``budget`` when the call may
                exceed a limit, and nothing is sent then.
        """
        if not deadline.remaining:
            raise UnsentError("There is no time left to ask the model", "timeout")
        estimate = self._estimate(prompt)
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
            self._budget.settle(estimate, used)
        return _charge(reply, used)

    def _estimate(self, prompt: Prompt) -> Spent:
        output = min(self._output or prompt.answer_tokens, prompt.answer_tokens)
        return Spent(1, prompt.tokens, output, self.price(prompt.tokens, output))

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
        if isinstance(error, UnansweredError) or error.reason in _FREE:
            return Spent(calls=1)
        # It may have thought until the time was over; providers charge for that.
        return estimate


def _charge(reply: Reply, used: Spent) -> Reply:
    """The reply with the figures of the budget, so that everybody counts the same."""
    tokens_in, tokens_out = used.input_tokens, used.output_tokens
    return replace(reply, input_tokens=tokens_in, output_tokens=tokens_out, usd=used.usd)


def _refuse_spending(figures: str, limit: str) -> str:
    remedy = f"Raise {limit} in the policy, or judge less at once"
    return f"The budget of this run does not allow it: {figures}. {remedy}"


# Journal.


class RecordedModel(WrappedModel):
    """Ask the inner model, and keep what the call took; prompt and reply only as hashes.

    Args:
        answers: keeps the replies as well, where the operator asks for that.
    """

    def __init__(
        self, inner: ChatModel, recorder: Recorder, answers: AnswerFile | None = None
    ) -> None:
        super().__init__(inner)
        self._recorder, self._answers = recorder, answers

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The inner model's reply.

        Raises:
            ModelError: the inner model's.
        """
        started = time.monotonic()
        spent: Reply | None = None
        reason: str | None = None
        try:
            spent = self._inner.ask(prompt, deadline)
        except ModelError as error:
            spent, reason = error.spent, error.reason
            raise
        else:
            return spent
        finally:
            self._record(prompt, spent, reason, time.monotonic() - started)

    def _record(self, prompt: Prompt, got: Reply | None, reason: str | None, took: float) -> None:
        if self._answers and (got or reason):
            self._answers.keep(prompt, got, reason)
        reply = "" if got is None or reason else got.text
        self._recorder.record(
            "model",
            model=self.name,
            answered_by=got.model if got else None,
            prompt=prompt.name,
            prompt_sha256=prompt.sha256,
            reply_sha256=hashlib.sha256(reply.encode(errors="replace")).hexdigest(),
            input_tokens=got.input_tokens if got else 0,
            output_tokens=got.output_tokens if got else 0,
            usd=got.usd if got else None,
            reason=reason,
            ms=round(took * 1000),
        )
