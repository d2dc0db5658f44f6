"""An agent as a judge: it is given a goal and a workspace, and what it reports is classified.

It works in a copy of the workspace: a judge changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, overload

from prjury.agents.copies import DirectoryState, FileEdit, private_copy
from prjury.errors import CannotJudgeError
from prjury.jury.context import ExecutionStatus, JudgmentContext
from prjury.jury.judge import ContextT, JudgeType
from prjury.jury.judgment import Judgment
from prjury.jury.library.agent import (
    AgentClient,
    AgentFunction,
    AgentResult,
    FunctionAgent,
    run_agent,
)
from prjury.jury.library.execution import perform
from prjury.jury.library.model_judge import classify_reply, failure, fill_template, with_question
from prjury.jury.library.replies import Classifier, asks_confidence, with_confidence, yes_or_no
from prjury.jury.library.template import template_of

#: Files that a judgment names.
_MOST_NAMED = 20


@dataclass(frozen=True, init=False)
class AgentJudge(Generic[ContextT]):
    """A judge that lets an agent look: at the context's workspace, if it has one.

    Args:
        client: the way to the agent, or a function from goal and workspace to its answer.
        goal: a text with placeholders (`Template`), or a function from the context to the goal; on
            a blank one the judge abstains, ``nothing_to_ask``.
        classify: a function from the agent's output to a judgment.
        read_only: whether the agent gets a copy of the workspace. What it changed there is thrown
            away and named in ``metadata["undone"]``. False lets it change the workspace itself.

    Raises:
        ValueError: for a goal with a placeholder that is not known.
        TypeError: for a goal that is neither text nor a function, or a client that cannot run.
    """

    client: AgentClient = field(repr=False)  # a client may show its key
    goal: Callable[[ContextT], str]
    classify: Classifier
    name: str
    description: str
    read_only: bool = True
    type: JudgeType = JudgeType.AGENT

    @overload
    def __init__(
        self: AgentJudge[JudgmentContext],
        client: AgentClient | AgentFunction,
        goal: str,
        classify: Classifier = ...,
        name: str = ...,
        description: str = ...,
        *,
        read_only: bool = ...,
    ) -> None: ...
    @overload
    def __init__(
        self,
        client: AgentClient | AgentFunction,
        goal: Callable[[ContextT], str],
        classify: Classifier = ...,
        name: str = ...,
        description: str = ...,
        *,
        read_only: bool = ...,
    ) -> None: ...
    def __init__(
        self,
        client: AgentClient | AgentFunction,
        goal: str | Callable[[ContextT], str],
        classify: Classifier = yes_or_no,
        name: str = "agent",
        description: str = "",
        *,
        read_only: bool = True,
    ) -> None:
        self.__dict__.update(  # the class is frozen, and takes texts where it holds functions
            client=client if isinstance(client, AgentClient) else FunctionAgent(client),
            goal=template_of(goal),
            classify=classify,
            name=name,
            description=description,
            read_only=read_only,
        )

    def judge(self, context: ContextT, /) -> Judgment:
        """Return what the classifier makes of the agent's output.

        ERROR for ``agent_failed``, ``timeout``, ``cancelled``, ``reply_invalid`` (an empty output)
        and ``workspace_too_large`` (it is not copied).
        """
        if not self.read_only or not isinstance(context, JudgmentContext):
            return self._ask(context)
        if context.workspace is None or not context.workspace.is_dir():
            return self._ask(context)  # nothing here that it could change
        try:
            with private_copy(context.workspace) as copy:
                before, copied = DirectoryState.of(copy), replace(context, workspace=copy)
                judgment = self._ask(copied)
                return with_undone(judgment, before.list_edits(DirectoryState.of(copy)))
        except CannotJudgeError as error:
            return Judgment.errored(str(error), metadata={"reason": error.reason})

    def _ask(self, context: ContextT) -> Judgment:
        goal = fill_template(self.goal, context)
        if not goal.strip():
            return Judgment.abstained("there is nothing to look for", "nothing_to_ask")
        place = getattr(context, "workspace", None)
        done = perform(lambda: run_agent(self.client, goal, place))
        result = done.result or AgentResult("", done.status, done.error)
        if result.status not in {ExecutionStatus.SUCCESS, ExecutionStatus.UNKNOWN}:
            return failure("agent", result.status, result.error, done.reason)
        judgment = classify_reply(result.output, self.classify, self.name, context)
        return judgment.with_metadata(agent=result.metadata) if result.metadata else judgment

    def asking_confidence(self) -> AgentJudge[ContextT]:
        """Return the judge that also asks how sure the agent is, unless an `assessment` does."""
        if asks_confidence(self.classify):
            return self
        goal, classify = with_question(self.goal), with_confidence(self.classify)
        return AgentJudge(
            self.client, goal, classify, self.name, self.description, read_only=self.read_only
        )


def with_undone(judgment: Judgment, edits: tuple[FileEdit, ...]) -> Judgment:
    """Name in a judgment what the agent changed although it was asked to look."""
    if not edits:
        return judgment
    examples = [f"{edit.kind} {edit.path}" for edit in edits[:_MOST_NAMED]]
    count = f"{len(edits)} file{'s' if len(edits) > 1 else ''}"
    reasoning = f"{judgment.reasoning} (the agent changed {count}: undone)"
    undone = {"count": len(edits), "files": examples}
    return replace(judgment, reasoning=reasoning).with_metadata(undone=undone)
