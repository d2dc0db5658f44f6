"""Work outside of pull requests: what an agent did for a goal, and answers on documents."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from prjury.deadline import Deadline
from prjury.judges.quality.judge import Inquiry
from prjury.judges.quality.model_seat import Material
from prjury.judges.quality.prompt_input import document, pieces_of
from prjury.judges.quality.prompts import Prompts
from prjury.jury.context import JudgmentContext
from prjury.jury.frozen import FrozenDict
from prjury.jury.judgment import Judgment
from prjury.jury.library.execution import document_text
from prjury.jury.voting import NOT_APPLICABLE
from prjury.report.sanitise import Redact
from prjury.snapshot.model import FileChange

CORRECTNESS = "correctness"
_WORK_CRITERIA: Mapping[str, str] = {
    "reached": "Does the work do everything that the goal asks for? No if a part of the goal "
    "can be quoted that the work leaves undone or does otherwise.",
    "works": "Would the work run as it stands, also at its edges? No if a line of it can be "
    "quoted that fails, is left as a stub, or contradicts another one.",
    "contained": "Does the work keep to the goal? No if a line can be quoted that does harm, "
    "or changes what the goal plainly does not ask for.",
    "honest": "Is what the worker says of the work true? No if a statement of the output can "
    "be quoted that the work contradicts. Abstain if there is no output.",
}


def correctness(
    files: Callable[[JudgmentContext], tuple[FileChange, ...]] | None,
    redact: Redact,
    threshold: float = 1.0,
) -> Inquiry[JudgmentContext]:
    """Ask whether the work, files or the output with its diff, reaches the context's goal."""

    def gather(context: JudgmentContext, _: Deadline) -> Material | Judgment:
        if not context.goal.strip():
            return Judgment.abstained("there is no goal to compare with", NOT_APPLICABLE)
        goal = document("/goal", "goal", context.goal, redact)
        texts = {"output": context.agent_output, "diff": context.diff if files is None else ""}
        words = tuple(document(f"/{k}", k, text, redact) for k, text in texts.items() if text)
        if files is not None:
            return Material(*pieces_of(files(context), redact), (goal, *words))
        if not words:
            return Judgment.abstained("there is no work to judge", NOT_APPLICABLE)
        return Material(words, always=(goal,))

    template = "output" if files is None else CORRECTNESS
    instructions = Prompts().render(template, {"criteria": dict(_WORK_CRITERIA)})
    about = "asks a model whether the work reaches its goal"
    return Inquiry(CORRECTNESS, about, _WORK_CRITERIA, threshold, gather, lambda _: instructions)


RELEVANCE = "contextual-relevance"
#: The label where nothing was retrieved: nobody's fault is not said of it, so a gate asks.
NO_DOCUMENTS = "no_documents"
#: Statements, or documents, that have a criterion each; of more, neighbours share one.
MOST_CRITERIA = 20

#: What each of the judges does, in words.
_ABOUT: Mapping[str, str] = {
    "faithfulness": "asks a model whether an answer follows from its context",
    "hallucination": "asks a model whether an answer holds anything made up",
    RELEVANCE: "asks a model whether a context fits its question",
}
#: The question about a statement or a document, by judge.
_QUESTIONS: Mapping[str, str] = {
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
_SUFFICIENT = (
    "Can the question be answered from this context? No if a part of the question can be quoted "
    "that the context leaves open."
)

#: Where a sentence ends: not behind an initial, a short number or a usual abbreviation.
_END = re.compile(
    r"(?<=[.!?…])(?<!\b\w\.)(?<!\b\d\d\.)(?<!\b\d\d\d\.)(?<!\b(?:cf|vs|Dr|Mr|Ms|No|St)\.)"
    r"(?<!\b(?:etc|Mrs)\.)\s+(?=[^\sa-z])|(?<=[。！？])\s*(?=\S)"
)


@dataclass(frozen=True)
class RagContext:
    """A question, the answer that was given, and the documents that were retrieved for it.

    Attributes:
        question: None where it is not known.
        answer: None where the documents alone are judged.
        documents: by name, or in their order; a text, or what a retriever returns: an object or a
            mapping with ``page_content``, ``text`` or ``content``.
    """

    question: str | None
    answer: str | None = None
    documents: Mapping[str, Any] | Sequence[Any] = field(default=())

    def __post_init__(self) -> None:
        documents: Any = self.documents
        if isinstance(documents, str | bytes):
            raise TypeError("documents are a list of texts, or texts by name, not one text")
        if not isinstance(documents, Mapping):
            documents = {f"document-{at}": one for at, one in enumerate(documents, start=1)}
        texts = {}
        for name, value in documents.items():
            if not isinstance(name, str) or not name.strip() or name.startswith("/"):
                raise ValueError(f"a document's name is a text without a leading /, not {name!r}")
            texts[name] = document_text(value)
            if texts[name] is None:
                raise TypeError(f"{name} is a {type(value).__name__} without a text")
        object.__setattr__(self, "documents", FrozenDict(texts))

    @property
    def texts(self) -> Mapping[str, str]:
        """The documents' texts by name."""
        return self.documents if isinstance(self.documents, Mapping) else {}

    @property
    def statements(self) -> tuple[str, ...]:
        """The answer's sentences; a line break ends one as well."""
        lines = filter(None, map(str.strip, (self.answer or "").splitlines()))
        return tuple(statement for line in lines for statement in _END.split(line))

    @classmethod
    def of(cls, context: JudgmentContext, documents: Any = None) -> RagContext:  # noqa: ANN401
        """Take the goal as the question, the agent's output as the answer.

        Args:
            documents: ``metadata["documents"]`` if None.
        """
        if documents is None:
            documents = context.metadata.get("documents", ())
        return cls(context.goal, context.agent_output, documents)


class Subject(Struct, frozen=True):
    """What a criterion is about: statements, or documents by name, and where they stand."""

    place: str
    text: str


def list_subjects(name: str, rag: RagContext) -> Mapping[str, Subject]:
    """Return what the criteria of a judge are about, neighbours together where there are many."""
    one, line, joiner = ("statement", "line", "\n")
    texts = rag.statements
    if name == RELEVANCE:
        one, line, joiner = ("document", "context", ", ")
        texts = tuple(rag.texts)
    width = max(1, math.ceil(len(texts) / MOST_CRITERIA))
    subjects = {}
    for at in range(0, len(texts), width):
        some = texts[at : at + width]
        first, last = at + 1, at + len(some)
        criterion, place = f"{one}s-{first}-{last}", f"{line}s {first} to {last}"
        if len(some) == 1:
            criterion, place = f"{one}-{first}", f"{line} {first}"
        subjects[criterion] = Subject(place, joiner.join(some))
    return subjects


def inquiry_about(
    name: str, rag: RagContext, redact: Redact, threshold: float | None = None
) -> Inquiry[JudgmentContext]:
    """Return what the judge of this name asks a model.

    Args:
        threshold: the share of statements or documents that have to pass; by default all
            statements, or half of the documents, which must besides answer the question.
    """
    relevance = name == RELEVANCE
    least = threshold if threshold is not None else 0.5 if relevance else 1.0
    criteria = {"sufficient": _SUFFICIENT} if relevance else {}
    for criterion, subject in list_subjects(name, rag).items():
        criteria[criterion] = _QUESTIONS[name].format(place=subject.place)
    instructions = Prompts().render("relevance" if relevance else name, {"criteria": criteria})

    def gather(_: JudgmentContext, __: Deadline) -> Material | Judgment:
        question = (rag.question or "").strip()
        if relevance and not question:
            return Judgment.abstained("there is no question", NOT_APPLICABLE)
        if not relevance and not rag.statements:
            return Judgment.abstained("there is no answer to judge", NOT_APPLICABLE)
        if not any(text.strip() for text in rag.texts.values()):
            message = "no documents were retrieved" if relevance else "no documents to compare with"
            return Judgment.abstained(message, NO_DOCUMENTS)
        parts = tuple(
            document(name, f"context {place}", text, redact)
            for place, (name, text) in enumerate(rag.texts.items(), start=1)
        )
        always = [document("/question", "question", rag.question or "", redact)] if question else []
        if relevance:
            return Material(parts, always=tuple(always))
        answer = document("/answer", "answer", "\n".join(rag.statements), redact)
        return Material((answer,), always=(*always, *parts))

    return Inquiry(
        name,
        _ABOUT[name],
        criteria,
        least,
        gather,
        lambda _: instructions,
        must=frozenset({"sufficient"} & criteria.keys()),
        # A statement that was not judged is not known to follow.
        quorum=0.5 if relevance else least,
    )
