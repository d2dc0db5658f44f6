"""The port to agents: programs that are given a goal and a directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from prjury.errors import CannotJudgeError
from prjury.jury.library.agent import AgentClient


class Agents(Protocol):
    """Starts agents, contained and with no secret but their own."""

    def client(self, command: str, env: Sequence[str], timeout: float) -> AgentClient:
        """A way to the agent.

        Args:
            command: one line for ``/bin/sh``.
            env: names of variables that it gets.
            timeout: seconds for each goal.

        Raises:
            CannotJudgeError: where none may be started.
        """


@dataclass(frozen=True)
class NoAgents:
    """No agent is started (`Agents`).

    Attributes:
        why: for the reader.
        label: the machine-readable reason.
    """

    why: str = "agents are started by `prjury review` alone, not in a stage of its own"
    label: str = "agents_not_started"

    def client(self, command: str, env: Sequence[str], timeout: float) -> AgentClient:  # noqa: ARG002 - it refuses
        """Raises CannotJudgeError."""
        raise CannotJudgeError(self.why, reason=self.label)
