"""Reads the files that pass from zone to zone: strictly, and with one kind of refusal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from prjury.errors import SourceError

#: Bytes of a file that passes from job to job.
LARGEST = 32 * 1024 * 1024

Json = dict[str, Any]
Wire = TypeVar("Wire", bound=BaseModel)
Made = TypeVar("Made")


def value_of(content: bytes, what: str, schema: str, largest: int = LARGEST) -> Json:
    """The file's value, of the version that is read here.

    Args:
        what: what the file holds, for messages.
        largest: bytes.

    Raises:
        SourceError: ``…_invalid``, for anything else.
    """
    if len(content) > largest:
        raise invalid(what, f"it is larger than {largest // 1024**2} MiB")
    try:
        value = json.loads(
            content, object_pairs_hook=_once, parse_constant=_refuse, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        raise invalid(what, "it is not JSON, or a key stands twice") from error
    found = value.get("schema") if isinstance(value, dict) else None
    if found != schema:
        family = schema.rpartition("/")[0]
        other = isinstance(found, str) and found.startswith(f"{family}/")
        raise invalid(what, "it is of another version" if other else f"it is no {schema}")
    return dict(value)


def _once(pairs: Sequence[tuple[str, Any]]) -> Json:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no number")


def checked(model: type[Wire], value: object, what: str) -> Wire:
    """The value in its form.

    Raises:
        SourceError: ``…_invalid``, naming the key.
    """
    try:
        return model.model_validate(value)
    except (ValidationError, RecursionError) as error:
        detail = error.errors()[0] if isinstance(error, ValidationError) else None
        place = ".".join(map(str, detail["loc"])) if detail else "it"
        told = f"{place}: {detail['msg']}" if detail else "it is nested too deeply"
        raise invalid(what, told[:200]) from error


def made(make: Callable[[], Made], what: str) -> Made:
    """What the function makes of a checked value.

    Raises:
        SourceError: ``…_invalid``, where it cannot.
    """
    try:
        return make()
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise invalid(what, str(error).splitlines()[0][:200] or type(error).__name__) from error


def invalid(what: str, why: str) -> SourceError:
    """The refusal of a file."""
    return SourceError(
        f"The {what} that was handed over is refused: {why}",
        why="It was damaged or forged, or the jobs use different releases",
        remedy="Use one release in all jobs of the workflow, and run it again",
        reason=f"{what}_invalid",
    )
