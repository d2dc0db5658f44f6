"""JSON values that cannot change any more."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

#: Deeper values than this are refused; JSON readers give up at about the same depth.
_MAX_DEPTH = 100

#: Larger integers than this cannot be written: Python stops at 4300 decimal digits.
_MAX_BITS = 14_000


class FrozenDict(dict[str, Any]):
    """A dictionary that refuses every change; equal to a plain one with the same content."""

    __slots__ = ()

    def _forbid(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this dictionary cannot be changed")

    __setitem__ = __delitem__ = __ior__ = _forbid
    update = setdefault = pop = popitem = clear = _forbid

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self))

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)

    def __deepcopy__(self, _memo: object) -> FrozenDict:
        return self


def freeze(value: object, path: str = "metadata", depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    """The value, dictionaries frozen and lists as tuples; ValueError names what is no JSON."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"{path} is nested deeper than {_MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return FrozenDict(_freeze_items(value, path, depth))
    if isinstance(value, list | tuple):
        return tuple(freeze(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value))
    return _require_scalar(value, path)


def _freeze_items(
    value: Mapping[object, object], path: str, depth: int
) -> Iterable[tuple[str, Any]]:
    for key, item in value.items():
        if not isinstance(key, str):
            raise ValueError(f"{path} has the key {key!r}, which is not a string")  # noqa: TRY004
        yield str(_require_scalar(key, f"{path} (a key)")), freeze(item, f"{path}.{key}", depth + 1)


def _require_scalar(value: object, path: str) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{path} is {value!r}, which JSON cannot hold")
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise ValueError(f"{path} is an integer of {value.bit_length()} bits, which is too large")
    if isinstance(value, str) and not _is_unicode(value):
        raise ValueError(f"{path} holds a lone surrogate, which JSON cannot hold")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{path} is a {type(value).__name__}, which JSON cannot hold")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
