"""``prjury review --dry-run``: what would be asked of models, before anything is spent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import to_builtins

from prjury.judges.quality.model_seat import Forecast
from prjury.report.sanitise import log_line
from prjury.report.wording import pluralize

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
    yield _sum(_total(forecasts))


def forecast_json(forecasts: Sequence[Forecast]) -> str:
    """The forecasts as one JSON object, every call in it."""
    total = _total(forecasts)
    value = {
        "schema": "prjury/forecast/v1",
        "judges": [to_builtins(forecast) for forecast in forecasts],
        "calls": len(total.paid),
        "characters": total.characters,
        "input_tokens": total.input_tokens,
        "usd": total.usd,
    }
    return json.dumps(value, indent=2)


def _total(forecasts: Sequence[Forecast]) -> Forecast:
    calls = (call for one in forecasts if not one.refusal for call in one.calls)
    return Forecast("all", tuple(calls), max((one.rounds for one in forecasts), default=1))


def _rows(forecast: Forecast) -> Iterator[tuple[str, ...]]:
    for model, group in groupby(forecast.calls, key=lambda call: call.model):
        part = Forecast(forecast.judge, tuple(group))
        yield (
            part.judge,
            log_line(model),
            str(len(part.paid)),
            str(len(part.calls) - len(part.paid)),
            f"{part.characters:,}",
            f"{part.input_tokens:,}",
            _money(part.usd),
        )


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        names = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        figures = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        yield "  ".join([*names, *figures]).rstrip()


def _sum(total: Forecast) -> str:
    if not total.paid:
        return "No model would be called"
    calls, characters = pluralize(len(total.paid), "call"), pluralize(total.characters, "character")
    tokens = pluralize(total.input_tokens, "token")
    repetition = f"; in case of doubt up to {total.rounds} times that" if total.rounds > 1 else ""
    return f"{calls}, {characters}, about {tokens} in, price {_money(total.usd)}{repetition}"


def _money(usd: float | None) -> str:
    return "not known" if usd is None else f"${usd:.4f}"
