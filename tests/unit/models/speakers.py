"""Models for tests of what is wrapped around models."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from prjury.deadline import Deadline
from prjury.models.wrappers import BusyError
from prjury.ports.messages import ModelError, ModelReason, Prompt, Reply

PROMPT = Prompt("be fair", "{}", {"type": "object"}, "quality/1")
SOON = Deadline.after(3_600)  # counted from the import: the whole suite may run before

Saying = Reply | ModelError | Callable[[Deadline], Reply]


def reply(text: str = "yes", tokens_in: int = 10, tokens_out: int = 2, **more: float) -> Reply:
    return Reply(text, "m-1", tokens_in, tokens_out, **more)


def error(reason: ModelReason, spent: Reply | None = None) -> ModelError:
    return ModelError(f"it is {reason}", reason, spent=spent)


def busy(after: float | None = None) -> BusyError:
    told = BusyError("it is busy", "rate_limited")
    told.after = after
    return told


@dataclass
class Speaker:
    """Says one thing after the other; the last one stays. A dollar buys `per_usd` tokens."""

    says: Iterable[Saying] = (reply(),)
    name: str = "test:speaker"
    room: int = 30_000
    per_usd: float | None = None
    deadlines: list[Deadline] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._says = list(self.says)

    @property
    def identity(self) -> str:
        return f"identity of {self.name}"

    @property
    def asked(self) -> int:
        return len(self.deadlines)

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        with self.lock:
            self.deadlines.append(deadline)
            said = self._says.pop(0) if len(self._says) > 1 else self._says[0]
        if isinstance(said, ModelError):
            raise said
        return said if isinstance(said, Reply) else said(deadline)

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        return None if self.per_usd is None else (input_tokens + output_tokens) / self.per_usd
