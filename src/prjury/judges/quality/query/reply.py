"""Reads the model's reply: all of it is the JSON that was asked for, or it does not count."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

#: Bytes; a longer reply is not read.
LONGEST_REPLY = 64 * 1024

_KEYS = frozenset(
    "criteria evidence reasoning verdict confidence path side line end_line quote".split()
)
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL | re.IGNORECASE)


class InvalidReplyError(ValueError):
    """The reply is not what was asked for; the text says why without repeating the reply."""


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Quote(_Strict):
    """A place in the change and what is said to stand there; lines count from 1, both included."""

    path: str
    side: Literal["new", "old"]
    line: int = Field(ge=1, le=10_000_000)
    end_line: int = Field(ge=1, le=10_000_000)
    quote: str


class Answer(_Strict):
    """The answer to one criterion's question."""

    evidence: list[Quote] = Field(max_length=50)
    reasoning: str
    verdict: Annotated[Literal["pass", "fail", "abstain"], BeforeValidator(_lower)]
    confidence: float = Field(ge=0.0, le=1.0, allow_inf_nan=False)


class _Document(_Strict):
    criteria: dict[str, Answer]


def schema(criteria: Iterable[str]) -> dict[str, Any]:
    """The JSON Schema of a reply about these criteria: every key required, none besides."""
    quote = _object(
        path={"type": "string"},
        side={"type": "string", "enum": ["new", "old"]},
        line={"type": "integer"},
        end_line={"type": "integer"},
        quote={"type": "string"},
    )
    answer = _object(
        evidence={"type": "array", "items": quote},
        reasoning={"type": "string"},
        verdict={"type": "string", "enum": ["pass", "fail", "abstain"]},
        confidence={"type": "number"},
    )
    return _object(criteria=_object(**dict.fromkeys(criteria, answer)))


def _object(**properties: object) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read(text: str, criteria: Iterable[str]) -> Mapping[str, Answer]:
    """The answers by criterion, in the order of the criteria.

    Raises:
        InvalidReplyError: for anything but one JSON object of the expected shape.
    """
    try:
        document = _Document.model_validate(_load(text))
    except ValidationError as error:
        raise InvalidReplyError(_told(error, {*_KEYS, *criteria})) from None
    expected = list(criteria)
    missing = [name for name in expected if name not in document.criteria]
    if missing:
        raise InvalidReplyError(f"there is no answer for {', '.join(missing)}")
    if len(document.criteria) > len(expected):
        raise InvalidReplyError("there are answers to criteria that were not asked for")
    return {name: document.criteria[name] for name in expected}


def _load(text: str) -> object:
    if len(text.encode(errors="replace")) > LONGEST_REPLY:
        raise InvalidReplyError(f"it is longer than {LONGEST_REPLY} bytes")
    bare = text.strip()
    fenced = _FENCE.fullmatch(bare)
    try:
        return json.loads(
            fenced[1] if fenced else bare,
            object_pairs_hook=_distinct,
            parse_constant=_not_a_number,
            parse_float=_finite,
        )
    except InvalidReplyError:
        raise
    except (ValueError, RecursionError):
        raise InvalidReplyError("it is not one JSON value and nothing else") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise InvalidReplyError("an object has the same key twice")
    return value


def _not_a_number(name: str) -> float:
    raise InvalidReplyError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise InvalidReplyError("a number is out of range")
    return value


def _told(error: ValidationError, known: Collection[str]) -> str:
    """The first thing that is wrong; keys are cut short, because the model chose them."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    # Keys that the model chose have no place in what is told of it.
    place = ".".join(str(p) if isinstance(p, int) or p in known else "…" for p in first["loc"])
    return f"{place or 'the whole'}: {first['msg']}"
