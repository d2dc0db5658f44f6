"""Judges that ask models about a directory: an agent's work, an answer and its context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs

from prjury.deadline import Deadline
from prjury.git.directory import open_directory
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import ALL_CALLS, Inquiry, ModelBackedJudge
from prjury.judges.quality.kinds import quality, testing
from prjury.judges.quality.kinds.agent_work import NAME as CORRECTNESS
from prjury.judges.quality.kinds.agent_work import correctness
from prjury.judges.quality.kinds.grounded import ABOUT, inquiry_about
from prjury.judges.quality.kinds.quality import find_criteria
from prjury.judges.quality.rag import RagContext
from prjury.judges.workspace.files import Workspace, judge_or_error
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import FunctionJudge, JudgeType
from prjury.jury.judgment import Judgment
from prjury.models.memory import memory_at
from prjury.models.panel import ModelPanel
from prjury.policy.load import read_options
from prjury.policy.models import ModelsConfig
from prjury.policy.schema import LimitsConfig
from prjury.policy.tiers import QualityOptions, QuestionOptions
from prjury.ports import Ports
from prjury.snapshot.model import FileChange, Hunk, PullRequest


def model_judge(
    name: str,
    ports: Ports,
    environ: Mapping[str, str],
    asking: Mapping[str, Any],
    **options: Any,  # noqa: ANN401 - the judge's own, as the catalog has them
) -> FunctionJudge[JudgmentContext]:
    """Make the judge of this name, ``asking`` with a ``model``, ``runs`` and a ``threshold``."""
    model = asking.get("model", "auto")
    panel = ModelPanel(ModelsConfig(), LimitsConfig(), environ, flag=model, recorder=ports.journal)
    panel.panel()  # an unknown model is refused before anything is read
    memory = memory_at(environ, panel.secret)
    ports = structs.replace(ports, models=panel, memory=memory)
    if name == testing.NAME:
        return _judge_lines(name, ports, testing.make, QuestionOptions(**asking))
    if name == quality.NAME:
        return _judge_lines(name, ports, quality.make, _quality_options(asking, **options))
    if name == CORRECTNESS:
        return _judge_work(ports, QuestionOptions(**{"threshold": 1.0, **asking}), **options)
    return _make_answer_judge(name, ports, asking, **options)


def _ask_models(
    inquiry: Inquiry[JudgmentContext], ports: Ports, runs: int
) -> Callable[[JudgmentContext], Judgment]:
    return ModelBackedJudge(inquiry, ports.models.panel(), runs, ports.memory).judge


def _judge_work(
    ports: Ports, options: QuestionOptions, *, output: str | None = None
) -> FunctionJudge[JudgmentContext]:
    """Judge if the work in the workspace reaches the goal; ``output`` is what the worker said."""
    inquiry = correctness(all_files, ports.redact, options.threshold)
    ask = _ask_models(inquiry, ports, options.runs)

    def judge(context: JudgmentContext) -> Judgment:
        words = context.agent_output if output is None else Workspace.of(context).text(output)
        return ask(replace(context, agent_output=words))

    return _function_judge(CORRECTNESS, inquiry.about, judge)


def _make_answer_judge(
    name: str,
    ports: Ports,
    asking: Mapping[str, Any],
    *,
    context: list[str],
    answer: str | None = None,
    question: str | None = None,
) -> FunctionJudge[JudgmentContext]:
    """Judge an answer by files of the workspace, if not named the agent's output to its goal."""
    options = QuestionOptions(**asking)

    def judge(goal: JudgmentContext) -> Judgment:
        place = Workspace.of(goal)
        rag = RagContext(
            goal.goal if question is None else question,
            goal.agent_output if answer is None else place.text(answer),
            {path: place.text(path) for path in context},
        )
        inquiry = inquiry_about(name, rag, ports.redact, asking.get("threshold"))
        return _ask_models(inquiry, ports, options.runs)(goal)

    return _function_judge(name, ABOUT[name], judge)


def _quality_options(asking: Mapping[str, Any], **own: list[str]) -> QualityOptions:
    options = read_options({**asking, **own}, QualityOptions)
    find_criteria(options)  # an unknown criterion is refused before anything is read
    return options


def _judge_lines(
    name: str,
    ports: Ports,
    make: Callable[[Any, Ports], ModelBackedJudge[PullRequestContext]],
    options: QuestionOptions,
) -> FunctionJudge[JudgmentContext]:
    """Have a judge of pull requests judge a directory, every line of which counts as added.

    Instructions to judges that the directory itself holds are not heard: it is the work.
    """

    def judge(context: JudgmentContext) -> Judgment:
        directory = open_directory(Workspace.of(context).root)
        pull_context = PullRequestContext(
            context.goal,
            workspace=directory.root,
            pull=structs.replace(directory.pull, files=_add_all_lines(directory.pull)),
            deadline=Deadline.after(ALL_CALLS),
        )
        return make(options, structs.replace(ports, repository=directory)).judge(pull_context)

    return _function_judge(name, f"asks a model about every line of a directory: {name}", judge)


def all_files(context: JudgmentContext) -> tuple[FileChange, ...]:
    """List every file of the workspace that people read, with all its lines as added ones."""
    return _add_all_lines(open_directory(Workspace.of(context).root).pull)


def _add_all_lines(pull: PullRequest) -> tuple[FileChange, ...]:
    files = []
    for file in pull.files:
        if file.readable:
            lines = tuple(file.added_lines)
            hunks = (Hunk(0, 0, 1, len(lines), "", lines),) if lines else ()
            files.append(structs.replace(file, additions=len(lines), deletions=0, hunks=hunks))
    return tuple(files)


def _function_judge(
    name: str, about: str, judge: Callable[[JudgmentContext], Judgment]
) -> FunctionJudge[JudgmentContext]:
    return FunctionJudge(
        lambda context: judge_or_error(lambda: judge(context)),
        name,
        about,
        type=JudgeType.LLM_POWERED,
    )
