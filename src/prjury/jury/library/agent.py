"""Agents: ways to them, and how their work ended."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from prjury.jury.context import ExecutionStatus
from prjury.jury.frozen import freeze
from prjury.jury.library.execution import wait_for_reply


@dataclass(frozen=True)
class AgentResult:
    """The end of an agent's work: what it said or reports, how it ended, and JSON that it knows."""

    output: str
    status: ExecutionStatus = ExecutionStatus.SUCCESS
    error: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what in ("output", "error"):
            text = getattr(self, what)
            if not isinstance(text, str) and not (what == "error" and text is None):
                raise TypeError(f"an agent's {what} is text, not a {type(text).__name__}")
        object.__setattr__(self, "status", ExecutionStatus(self.status))
        object.__setattr__(self, "metadata", freeze(self.metadata))


#: What an agent's client answers with: a result or its output alone, or an awaitable of either.
AgentReply: TypeAlias = AgentResult | str | Awaitable[AgentResult | str]


@runtime_checkable
class AgentClient(Protocol):
    """A way to an agent of whatever framework."""

    def run(self, goal: str, workspace: Path | None, /) -> AgentReply:
        """Let the agent pursue the goal in the workspace, and return how that ended."""
        ...


def run_agent(client: AgentClient, goal: str, workspace: Path | None) -> AgentResult:
    """The result of the client's agent, waited for."""
    return result_of(wait_for_reply(client.run(goal, workspace)))


def result_of(reply: object) -> AgentResult:
    """An agent's reply as a result; a text alone is the output of a success."""
    if isinstance(reply, str):
        return AgentResult(reply)
    if not isinstance(reply, AgentResult):
        raise TypeError(f"the client returned a {type(reply).__name__} instead of an AgentResult")
    return reply
