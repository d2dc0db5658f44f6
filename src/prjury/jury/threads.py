"""Threads for what event loops do aside, such as looking up a host's name."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, Protocol, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

#: Calls that are worked on at once; as many as Python's own executor has at most.
_AT_ONCE = 32


class Starter(Protocol):
    """Does work in a daemon thread."""

    def __call__(self, work: Callable[[], T], /) -> Future[T]:
        """What will be the work's result."""
        ...


class Daemons(ThreadPoolExecutor):
    """An event loop's executor whose threads nobody waits for.

    The usual one is waited for when the interpreter ends: a judge that hangs in it would keep a
    program alive that was interrupted, or that is done with everything else.
    """

    def __init__(self, start: Starter) -> None:
        super().__init__(_AT_ONCE)
        self._start = start
        self._turns = threading.Semaphore(_AT_ONCE)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """What will be the call's result."""
        return self._start(partial(self._in_turn, partial(fn, *args, **kwargs)))

    def _in_turn(self, call: Callable[[], T]) -> T:
        with self._turns:
            return call()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - as it is declared there
        """Do nothing: threads that still work are abandoned."""
