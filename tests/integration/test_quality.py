"""The quality judge on the command line, with recorded answers about a real repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.llm import answer, quote, reply
from fakes.providers import LINE, PATH, TEXT, Said, Shop, policy

LOST = "An overflow of the sum is lost."
WRONG_SUM = answer("fail", [quote(PATH, LINE, TEXT, claim=LOST)], 0.98)
BLOCKING, ADVISING = policy(advisory=False), policy()


def review(place: Path, text: str, rules: Any = BLOCKING) -> Said:
    """What is said of a change that a model has answered so."""
    script = place / "answers.json"
    script.write_text(json.dumps([{"prompt": "*", "text": text}]))
    return Shop(place).review(rules, "--model", f"scripted:{script}")


@pytest.mark.parametrize("criterion", ["correctness", "risk"])
def test_one_proven_failure_of_a_must_criterion_closes_a_blocking_gate(
    tmp_path: Path, criterion: str
) -> None:
    said = review(tmp_path, reply(**{criterion: WRONG_SUM}))
    assert (said.code, said.status) == (1, "fail")
    assert (said.judgment["status"], said.judgment["score"]) == ("fail", 0.0)
    assert said.judgment["metadata"]["share"] == 1.0
    assert "❌ Do not merge" in said.first_line
    assert LOST in said.files["feedback"]
    assert f"{PATH}:{LINE}" in said.files["feedback"]


def test_an_advising_tier_names_the_likely_bug_in_the_first_line(tmp_path: Path) -> None:
    said = review(tmp_path, reply(correctness=WRONG_SUM), ADVISING)
    assert (said.code, said.status) == (0, "pass")
    assert said.first_line == (
        "## ⚠️ May be merged, but opinion advises against it: the model found 1 problem (not built)"
    )
    assert "The judges advise against merging this" in said.files["feedback"]
    assert "Nothing has to be fixed" not in said.files["feedback"]
    assert LOST in said.files["feedback"]


def test_no_judge_of_the_same_tier_outvotes_a_proven_bug(tmp_path: Path) -> None:
    asked = {"prompt": {"name": "easy", "text": "Be kind.", "criteria": {"risk": "Is it fine?"}}}
    heavy = {**asked, "weight": 9.0}
    rules = policy(advisory=False)
    rules["tiers"][-1]["judges"].append(heavy)
    rules["tiers"][-1]["voting"] = {"weighted_average": {"threshold": 0.7}}
    script = tmp_path / "answers.json"
    entries = [
        {"prompt": "quality", "text": reply(correctness=WRONG_SUM)},
        {"prompt": "easy", "text": reply(["risk"])},
    ]
    script.write_text(json.dumps(entries))
    said = Shop(tmp_path).review(rules, "--model", f"scripted:{script}")
    assert (said.code, said.status) == (1, "fail")


def test_no_vote_of_the_tier_passes_what_the_judge_alone_fails(tmp_path: Path) -> None:
    strict = policy(advisory=False, judge={"quality": {"must": [], "threshold": 0.9}})
    strict["tiers"][-1]["voting"] = {"weighted_average": {"threshold": 0.7}}
    said = review(tmp_path, reply(tests=WRONG_SUM), strict)
    assert (said.code, said.judgment["score"], said.status) == (1, 0.75, "fail")


def test_two_quotes_of_one_criterion_are_two_findings_everywhere(tmp_path: Path) -> None:
    test = quote("tests/test_app.py", 5, "assert add(1, 2) == 3")
    both = {**WRONG_SUM, "findings": [*WRONG_SUM["findings"], test]}
    said = review(tmp_path, reply(correctness=both))
    found = [check for check in said.judgment["checks"] if not check["passed"]]
    assert [check["location"]["path"] for check in found] == [PATH, "tests/test_app.py"]
    assert len({check["fingerprint"] for check in found}) == 2
    for name in ("markdown", "terminal", "feedback"):
        assert f"{PATH}:{LINE}" in said.files[name], name
        assert "tests/test_app.py:5" in said.files[name], name


def test_a_miscounted_and_shortened_quote_keeps_its_finding(tmp_path: Path) -> None:
    near = {**WRONG_SUM, "findings": [quote(f"b/{PATH}", LINE - 2, "+return a + b")]}
    said = review(tmp_path, reply(correctness=near))
    assert said.code == 1
    (found,) = [check for check in said.judgment["checks"] if not check["passed"]]
    assert found["location"]["line"] == LINE
    assert found["evidence"] == TEXT.strip()
    counts = said.judgment["metadata"]["review"]
    assert (counts["reported"], counts["relocated"]) == (1, 1)


def test_an_invented_quote_is_no_bug(tmp_path: Path) -> None:
    invented = {**WRONG_SUM, "findings": [quote(PATH, LINE, "return a * b")]}
    said = review(tmp_path, reply(correctness=invented))
    assert (said.code, said.judgment["label"]) == (3, "no_opinion")


@pytest.mark.parametrize(
    ("second", "code", "status"),
    [("pass", 1, "fail"), ("fail", 0, "pass"), ("abstain", 3, "abstain")],
)
def test_a_second_question_decides_on_an_error(
    tmp_path: Path, second: str, code: int, status: str
) -> None:
    script = tmp_path / "answers.json"
    entries = [
        {"prompt": "confirm", "text": reply(["holds"], holds=answer(second))},
        {"prompt": "quality", "text": reply(correctness=WRONG_SUM)},
    ]
    script.write_text(json.dumps(entries))
    said = Shop(tmp_path).review(
        {**BLOCKING, "review": {"confirm": True}}, "--model", f"scripted:{script}"
    )
    assert (said.code, said.judgment["status"]) == (code, status)
    assert LOST in said.files["feedback"]
