"""What templates see of the seats of a judge: their answers side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prjury.report.seats import SeatRow, Seats, seats_of
from prjury.report.text import Ink, Text
from prjury.report.wording import SYMBOLS

_SYMBOLS = {status.value: symbol for status, symbol in SYMBOLS.items()}


@dataclass(frozen=True)
class SeatView:
    """One seat: its name, what it comes to, and its answer to each criterion."""

    seat: Text
    result: Text
    answers: tuple[Text, ...]


@dataclass(frozen=True)
class SeatsView:
    """A table: a row a seat, a column a criterion."""

    criteria: tuple[Text, ...]
    rows: tuple[SeatView, ...]


def seats_view(metadata: Mapping[str, Any], ink: Ink) -> SeatsView | None:
    """The seats of a judgment; None where there is nothing to compare."""
    seats = seats_of(metadata)
    return _view(seats, ink) if seats else None


def _view(seats: Seats, ink: Ink) -> SeatsView:
    rows = (SeatView(ink(row.seat), ink(_result(row)), _answers(row, ink)) for row in seats.rows)
    return SeatsView(tuple(map(ink, seats.criteria)), tuple(rows))


def _result(row: SeatRow) -> str:
    score = "" if row.score is None else f" {row.score:.2f}"
    note = f" ({row.note})" if row.note else ""
    return f"{_SYMBOLS.get(row.status, '')} {row.status}{score}{note}".strip()


def _answers(row: SeatRow, ink: Ink) -> tuple[Text, ...]:
    return tuple(ink(f"{_SYMBOLS.get(word, '')} {word}".strip()) for word in row.verdicts)
