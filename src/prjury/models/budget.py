"""What a run may spend on models, counted before anything is sent."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

from prjury.deadline import Deadline
from prjury.models.busy import UnansweredError
from prjury.models.wrapped import WrappedModel
from prjury.policy.schema import LimitsConfig
from prjury.ports import ChatModel
from prjury.ports.messages import ModelError, Prompt, Reply, UnsentError, tokens_of

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
        known = self.usd is not None and other.usd is not None
        return Spent(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            (self.usd or 0.0) + (other.usd or 0.0) if known else None,
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
        """What has been used, with the estimates for calls whose usage nobody told."""
        with self._lock:
            return self._spent

    def refusal(self, input_tokens: int, usd: float | None) -> str | None:
        """Why so much cannot be spent on top of what is spent and promised; None where it can."""
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
            return _over(
                f"{tokens:,} of {self._limits.input_tokens:,} input tokens are used or promised, "
                f"and this takes about {estimate.input_tokens:,}",
                "limits.input_tokens",
            )
        if estimate.usd is None and not self._limits.usd:
            return _over("nothing may be spent, and the price of this is not known", "limits.usd")
        usd = self._usd + self._promised_usd
        if estimate.usd and usd + estimate.usd > self._limits.usd:
            return _over(
                f"{usd:.4f} of {self._limits.usd:.4f} US dollars are spent or promised, and this "
                f"may cost {estimate.usd:.4f}",
                "limits.usd",
            )
        return None

    def _promise(self, estimate: Spent, sign: int) -> None:
        self._promised_tokens += sign * estimate.input_tokens
        self._promised_usd += sign * (estimate.usd or 0.0)


class BudgetedModel(WrappedModel):
    """Asks the inner model where the purse allows it.

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
            used = self._used(reply, estimate)
        except ModelError as error:
            used = self._used_in_vain(error, estimate)
            if used is not None:
                error.spent = _charged(error.spent or Reply("", self.name), used)
            raise
        finally:
            self._budget.settle(estimate, used)
        return _charged(reply, used)

    def _estimate(self, prompt: Prompt) -> Spent:
        output = min(self._output or prompt.answer_tokens, prompt.answer_tokens)
        return Spent(1, prompt.tokens, output, self.price(prompt.tokens, output))

    def _used(self, reply: Reply, estimate: Spent) -> Spent:
        """What a reply cost; where it does not say, what was set aside for it."""
        tokens_in, tokens_out = reply.input_tokens, reply.output_tokens
        if not tokens_in and estimate.usd != 0.0:
            tokens_in = estimate.input_tokens
            tokens_out = tokens_out or tokens_of(reply.text)
        usd = reply.usd if reply.usd is not None else self.price(tokens_in, tokens_out)
        return Spent(1, tokens_in, tokens_out, usd)

    def _used_in_vain(self, error: ModelError, estimate: Spent) -> Spent | None:
        if error.spent is not None:
            return self._used(error.spent, estimate)
        if isinstance(error, UnsentError):
            return None
        if isinstance(error, UnansweredError) or error.reason in _FREE:
            return Spent(calls=1)
        # It may have thought until the time was over; providers charge for that.
        return estimate


def _charged(reply: Reply, used: Spent) -> Reply:
    """The reply with the figures of the purse, so that everybody counts the same."""
    tokens_in, tokens_out = used.input_tokens, used.output_tokens
    return replace(reply, input_tokens=tokens_in, output_tokens=tokens_out, usd=used.usd)


def _over(figures: str, limit: str) -> str:
    remedy = f"Raise {limit} in the policy, or judge less at once"
    return f"The budget of this run does not allow it: {figures}. {remedy}"
