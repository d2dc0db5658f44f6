"""Language-neutral cases of prompts and of replies of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from prjury.jury.judgment import Judgment
from prjury.jury.library.replies import assessment, yes_or_no
from prjury.jury.library.template import fill
from vectors import Case, cases


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


@pytest.mark.parametrize("case", cases("library", *REPLAYED), ids=lambda case: case["id"])
def test_replay(case: Case) -> None:
    found, expected = REPLAYED[case["op"]](case["input"]), dict(case["expect"])
    if allowed := expected.pop("status_in", None):
        assert found["status"] in allowed
    assert {key: found[key] for key in expected} == expected
