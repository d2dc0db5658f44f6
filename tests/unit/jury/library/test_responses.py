from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from prjury.jury.library.execution import output_of, usage_of


class Answer(BaseModel):
    city: str


@dataclass
class Result:
    """As pydantic-ai's: the usage is a method there."""

    output: Any

    def usage(self) -> SimpleNamespace:
        return SimpleNamespace(input_tokens=12, output_tokens=3, requests=1)


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ("text", "text"),
        (Result("Paris"), "Paris"),
        (Result(Answer(city="Paris")), '{"city":"Paris"}'),
        (Result({"city": "Paris"}), '{"city": "Paris"}'),
        (SimpleNamespace(final_output="done"), "done"),
        (SimpleNamespace(content=[{"type": "text", "text": "a"}, {"text": "b"}]), "ab"),
        ({"messages": [SimpleNamespace(content="q"), SimpleNamespace(content="a")]}, "a"),
        ({"output": "x"}, "x"),
        ({"output": {"city": "Köln"}}, '{"city": "Köln"}'),
        ({"output": object(), "text": "x"}, "x"),
        ({"messages": ["a", "b", "c"]}, "c"),
        ({"messages": ["a"]}, "a"),
        ({"messages": [], "output": "x"}, "x"),
        ({"messages": "no list", "output": "x"}, "x"),
        (SimpleNamespace(output=Answer, text="x"), "x"),
        (SimpleNamespace(output="", text="x"), "x"),
        ({"count": 3}, None),
        (None, None),
        (3, None),
        (object(), None),
    ],
)
def test_the_answer_of_a_response(response: object, text: str | None) -> None:
    assert output_of(response) == text


@pytest.mark.parametrize(
    ("response", "usage"),
    [
        ({"input_tokens": 4, "total": 9}, {"input_tokens": 4}),
        (SimpleNamespace(output_tokens=1, usd=0.5), {"output_tokens": 1, "usd": 0.5}),
        (SimpleNamespace(usage={"requests": 2}, requests=3), {"requests": 2}),
        (SimpleNamespace(usage=lambda model: {"requests": 2}), {}),
        (SimpleNamespace(usage=lambda: {"requests": 2}), {"requests": 2}),
        ({"input_tokens": 0, "output_tokens": -1, "requests": True, "usd": float("inf")}, {}),
        ({"input_tokens": "4", "output_tokens": None, "usd": float("nan")}, {}),
        ({"requests": 1}, {"requests": 1}),
    ],
)
def test_what_counts_as_usage(response: object, usage: dict[str, float]) -> None:
    assert usage_of(response) == usage
