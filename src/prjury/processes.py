"""Processes that are known by their environment, wherever they have gone."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection
from pathlib import Path


def kill_marked(variable: str, seconds: float = 5.0) -> None:
    """Kill the processes that were started with ``NAME=value``, made for them alone."""
    name = os.fsencode(variable)
    _kill_all(lambda environ: name in environ.split(b"\0"), seconds)


def kill_users(places: Collection[Path], seconds: float = 2.0) -> None:
    """Kill the processes in whose environment one of these directories is named."""
    names = [os.fsencode(place) for place in places]
    _kill_all(lambda environ: any(name in environ for name in names), seconds)


def _kill_all(is_wanted: Callable[[bytes], bool], seconds: float) -> None:
    """Kill processes by their environment, as far as there is a ``/proc``.

    A process that was sent its end still lives for a moment, and may have started another one
    before; so they are looked for again.
    """
    until = time.monotonic() + seconds
    while (pids := _find_processes(is_wanted)) and time.monotonic() < until:
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _find_processes(is_wanted: Callable[[bytes], bool]) -> list[int]:
    pids = []
    with contextlib.suppress(FileNotFoundError):
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - plain names do
            with contextlib.suppress(OSError):
                if is_wanted(Path("/proc", name, "environ").read_bytes()):
                    pids.append(int(name))
    return [pid for pid in pids if pid != os.getpid()]
