"""Recorded ballots as JSON lines, one a line: what a judge said of an item, and what was right."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator

from prjury.errors import first_problem
from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import NumericalScore
from prjury.jury.voting import Ballot

#: The effective score from which on a ballot without a verdict passes.
PASS_MARK = 0.5
#: What names the second one of two answers as the better.
_SECOND = 2

Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class BallotRecord(BaseModel):
    """One line; further keys are put up with."""

    model_config = ConfigDict(frozen=True)

    item: str = Field(min_length=1)
    criterion: str = Field("", validation_alias=AliasChoices("criterion", "crit"))
    gold: Literal[0, 1] | None = None
    judge: str = Field(min_length=1)
    verdict: Literal[0, 1] | None = None
    score: Share | None = None
    confidence: Share | None = None
    cost: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None = None
    order: str | int | None = None
    run: str | int | None = None

    @model_validator(mode="after")
    def _says_something(self) -> BallotRecord:
        if not {"verdict", "score"} & self.model_fields_set:
            raise ValueError("`verdict` (0, 1 or null) or `score` (0 to 1) is needed")
        return self

    def ballot(self, seat: str, weight: float) -> Ballot:
        """The ballot, under the name of a seat; where nothing was said, an abstention."""
        mark = self.score if self.verdict is None else self.verdict
        if mark is None:
            return Ballot(seat, Judgment.abstained("recorded without a verdict"), weight)
        score = None if self.score is None else NumericalScore(self.score)
        status = Status.PASS if mark >= PASS_MARK else Status.FAIL
        return Ballot(seat, Judgment(status, "recorded", score, None, self.confidence), weight)


@dataclass(frozen=True)
class BallotCase:
    """All that was said of one item under one criterion.

    Attributes:
        gold: what is right; None where that is not known.
    """

    item: str
    criterion: str
    gold: Status | None
    records: tuple[BallotRecord, ...]


def read_records(lines: Iterable[str]) -> list[BallotRecord]:
    """The records of a file.

    Where a `gold` is 2, all compare two answers: 1 or 2 is the better one, 0 is a tie. They are
    read as ballots on whether the first one is better; a tie says nothing.

    Raises:
        ValueError: naming the line and what is wrong there, or for a file without records.
    """
    rows = _parsed(lines)
    pairwise = any(isinstance(row, dict) and row.get("gold") == _SECOND for _, row in rows)
    found = []
    for number, row in rows:
        try:
            found.append(BallotRecord.model_validate(_first_wins(row) if pairwise else row))
        except ValidationError as error:
            raise ValueError(f"line {number}: {first_problem(error.errors())}") from error
    if not found:
        raise ValueError("there are no records")
    return found


def _parsed(lines: Iterable[str]) -> list[tuple[int, object]]:
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number} is no JSON: {error}") from error
        rows.append((number, row))
    return rows


def _first_wins(row: object) -> object:
    """A comparison of two answers as a record of whether the first one is better.

    A judge whose answer could not be read has no verdict there; scores are of both answers.
    """
    if not isinstance(row, dict):
        return row
    marks = {1: 1, _SECOND: 0, 0: None}
    said = {
        key: marks[value] if isinstance(value := row[key], int) and value in marks else value
        for key in ("gold", "verdict")
        if key in row
    }
    return {**row, "verdict": None, **said, "score": None}


def cases_of(records: Sequence[BallotRecord]) -> list[BallotCase]:
    """The records by item and criterion.

    Raises:
        ValueError: where records disagree on what is right.
    """
    groups: dict[tuple[str, str], list[BallotRecord]] = {}
    for record in records:
        groups.setdefault((record.item, record.criterion), []).append(record)
    cases = []
    for (item, criterion), group in groups.items():
        known = {record.gold for record in group if record.gold is not None}
        if len(known) > 1:
            raise ValueError(f"{item}: its records disagree on `gold`")
        gold = None if not known else Status.PASS if known.pop() else Status.FAIL
        cases.append(BallotCase(item, criterion, gold, tuple(group)))
    return cases
