from __future__ import annotations

import json

from prjury.cli.review import forecast_json, forecast_lines
from prjury.judges.quality.model_seat import Forecast, PlannedCall


def call(model: str = "a:x", usd: float | None = 0.01, *, cached: bool = False) -> PlannedCall:
    return PlannedCall(model, ("src/a.py",), 4_000, 1_000, 500, usd, cached)


QUALITY = Forecast("quality", (call(), call("b:y", 0.02), call(cached=True)), 2)
SILENT = Forecast("naming", nothing_because="no model key is set")


def test_calls_whose_answers_are_known_cost_nothing() -> None:
    lines = list(forecast_lines([Forecast("quality", (call(cached=True),))]))
    assert lines[1].split() == ["quality", "a:x", "0", "1", "0", "0", "$0.0000"]
    assert lines[-1] == "No model would be called"


def test_names_of_models_cannot_act_in_a_log() -> None:
    (_, row, *_) = forecast_lines([Forecast("quality", (call("a:\x1b[31m\nx"),))])
    assert "\x1b" not in row


def test_seats_that_would_not_answer_and_budgets_that_refuse_are_told() -> None:
    absent = Forecast("quality", (call(),), absent={"b:y": "no key for b is set"})
    refused = Forecast("naming", (call(),), refusal="The budget does not allow it")
    lines = list(forecast_lines([absent, refused]))
    assert "b:y would not answer: no key for b is set" in lines
    assert "naming would ask nobody: The budget does not allow it" in lines
    assert lines[-1].startswith("1 call, 4,000 characters")
    value = json.loads(forecast_json([absent, refused]))
    assert (value["calls"], value["usd"]) == (1, 0.01)
    assert value["judges"][0]["absent"] == {"b:y": "no key for b is set"}
