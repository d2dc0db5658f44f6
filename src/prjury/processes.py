"""Processes that are known by their environment, wherever they have gone."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Collection
from pathlib import Path


def kill_by_environment(words: Collection[str], seconds: float = 5.0) -> None:
    """Kill the processes with one of these words in their environment, until none is left."""
    names = [os.fsencode(word) for word in words]
    until = time.monotonic() + seconds
    while (pids := _find_pids_by_environment(names)) and time.monotonic() < until:
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _find_pids_by_environment(names: Collection[bytes]) -> list[int]:
    pids = []
    with contextlib.suppress(FileNotFoundError):
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - plain names do
            with contextlib.suppress(OSError):
                environ = Path("/proc", name, "environ").read_bytes()
                if any(word in environ for word in names):
                    pids.append(int(name))
    return [pid for pid in pids if pid != os.getpid()]
