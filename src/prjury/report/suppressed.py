"""Which findings a comment in the code, or a baseline, has silenced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prjury.report.findings import Finding


def silencer(finding: Finding) -> str | None:
    """How a finding was silenced, as its judge tells it in ``metadata["suppressions"]``."""
    place = finding.check.location
    if place is None:
        return None
    start = f"{finding.check.name} ({place})"
    for told in _texts(finding.voice.judgment.metadata, "suppressions"):
        if told == start or told.startswith(f"{start}, "):
            return told.removeprefix(start).removeprefix(", ") or "silenced"
    return None


def _texts(metadata: Mapping[str, Any], key: str) -> Iterator[str]:
    entries = metadata.get(key)
    if isinstance(entries, list | tuple):
        yield from (entry for entry in entries if isinstance(entry, str))
