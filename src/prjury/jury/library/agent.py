"""An agent as a judge: it is given a goal and a workspace, and what it reports is classified."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, overload, runtime_checkable

from prjury.jury.context import ExecutionStatus, JudgmentContext
from prjury.jury.frozen import freeze
from prjury.jury.judge import ContextT, JudgeType
from prjury.jury.judgment import Judgment
from prjury.jury.library.execution import perform, waited_for
from prjury.jury.library.model_judge import classified, failure, filled, with_question
from prjury.jury.library.replies import (
    Classifier,
    asks_confidence,
    requires,
    with_confidence,
    yes_or_no,
)
from prjury.jury.library.template import template_of


@dataclass(frozen=True)
class AgentResult:
    """How an agent's work ended.

    Attributes:
        output: what the agent said, or reports of its work.
        status: how it ended.
        error: what went wrong, if anything did.
        metadata: whatever else the agent knows (tokens, steps); JSON.

    Raises:
        ValueError: for a status that does not exist, or metadata that is not JSON.
        TypeError: for an output or an error that is not text.
    """

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
        """Lets the agent pursue the goal in the workspace, and returns how that ended."""
        ...


#: A plain or async function in the place of a client: of the goal, or of goal and workspace.
AgentFunction: TypeAlias = Callable[[str], AgentReply] | Callable[[str, Any], AgentReply]


@dataclass(frozen=True)
class FunctionAgent:
    """A function as an agent's client.

    Raises:
        TypeError: for something that cannot be called.
    """

    function: AgentFunction

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"{self.function!r} is neither a client with run() nor a function")

    def run(self, goal: str, workspace: Path | None, /) -> AgentReply:
        """What the function makes of the goal."""
        function: Callable[..., AgentReply] = self.function
        given = (goal, workspace)
        return function(*given[: 2 if requires(function, 2) else 1])


def run_agent(client: AgentClient, goal: str, workspace: Path | None) -> AgentResult:
    """The result of the client's agent, waited for."""
    return result_of(waited_for(client.run(goal, workspace)))


def result_of(reply: object) -> AgentResult:
    """An agent's reply as a result; a text alone is the output of a success.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(reply, str):
        return AgentResult(reply)
    if not isinstance(reply, AgentResult):
        raise TypeError(f"the client returned a {type(reply).__name__} instead of an AgentResult")
    return reply


@dataclass(frozen=True, init=False)
class AgentJudge(Generic[ContextT]):
    """A judge that lets an agent look: at the context's workspace, if it has one.

    Args:
        client: the way to the agent, or a function from goal and workspace to its answer.
        goal: what the agent is to find out: a text with placeholders (`Template`), or a function
            from the context to the goal. A goal that comes out blank is not pursued:
            the judge abstains, ``nothing_to_ask``.
        classify: a function from the agent's output to a judgment.
        name: the name on ballots.
        description: what the agent looks at, in words.

    Raises:
        ValueError: for a goal with a placeholder that is not known.
        TypeError: for a goal that is neither text nor a function, or a client that cannot run.
    """

    client: AgentClient = field(repr=False)  # a client may show its key
    goal: Callable[[ContextT], str]
    classify: Classifier
    name: str
    description: str
    type: JudgeType = JudgeType.AGENT

    @overload
    def __init__(
        self: AgentJudge[JudgmentContext],
        client: AgentClient | AgentFunction,
        goal: str,
        classify: Classifier = ...,
        name: str = ...,
        description: str = ...,
    ) -> None: ...
    @overload
    def __init__(
        self,
        client: AgentClient | AgentFunction,
        goal: Callable[[ContextT], str],
        classify: Classifier = ...,
        name: str = ...,
        description: str = ...,
    ) -> None: ...
    def __init__(
        self,
        client: AgentClient | AgentFunction,
        goal: str | Callable[[ContextT], str],
        classify: Classifier = yes_or_no,
        name: str = "agent",
        description: str = "",
    ) -> None:
        self.__dict__.update(  # the class is frozen, and takes texts where it holds functions
            client=client if isinstance(client, AgentClient) else FunctionAgent(client),
            goal=template_of(goal),
            classify=classify,
            name=name,
            description=description,
        )

    def judge(self, context: ContextT, /) -> Judgment:
        """What the classifier makes of the agent's output.

        ERROR where the agent did not come to an end, by its own account or by what its client
        raises: ``agent_failed``, ``timeout`` or ``cancelled``; ``reply_invalid`` when its output is
        empty.

        Raises:
            TypeError: when the goal's answer is not text or the classifier's not a judgment.
        """
        goal = filled(self.goal, context)
        if not goal.strip():
            return Judgment.abstained("there is nothing to look for", "nothing_to_ask")
        place = getattr(context, "workspace", None)
        done = perform(lambda: run_agent(self.client, goal, place))
        result = done.result or AgentResult("", done.status, done.error)
        if result.status not in {ExecutionStatus.SUCCESS, ExecutionStatus.UNKNOWN}:
            return failure("agent", result.status, result.error, done.reason)
        return classified(result.output, self.classify, self.name, context)

    def asking_confidence(self) -> AgentJudge[ContextT]:
        """The same judge that also asks the agent how sure it is, unless an `assessment` does."""
        if asks_confidence(self.classify):
            return self
        goal, classify = with_question(self.goal), with_confidence(self.classify)
        return AgentJudge(self.client, goal, classify, self.name, self.description)
