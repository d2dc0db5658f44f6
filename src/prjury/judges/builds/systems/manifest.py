"""Manifests in JSON and TOML; they come from a change that is not trusted. Pure."""

from __future__ import annotations

from typing import Any

from prjury.manifests.manifest import ManifestError
from prjury.manifests.syntax import json_of, table, toml_of

__all__ = ["read_json", "read_toml", "strings", "table"]

#: Larger files are refused.
_LARGEST = 4 * 1024**2


def read_json(text: str) -> dict[str, Any] | None:
    """The object of the text; None if there is none."""
    try:
        return json_of(text) if len(text) <= _LARGEST else None
    except ManifestError:
        return None


def read_toml(text: str) -> dict[str, Any] | None:
    """The document; None if it is not TOML."""
    try:
        return toml_of(text.replace("\r\n", "\n")) if len(text) <= _LARGEST else None
    except ManifestError:
        return None


def strings(value: Any) -> tuple[str, ...] | None:  # noqa: ANN401 - parsed data of any shape
    """The list of strings; empty for None, None for anything else."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(value)
