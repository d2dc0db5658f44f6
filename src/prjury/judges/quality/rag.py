"""What was retrieved for a question, and the answer to it: statements and documents, numbered."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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

    Raises:
        TypeError: for documents that are one text, or one without a text.
        ValueError: for a document's name that is blank or begins with a slash.
    """

    question: str | None
    answer: str | None = None
    documents: Mapping[str, Any] | Sequence[Any] = field(default=())

    def __post_init__(self) -> None:
        given: Any = self.documents
        if isinstance(given, str | bytes):
            raise TypeError("documents are a list of texts, or texts by name, not one text")
        if not isinstance(given, Mapping):
            given = {f"document-{place}": one for place, one in enumerate(given, start=1)}
        for name in given:
            if not isinstance(name, str) or not name.strip() or name.startswith("/"):
                raise ValueError(f"a document's name is a text without a leading /, not {name!r}")
        texts = {name: _text_of(name, one) for name, one in given.items()}
        object.__setattr__(self, "documents", FrozenDict(texts))

    @property
    def texts(self) -> Mapping[str, str]:
        """The documents' texts by name."""
        return self.documents if isinstance(self.documents, Mapping) else {}

    @classmethod
    def of(cls, context: JudgmentContext, documents: Any = None) -> RagContext:  # noqa: ANN401
        """The goal as the question, the agent's output as the answer.

        Args:
            documents: ``metadata["documents"]`` if None.
        """
        found = context.metadata.get("documents", ()) if documents is None else documents
        return cls(context.goal, context.agent_output, found)


def _text_of(name: str, document_: object) -> str:
    text = document_text(document_)
    if text is None:
        raise TypeError(f"{name} is a {type(document_).__name__} without a text")
    return text


_SENTENCE = re.compile(r"(?<=[.!?…])\s+(?=[^\sa-z])|(?<=[。！？])\s*(?=\S)")
_ABBREVIATED = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|cf|vs|etc|Dr|Mrs?|Ms|No|St|\d{1,3}|\w)\.$")


def statements_of(answer: str) -> tuple[str, ...]:
    """The answer's sentences; a line break ends one as well."""
    found: list[str] = []
    for line in filter(None, map(str.strip, answer.splitlines())):
        open_ = False
        for part in _SENTENCE.split(line):
            if open_:
                found[-1] += f" {part}"
            else:
                found.append(part)
            open_ = _ABBREVIATED.search(part) is not None
    return tuple(found)


def spans(count: int) -> list[range]:
    """The numbers from 1 on, each alone, or neighbours together where there are too many."""
    width = max(1, math.ceil(count / MOST_CRITERIA))
    return [range(at, min(at + width, count + 1)) for at in range(1, count + 1, width)]


def criterion(one: str, span: range) -> str:
    """The name of the criterion about a statement or document, or about several."""
    return f"{one}-{span[0]}" if len(span) == 1 else f"{one}s-{span[0]}-{span[-1]}"


def subjects(name: str, rag: RagContext) -> Mapping[str, str]:
    """Return what the criteria of a judge are about: statements, or the documents' names."""
    if name == RELEVANCE:
        one, texts, joined = "document", tuple(rag.texts), ", "
    else:
        one, texts, joined = "statement", statements_of(rag.answer or ""), "\n"
    return {
        criterion(one, span): joined.join(texts[at - 1] for at in span)
        for span in spans(len(texts))
    }
