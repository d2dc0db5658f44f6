"""Judges that ask models about a directory: an agent's work, an answer and its context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from prjury.deadline import Deadline
from prjury.git.directory import open_directory
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import ALL_CALLS, Inquiry, ModelBackedJudge
from prjury.judges.quality.kinds import quality, testing
from prjury.judges.quality.kinds.agent_work import NAME as CORRECTNESS
from prjury.judges.quality.kinds.agent_work import correctness
from prjury.judges.quality.kinds.grounded import ABOUT, inquiry_about
from prjury.judges.quality.kinds.quality import chosen
from prjury.judges.quality.rag import RagContext
from prjury.judges.workspace.catalog import RunTexts
from prjury.judges.workspace.files import Workspace, answered
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import FunctionJudge, Judge, JudgeType
from prjury.jury.judgment import Judgment
from prjury.models.memory import memory_at
from prjury.models.panel import ModelPanel
from prjury.policy.models import ModelsConfig
from prjury.policy.schema import LimitsConfig
from prjury.policy.tiers import QualityOptions, QuestionOptions
from prjury.ports import Ports
from prjury.snapshot.model import FileChange, Hunk, PullRequest


def model_judge(
    name: str,
    around: RunTexts,
    asking: Mapping[str, Any],
    **options: Any,  # noqa: ANN401 - the judge's own, as the catalog has them
) -> Judge[JudgmentContext]:
    """The judge of this name.

    Args:
        asking: ``model``, ``runs`` and ``threshold``; everything has to pass unless a judge of
            changes is asked for, or a threshold is given.
    """
    if name == testing.NAME:
        return _over_directory(name, around, testing.make, QuestionOptions(**asking))
    if name == quality.NAME:
        return _over_directory(name, around, quality.make, _quality_options(asking, **options))
    strict = QuestionOptions(**{"threshold": 1.0, **asking})
    if name == CORRECTNESS:
        return _correctness(around, strict, **options)
    return _grounded(name, around, asking, **options)


def _asked(
    inquiry: Inquiry[JudgmentContext], around: RunTexts, asking: QuestionOptions
) -> Callable[[JudgmentContext], Judgment]:
    models = _models(around, asking.model)
    memory = memory_at(around.environ, models.secret)
    return ModelBackedJudge(inquiry, models.panel(), asking.runs, memory).judge


def _models(around: RunTexts, model: str) -> ModelPanel:
    return ModelPanel(
        ModelsConfig(), LimitsConfig(), around.environ, flag=model, recorder=around.journal
    )


def _correctness(
    around: RunTexts, asking: QuestionOptions, *, output: str | None = None
) -> Judge[JudgmentContext]:
    """Whether the work in the workspace reaches the goal.

    Args:
        output: a file of the workspace with what the worker said.
    """
    inquiry = correctness(all_files, around.redact, asking.threshold)
    ask = _asked(inquiry, around, asking)

    def judged(context: JudgmentContext) -> Judgment:
        said = context.agent_output if output is None else Workspace.of(context).text(output)
        return ask(replace(context, agent_output=said))

    return _answering(CORRECTNESS, inquiry.about, judged)


def _grounded(
    name: str,
    around: RunTexts,
    asking: Mapping[str, Any],
    *,
    context: list[str],
    answer: str | None = None,
    question: str | None = None,
) -> Judge[JudgmentContext]:
    """A judge of answers and contexts.

    Args:
        context: files of the workspace.
        answer: a file of the workspace; the context's agent output if None.
        question: the question itself; the context's goal if None.
    """
    options = QuestionOptions(**asking)
    threshold = asking.get("threshold")
    _models(around, options.model)  # a model that nobody knows is said before anything is read

    def judged(asked: JudgmentContext) -> Judgment:
        place = Workspace.of(asked)
        rag = RagContext(
            asked.goal if question is None else question,
            asked.agent_output if answer is None else place.text(answer),
            {path: place.text(path) for path in context},
        )
        inquiry = inquiry_about(name, rag, around.redact, threshold)
        return _asked(inquiry, around, options)(asked)

    return _answering(name, ABOUT[name], judged)


def _quality_options(asking: Mapping[str, Any], **own: list[str]) -> QualityOptions:
    try:
        options = QualityOptions.model_validate({**asking, **own})
    except ValidationError as error:
        raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
    chosen(options)  # a criterion that nobody knows is said before anything is read
    return options


def _over_directory(
    name: str,
    around: RunTexts,
    make: Callable[[Any, Ports], ModelBackedJudge[PullRequestContext]],
    options: QuestionOptions,
) -> Judge[JudgmentContext]:
    """A judge of pull requests over a directory, every line of which counts as added.

    What the directory itself would instruct judges is not heard: it is the work, and the nothing
    that it is added to has no instructions.
    """
    models = _models(around, options.model)
    models.panel()  # a model that nobody knows is said before anything is read
    memory = memory_at(around.environ, models.secret)

    def judged(context: JudgmentContext) -> Judgment:
        directory = open_directory(Workspace.of(context).root)
        ports = Ports(
            directory,
            around.shell,
            around.progress,
            models=models,
            memory=memory,
            redact=around.redact,
        )
        pull = directory.pull
        asked = PullRequestContext(
            context.goal,
            workspace=directory.root,
            pull=replace(pull, files=_all_lines(pull)),
            deadline=Deadline.after(ALL_CALLS),
        )
        return make(options, ports).judge(asked)

    return _answering(name, f"asks a model about every line of a directory: {name}", judged)


def all_files(context: JudgmentContext) -> tuple[FileChange, ...]:
    """Every file of the workspace that people read, with all its lines as added ones."""
    return _all_lines(open_directory(Workspace.of(context).root).pull)


def _all_lines(pull: PullRequest) -> tuple[FileChange, ...]:
    return tuple(_whole(file) for file in pull.files if file.readable)


def _whole(file: FileChange) -> FileChange:
    lines = tuple(file.added_lines)
    hunks = (Hunk(0, 0, 1, len(lines), "", lines),) if lines else ()
    return FileChange(
        file.path,
        file.status,
        file.kind,
        additions=len(lines),
        new_blob=file.new_blob,
        new_mode=file.new_mode,
        hunks=hunks,
        unread=file.unread,
    )


def _answering(
    name: str, about: str, judged: Callable[[JudgmentContext], Judgment]
) -> Judge[JudgmentContext]:
    """The function as a judge, for which a workspace that cannot be read is an error."""
    return FunctionJudge(
        lambda context: answered(lambda: judged(context)),
        name,
        about,
        type=JudgeType.LLM_POWERED,
    )
