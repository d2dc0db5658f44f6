"""Doing a piece of somebody else's work, and keeping how it ended whatever it does."""

from __future__ import annotations

import inspect
import time
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar, overload

from prjury.errors import PrJuryError
from prjury.jury.context import ExecutionStatus
from prjury.jury.guard import printable
from prjury.jury.judge import resolve

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
        alone = _unwrapped(crash)
        return _failed(ended(_status_of(alone)), alone)


def waited_for(answer: object) -> object:
    """The answer itself; what it brings if it has to be waited for."""
    return resolve(answer) if inspect.isawaitable(answer) else answer


def _cancelled_task() -> type[BaseException]:
    """The one error that is no `Exception` and still an answer; looked up when there is one."""
    from asyncio import CancelledError  # noqa: PLC0415 - 30 ms that only a failure should cost

    return CancelledError


def _unwrapped(crash: BaseException) -> BaseException:
    """The crash itself, or the only one in a group, as task groups raise it."""
    while isinstance(crash, BaseExceptionGroup) and len(crash.exceptions) == 1:
        crash = crash.exceptions[0]
    return crash


def _status_of(crash: BaseException) -> ExecutionStatus:
    names = [kind.__name__ for kind in type(crash).__mro__]
    if "CancelledError" in names:
        return ExecutionStatus.CANCELLED
    if any("Timeout" in name for name in names):
        return ExecutionStatus.TIMEOUT
    return ExecutionStatus.FAILED


def _failed(ended: Execution[object], crash: BaseException) -> Execution[object]:
    """The same execution with the crash: an expected error in its own words."""
    expected = isinstance(crash, PrJuryError) and bool(str(crash))
    message = str(crash) if expected else "".join(traceback.format_exception_only(crash)).strip()
    reason = crash.reason if isinstance(crash, PrJuryError) else None
    return replace(ended, error=printable(message), reason=reason)
