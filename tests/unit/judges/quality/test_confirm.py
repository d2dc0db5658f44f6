from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.reviews import INVENTIONS, review_golden, review_inventions
from fakes.llm import (
    FOUR,
    SMALL,
    Notebook,
    Talker,
    always,
    answer,
    changed,
    context,
    judge,
    material,
    quote,
    reply,
)
from prjury.judges.quality.interview import CLAIM
from prjury.jury.judgment import Judgment, Status
from prjury.ports.messages import ModelError, Prompt

ERROR = reply(correctness=answer("fail", [quote()]))
HOLDS, DOES_NOT, UNCLEAR = (
    reply(["holds"], holds=answer(verdict)) for verdict in ("pass", "fail", "abstain")
)


def is_second(prompt: Prompt) -> bool:
    return prompt.name.startswith("confirm/")


def answers_both(first: str, second: str | ModelError) -> Callable[[Prompt], str]:
    def says(prompt: Prompt) -> str:
        if not is_second(prompt):
            return first
        if isinstance(second, ModelError):
            raise second
        return second

    return says


def heard(first: str, second: str | ModelError, **more: Any) -> tuple[Judgment, Talker]:
    model = always(answers_both(first, second))
    return judge(model, confirm=True, **more).judge(context(SMALL)), model


def test_a_confirmed_error_fails_in_its_own_words() -> None:
    judgment, model = heard(ERROR, HOLDS)
    assert judgment.status is Status.FAIL
    (check,) = judgment.failed_checks
    assert (check.message, check.severity) == ("It adds where it should not.", "error")
    assert judgment.metadata["review"]["confirmed"] == 1
    assert [is_second(prompt) for prompt in model.asked] == [False, True, True, True]


@pytest.mark.parametrize(
    ("second", "status"),
    [
        (DOES_NOT, Status.PASS),
        (UNCLEAR, Status.ABSTAIN),
        ("no JSON", Status.ABSTAIN),
        (ModelError("the model is down", "timeout"), Status.ABSTAIN),
    ],
)
def test_an_error_that_is_not_confirmed_is_told_and_fails_nothing(
    second: Any, status: Status
) -> None:
    judgment, _ = heard(ERROR, second)
    assert judgment.status is status
    (check,) = judgment.failed_checks
    assert check.severity == "warning"
    assert "confirm it" in check.message
    assert judgment.metadata["review"]["refuted"] == (status is Status.PASS)


def test_a_confirmation_that_repeats_the_instructions_taints_the_judgment() -> None:
    def says(prompt: Prompt) -> str:
        return reply(["holds"], holds={**answer(), "reasoning": prompt.nonces[1]})

    model = always(lambda prompt: says(prompt) if is_second(prompt) else ERROR)
    judgment = judge(model, confirm=True).judge(context(SMALL))
    assert judgment.status is not Status.PASS


def test_warnings_are_not_asked_about_again() -> None:
    warning = reply(conventions=answer("fail", [quote(severity="warning")]))
    judgment, model = heard(warning, DOES_NOT)
    assert judgment.status is Status.PASS
    assert [check.severity for check in judgment.failed_checks] == ["warning"]
    assert len(model.asked) == 1


def test_the_second_question_shows_the_claim_and_its_surroundings_alone() -> None:
    long = changed("src/long.py", *(f"+line {number}" for number in range(200)))
    finding = quote("src/long.py", 100, "line 99", claim="Line 99 is wrong.")
    first = reply(correctness=answer("fail", [finding]))
    model = always(answers_both(first, HOLDS))
    judge(model, confirm=True).judge(context(SMALL, long))
    shown = material(model.asked[1])
    (section,) = shown["files"]
    lines = section["hunks"][0]["lines"]
    assert (section["path"], lines[0], lines[-1]) == ("src/long.py", "+75|line 74", "+125|line 124")
    (claim,) = shown["documents"]
    assert claim["path"] == CLAIM
    assert any("Line 99 is wrong." in line for line in claim["hunks"][0]["lines"])


def test_another_model_is_asked_where_there_is_one() -> None:
    models = [always(answers_both(ERROR, HOLDS), name=f"test:{name}") for name in ("one", "two")]
    judge(models, confirm=True).judge(context(SMALL))
    for model in models:
        assert [is_second(prompt) for prompt in model.asked].count(False) == 1


def test_an_unchanged_push_confirms_nothing_again() -> None:
    memory = Notebook()
    heard(ERROR, HOLDS, memory=memory)
    again, model = heard(ERROR, DOES_NOT, memory=memory)
    assert (again.status, model.asked) == (Status.FAIL, [])


def test_passes_are_asked_independently_and_joined() -> None:
    other = reply(risk=answer("fail", [quote(claim="It loses a cent.")]))
    model = Talker(itertools.cycle([ERROR, other]))
    judgment = judge(model, passes=2).judge(context(SMALL))
    assert {(check.name, check.message) for check in judgment.failed_checks} == {
        ("correctness", "It adds where it should not."),
        ("risk", "It loses a cent."),
    }
    assert len(model.asked) == 2
    assert set(judgment.metadata["criteria"]) == set(FOUR)


def test_nothing_of_one_finding_is_printed_at_another() -> None:
    file = changed("src/app.py", "+first = 1", "+second = 2")
    findings = [
        quote(line=1, text="first = 1", claim="First.", suggestion="Use 0."),
        quote(line=2, text="second = 2", claim="Second."),
        quote(line=2, text="third = 3", claim="Invented."),
    ]
    said = reply(correctness={**answer("fail", findings), "reasoning": "All of it."})
    judgment = judge(always(said)).judge(context(file))
    assert [(str(c.location), c.message, c.fix) for c in judgment.failed_checks] == [
        ("src/app.py:1", "First.", "Use 0."),
        ("src/app.py:2", "Second.", None),
    ]
    assert judgment.metadata["review"]["dropped"] == {"no_quote": 1, "not_changed": 0}


def test_golden_comments_arrive_in_their_own_words_at_their_own_lines() -> None:
    outcome = review_golden(0.0)
    assert outcome.share_arrived >= 0.95
    assert outcome.share_failed >= 0.95


@pytest.mark.slow
def test_inventions_fail_nothing_though_the_second_question_errs() -> None:
    outcomes = [review_inventions(kind, 0.2, seed) for kind in INVENTIONS for seed in range(5)]
    failed = sum(outcome.failed for outcome in outcomes)
    assert failed / sum(outcome.reported for outcome in outcomes) < 0.02


@pytest.mark.parametrize("kind", INVENTIONS)
def test_without_a_second_question_inventions_are_warnings_at_most(kind: str) -> None:
    assert review_inventions(kind, None).failed == 0
