"""Manifests in JSON and TOML, read with care: they come from a change that is not trusted. Pure."""

from __future__ import annotations

import json
from typing import Any

#: More than this is no manifest that anybody wrote.
_LARGEST = 4 * 1024**2


def read_json(text: str) -> dict[str, Any] | None:
    """The object that the text holds, None where it holds none."""
    if len(text) > _LARGEST:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_toml(text: str) -> dict[str, Any] | None:
    """The document, None where it is not TOML."""
    import tomllib  # noqa: PLC0415 - only builds need it

    if len(text) > _LARGEST:
        return None
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError):
        return None


def table(value: Any, *keys: str) -> dict[str, Any]:  # noqa: ANN401 - parsed data of any shape
    """The table at these keys, an empty one where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def strings(value: Any) -> tuple[str, ...] | None:  # noqa: ANN401 - parsed data of any shape
    """The list of strings, empty for nothing at all, None for anything else."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(value)
