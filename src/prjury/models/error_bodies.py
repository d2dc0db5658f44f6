"""Errors that a server sends as if all were well. Pure.

Gateways that have begun to answer before they hear of a failure send it with the status 200.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

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
