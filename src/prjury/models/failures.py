"""Gives a client library's failure our name; of what the server said only its status is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UserError,
)

from prjury.models.busy import BusyError, SchemaRefusedError, UnansweredError
from prjury.ports.messages import ModelError, ModelReason

_FILTERED = frozenset({"content_filter", "content_policy_violation"})
_FIRST_CLIENT_ERROR = 400
_FIRST_SERVER_ERROR = 500
#: Statuses that pass by waiting although they are no server errors: too slow, too early.
_PASSING = frozenset({408, 425})
#: What servers answer to a request whose form they do not take.
_FORM_REFUSED = frozenset({400, 415, 422})


@dataclass(frozen=True)
class _Words:
    """How a kind of failure is told; ``{status}`` becomes `` (status 503)`` or nothing."""

    reason: ModelReason
    what: str
    why: str = ""
    remedy: str = ""
    busy: bool = False


_FAILING = _Words("provider_error", "The model server fails{status}", busy=True)

#: From the particular to the general: the first that fits is taken.
_TABLE: tuple[tuple[type[ModelAPIError], _Words], ...] = (
    (
        ModelAuthenticationError,
        _Words(
            "unauthorized",
            "The model server does not accept the key{status}",
            "The key is wrong, expired, or may not use this model",
            "Check the key and the model's name",
        ),
    ),
    (
        ModelQuotaExceededError,
        _Words("rate_limited", "The account's quota is used up{status}", "", "Check the billing"),
    ),
    (
        ModelNotFoundError,
        _Words(
            "provider_error",
            "The model server knows no such model or address{status}",
            "",
            "Check the model's name and the base URL",
        ),
    ),
    (
        ModelContextWindowExceededError,
        _Words("provider_error", "The prompt is longer than the model can read"),
    ),
    (
        ModelRateLimitError,
        _Words("rate_limited", "The model server takes no more requests{status}", busy=True),
    ),
    (ModelUnavailableError, _FAILING),
    (ModelServerError, _FAILING),
    (ModelTimeoutError, _Words("timeout", "The model did not answer in time")),
    (
        ModelConnectionError,
        _Words(
            "unreachable",
            "The model server cannot be reached",
            "There is no network, or the address is wrong; proxies of the environment are not used",
            "Check the network and the address",
        ),
    ),
)
_FILTER = _Words("content_filter", "The provider's content filter stopped the request")
_REFUSED = _Words("provider_error", "The model server refused the request{status}")
_STRANGE = _Words("provider_error", "The model server did not answer as a chat model does")
_ELSEWHERE = _Words(
    "provider_error",
    "The model server sends elsewhere, and that is not followed",
    "",
    "Name the final address as the base URL",
)


def translate_error(error: Exception, *, binding: bool) -> ModelError:
    """The failure in our words.

    Args:
        binding: whether the request held a JSON Schema; its refusal may be meant then.
    """
    for link in _chain(error):
        if isinstance(link, ModelError):
            return link
    if isinstance(error, UserError) and binding:
        # The library knows without asking that this server or model takes no such schema.
        return SchemaRefusedError(_REFUSED.what.format(status=""), _REFUSED.reason)
    if not isinstance(error, ModelAPIError):
        return ModelError(_STRANGE.what, _STRANGE.reason)
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    words = _words(error, status)
    what = words.what.format(status=f" (status {status})" if status else "")
    if words.busy:
        busy = BusyError(what, words.reason)
        busy.status = status
        busy.after = error.retry_after
        return busy
    if words is _REFUSED and binding and status in (None, *_FORM_REFUSED):
        return SchemaRefusedError(what, words.reason)
    kind = ModelError if status is None else UnansweredError
    return kind(what, words.reason, why=words.why, remedy=words.remedy)


def _words(error: ModelAPIError, status: int | None) -> _Words:
    if error.provider_error_code in _FILTERED:
        return _FILTER
    for kind, words in _TABLE:
        if isinstance(error, kind):
            return words
    if isinstance(error, ModelRequestRejectedError) and status is None:
        return _REFUSED  # by the library, which knows what the server would say
    if status is None:
        return _ELSEWHERE if any(map(_redirected, _chain(error))) else _STRANGE
    passing = status >= _FIRST_SERVER_ERROR or status in _PASSING
    return _FAILING if passing else _REFUSED


def _redirected(error: BaseException) -> bool:
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and status < _FIRST_CLIENT_ERROR


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
