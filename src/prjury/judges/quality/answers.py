"""Judges of answers that are values in memory: no workspace is needed, a model's client is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

from prjury.judges.quality.judge import Inquiry, ModelBackedJudge
from prjury.judges.quality.kinds import (
    RagContext,
    group_texts_by_criterion,
    make_goal_inquiry,
    make_rag_inquiry,
)
from prjury.judges.workspace.files import judge_or_error
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.jury.library.model_judge import JudgeModel, ModelReply, asker
from prjury.models.client import ModelClient, TextModel
from prjury.ports import Panel
from prjury.report.sanitise import BY_SHAPE, join_lines

#: Characters of a statement in a report.
_LONGEST = 2_000


@dataclass(frozen=True)
class _AnswerJudge:
    """What these judges have in common.

    Args:
        model: a `ModelClient`, another `JudgeModel`, or a function from prompt to reply.
        threshold: the share of what is asked that has to pass; None for the judge's own.
        runs: how often the model is asked, each time by itself; the majority counts.
    """

    model: JudgeModel | Callable[[str], ModelReply] = field(repr=False)
    _: KW_ONLY
    threshold: float | None = None
    runs: int = 1
    type: JudgeType = JudgeType.LLM_POWERED

    def __post_init__(self) -> None:
        asker(self.model)
        if self.threshold is not None and not 0.0 <= self.threshold <= 1.0:
            raise ValueError(f"a threshold is in 0..1, not {self.threshold}")
        if self.runs < 1:
            raise ValueError(f"a model is asked at least once, not {self.runs} times")

    def _inquire(self, inquiry: Inquiry[JudgmentContext], context: JudgmentContext) -> Judgment:
        model = self.model
        chat = model.model if isinstance(model, ModelClient) else TextModel(asker(model))
        return ModelBackedJudge(inquiry, Panel((chat,)), self.runs).judge(context)


@dataclass(frozen=True)
class CorrectnessJudge(_AnswerJudge):
    """Compares the work with the goal: the context's diff and output, or its files.

    The files of the context's workspace are the work where it has some, and no diff.
    """

    name: str = field(default="correctness", kw_only=True)

    def judge(self, context: JudgmentContext | RagContext, /) -> Judgment:
        """Return PASS or FAIL; ABSTAIN without a goal or work, ERROR where it cannot be read."""
        from prjury.judges.workspace.directory import all_files  # noqa: PLC0415 - it loads packs

        work = context
        if isinstance(work, RagContext):
            work = JudgmentContext(work.question or "", agent_output=work.answer)

        def compare() -> Judgment:
            is_in_files = work.workspace is not None and not work.diff
            files = all_files(work) if is_in_files else ()
            threshold = 1.0 if self.threshold is None else self.threshold
            inquiry = make_goal_inquiry((lambda _: files) if files else None, BY_SHAPE, threshold)
            return self._inquire(inquiry, work)

        return judge_or_error(compare)


@dataclass(frozen=True)
class _RagJudge(_AnswerJudge):
    """A judge of a `RagContext`, or of a context with documents.

    Args:
        documents: what was retrieved, where the context does not say: texts, texts by name, or a
            retriever's documents. Without them ``metadata["documents"]`` counts.
    """

    NAME: ClassVar[str]

    documents: Mapping[str, Any] | Sequence[Any] | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "name", self.name or self.NAME)

    def judge(self, context: JudgmentContext | RagContext, /) -> Judgment:
        """Return PASS or FAIL, with a check for each statement or document.

        ``metadata["subjects"]`` says what the checks' names stand for. ABSTAIN ``not_applicable``
        where there is no answer, or no question; ``no_documents`` where nothing was retrieved.
        """
        rag = context if isinstance(context, RagContext) else RagContext.of(context, self.documents)
        inquiry = make_rag_inquiry(self.NAME, rag, BY_SHAPE, self.threshold)
        judgment = self._inquire(inquiry, JudgmentContext(rag.question or ""))
        about = group_texts_by_criterion(self.NAME, rag).items()
        subjects = {name: join_lines(text, _LONGEST, BY_SHAPE) for name, (_, text) in about}
        return judgment.with_metadata(subjects=subjects)


class FaithfulnessJudge(_RagJudge):
    """Asks whether every statement of an answer follows from its documents.

    The score is the share of statements that do.
    """

    NAME = "faithfulness"


class HallucinationJudge(_RagJudge):
    """Asks whether an answer names nothing that its documents do not have; PASS where it does not.

    The score is the share of statements that are free of it.
    """

    NAME = "hallucination"


class ContextualRelevanceJudge(_RagJudge):
    """Asks whether the question can be answered from the documents, and which of them bear on it.

    The score is the share of documents that do, 0 where the question cannot be answered.
    """

    NAME = "contextual-relevance"
