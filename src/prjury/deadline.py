"""Until when somebody waits."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """A moment on the monotonic clock after which nobody waits any longer."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """The moment that is so many seconds away."""
        return cls(time.monotonic() + seconds)

    @property
    def remaining(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self.at - time.monotonic())

    def within(self, seconds: float) -> Deadline:
        """The earlier of this deadline and one so many seconds away."""
        return min(self, Deadline.after(seconds), key=lambda deadline: deadline.at)
