"""Answers and the documents they were given on, asked about statement by statement."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from prjury.deadline import Deadline
from prjury.judges.quality.judge import Inquiry
from prjury.judges.quality.model_seat import Material
from prjury.judges.quality.prompt_input import Section, document
from prjury.judges.quality.prompts import Prompts
from prjury.judges.quality.rag import RELEVANCE, RagContext, criterion, spans, statements_of
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Judgment
from prjury.jury.voting import NOT_APPLICABLE
from prjury.report.redact import Redact

#: The label where nothing was retrieved: nobody's fault is not said of it, so a gate asks.
NO_DOCUMENTS = "no_documents"

#: The question about a statement, by judge.
QUESTIONS: Mapping[str, str] = MappingProxyType(
    {
        "faithfulness": "Does {place} of `/answer` follow from the context, and agree with it? No "
        "if it can be quoted and the context does not support it or says otherwise. Yes as well if "
        "it states nothing.",
        "hallucination": "Is everything that {place} of `/answer` names (people, things, "
        "functions, options, sources, numbers, dates) in the context, and nothing there the "
        "opposite of what the context says? No if it can be quoted and names what the context does "
        "not have, or contradicts it. Yes as well if it names nothing.",
    }
)
SUFFICIENT = (
    "Can the question be answered from this context? No if a part of the question can be quoted "
    "that the context leaves open."
)
BEARS = (
    "Does {place} bear on the question? No if it is beside the point and one of its lines can be "
    "quoted. Abstain where it is not shown."
)


def _place(one: str, span: range) -> str:
    return f"{one} {span[0]}" if len(span) == 1 else f"{one}s {span[0]} to {span[-1]}"


def about_answer(
    name: str, rag: RagContext, redact: Redact, threshold: float = 1.0
) -> Inquiry[JudgmentContext]:
    """A question for each statement of the answer: does it follow from the documents?

    Args:
        name: ``faithfulness`` or ``hallucination``; both pass where nothing is found.
        threshold: the share of statements that have to pass.
    """
    statements = statements_of(rag.answer or "")
    criteria = {
        criterion("statement", span): QUESTIONS[name].format(place=_place("line", span))
        for span in spans(len(statements))
    }

    def gather(_: JudgmentContext, __: Deadline) -> Material | Judgment:
        if not statements:
            return Judgment.abstained("there is no answer to judge", NOT_APPLICABLE)
        if not _has_texts(rag):
            return Judgment.abstained("there are no documents to compare with", NO_DOCUMENTS)
        answer = document("/answer", "answer", "\n".join(statements), redact)
        asked = (rag.question,) if (rag.question or "").strip() else ()
        question = (document("/question", "question", text or "", redact) for text in asked)
        return Material((answer,), always=(*question, *_parts(rag, redact)))

    instructions = Prompts().render(name, {"criteria": criteria})
    return Inquiry(
        name,
        ABOUT[name],
        criteria,
        threshold,
        gather,
        lambda _: instructions,
        quorum=threshold,  # a statement that was not judged is not known to follow
    )


def about_documents(
    rag: RagContext, redact: Redact, threshold: float = 0.5
) -> Inquiry[JudgmentContext]:
    """Tell whether the question can be answered from the documents, and which of them bear on it.

    Args:
        threshold: the share of documents that have to bear on the question; that it can be
            answered is always needed.
    """
    criteria = {"sufficient": SUFFICIENT} | {
        criterion("document", span): BEARS.format(place=_place("context", span))
        for span in spans(len(rag.texts))
    }

    def gather(_: JudgmentContext, __: Deadline) -> Material | Judgment:
        if not (rag.question or "").strip():
            return Judgment.abstained("there is no question", NOT_APPLICABLE)
        if not _has_texts(rag):
            return Judgment.abstained("no documents were retrieved", NO_DOCUMENTS)
        always = (document("/question", "question", rag.question or "", redact),)
        return Material(_parts(rag, redact), always=always)

    instructions = Prompts().render("relevance", {"criteria": criteria})
    must = frozenset({"sufficient"})
    return Inquiry(
        RELEVANCE, ABOUT[RELEVANCE], criteria, threshold, gather, lambda _: instructions, must=must
    )


def _has_texts(rag: RagContext) -> bool:
    return any(text.strip() for text in rag.texts.values())


def _parts(rag: RagContext, redact: Redact) -> tuple[Section, ...]:
    return tuple(
        document(name, f"context {place}", text, redact)
        for place, (name, text) in enumerate(rag.texts.items(), start=1)
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
            statements, or half of the documents.
    """
    if name == RELEVANCE:
        return about_documents(rag, redact, 0.5 if threshold is None else threshold)
    return about_answer(name, rag, redact, 1.0 if threshold is None else threshold)
