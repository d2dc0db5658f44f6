"""Replays the language-neutral cases about prompts and replies, where they lie at hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from prjury.jury.judgment import Judgment
from prjury.jury.library.assessment import assessment
from prjury.jury.library.classify import yes_or_no
from prjury.jury.library.template import fill

Case = Mapping[str, Any]

FILE = Path(__file__).resolve().parents[4] / "shared" / "data" / "vectors.json"
CASES: list[Case] = json.loads(FILE.read_text())["vectors"] if FILE.exists() else []


def _told(said: Judgment) -> Case:
    score = said.score and said.score.normalized
    findings = [check.message for check in said.checks]
    return {"status": said.status.name, "score": score, "findings": findings}


def parse_yes_no(given: Case) -> Case:
    return _told(yes_or_no(given["response"]))


def parse_assessment(given: Case) -> Case:
    return _told(assessment(given["response"]))


def render_prompt(given: Case) -> Case:
    values: Mapping[str, str] = given["values"]
    return {"text": fill(given["template"], values.__getitem__)}


REPLAYED: Mapping[str, Callable[[Case], Case]] = {
    operation.__name__: operation for operation in (parse_yes_no, parse_assessment, render_prompt)
}


@pytest.mark.skipif(not CASES, reason="the semantics cases are not beside the repository")
def test_there_are_cases_of_every_operation() -> None:
    assert set(REPLAYED) <= {case["op"] for case in CASES}


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["op"] in REPLAYED], ids=lambda case: case["id"]
)
def test_replay(case: Case) -> None:
    found, expected = REPLAYED[case["op"]](case["input"]), dict(case["expect"])
    if allowed := expected.pop("status_in", None):
        assert found["status"] in allowed
    assert {key: found[key] for key in expected} == expected
