"""Versions that published parents and BOMs manage, as far as rules ask about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TypeAlias

from prjury.resources import read_published_text

#: Versions by ``group:artifact``, by minor line, by the parent or BOM.
_Table: TypeAlias = Mapping[str, Mapping[str, Mapping[str, str]]]


@cache
def _table() -> _Table:
    table: _Table = json.loads(read_published_text())
    return table


def find_published(name: str, version: str | None) -> Mapping[str, str]:
    """Return what a parent or BOM manages: in its minor line, or the last one known before."""
    minor = _line_of(version or "")
    lines = {_line_of(line): versions for line, versions in _table().get(name, {}).items()}
    earlier = [line for line in lines if minor[:1] == line[:1] and line <= minor]
    return lines[max(earlier)] if minor and earlier else {}


def _line_of(version: str) -> tuple[int, ...]:
    numbers = version.split(".")[:2]
    return tuple(map(int, numbers)) if all(part.isdigit() for part in numbers) else ()
