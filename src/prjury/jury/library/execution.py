"""Doing a piece of somebody else's work, and keeping how it ended whatever it does."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar, overload

from prjury.errors import PrJuryError
from prjury.jury.context import ExecutionStatus
from prjury.jury.guard import in_words, printable, unwrapped

ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)


@dataclass(frozen=True)
class Execution(Generic[ResultT_co]):
    """How a piece of work ended.

    Attributes:
        result: what it returned; None where it raised.
        error: what it raised, in words; None where it returned.
        reason: the machine-readable word for the error, where the error itself has one.
    """

    result: ResultT_co | None
    status: ExecutionStatus
    started_at: datetime
    elapsed: timedelta
    error: str | None = None
    reason: str | None = None


@overload
def perform(work: Callable[[], Awaitable[ResultT]]) -> Execution[ResultT]: ...
@overload
def perform(work: Callable[[], ResultT]) -> Execution[ResultT]: ...
def perform(work: Callable[[], object]) -> Execution[Any]:
    """Does the work in this thread and waits for what it returns, if that has to be waited for.

    An exception becomes FAILED; TIMEOUT if its class, or a base of it, is named for a timeout
    (`TimeoutError`, `subprocess.TimeoutExpired`, the clients' own), CANCELLED for the
    `CancelledError` of asyncio and of concurrent.futures. Ctrl-C and `sys.exit` go on.
    """
    started_at, clock = datetime.now(UTC), time.monotonic()

    def ended(status: ExecutionStatus, result: object = None) -> Execution[object]:
        elapsed = timedelta(seconds=time.monotonic() - clock)
        return Execution(result, status, started_at, elapsed)

    try:
        return ended(ExecutionStatus.SUCCESS, waited_for(work()))
    except (Exception, _cancelled_task()) as crash:  # noqa: BLE001 - it is reported, not hidden
        alone = unwrapped(crash)
        expected = isinstance(alone, PrJuryError) and bool(str(alone))
        words = printable(str(alone)) if expected else in_words(alone)
        reason = alone.reason if isinstance(alone, PrJuryError) else None
        return replace(ended(_status_of(alone)), error=words, reason=reason)


def waited_for(answer: object) -> object:
    """The answer itself; what it brings if it has to be waited for."""
    if not inspect.isawaitable(answer):
        return answer
    from prjury.jury.threads import resolve  # noqa: PLC0415 - only for these

    return resolve(answer)


def _cancelled_task() -> type[BaseException]:
    """The one error that is no `Exception` and still an answer; looked up when there is one."""
    from asyncio import CancelledError  # noqa: PLC0415 - 30 ms that only a failure should cost

    return CancelledError


def _status_of(crash: BaseException) -> ExecutionStatus:
    names = [kind.__name__ for kind in type(crash).__mro__]
    if "CancelledError" in names:
        return ExecutionStatus.CANCELLED
    if any("Timeout" in name for name in names):
        return ExecutionStatus.TIMEOUT
    return ExecutionStatus.FAILED
