"""Runnables of LangChain and graphs of LangGraph (extra ``langgraph``), and a jury as a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prjury.agents.bridges import is_accepted
from prjury.jury.context import JudgmentContext
from prjury.jury.jury import Voter
from prjury.jury.library.agent import AgentResult
from prjury.jury.library.execution import output_of, usage_of

_JURY = "jury"


@dataclass(frozen=True)
class LangChainAgent:
    """A graph, an agent or any other Runnable as an `AgentClient`.

    The workspace is in the configuration as ``configurable["workspace"]``. The result's metadata
    has the tokens of all messages, and ``tools``: what was called.

    Args:
        runnable: what has ``ainvoke``.
        as_input: makes its input of goal and workspace; by default a state with one message.
    """

    runnable: Any = field(repr=False)  # it may show its key
    as_input: Callable[[str, Path | None], Any] | None = None

    async def run(self, goal: str, workspace: Path | None, /) -> AgentResult:
        config = {"configurable": {"workspace": str(workspace) if workspace else None}}
        make_input = self.as_input or (lambda goal, _: {"messages": [("user", goal)]})
        done = await self.runnable.ainvoke(make_input(goal, workspace), config=config)
        messages = done.get("messages") if isinstance(done, Mapping) else None
        usage, tools = Counter[str](), list[str]()
        for message in messages if isinstance(messages, Sequence) else [done]:
            usage.update({key: int(n) for key, n in usage_of(message).items() if key != "usd"})
            tools += [str(call["name"]) for call in getattr(message, "tool_calls", None) or ()]
        return AgentResult(output_of(done) or "", metadata={**usage, "tools": tools})


def jury_node(jury: Voter[JudgmentContext, Any], back_to: str, *, max_rounds: int = 3) -> Any:  # noqa: ANN401 - a Runnable of LangChain's
    """A node of a graph whose state has messages: it judges the last one; the first is the goal.

    What the jury passes ends the graph. What it fails goes back to a node with the feedback as a
    message of the user ``jury``; once ``max_rounds`` attempts have failed, the graph ends with that
    message as its last one. What it cannot judge raises `CannotJudgeError`.

    ``graph.add_node("jury", jury_node(jury, "agent"), destinations=("agent", END))``
    """
    from langchain_core.messages import HumanMessage  # noqa: PLC0415 - an extra
    from langchain_core.runnables import RunnableLambda  # noqa: PLC0415 - an extra
    from langgraph.graph import END  # noqa: PLC0415 - an extra
    from langgraph.types import Command  # noqa: PLC0415 - an extra

    def read(state: Any) -> JudgmentContext:  # noqa: ANN401 - a state of LangGraph's
        first, *rest = state["messages"]
        work = [each for each in rest if getattr(each, "name", None) != _JURY] or [first]
        return JudgmentContext(output_of(first) or "", agent_output=output_of(work[-1]))

    def go_on(state: Any, verdict: Any) -> Any:  # noqa: ANN401 - a command of LangGraph's
        if is_accepted(verdict):
            return Command(goto=END)
        message = HumanMessage(verdict.feedback(), name=_JURY)
        rounds = 1 + sum(getattr(each, "name", None) == _JURY for each in state["messages"])
        goto = END if rounds >= max_rounds else back_to
        return Command(update={"messages": [message]}, goto=goto)

    async def judge(state: Any) -> Any:  # noqa: ANN401 - a state of LangGraph's
        return go_on(state, await jury.vote_async(read(state)))

    return RunnableLambda(lambda state: go_on(state, jury.vote(read(state))), judge)
