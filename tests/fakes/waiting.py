"""Waits for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable


def eventually(true: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether something comes about in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():
            return True
        time.sleep(0.05)
    return False
