"""Answers of earlier runs: under which key they are kept, and how they come back. Pure.

A quote is kept as rows of its chunk, not as numbers of lines, so that an answer still holds after a
rebase that only moves the lines. What an answer depends on is in the key: the model with its
options, the instructions, the text of the chunk, and which of several equal questions it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, Strict

from prjury.judges.quality.evidence import Findings, Lines, VerifiedAnswer
from prjury.judges.quality.prompt_input import Chunk, ChunkRow, Section, digest_of
from prjury.judges.quality.question import Question, Quote
from prjury.ports import Memory

_FORM = 2

#: Side, first and last row, and text.
_Place = tuple[str, NonNegativeInt, NonNegativeInt, str]


class _Kept(BaseModel):
    """A finding as it is kept."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

    said: Literal["pass", "fail", "abstain"]
    confidence: float = Field(ge=0.0, le=1.0, allow_inf_nan=False)
    reasoning: str
    quotes: list[Annotated[_Place, Strict(False)]]  # noqa: FBT003 - JSON has no tuples
    dropped: NonNegativeInt
    relocated: NonNegativeInt


def key_of(model: str, question: Question, chunk: Chunk, turn: int) -> str:
    """Under which key the answer to a question is kept.

    Args:
        model: the model's identity.
        turn: which of several equal questions it is, from 0.
    """
    return digest_of([_FORM, "answer", model, question.digest, chunk.digest, turn])


def remembered(memory: Memory, key: str, shown: Chunk, criteria: Iterable[str]) -> Findings | None:
    """The findings that were kept, with today's line numbers; None where there are none.

    What cannot be read as such, or quotes what is not on the chunk, was damaged and does not count.
    """
    text = memory.recall(key)
    if text is None:
        return None
    rows, lines = list(shown.rows), Lines(shown.sections)
    try:
        kept = json.loads(text)
        return {name: _finding(_Kept.model_validate(kept[name]), rows, lines) for name in criteria}
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return None


def keep(memory: Memory, key: str, shown: Chunk, findings: Findings) -> None:
    """Keeps findings whose quotes are verified by what was shown."""
    rows = list(shown.rows)
    value = {
        name: {
            "said": finding.said,
            "confidence": finding.confidence,
            "reasoning": finding.reasoning,
            "quotes": [_place(quote, rows) for quote in finding.quotes],
            "dropped": finding.dropped,
            "relocated": finding.relocated,
        }
        for name, finding in findings.items()
    }
    memory.keep(key, json.dumps(value))


class KnownSheets:
    """Which sections were asked about together, so that a plan keeps them together.

    Args:
        about: whatever all the questions have in common.
    """

    def __init__(self, memory: Memory, about: str) -> None:
        self._memory = memory
        self._about = about

    def __call__(self, digests: Sequence[str]) -> Iterable[Sequence[str]]:
        """The chunks that hold any of these sections, as digests of their sections."""
        texts = (self._memory.recall(self._key(digest)) for digest in digests)
        for text in dict.fromkeys(filter(None, texts)):
            chunk = text.split()
            if chunk and all(len(digest) == len(digests[0]) for digest in chunk):
                yield chunk

    def keep(self, chunk: Chunk) -> None:
        """Remembers a chunk that has been answered."""
        digests = " ".join(section.digest for section in chunk.sections)
        for section in chunk.sections:
            self._memory.keep(self._key(section.digest), digests)

    def _key(self, digest: str) -> str:
        return digest_of([_FORM, "sheet", self._about, digest])


def _finding(kept: _Kept, rows: Sequence[tuple[Section, ChunkRow]], lines: Lines) -> VerifiedAnswer:
    quotes = tuple(_quote(place, rows) for place in kept.quotes)
    if not all(lines.hold(quote) for quote in quotes):
        raise ValueError("this was not written here")
    counts = (kept.dropped, kept.relocated)
    return VerifiedAnswer(kept.said, kept.confidence, kept.reasoning, quotes, *counts)


def _place(quote: Quote, rows: Sequence[tuple[Section, ChunkRow]]) -> list[Any]:
    """The first and the last row of a quote."""
    at = [
        number
        for number, (section, row) in enumerate(rows)
        if section.heading["path"] == quote.path
        and quote.line <= (row.number(quote.side) or 0) <= quote.end_line
    ]
    return [quote.side, at[0], at[-1], quote.quote]


def _quote(place: _Place, rows: Sequence[tuple[Section, ChunkRow]]) -> Quote:
    side, first, last, text = place
    section, row = rows[first]
    path, line, end_line = section.heading["path"], row.number(side), rows[last][1].number(side)
    # The model refuses what is no number: there is no such line on that side.
    return Quote.model_validate(
        {"path": path, "side": side, "line": line, "end_line": end_line, "quote": text}
    )
