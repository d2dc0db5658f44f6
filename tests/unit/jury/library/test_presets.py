from __future__ import annotations

import re
from typing import Any

import pytest

from prjury.jury.library.presets import CRITERIA, CRITERIA_GROUPS, CRITERION_PROMPT, Criterion
from prjury.jury.library.template import placeholders


def test_every_criterion_is_there() -> None:
    assert list(CRITERIA) == [
        "correctness",
        "tests",
        "conventions",
        "risk",
        "readability",
        "maintainability",
        "testability",
        "sql_injection",
        "xss",
        "csrf",
        "hard_coded_secrets",
        "gdpr",
        "hipaa",
        "sox",
    ]


def test_the_groups() -> None:
    assert dict(CRITERIA_GROUPS) == {
        "quality": ("readability", "maintainability", "testability"),
        "security": ("sql_injection", "xss", "csrf", "hard_coded_secrets"),
        "compliance": ("gdpr", "hipaa", "sox"),
    }


@pytest.mark.parametrize("name", CRITERIA)
def test_a_criterion_asks_one_question(name: str) -> None:
    criterion = CRITERIA[name]
    assert criterion.name == name
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", name)
    assert criterion.title[0].isupper()
    assert criterion.text.count("?") == 1
    assert criterion.text.startswith(criterion.question)
    assert criterion.question.endswith("?")


@pytest.mark.parametrize("name", [name for group in CRITERIA_GROUPS.values() for name in group])
def test_a_grouped_criterion_says_what_an_answer_takes(name: str) -> None:
    criterion = CRITERIA[name]
    assert criterion.passes.startswith("Yes if ")
    assert " No " in criterion.passes
    assert "can be quoted" in criterion.passes
    assert criterion.abstains.startswith("Abstain if ")
    assert criterion.text == f"{criterion.question} {criterion.passes} {criterion.abstains}"


def test_the_prompt_puts_the_change_last() -> None:
    expected = ("criterion.title", "criterion.text", "form", "goal", "agent_output")
    assert placeholders(CRITERION_PROMPT) == expected


@pytest.mark.parametrize("what", ["name", "title", "question"])
def test_a_criterion_needs_its_words(what: str) -> None:
    words: dict[str, Any] = {"name": "a", "title": "A", "question": "Is it?", what: " "}
    with pytest.raises(ValueError, match=f"^a criterion needs a {what}$"):
        Criterion(**words)
    assert Criterion("a", "A", "Is it?").text == "Is it?"


def test_the_table_cannot_be_changed() -> None:
    table: Any = CRITERIA
    with pytest.raises(TypeError):
        table["xss"] = CRITERIA["csrf"]
