"""Work in daemon threads: what is waited for, and what event loops do aside."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

#: Calls that are worked on at once; as many as Python's own executor has at most.
_AT_ONCE = 32


def wait_for_awaitable(awaitable: Awaitable[T]) -> T:
    """Return what the awaitable brings, waited for in whatever thread this is.

    A thread that already runs an event loop cannot run a second one, and in the main thread a loop
    would take Ctrl-C for a request that a judge may refuse: there it gets a thread of its own.
    """
    import asyncio  # noqa: PLC0415 - 30 ms that only asynchronous judges should cost

    async def wait_for() -> T:
        asyncio.get_running_loop().set_default_executor(Daemons())
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        if threading.current_thread() is not threading.main_thread():
            return asyncio.run(wait_for())
    return run_in_thread(lambda: asyncio.run(wait_for())).result()


def run_in_thread(work: Callable[[], T]) -> Future[T]:
    """Does the work in another thread, a daemon, so that Ctrl-C does not wait for it."""
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()  # from here on nobody can cancel it

    def carry() -> None:
        try:
            done.set_result(work())
        except BaseException as crash:  # noqa: BLE001 - it is raised again where it is waited for
            done.set_exception(crash)

    label = f"{threading.current_thread().name}-aside"
    run = copy_context().run
    threading.Thread(target=run, args=(carry,), name=label, daemon=True).start()
    return done


async def run_async(work: Callable[[], T]) -> T:
    """Return what the work brings, done in a thread of its own while the event loop goes on."""
    import asyncio  # noqa: PLC0415 - as above

    return await asyncio.wrap_future(run_in_thread(work))


class Daemons(ThreadPoolExecutor):
    """An event loop's executor whose threads nobody waits for, also if they hang at the end."""

    def __init__(self) -> None:
        super().__init__(_AT_ONCE)
        self._turns = threading.Semaphore(_AT_ONCE)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Return what will be the call's result."""
        return run_in_thread(partial(self._wait_turn, partial(fn, *args, **kwargs)))

    def _wait_turn(self, call: Callable[[], T]) -> T:
        with self._turns:
            return call()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - as it is declared there
        """Do nothing: threads that still work are abandoned."""
