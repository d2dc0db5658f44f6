"""``prjury review --dry-run``: what would be asked of models, before anything is spent."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from prjury.report.sanitise import log_line
from prjury.report.wording import counted

if TYPE_CHECKING:
    from prjury.judges.quality.estimate import Forecast, PlannedCall

_HEADINGS = ("Judge", "Model", "Calls", "Known", "Characters", "Tokens", "Price")


def forecast_lines(forecasts: Sequence[Forecast]) -> Iterator[str]:
    """The forecasts as a table and a sum."""
    rows = [row for forecast in forecasts for row in _rows(forecast)]
    if rows:
        yield from _table([_HEADINGS, *rows])
        yield ""
    absent = {name: why for forecast in forecasts for name, why in forecast.absent.items()}
    for name, why in absent.items():
        yield f"{log_line(name)} would not answer: {log_line(why)}"
    for forecast in forecasts:
        if because := forecast.nothing_because or forecast.refusal:
            yield f"{forecast.judge} would ask nobody: {log_line(because)}"
    yield _sum(forecasts)


def forecast_json(forecasts: Sequence[Forecast]) -> str:
    """The forecasts as one JSON object, every call in it."""
    asking = [forecast for forecast in forecasts if not forecast.refusal]
    value = {
        "schema": "prjury/forecast/v1",
        "judges": [_judge(forecast) for forecast in forecasts],
        "calls": sum(len(forecast.paid) for forecast in asking),
        "characters": sum(forecast.characters for forecast in asking),
        "input_tokens": sum(forecast.input_tokens for forecast in asking),
        "usd": _price([call for forecast in asking for call in forecast.paid]),
    }
    return json.dumps(value, indent=2)


def _rows(forecast: Forecast) -> Iterator[tuple[str, ...]]:
    for model, group in groupby(forecast.calls, key=lambda call: call.model):
        calls = list(group)
        paid = [call for call in calls if not call.cached]
        yield (
            forecast.judge,
            log_line(model),
            str(len(paid)),
            str(len(calls) - len(paid)),
            f"{sum(call.characters for call in paid):,}",
            f"{sum(call.input_tokens for call in paid):,}",
            _money(_price(paid)),
        )


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        names = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        figures = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        yield "  ".join([*names, *figures]).rstrip()


def _sum(forecasts: Sequence[Forecast]) -> str:
    asking = [forecast for forecast in forecasts if not forecast.refusal]
    paid = [call for forecast in asking for call in forecast.paid]
    if not paid:
        return "No model would be called"
    characters = counted(sum(call.characters for call in paid), "character")
    tokens = counted(sum(call.input_tokens for call in paid), "token")
    rounds = max(forecast.rounds for forecast in forecasts)
    again = f"; in case of doubt up to {rounds} times that" if rounds > 1 else ""
    price = _money(_price(paid))
    return f"{counted(len(paid), 'call')}, {characters}, about {tokens} in, price {price}{again}"


def _price(calls: Sequence[PlannedCall]) -> float | None:
    prices = [call.usd for call in calls]
    known = [price for price in prices if price is not None]
    return math.fsum(known) if len(known) == len(prices) else None


def _money(usd: float | None) -> str:
    return "not known" if usd is None else f"${usd:.4f}"


def _judge(forecast: Forecast) -> dict[str, Any]:
    calls = [
        {
            "model": call.model,
            "paths": list(call.paths),
            "characters": call.characters,
            "input_tokens": call.input_tokens,
            "output_tokens": call.output_tokens,
            "usd": call.usd,
            "cached": call.cached,
        }
        for call in forecast.calls
    ]
    return {
        "judge": forecast.judge,
        "rounds": forecast.rounds,
        "nothing_because": forecast.nothing_because,
        "refusal": forecast.refusal,
        "absent": dict(forecast.absent),
        "calls": calls,
    }
