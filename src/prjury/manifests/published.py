"""Versions that published parents and BOMs manage, as far as rules ask about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TypeAlias

from prjury.resources import published_text

#: Versions by ``group:artifact``, by minor line, by the parent or BOM.
_Table: TypeAlias = Mapping[str, Mapping[str, Mapping[str, str]]]


@cache
def _table() -> _Table:
    table: _Table = json.loads(published_text())
    return table


def published_versions(name: str, version: str | None) -> Mapping[str, str]:
    """Return what a parent or BOM manages: in its minor line, or the last one known before."""
    wanted = _line_of(version or "")
    lines = _table().get(name, {})
    earlier = [line for line in lines if wanted and _is_before(_line_of(line), wanted)]
    return lines[max(earlier, key=_line_of)] if earlier else {}


def _line_of(version: str) -> tuple[int, ...]:
    numbers = version.split(".")[:2]
    return tuple(map(int, numbers)) if all(part.isdigit() for part in numbers) else ()


def _is_before(line: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return line[:1] == wanted[:1] and line <= wanted
