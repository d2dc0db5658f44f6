"""A word that stands in the first line of whatever an ast-grep rule matches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_LEADING = re.compile(r"\s*([A-Za-z_]\w{2,})")
_WHOLE = re.compile(r"\^([A-Za-z_]\w{2,})\$")


def literals_of(rule: Mapping[str, Any]) -> list[str]:
    """Words of which one begins every match of the rule; none where nobody can tell.

    Only what a match begins with counts: the rest of it may stand in lines that are not looked at.
    """
    match rule:
        case {"pattern": str(text)} if word := _LEADING.match(text):
            return [word[1]]
        case {"regex": str(text)} if word := _WHOLE.fullmatch(text):
            return [word[1]]
        case {"all": list(parts)} if found := next(filter(None, map(_part, parts)), None):
            return found
        case {"any": list(parts)} if parts and all(map(_part, parts)):
            return sorted({word for part in parts for word in _part(part)})
    return []


def _part(rule: object) -> list[str]:
    return literals_of(rule) if isinstance(rule, dict) else []
