"""Answers and the documents they were given on, asked about statement by statement."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from prjury.deadline import Deadline
from prjury.judges.quality.judge import Inquiry
from prjury.judges.quality.model_seat import Material
from prjury.judges.quality.prompt_input import document
from prjury.judges.quality.prompts import Prompts
from prjury.judges.quality.rag import RELEVANCE, RagContext, list_subjects, split_statements
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Judgment
from prjury.jury.voting import NOT_APPLICABLE
from prjury.report.redact import Redact

#: The label where nothing was retrieved: nobody's fault is not said of it, so a gate asks.
NO_DOCUMENTS = "no_documents"

#: The question about a statement or a document, by judge.
_QUESTIONS: Mapping[str, str] = MappingProxyType(
    {
        "faithfulness": "Does {place} of `/answer` follow from the context, and agree with it? No "
        "if it can be quoted and the context does not support it or says otherwise. Yes as well if "
        "it states nothing.",
        "hallucination": "Is everything that {place} of `/answer` names (people, things, "
        "functions, options, sources, numbers, dates) in the context, and nothing there the "
        "opposite of what the context says? No if it can be quoted and names what the context does "
        "not have, or contradicts it. Yes as well if it names nothing.",
        RELEVANCE: "Does {place} bear on the question? No if it is beside the point and one of its "
        "lines can be quoted. Abstain where it is not shown.",
    }
)
_SUFFICIENT = (
    "Can the question be answered from this context? No if a part of the question can be quoted "
    "that the context leaves open."
)
#: What each of the judges does, in words.
ABOUT: Mapping[str, str] = MappingProxyType(
    {
        "faithfulness": "asks a model whether an answer follows from its context",
        "hallucination": "asks a model whether an answer holds anything made up",
        RELEVANCE: "asks a model whether a context fits its question",
    }
)


def inquiry_about(
    name: str, rag: RagContext, redact: Redact, threshold: float | None = None
) -> Inquiry[JudgmentContext]:
    """Return what the judge of this name asks a model.

    Args:
        threshold: the share of statements or documents that have to pass; by default all
            statements, or half of the documents, which must besides answer the question.
    """
    relevance = name == RELEVANCE
    line, least = ("context", 0.5) if relevance else ("line", 1.0)
    least = least if threshold is None else threshold
    criteria = {"sufficient": _SUFFICIENT} if relevance else {}
    for criterion, span in list_subjects(name, rag).items():
        numbers = span.numbers
        one = len(numbers) == 1
        place = f"{line} {numbers[0]}" if one else f"{line}s {numbers[0]} to {numbers[-1]}"
        criteria[criterion] = _QUESTIONS[name].format(place=place)
    instructions = Prompts().render("relevance" if relevance else name, {"criteria": criteria})

    def gather(_: JudgmentContext, __: Deadline) -> Material | Judgment:
        return _gather(rag, redact, relevance=relevance)

    return Inquiry(
        name,
        ABOUT[name],
        criteria,
        least,
        gather,
        lambda _: instructions,
        must=frozenset({"sufficient"} & criteria.keys()),
        # A statement that was not judged is not known to follow.
        quorum=0.5 if relevance else least,
    )


def _gather(rag: RagContext, redact: Redact, *, relevance: bool) -> Material | Judgment:
    statements = split_statements(rag.answer or "")
    question = (rag.question or "").strip()
    if relevance and not question:
        return Judgment.abstained("there is no question", NOT_APPLICABLE)
    if not relevance and not statements:
        return Judgment.abstained("there is no answer to judge", NOT_APPLICABLE)
    if not any(text.strip() for text in rag.texts.values()):
        message = "no documents were retrieved" if relevance else "no documents to compare with"
        return Judgment.abstained(message, NO_DOCUMENTS)
    parts = tuple(
        document(name, f"context {place}", text, redact)
        for place, (name, text) in enumerate(rag.texts.items(), start=1)
    )
    always = (document("/question", "question", rag.question or "", redact),) if question else ()
    if relevance:
        return Material(parts, always=always)
    answer = document("/answer", "answer", "\n".join(statements), redact)
    return Material((answer,), always=(*always, *parts))
