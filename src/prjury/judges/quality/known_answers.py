"""Answers of earlier runs: under which key they are kept, and how they come back. Pure.

A finding is kept at rows of its chunk, not at numbers of lines, so that an answer still holds after
a rebase that only moves the lines. What an answer depends on is in the key: the model with its
options, the instructions, the text of the chunk, and which of several equal questions it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from prjury.judges.quality.evidence import Answers, Claim, Lines, VerifiedAnswer
from prjury.judges.quality.prompt_input import Chunk, ChunkRow, Section, digest_of
from prjury.judges.quality.question import Question, ReportedFinding
from prjury.ports import Memory

_FORM = 3


class _KeptClaim(BaseModel):
    """A claim as it is kept: ``line`` and ``end_line`` are numbers of rows."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

    line: NonNegativeInt
    end_line: NonNegativeInt
    finding: dict[str, str]
    second: Literal["confirmed", "refuted", "unclear"] | None


class _KeptAnswer(BaseModel):
    """An answer as it is kept."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

    said: Literal["pass", "fail", "abstain"]
    confidence: float = Field(ge=0.0, le=1.0, allow_inf_nan=False)
    reasoning: str
    claims: list[_KeptClaim]
    reported: NonNegativeInt
    relocated: NonNegativeInt
    no_quote: NonNegativeInt
    not_changed: NonNegativeInt


def key_of(model: str, question: Question, chunk: Chunk, turn: int) -> str:
    """Under which key the answer to a question is kept.

    Args:
        model: the model's identity.
        turn: which of several equal questions it is, from 0.
    """
    return digest_of([_FORM, "answer", model, question.digest, chunk.digest, turn])


def remembered(memory: Memory, key: str, shown: Chunk, criteria: Iterable[str]) -> Answers | None:
    """Return the answers that were kept, with today's line numbers; None if there are none.

    What cannot be read as such, or quotes what is not on the chunk, was damaged and does not count.
    """
    text = memory.recall(key)
    if text is None:
        return None
    rows, lines = list(shown.rows), Lines(shown.sections)
    try:
        kept = json.loads(text)
        return {
            name: _restore(_KeptAnswer.model_validate(kept[name]), rows, lines) for name in criteria
        }
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return None


def keep(memory: Memory, key: str, shown: Chunk, answers: Answers) -> None:
    """Keep answers whose quotes are verified by what was shown."""
    rows = list(shown.rows)
    value = {
        name: {**asdict(answer), "claims": [_pack(claim, rows) for claim in answer.claims]}
        for name, answer in answers.items()
    }
    memory.keep(key, json.dumps(value))


def _restore(
    kept: _KeptAnswer, rows: Sequence[tuple[Section, ChunkRow]], lines: Lines
) -> VerifiedAnswer:
    claims = tuple(_unpack(claim, rows) for claim in kept.claims)
    if not all(lines.hold(claim.finding) for claim in claims):
        raise ValueError("this was not written here")
    return VerifiedAnswer(**{**kept.model_dump(), "claims": claims})


def _pack(claim: Claim, rows: Sequence[tuple[Section, ChunkRow]]) -> dict[str, Any]:
    finding = claim.finding
    at = [
        number
        for number, (section, row) in enumerate(rows)
        if section.heading["path"] == finding.path
        and finding.line <= (row.number(finding.side) or 0) <= finding.end_line
    ]
    words = finding.model_dump(exclude={"path", "line", "end_line"})
    return {"line": at[0], "end_line": at[-1], "finding": words, "second": claim.second}


def _unpack(kept: _KeptClaim, rows: Sequence[tuple[Section, ChunkRow]]) -> Claim:
    section, row = rows[kept.line]
    side = kept.finding["side"]
    place = {
        "path": section.heading["path"],
        "line": row.number(side),
        "end_line": rows[kept.end_line][1].number(side),
    }
    # The model refuses what is no number: there is no such line on that side.
    return Claim(ReportedFinding.model_validate({**kept.finding, **place}), kept.second)
