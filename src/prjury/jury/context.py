"""What a judge is asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from prjury.jury.frozen import FrozenDict


class ExecutionStatus(StrEnum):
    """How the work that is to be judged ended."""

    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class JudgmentContext:
    """A goal, the place where the work was done, and what is known of how it went.

    Attributes:
        workspace: the directory that holds the work, if there is one; a text is taken as its path.
        agent_output: what the agent or program said.
        execution_time: how long the work took; a number is taken as seconds.
        error: what went wrong while working, if anything did.
        metadata: whatever else is known; judges that run side by side cannot change it.
        diff: what the work changed, as a unified diff, if that is known.
        trajectory: the steps of the work, such as an agent's tool calls: texts or JSON values.
    """

    goal: str
    workspace: Path | None = None
    agent_output: str | None = None
    execution_status: ExecutionStatus = ExecutionStatus.UNKNOWN
    started_at: datetime | None = None
    execution_time: timedelta | None = None
    error: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    diff: str | None = None
    trajectory: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        place: object = self.workspace
        if isinstance(place, str):
            object.__setattr__(self, "workspace", Path(place))
        object.__setattr__(self, "metadata", _freeze_context(self.metadata))
        object.__setattr__(self, "trajectory", _freeze_context(self.trajectory))
        taken: object = self.execution_time
        if isinstance(taken, int | float) and not isinstance(taken, bool):
            object.__setattr__(self, "execution_time", timedelta(seconds=taken))


def _freeze_context(value: Any) -> Any:  # noqa: ANN401 - whatever users hand to their judges
    if isinstance(value, Mapping):
        return FrozenDict({key: _freeze_context(item) for key, item in value.items()})
    return tuple(map(_freeze_context, value)) if isinstance(value, list | tuple) else value
