"""Answers of earlier runs: under which key they are kept, and how they come back. Pure.

A finding is kept at rows of its chunk, not at numbers of lines, so that an answer still holds after
a rebase that only moves the lines. What an answer depends on is in the key: the model with its
options, the instructions, the text of the chunk, and which of several equal questions it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from prjury.judges.quality.evidence import Answers, Claim, Lines, VerifiedAnswer
from prjury.judges.quality.prompt_input import Chunk, ChunkRow, Section, digest_of
from prjury.judges.quality.question import Question
from prjury.ports import Memory

_FORM = 4


def key_of(model: str, question: Question, turn: int) -> str:
    """Return under which key the answer to a question is kept."""
    return digest_of([_FORM, "answer", model, question.digest, question.chunk.digest, turn])


def recall(memory: Memory, key: str, shown: Chunk, criteria: Iterable[str]) -> Answers | None:
    """Return the answers that were kept, with today's line numbers; None if none, or damaged."""
    text = memory.recall(key)
    if text is None:
        return None
    rows, lines = list(shown.rows), Lines(shown.sections)
    try:
        stored = msgspec.convert(json.loads(text), dict[str, VerifiedAnswer])
        answers = {}
        for name in criteria:
            claims = tuple(_number_lines(claim, rows) for claim in stored[name].claims)
            answers[name] = replace(stored[name], claims=claims)
            if not all(lines.hold(claim.finding) for claim in claims):
                return None
    except (msgspec.ValidationError, ValueError, KeyError, IndexError, RecursionError):
        return None
    return answers


def keep(memory: Memory, key: str, shown: Chunk, answers: Answers) -> None:
    """Keep answers whose quotes are verified by what was shown."""
    rows = list(shown.rows)
    stored = {
        name: replace(answer, claims=tuple(_lines_to_rows(claim, rows) for claim in answer.claims))
        for name, answer in answers.items()
    }
    memory.keep(key, json.dumps(msgspec.to_builtins(stored)))  # which may have half a pair


def _lines_to_rows(claim: Claim, rows: Sequence[tuple[Section, ChunkRow]]) -> Claim:
    """Return a claim whose numbers are those of the chunk's rows, from 1."""
    finding = claim.finding
    at = [
        number
        for number, (section, row) in enumerate(rows, start=1)
        if section.heading["path"] == finding.path
        and finding.line <= (row.number(finding.side) or 0) <= finding.end_line
    ]
    return replace(claim, finding=replace(finding, line=at[0], end_line=at[-1]))


def _number_lines(claim: Claim, rows: Sequence[tuple[Section, ChunkRow]]) -> Claim:
    finding = claim.finding
    (section, first), (_, last) = rows[finding.line - 1], rows[finding.end_line - 1]
    path, numbers = section.heading["path"], [row.number(finding.side) for row in (first, last)]
    line, end_line = (number or 0 for number in numbers)
    return replace(claim, finding=replace(finding, path=path, line=line, end_line=end_line))
