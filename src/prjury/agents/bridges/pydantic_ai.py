"""Agents of pydantic-ai (an extra): as clients, and with a jury as their output validator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from prjury.agents.bridges import is_accepted
from prjury.jury.context import JudgmentContext
from prjury.jury.jury import Voter
from prjury.jury.library.agent import AgentResult
from prjury.jury.library.execution import output_of, usage_of

OutputT = TypeVar("OutputT")


@dataclass(frozen=True)
class PydanticAgent:
    """A `pydantic_ai.Agent` as an `AgentClient`.

    ``evaluate(goal, PydanticAgent(agent), jury)``, ``improve(...)`` and `AgentJudge` take it. The
    result's metadata has the tokens and requests of the run, and ``tools``: what was called.

    Args:
        agent: the agent.
        deps: makes its dependencies of the workspace; without it, it gets none.
    """

    agent: Any = field(repr=False)  # it may show its key
    deps: Callable[[Path | None], Any] | None = None

    async def run(self, goal: str, workspace: Path | None, /) -> AgentResult:
        keywords = {"deps": self.deps(workspace)} if self.deps else {}
        done = await self.agent.run(goal, **keywords)
        parts = [part for message in done.all_messages() for part in message.parts]
        tools = [part.tool_name for part in parts if part.part_kind == "tool-call"]
        return AgentResult(output_of(done) or "", metadata={**usage_of(done), "tools": tools})


def accepted_by(
    jury: Voter[JudgmentContext, Any], goal: str, workspace: Path | None = None
) -> Callable[[OutputT], Awaitable[OutputT]]:
    """An output validator: ``agent.output_validator(accepted_by(jury, goal))``.

    What the jury fails goes back to the model with the feedback, as often as the agent retries;
    what it cannot judge raises `CannotJudgeError`.
    """

    async def validate(output: OutputT) -> OutputT:
        from pydantic_ai import ModelRetry  # noqa: PLC0415 - an extra

        text = output_of({"output": output})
        verdict = await jury.vote_async(JudgmentContext(goal, workspace, text))
        if is_accepted(verdict):
            return output
        raise ModelRetry(verdict.feedback())

    return validate
