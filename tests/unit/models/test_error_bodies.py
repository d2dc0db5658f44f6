from __future__ import annotations

import json

import pytest

from prjury.models.providers import error_in_body


def body(error: object) -> bytes:
    return json.dumps({"error": error}).encode()


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"message": "x", "code": 429}, 429),
        ({"message": "x", "code": "502"}, 502),
        ({"message": "x", "type": "overloaded_error"}, 529),
        ({"message": "x", "code": None, "type": "server_error"}, 500),
        ({"message": "x", "code": 14, "status": "UNAVAILABLE"}, 503),
        ({"message": "x", "code": "rate_limit_exceeded"}, 429),
        ("overloaded", 503),
        ({"message": "x", "code": 200}, 200),
        ({"message": "x", "code": 99_999}, 200),
        ({"message": "x", "code": "9" * 9_999}, 200),
        ({"message": "x"}, 200),
        ("something else", 200),
        (None, 200),
        ([503], 200),
        (503, 503),
    ],
)
def test_an_error_says_what_it_is(error: object, status: int) -> None:
    assert error_in_body(200, body(error)) == status


@pytest.mark.parametrize(
    "text", [b"", b"null", b'["error"]', b'{"error"', b'"error"', b'{"error": ' + b"[" * 99_999]
)
def test_what_is_no_error_keeps_its_status(text: bytes) -> None:
    assert error_in_body(200, text) == 200


def test_a_reply_that_speaks_of_errors_is_a_reply() -> None:
    text = json.dumps({"choices": [{"message": {"content": '{"error": {"code": 503}}'}}]})
    assert error_in_body(200, text.encode()) == 200


def test_any_other_status_speaks_for_itself() -> None:
    assert error_in_body(401, body({"code": 503})) == 401
