"""Settings that the schema knows and nothing obeys yet. Whoever sets one is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from prjury.config.schema import Config

#: Key paths of sections and settings; a judge's options stand under ``tiers[].judges[]``.
PENDING = (
    "sandbox.mounts",
    "fix",
)


def not_in_force(config: Config) -> tuple[str, ...]:
    """The key paths that differ from their defaults and change nothing yet."""
    default = Config()
    return tuple(path for path in PENDING if _at(config, path) != _at(default, path))


def pending_note(config: Config) -> Iterator[str]:
    """One sentence for the report, where there is something to tell."""
    names = not_in_force(config)
    if names:
        verb = "is" if len(names) == 1 else "are"
        yield f"{', '.join(names)} {verb} set in the policy and not in force yet"


def _at(config: BaseModel, path: str) -> Any:  # noqa: ANN401 - any setting's value
    value: Any = config
    for name in path.split("."):
        value = getattr(value, name)
    return value
