"""What a judge that asks models says of its seats: who agrees, what was thrown away, what it took.

It reads the judgment's metadata, which may come from a report of another version: whatever has not
the expected form is not told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prjury.report.wording import counted, listed


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One seat's answers: its name, its status, its score, and a verdict for each criterion."""

    seat: str
    status: str
    score: float | None
    verdicts: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Seats:
    """The answers of several seats side by side."""

    criteria: tuple[str, ...]
    rows: tuple[SeatRow, ...]


def seats_of(metadata: Mapping[str, Any]) -> Seats | None:
    """The seats of a judgment; None where there is one only, or where nothing is said of them."""
    panel = metadata.get("panel")
    members = [seat for seat in _listed(panel) if isinstance(seat, Mapping)]
    if not members:
        return None
    names = (name for seat in members for name in _mapping(seat, "criteria"))
    criteria = tuple(dict.fromkeys(map(str, names)))
    return Seats(criteria, tuple(_row(seat, criteria) for seat in members))


def models_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The models that were asked, each once: those of all seats, or the one."""
    seats = seats_of(metadata)
    named = [row.seat.partition("#")[0] for row in seats.rows] if seats else []
    model = metadata.get("model")
    return tuple(dict.fromkeys(named or ([str(model)] if model else [])))


def facts_of_seats(metadata: Mapping[str, Any]) -> Iterator[str]:
    """How many agree, how often they were asked, what was thrown away, and what it took."""
    agreement = _mapping(metadata, "agreement")
    if (seats := _whole(agreement, "seats")) > 1:
        yield f"{_whole(agreement, 'agree')} of {seats} seats agree"
    if (rounds := _whole(metadata, "iterations")) > 1:
        yield f"asked in {rounds} rounds"
    if flipped := sum(_flipped(seat) for seat in (*_listed(metadata.get("panel")), metadata)):
        yield f"{counted(flipped, 'seat')} said otherwise with the files in another order"
    if dropped := _whole(_mapping(metadata, "evidence"), "dropped"):
        yield f"{counted(dropped, 'quote')} not in the material, thrown away"
    if stand_ins := _listed(metadata.get("stand_ins")):
        yield f"{listed([str(name) for name in stand_ins])} answered in its place"
    yield from _usage(_mapping(metadata, "usage"))


def _usage(usage: Mapping[str, Any]) -> Iterator[str]:
    if cached := _whole(usage, "cached_calls"):
        yield f"{counted(cached, 'answer')} from an earlier run"
    if calls := _whole(usage, "llm_calls"):
        tokens = _whole(usage, "input_tokens") + _whole(usage, "output_tokens")
        usd = usage.get("usd")
        price = f"${usd:.4f}" if isinstance(usd, int | float) else "price not known"
        yield f"{counted(calls, 'question')}, {counted(tokens, 'token')}, {price}"


def _row(seat: Mapping[str, Any], criteria: tuple[str, ...]) -> SeatRow:
    answers = _mapping(seat, "criteria")
    score = seat.get("score")
    return SeatRow(
        str(seat.get("seat", "?")),
        str(seat.get("status", "?")),
        float(score) if isinstance(score, int | float) else None,
        tuple(str(answers.get(name, "–")) for name in criteria),
        str(seat.get("reason") or "").replace("_", " "),
    )


def _flipped(seat: object) -> bool:
    return isinstance(seat, Mapping) and seat.get("flipped") is True


def _mapping(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = value.get(key)
    return inner if isinstance(inner, Mapping) else {}


def _listed(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


def _whole(value: Mapping[str, Any], key: str) -> int:
    number = value.get(key)
    return number if isinstance(number, int) and not isinstance(number, bool) else 0
