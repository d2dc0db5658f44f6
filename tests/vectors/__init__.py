"""Language-neutral cases of what the court, its library and the judges decide, as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

Case: TypeAlias = Mapping[str, Any]


def cases(room: str, *operations: str) -> list[Case]:
    """The room's cases, of these operations only where some are named."""
    found: list[Case] = json.loads(Path(__file__).with_name(f"{room}.json").read_text("utf-8"))
    return [case for case in found if not operations or case["op"] in operations]
