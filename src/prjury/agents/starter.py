"""Starts the agents that a policy names (`prjury.ports.Agents`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prjury.errors import CannotJudgeError
from prjury.ports import Progress, Shell

if TYPE_CHECKING:
    from prjury.agents.command import CommandAgent


@dataclass(frozen=True)
class AgentStarter:
    """Starts agents in a contained shell, with the variables that a trusted policy names."""

    shell: Shell
    progress: Progress
    environ: Mapping[str, str] = field(repr=False)
    trusted: bool

    def client(self, command: str, env: Sequence[str], timeout: float) -> CommandAgent:
        """Return a way to the agent; raise ``policy_not_trusted`` or ``not_configured``."""
        if env and not self.trusted:
            raise CannotJudgeError(
                "the policy hands a key to an agent",
                why="it is the repository's own, and nobody has said that it is trusted",
                remedy="review with --config, or say that the policy is trusted",
                reason="policy_not_trusted",
            )
        missing = [name for name in env if not self.environ.get(name)]
        if missing:
            raise CannotJudgeError(
                f"{', '.join(missing)} is not set, which the agent needs", reason="not_configured"
            )
        from prjury.agents.command import CommandAgent  # noqa: PLC0415 - few policies name an agent

        return CommandAgent(
            command,
            timeout,
            env=env,
            environ=self.environ,
            shell=self.shell,
            progress=self.progress,
        )
