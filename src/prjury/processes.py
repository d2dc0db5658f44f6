"""Processes that are known by a variable of their environment, wherever they have gone."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path


def kill_marked(variable: str, seconds: float = 5.0) -> None:
    """Kills the processes that were started with ``NAME=value``, until none is left.

    The value must be one that was made for them alone. A process that was sent its end still lives
    for a moment, and may have started another one before; so they are looked for again, for at most
    so many seconds. Nothing is found where there is no ``/proc``.
    """
    wanted = os.fsencode(variable)
    until = time.monotonic() + seconds
    while (found := _started_with(wanted)) and time.monotonic() < until:
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _started_with(variable: bytes) -> list[int]:
    found = []
    with contextlib.suppress(FileNotFoundError):
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - plain names do
            with contextlib.suppress(OSError):
                if variable in Path("/proc", name, "environ").read_bytes().split(b"\0"):
                    found.append(int(name))
    return found
