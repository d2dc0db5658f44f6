"""The HTTP client that every provider's library is given: short on trust, and bounded.

Proxies, cookies, redirects and compression are off: the key goes to one address only, and a small
body cannot become a large one.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from functools import cache

import httpx2

from prjury.ports.messages import ModelError, Reply

_OK = 200
_FIRST_ERROR, _LAST_ERROR = 400, 599

#: What the ``type``, ``code`` or ``status`` of an error means, in lower case.
_MEANING: Mapping[str, int] = {
    "overloaded": 503,
    "overloaded_error": 529,
    "server_is_overloaded": 503,
    "service_unavailable": 503,
    "unavailable": 503,
    "server_error": 500,
    "internal_server_error": 500,
    "api_error": 500,
    "internal": 500,
    "timeout_error": 504,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "too_many_requests": 429,
    "resource_exhausted": 429,
    "insufficient_quota": 429,
    "authentication_error": 401,
    "invalid_api_key": 401,
}


def error_in_body(status: int, body: bytes) -> int:
    """The status that a response means: its own, unless the body of a 200 is an error that says so.

    Args:
        status: as it was sent.
        body: the whole body.
    """
    if status != _OK or b'"error"' not in body:
        return status
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return status
    error = value.get("error") if isinstance(value, dict) else None
    words: list[object] = [error]
    if isinstance(error, dict):
        words = [error.get(key) for key in ("code", "status", "type")]
    return next((code for code in map(_code, words) if code), status)


def _code(word: object) -> int | None:
    if isinstance(word, str):
        number = word.isascii() and word.isdecimal() and len(word) == len(str(_OK))
        word = int(word) if number else _MEANING.get(word.lower())
    if isinstance(word, int) and _FIRST_ERROR <= word <= _LAST_ERROR:
        return word
    return None


#: Bytes of a response. JSON escapes and a provider's envelope take more room than the reply itself.
BODY_LIMIT = 1024 * 1024


def client(seconds: float) -> httpx2.AsyncClient:
    """A client for one conversation; each phase of a request may take so many seconds."""
    return httpx2.AsyncClient(
        transport=CappedTransport(httpx2.AsyncHTTPTransport(verify=trusted(), trust_env=False)),
        timeout=max(seconds, 0.001),
        follow_redirects=False,
        trust_env=False,
    )


@cache
def trusted() -> ssl.SSLContext:
    """The certificates that servers are checked by; they take a while to load."""
    return httpx2.create_ssl_context(trust_env=False)


class CappedTransport(httpx2.AsyncBaseTransport):
    """Stops reading a response that is longer than `BODY_LIMIT`, and unmasks errors."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends the request and bounds the response.

        Raises:
            ModelError: when the server sends too much, or compresses what it was asked not to.
        """
        request.headers["accept-encoding"] = "identity"
        request.headers.pop("cookie", None)
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            await response.aclose()
            raise ModelError(
                "The model server sent a compressed reply although it was told not to",
                "provider_error",
            )
        length = response.headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > BODY_LIMIT:
            await response.aclose()
            raise too_large()
        body = await _read(response)
        return httpx2.Response(
            error_in_body(response.status_code, body),
            headers=response.headers,
            stream=httpx2.ByteStream(body),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._inner.aclose()


async def _read(response: httpx2.Response) -> bytes:
    """The whole body.

    Raises:
        ModelError: when it is too long.
    """
    body = bytearray()
    try:
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > BODY_LIMIT:
                raise too_large()
    finally:
        await response.aclose()
    return bytes(body)


def too_large(spent: Reply | None = None) -> ModelError:
    """The error for a reply that is longer than anybody needs."""
    return ModelError("The model's reply is too large", "reply_too_large", spent=spent)
