"""Judges of pull requests over a directory, every line of which counts as added: rules, models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from msgspec import structs

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.git.directory import list_directory
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.baseline import baseline_text
from prjury.judges.patterns.judge import NAME as PATTERNS
from prjury.judges.patterns.judge import PatternsJudge
from prjury.judges.patterns.selection import PackSelection
from prjury.judges.quality import kinds
from prjury.judges.quality.judge import ALL_CALLS, ModelBackedJudge
from prjury.judges.quality.kinds import CORRECTNESS, RagContext, make_goal_inquiry, make_rag_inquiry
from prjury.judges.workspace.files import Workspace, judge_or_error
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import FunctionJudge, JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import NOT_APPLICABLE
from prjury.models.memory import memory_at
from prjury.models.panel import ModelPanel
from prjury.policy.fields import is_inside
from prjury.policy.load import read_options
from prjury.policy.options import PatternsOptions
from prjury.policy.schema import LimitsConfig, ModelsConfig
from prjury.policy.tiers import QualityOptions, QuestionOptions
from prjury.ports import Ports
from prjury.report.wording import pluralize
from prjury.rulepacks.find import list_provided_packs
from prjury.rulepacks.load import load_own_packs
from prjury.scratch import replace_file
from prjury.snapshot.model import FileChange, Hunk, PullRequest, visible

_Asker: TypeAlias = Callable[[JudgmentContext], Judgment]
#: Seconds for the rules in a whole tree.
_SECONDS = 2700.0


def make(
    kind: str,
    ports: Ports,
    environ: Mapping[str, str],
    model: str = "auto",
    **options: Any,  # noqa: ANN401 - as the catalog has them
) -> FunctionJudge[JudgmentContext]:
    """Make the judge of this kind; ValueError for options that make no sense."""
    if kind == PATTERNS:
        return make_patterns_judge(**options)
    panel = ModelPanel(ModelsConfig(), LimitsConfig(), environ, flag=model, recorder=ports.journal)
    panel.panel()  # an unknown model is refused before anything is read
    ports = structs.replace(ports, models=panel, memory=memory_at(environ, panel.keys_digest))
    asking = {key: options.pop(key) for key in options.keys() & {"runs", "threshold"}}
    asking["model"] = model
    if kind == kinds.TESTS.name:
        ask = _adapt_pull_judge(kinds.make_tests, QuestionOptions(**asking), ports)
    elif kind == kinds.QUALITY:
        choices = read_options({**asking, **options}, QualityOptions)
        kinds.read_criteria(choices)  # an unknown criterion is refused before anything is read
        ask = _adapt_pull_judge(kinds.make_quality, choices, ports)
    elif kind == CORRECTNESS:
        ask = _make_goal_asker(ports, QuestionOptions(**{"threshold": 1.0, **asking}), **options)
    else:
        ask = _make_answer_asker(kind, ports, asking, **options)
    return _make_judge(kind, ask)


def make_patterns_judge(
    write_baseline: str | None = None,
    **options: Any,  # noqa: ANN401 - as `PatternsOptions` has them
) -> FunctionJudge[JudgmentContext]:
    """Make the judge of version patterns; with ``write_baseline`` it writes all findings there."""
    if write_baseline and options.get("baseline"):
        raise ValueError("baseline and write_baseline cannot be given together")
    if write_baseline is not None and not is_inside(write_baseline):
        raise ValueError("write_baseline: a path inside the directory is needed, relative to it")
    if options.get("packs") == ["auto"]:
        del options["packs"]
    choices = read_options(options, PatternsOptions)
    packs = [*list_provided_packs(choices.packs), *load_own_packs(choices.paths)]
    selection = PackSelection.of(choices.packs, packs)

    def scan_and_write_baseline(context: JudgmentContext) -> Judgment:
        workspace = Workspace.require(context)
        directory = list_directory(workspace.root)
        judge = PatternsJudge(choices, directory, selection, whole=True)
        judgment = judge.judge(_show_change(context, directory.pull, _SECONDS))
        left_out = [{"path": path, "reason": why} for path, why in directory.left_out.items()]
        scope = {**judgment.metadata.get("scope", {}), "left_out": left_out}
        judgment = judgment.with_metadata(scope=scope)
        if left_out:
            words = f"{judgment.reasoning}; {pluralize(len(left_out), 'path')} left out"
            judgment = replace(judgment, reasoning=words)
        unjudged = judgment.status is Status.ERROR or judgment.label == NOT_APPLICABLE
        if unjudged or not write_baseline:
            return judgment
        return _write_baseline_and_pass(workspace, write_baseline, judgment)

    return _make_judge(PATTERNS, scan_and_write_baseline, JudgeType.DETERMINISTIC)


def _write_baseline_and_pass(workspace: Workspace, file: str, judgment: Judgment) -> Judgment:
    entries = judgment.metadata["findings"]
    text = baseline_text((entry["rule"], entry["path"], entry["fingerprint"]) for entry in entries)
    try:
        place = workspace.locate_inside(file)
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, text.encode())
    except OSError as error:
        what = f"the baseline {visible(file)} cannot be written: {error.strerror}"
        remedy = "Name a file in a directory that can be written to"
        raise CannotJudgeError(what, remedy=remedy, reason="unwritable") from error
    message = f"{pluralize(len(entries), 'known finding')} written to {visible(file)}"
    if unread := judgment.metadata["scope"]["unread"]:
        message += f"; {pluralize(len(unread), 'file')} could not be read"
    return Judgment.passed(message, metadata=judgment.metadata)


def _show_change(context: JudgmentContext, pull: PullRequest, seconds: float) -> PullRequestContext:
    place, deadline = context.workspace, Deadline.after(seconds)
    return PullRequestContext(context.goal, workspace=place, pull=pull, deadline=deadline)


def _make_judge(
    name: str, ask: _Asker, kind: JudgeType = JudgeType.LLM_POWERED
) -> FunctionJudge[JudgmentContext]:
    about = f"judges the lines or the work of a directory: {name}"
    return FunctionJudge(lambda context: judge_or_error(lambda: ask(context)), name, about, kind)


def _make_goal_asker(ports: Ports, options: QuestionOptions, output: str | None = None) -> _Asker:
    inquiry = make_goal_inquiry(all_files, ports.redact, options.threshold)

    def ask(context: JudgmentContext) -> Judgment:
        words = context.agent_output if output is None else Workspace.require(context).text(output)
        judge = ModelBackedJudge(inquiry, ports.models.panel(), options.runs, ports.memory)
        return judge.judge(replace(context, agent_output=words))

    return ask


def _make_answer_asker(
    kind: str,
    ports: Ports,
    asking: Mapping[str, Any],
    context: list[str],
    answer: str | None = None,
    question: str | None = None,
) -> _Asker:
    """Make what asks about an answer; ``answer`` and ``context`` are paths in the workspace."""
    runs = QuestionOptions(**asking).runs

    def ask_about_answer(work: JudgmentContext) -> Judgment:
        place = Workspace.require(work)
        rag = RagContext(
            work.goal if question is None else question,
            work.agent_output if answer is None else place.text(answer),
            {path: place.text(path) for path in context},
        )
        inquiry = make_rag_inquiry(kind, rag, ports.redact, asking.get("threshold"))
        return ModelBackedJudge(inquiry, ports.models.panel(), runs, ports.memory).judge(work)

    return ask_about_answer


def _adapt_pull_judge(
    make: Callable[[Any, Ports], ModelBackedJudge[PullRequestContext]],
    options: QuestionOptions,
    ports: Ports,
) -> _Asker:
    """Ask a judge of pull requests; instructions that the directory itself holds are not heard."""

    def ask(context: JudgmentContext) -> Judgment:
        directory = list_directory(Workspace.require(context).root)
        pull = structs.replace(directory.pull, files=_mark_readable_as_added(directory.pull))
        change = _show_change(context, pull, ALL_CALLS)
        return make(options, structs.replace(ports, repository=directory)).judge(change)

    return ask


def all_files(context: JudgmentContext) -> tuple[FileChange, ...]:
    """List every file of the workspace that people read, with all its lines as added ones."""
    return _mark_readable_as_added(list_directory(Workspace.require(context).root).pull)


def _mark_readable_as_added(pull: PullRequest) -> tuple[FileChange, ...]:
    files = []
    for file in pull.files:
        if file.readable:
            lines = tuple(file.added_lines)
            hunks = (Hunk(0, 0, 1, len(lines), "", lines),) if lines else ()
            files.append(structs.replace(file, additions=len(lines), deletions=0, hunks=hunks))
    return tuple(files)
