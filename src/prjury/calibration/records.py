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

    Raises:
        ValueError: naming the line and what is wrong there, or for a file without records.
    """
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append(BallotRecord.model_validate(json.loads(line)))
        except ValidationError as error:
            raise ValueError(f"line {number}: {first_problem(error.errors())}") from error
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number} is no JSON: {error}") from error
    if not found:
        raise ValueError("there are no records")
    return found


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
