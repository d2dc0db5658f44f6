"""Agents of the OpenAI Agents SDK (an extra) as clients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prjury.jury.library.agent import AgentResult
from prjury.jury.library.execution import output_of, usage_of


@dataclass(frozen=True)
class OpenAIAgent:
    """An `agents.Agent` as an `AgentClient`.

    The result's metadata has the tokens and requests of the run, and ``tools``: what was called.

    Args:
        agent: the agent.
        context: makes the run's context of the workspace; without it, it gets none.
        run_config: an `agents.RunConfig`, such as one that names a model or turns tracing off.
    """

    agent: Any = field(repr=False)  # it may show its key
    context: Callable[[Path | None], Any] | None = None
    run_config: Any = None

    async def run(self, goal: str, workspace: Path | None, /) -> AgentResult:
        from agents import Runner  # noqa: PLC0415 - an extra

        own_context = self.context(workspace) if self.context else None
        done = await Runner.run(self.agent, goal, context=own_context, run_config=self.run_config)
        calls = [each for each in done.new_items if each.type == "tool_call_item"]
        tools = [call.tool_name or "a tool of the provider's" for call in calls]
        usage = usage_of(done.context_wrapper)
        return AgentResult(output_of(done) or "", metadata={**usage, "tools": tools})
