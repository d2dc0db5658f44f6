"""What was retrieved for a question, and the answer to it: statements and documents, numbered."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from prjury.jury.context import JudgmentContext
from prjury.jury.frozen import FrozenDict
from prjury.jury.library.execution import document_text

RELEVANCE = "contextual-relevance"

#: Statements, or documents, that have a criterion each; of more, neighbours share one.
MOST_CRITERIA = 20


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
            text = document_text(value)
            if text is None:
                raise TypeError(f"{name} is a {type(value).__name__} without a text")
            texts[name] = text
        object.__setattr__(self, "documents", FrozenDict(texts))

    @property
    def texts(self) -> Mapping[str, str]:
        """The documents' texts by name."""
        return self.documents if isinstance(self.documents, Mapping) else {}

    @classmethod
    def of(cls, context: JudgmentContext, documents: Any = None) -> RagContext:  # noqa: ANN401
        """Take the goal as the question, the agent's output as the answer.

        Args:
            documents: ``metadata["documents"]`` if None.
        """
        if documents is None:
            documents = context.metadata.get("documents", ())
        return cls(context.goal, context.agent_output, documents)


_SENTENCE = re.compile(r"(?<=[.!?…])\s+(?=[^\sa-z])|(?<=[。！？])\s*(?=\S)")
_ABBREVIATED = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|cf|vs|etc|Dr|Mrs?|Ms|No|St|\d{1,3}|\w)\.$")


def split_statements(answer: str) -> tuple[str, ...]:
    """Return the answer's sentences; a line break ends one as well."""
    statements: list[str] = []
    for line in filter(None, map(str.strip, answer.splitlines())):
        goes_on = False
        for part in _SENTENCE.split(line):
            if goes_on:
                statements[-1] += f" {part}"
            else:
                statements.append(part)
            goes_on = _ABBREVIATED.search(part) is not None
    return tuple(statements)


class Subject(Struct, frozen=True):
    """What a criterion is about: statements, or documents by name, with their numbers from 1."""

    numbers: range
    text: str


def list_subjects(name: str, rag: RagContext) -> Mapping[str, Subject]:
    """Return what the criteria of a judge are about, neighbours together where there are many."""
    if name == RELEVANCE:
        one, texts, joiner = "document", tuple(rag.texts), ", "
    else:
        one, texts, joiner = "statement", split_statements(rag.answer or ""), "\n"
    width = max(1, math.ceil(len(texts) / MOST_CRITERIA))
    subjects = {}
    for first in range(0, len(texts), width):
        some = texts[first : first + width]
        last = first + len(some)
        criterion = f"{one}-{last}" if len(some) == 1 else f"{one}s-{first + 1}-{last}"
        subjects[criterion] = Subject(range(first + 1, last + 1), joiner.join(some))
    return subjects
