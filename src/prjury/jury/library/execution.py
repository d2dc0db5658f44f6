"""Doing a piece of somebody else's work, and keeping how it ended whatever it does."""

from __future__ import annotations

import inspect
import json
import math
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any, Generic, TypeGuard, TypeVar, overload

from prjury.errors import PrJuryError
from prjury.jury.context import ExecutionStatus
from prjury.jury.guard import describe_error, printable, unwrap_error

#: Where responses keep their answer: the OpenAI Agents SDK, pydantic-ai, LangChain, other clients.
_ANSWERS = ("final_output", "output", "content", "text", "result", "answer", "response")
#: Where retrieval chains and index engines keep what they found, and a document its text.
_DOCUMENTS = ("documents", "context", "source_documents")
_NODES = ("source_nodes", "documents")
_DOCUMENT_TEXTS = ("page_content", "text", "content")
_USAGES = ("usage", "usage_metadata")
_COUNTS = ("input_tokens", "output_tokens", "requests", "usd")


def output_of(response: object) -> str | None:
    """The answer of a response as text, JSON where it is a value; None where there is none.

    It is a text, a message with ``content``, a result with ``output``, or a mapping with one.
    """
    if isinstance(response, str):
        return str(response)
    if isinstance(response, Mapping):
        messages = response.get("messages")
        if isinstance(messages, Sequence) and messages and not isinstance(messages, str):
            return output_of(messages[-1])
        return _first(response.get)
    return _first(lambda name: getattr(response, name, None))


def usage_of(response: object) -> dict[str, float]:
    """The tokens, requests and US dollars that a response says it took; empty where it does not."""
    for usage in chain(_usages(response), (response,)):  # no further than needed
        get = usage.get if isinstance(usage, Mapping) else lambda key, of=usage: getattr(of, key, 0)
        counts = {key: get(key) for key in _COUNTS}
        numbers = {key: n for key, n in counts.items() if _is_count(n)}
        if numbers:
            return numbers
    return {}


def list_document_texts(response: object) -> list[str]:
    """The texts of the documents that a response was given on; empty where it names none."""
    if isinstance(response, Mapping):
        nodes = next(filter(None, map(response.get, _DOCUMENTS)), ())
    else:
        nodes = next(filter(None, map(partial(_attribute, response), _NODES)), ())
    if isinstance(nodes, str) or not isinstance(nodes, Sequence):
        return [nodes] if isinstance(nodes, str) else []
    texts = [document_text(one) for one in nodes]
    return [text for text in texts if text is not None] if None not in texts else []


def document_text(document: object) -> str | None:
    """A document's text: itself, or what it keeps as a key or an attribute; None without one."""
    if isinstance(document, str):
        return document
    get = document.get if isinstance(document, Mapping) else partial(_attribute, document)
    return next((text for text in map(get, _DOCUMENT_TEXTS) if isinstance(text, str)), None)


def _attribute(of: object, name: str) -> object:
    return getattr(of, name, None)


def _usages(response: object) -> Iterator[object]:
    for name in _USAGES:
        usage = getattr(response, name, None)
        yield usage  # the counts themselves, even where they could still be called as of old
        if callable(usage):
            with suppress(TypeError):
                yield usage()


def _is_count(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def _first(value_of: Callable[[str], object]) -> str | None:
    values = (value for value in map(value_of, _ANSWERS) if not callable(value))
    return next(filter(None, map(_to_text_or_json, values)), None)


def _to_text_or_json(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Sequence) and value and all(map(_block, value)):
        return "".join(filter(None, map(_block, value)))
    dump: Any = getattr(value, "model_dump_json", None)
    if callable(dump):
        return str(dump())
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return None


def _block(block: object) -> str | None:
    text = block.get("text") if isinstance(block, Mapping) else getattr(block, "text", block)
    return text if isinstance(text, str) else None


ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)


@dataclass(frozen=True)
class Execution(Generic[ResultT_co]):
    """The end of a piece of work: its result, or the error in words with its reason, if any."""

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
    """Do the work in this thread and wait for what it returns, if that has to be waited for.

    An exception becomes FAILED; TIMEOUT if its class, or a base of it, is named for a timeout,
    CANCELLED for the `CancelledError` of asyncio and of concurrent.futures. Ctrl-C goes on.
    """
    started_at, clock = datetime.now(UTC), time.monotonic()

    def make_execution(status: ExecutionStatus, result: object = None) -> Execution[object]:
        elapsed = timedelta(seconds=time.monotonic() - clock)
        return Execution(result, status, started_at, elapsed)

    try:
        return make_execution(ExecutionStatus.SUCCESS, wait_for_reply(work()))
    except (Exception, _is_cancelled_task()) as crash:  # noqa: BLE001 - it is reported, not hidden
        alone = unwrap_error(crash)
        expected = isinstance(alone, PrJuryError) and bool(str(alone))
        words = printable(str(alone)) if expected else describe_error(alone)
        reason = alone.reason if isinstance(alone, PrJuryError) else None
        return replace(make_execution(_status_of(alone)), error=words, reason=reason)


def wait_for_reply(answer: object) -> object:
    """The answer itself; what it brings if it has to be waited for."""
    if not inspect.isawaitable(answer):
        return answer
    from prjury.jury.threads import wait_for_awaitable  # noqa: PLC0415 - only for these

    return wait_for_awaitable(answer)


def _is_cancelled_task() -> type[BaseException]:
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
