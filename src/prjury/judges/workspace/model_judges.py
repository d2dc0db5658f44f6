"""Judges that ask models about a directory: an agent's work, an answer and its context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from msgspec import structs

from prjury.deadline import Deadline
from prjury.git.directory import open_directory
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import ALL_CALLS, ModelBackedJudge
from prjury.judges.quality.kinds import quality, testing
from prjury.judges.quality.kinds.agent_work import NAME as CORRECTNESS
from prjury.judges.quality.kinds.agent_work import correctness
from prjury.judges.quality.kinds.grounded import inquiry_about
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

_Ask: TypeAlias = Callable[[JudgmentContext], Judgment]


def model_judge(
    name: str,
    ports: Ports,
    environ: Mapping[str, str],
    model: str = "auto",
    **options: Any,  # noqa: ANN401 - as the catalog has them
) -> FunctionJudge[JudgmentContext]:
    """Make the judge of this name; its own options besides ``runs`` and ``threshold``."""
    panel = ModelPanel(ModelsConfig(), LimitsConfig(), environ, flag=model, recorder=ports.journal)
    panel.panel()  # an unknown model is refused before anything is read
    ports = structs.replace(ports, models=panel, memory=memory_at(environ, panel.secret))
    asking: dict[str, Any] = {"model": model}
    for key in options.keys() & {"runs", "threshold"}:
        asking[key] = options.pop(key)
    if name == testing.NAME:
        ask = _ask_of_lines(testing.make, QuestionOptions(**asking), ports)
    elif name == quality.NAME:
        choices = read_options({**asking, **options}, QualityOptions)
        find_criteria(choices)  # an unknown criterion is refused before anything is read
        ask = _ask_of_lines(quality.make, choices, ports)
    elif name == CORRECTNESS:
        ask = _ask_of_work(ports, QuestionOptions(**{"threshold": 1.0, **asking}), **options)
    else:
        ask = _ask_of_answer(name, ports, asking, **options)
    return FunctionJudge(
        lambda context: judge_or_error(lambda: ask(context)),
        name,
        f"asks a model about a directory: {name}",
        type=JudgeType.LLM_POWERED,
    )


def _ask_of_work(ports: Ports, options: QuestionOptions, output: str | None = None) -> _Ask:
    """Ask if the work in the workspace reaches the goal; ``output`` is what the worker said."""
    inquiry = correctness(all_files, ports.redact, options.threshold)

    def ask(context: JudgmentContext) -> Judgment:
        words = context.agent_output if output is None else Workspace.of(context).text(output)
        judge = ModelBackedJudge(inquiry, ports.models.panel(), options.runs, ports.memory)
        return judge.judge(replace(context, agent_output=words))

    return ask


def _ask_of_answer(
    name: str,
    ports: Ports,
    asking: Mapping[str, Any],
    context: list[str],
    answer: str | None = None,
    question: str | None = None,
) -> _Ask:
    """Ask about an answer by files of the workspace; of the agent's own answer if none is named."""
    runs = QuestionOptions(**asking).runs

    def ask(work: JudgmentContext) -> Judgment:
        place = Workspace.of(work)
        rag = RagContext(
            work.goal if question is None else question,
            work.agent_output if answer is None else place.text(answer),
            {path: place.text(path) for path in context},
        )
        inquiry = inquiry_about(name, rag, ports.redact, asking.get("threshold"))
        return ModelBackedJudge(inquiry, ports.models.panel(), runs, ports.memory).judge(work)

    return ask


def _ask_of_lines(
    make: Callable[[Any, Ports], ModelBackedJudge[PullRequestContext]],
    options: QuestionOptions,
    ports: Ports,
) -> _Ask:
    """Ask a judge of pull requests about a directory, every line of which counts as added.

    Instructions to judges that the directory itself holds are not heard: it is the work.
    """

    def ask(context: JudgmentContext) -> Judgment:
        directory = open_directory(Workspace.of(context).root)
        change = PullRequestContext(
            context.goal,
            workspace=directory.root,
            pull=structs.replace(directory.pull, files=_add_all_lines(directory.pull)),
            deadline=Deadline.after(ALL_CALLS),
        )
        return make(options, structs.replace(ports, repository=directory)).judge(change)

    return ask


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
