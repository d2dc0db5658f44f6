"""Bridges against the real frameworks, each with its own scripted model; nothing is contacted."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from agents import Agent as SdkAgent
from agents import Model, RunConfig, Usage, function_tool
from agents import ModelResponse as SdkResponse
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from prjury import (
    AgentJudge,
    ConsensusVoting,
    Judgment,
    JudgmentContext,
    Jury,
    Status,
    evaluate,
    improve,
)
from prjury.agents.bridges.langchain import LangChainAgent, jury_node
from prjury.agents.bridges.openai_agents import OpenAIAgent
from prjury.agents.bridges.pydantic_ai import PydanticAgent, accepted_by
from prjury.errors import CannotJudgeError


def polite(context: JudgmentContext) -> Judgment:
    said = context.agent_output or ""
    if said == "?":
        return Judgment.abstained("nobody knows")
    return Judgment.passed("polite") if "please" in said else Judgment.failed("say please")


JURY = Jury([polite], ConsensusVoting())


def look() -> str:
    """Looks around."""
    return "a kettle"


class TestPydanticAi:
    @staticmethod
    def agent(*answers: str, **options: Any) -> Any:
        script = iter(answers)

        def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            text = next(script)
            part = ToolCallPart("look", {}) if text == "(look)" else TextPart(text)
            return ModelResponse(parts=[part])

        return Agent(FunctionModel(reply), **options)

    def test_its_work_is_evaluated(self, tmp_path: Path) -> None:
        agent = self.agent("(look)", "tea, please", deps_type=Path)

        agent.tool_plain(look)

        client = PydanticAgent(agent, deps=lambda workspace: workspace)
        result, verdict = evaluate("ask for tea", client, JURY, tmp_path)
        assert result, verdict
        assert (result.output, verdict.status) == ("tea, please", Status.PASS)
        assert result.metadata["tools"] == ("look",)
        assert result.metadata["requests"] == 2
        assert result.metadata["output_tokens"] > 0

    def test_feedback_reaches_the_next_round(self) -> None:
        done = improve("ask for tea", PydanticAgent(self.agent("tea!", "tea, please")), JURY)
        assert (done.stopped, len(done.rounds)) == ("passed", 2)

    def test_a_jury_validates_its_output(self) -> None:
        agent = self.agent("tea!", "tea, please", retries=2)
        agent.output_validator(accepted_by(JURY, "ask for tea"))
        done = asyncio.run(agent.run("ask for tea"))
        assert done.output == "tea, please"
        assert "say please" in str(done.all_messages()[2])

    def test_what_cannot_be_judged_is_not_accepted(self) -> None:
        agent = self.agent("?")
        agent.output_validator(accepted_by(JURY, "ask for tea"))
        with pytest.raises(CannotJudgeError, match="nobody knows"):
            asyncio.run(agent.run("ask for tea"))


class TestLangChain:
    @staticmethod
    def model(*answers: str) -> Any:
        usage: Any = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
        messages: Sequence[Any] = [AIMessage(text, usage_metadata=usage) for text in answers]
        return FakeMessagesListChatModel(responses=list(messages))

    def graph(self, *answers: str, rounds: int = 3) -> Any:
        model = self.model(*answers)

        async def agent(state: Any) -> Any:
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("agent", agent)
        node: Any = jury_node(JURY, "agent", max_rounds=rounds)
        graph.add_node("jury", node, destinations=("agent", END))
        graph.add_edge(START, "agent")
        graph.add_edge("agent", "jury")
        return graph.compile()

    def test_a_graph_is_evaluated_and_a_jury_is_a_node_of_it(self, tmp_path: Path) -> None:
        assert pickle.dumps(LangChainAgent("tea"))
        client = LangChainAgent(self.graph("tea!", "tea, please"))
        result, verdict = evaluate("ask for tea", client, JURY, tmp_path)
        assert result
        assert (result.output, verdict.status) == ("tea, please", Status.PASS)
        assert (result.metadata["input_tokens"], result.metadata["output_tokens"]) == (10, 4)

    def test_a_graph_ends_after_its_rounds_with_the_feedback(self) -> None:
        state = asyncio.run(
            self.graph("tea!", "tea!", rounds=2).ainvoke({"messages": [("user", "tea?")]})
        )
        assert [each.name for each in state["messages"]] == [None, None, "jury", None, "jury"]
        assert "say please" in state["messages"][-1].content

    def test_a_jury_is_a_node_of_a_graph_that_is_invoked(self) -> None:
        model = self.model("tea!", "tea, please")
        graph = StateGraph(MessagesState)
        graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_node("jury", jury_node(JURY, "agent"), destinations=("agent", END))
        graph.add_edge(START, "agent")
        graph.add_edge("agent", "jury")
        compiled: Any = graph.compile()
        state = compiled.invoke({"messages": [("user", "tea?")]})
        assert [each.name for each in state["messages"]] == [None, None, "jury", None]

    def test_a_jury_does_not_judge_its_own_words(self) -> None:
        # The same message again takes the first one's place: the last one is the feedback.
        state = asyncio.run(self.graph("tea!", rounds=2).ainvoke({"messages": [("user", "tea?")]}))
        assert [each.name for each in state["messages"]] == [None, None, "jury", "jury"]

    def test_what_cannot_be_judged_ends_no_graph_well(self) -> None:
        with pytest.raises(CannotJudgeError, match="nobody knows"):
            asyncio.run(self.graph("?").ainvoke({"messages": [("user", "tea?")]}))

    def test_a_runnable_judges(self) -> None:
        model = self.model("Answer: YES\nReasoning: hot")
        client = LangChainAgent(model, as_input=lambda goal, _: goal)
        said = AgentJudge(client, "Is it hot?").judge(JudgmentContext("make tea"))
        assert said.status is Status.PASS
        assert said.metadata["agent"]["input_tokens"] == 5


class ScriptedSdkModel(Model):
    """Answers in order; ``(look)`` calls the tool."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.heard: list[Any] = []

    async def get_response(self, *texts: Any, **given: Any) -> SdkResponse:
        self.heard.append(texts or given["input"])
        said = self.answers.pop(0)
        part: Any = ResponseFunctionToolCall(
            arguments="{}", call_id="1", name="look", type="function_call"
        )
        if said != "(look)":
            text = ResponseOutputText(text=said, type="output_text", annotations=[])
            part = ResponseOutputMessage(
                id="1", type="message", role="assistant", status="completed", content=[text]
            )
        return SdkResponse([part], Usage(requests=1, input_tokens=5, output_tokens=2), None)

    def stream_response(self, *args: Any, **options: Any) -> Any:
        raise NotImplementedError


class TestOpenAIAgents:
    @staticmethod
    def client(model: Model, **options: Any) -> OpenAIAgent:
        agent = SdkAgent("assistant", model=model, tools=[function_tool(look)])
        return OpenAIAgent(agent, run_config=RunConfig(tracing_disabled=True), **options)

    def test_its_work_is_evaluated(self, tmp_path: Path) -> None:
        places: list[Path | None] = []
        client = self.client(ScriptedSdkModel("(look)", "tea, please"), context=places.append)
        result, verdict = evaluate("ask for tea", client, JURY, tmp_path)
        assert result
        assert (result.output, verdict.status, places) == ("tea, please", Status.PASS, [tmp_path])
        assert result.metadata["tools"] == ("look",)
        assert (result.metadata["requests"], result.metadata["output_tokens"]) == (2, 4)

    def test_feedback_reaches_the_next_round(self) -> None:
        model = ScriptedSdkModel("tea!", "tea, please")
        done = improve("ask for tea", self.client(model), JURY)
        assert (done.stopped, len(done.rounds)) == ("passed", 2)
        assert "say please" in str(model.heard[1])
