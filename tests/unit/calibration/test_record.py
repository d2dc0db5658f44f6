"""The record, and what it takes: one exact bound, and everything that voids it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from math import exp, log
from pathlib import Path
from random import Random

import pytest
from msgspec import structs

from prjury.calibration.answers import (
    CONFIDENCE,
    Counts,
    Record,
    fewest_answers,
    proves_precision,
    read_record,
)
from prjury.cli.calibrate import read_reports
from prjury.errors import UsageError
from prjury.report.judge_facts import ModelSetup

TODAY = date(2026, 11, 28)
SETUP = ModelSetup(("openai:a",), {"quality": "1" * 64})
RECORD = Record.of(SETUP, Counts(mended=22), TODAY)


@pytest.mark.parametrize(("wrong", "fewest"), [(0, 22), (1, 38), (2, 52)])
def test_the_bound_is_exact(wrong: int, fewest: int) -> None:
    assert fewest_answers(wrong) == fewest
    assert proves_precision(fewest - wrong, wrong)
    assert not proves_precision(fewest - wrong - 1, wrong)


def test_many_answers_are_compared_as_exactly_as_few() -> None:
    assert proves_precision(9_200, 800)
    assert not proves_precision(9_000, 1_000)


def test_no_answers_keep_no_promise() -> None:
    assert not proves_precision(0, 0)


def test_the_line_says_how_many_are_missing() -> None:
    counts = Counts(mended=9, dismissed=1, merged=1, open=1)
    assert str(counts) == (
        "12 told: 9 mended, 1 dismissed, 1 merged as it was, 1 open: 41 more before it may block"
    )
    assert str(Counts(mended=22)).endswith("0 open: it may block")


def test_a_record_is_read_as_it_was_written() -> None:
    assert read_record(str(RECORD), "record.yml") == RECORD
    assert RECORD.find_flaw(TODAY) is None
    assert RECORD.find_misfit(SETUP) is None


@pytest.mark.parametrize(
    "edit",
    [
        {"mended": 60},
        {"dismissed": 0, "mended": 23},
        {"expires": date(2030, 1, 1)},
        {"models": ("openai:b",)},
        {"prompts": {"quality": "2" * 64}},
        {"digest": ""},
    ],
)
def test_an_edited_record_proves_nothing(edit: dict[str, object]) -> None:
    read = read_record(str(structs.replace(RECORD, **edit)), "record.yml")
    assert isinstance(read, Record)
    assert read.find_flaw(TODAY) == "it was edited by hand"


@pytest.mark.parametrize(
    ("days", "flaw"), [(0, None), (179, None), (180, "it expired on"), (-2, "still to come")]
)
def test_a_record_counts_for_180_days(days: int, flaw: str | None) -> None:
    assert (flaw or "None") in str(RECORD.find_flaw(TODAY + timedelta(days)))


def test_answers_that_no_longer_keep_the_promise_are_named() -> None:
    flaw = Record.of(SETUP, Counts(mended=22, dismissed=1), TODAY).find_flaw(TODAY)
    assert flaw == "22 right and 1 wrong answers no longer keep the promise; 15 more do"


@pytest.mark.parametrize(
    "setup",
    [
        ModelSetup(("openai:b",), SETUP.prompts),
        ModelSetup(("openai:a", "openai:b"), SETUP.prompts),
        ModelSetup(SETUP.models, {"quality": "2" * 64}),
        ModelSetup(SETUP.models, {**SETUP.prompts, "mine": "1" * 64}),
    ],
)
def test_other_models_or_questions_have_earned_nothing(setup: ModelSetup) -> None:
    assert RECORD.find_misfit(setup)


@pytest.mark.parametrize("text", ["", "[]", "mended: 22\n", "models: &a [x]\nprompts: *a\n", "\0"])
def test_what_is_no_record_is_no_proof(text: str) -> None:
    assert isinstance(read_record(text, "record.yml"), str)


@dataclass(frozen=True)
class World:
    """A repository.

    Attributes:
        right: the share of failures that are right.
        mended: of the right ones, those that are mended; the others are merged as they are.
        obeyed: of the wrong ones, those that are "mended" all the same.
    """

    right: float
    mended: float = 1.0
    obeyed: float = 0.0

    def answer(self, random: Random) -> bool:
        """Tell whether the next answer counts as right."""
        share = self.mended if random.random() < self.right else self.obeyed
        return random.random() < share


_TRIALS, _ANSWERS = 1_000, 250


def certify(world: World, looks: range) -> float:
    """Return the share of repositories that earn the gate at one of these looks."""
    random, earned = Random(7), 0  # noqa: S311 - a simulation
    for _ in range(_TRIALS):
        wrong = 0
        for number in range(1, _ANSWERS + 1):
            wrong += not world.answer(random)
            if number in looks and number >= fewest_answers(wrong):
                earned += 1
                break
    return earned / _TRIALS


ONCE, ALWAYS = range(60, 61), range(1, _ANSWERS + 1)
#: Two standard deviations of a share of .1 among so many trials.
_NOISE = 0.019


@pytest.mark.parametrize("looks", [ONCE, pytest.param(ALWAYS, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mended", [1.0, 0.7])
def test_a_judge_that_is_right_four_times_of_five_earns_nothing(
    looks: range, mended: float
) -> None:
    assert certify(World(0.8, mended), looks) <= 1 - CONFIDENCE + _NOISE


@pytest.mark.parametrize("looks", [ONCE, ALWAYS])
def test_one_wrong_failure_of_ten_that_is_obeyed_changes_little(looks: range) -> None:
    assert certify(World(0.8, obeyed=0.1), looks) <= 1 - CONFIDENCE + _NOISE


def test_one_look_keeps_the_promise_just_below_it() -> None:
    assert certify(World(0.8999), ONCE) <= 1 - CONFIDENCE + _NOISE


def test_however_often_it_is_looked_at_the_bound_promises_87_percent() -> None:
    assert _bound_risk(0.87) <= 1 - CONFIDENCE < _bound_risk(0.875)


def _bound_risk(right: float, most: int = 3_000) -> float:
    """Return an upper bound of the chance that a judge ever earns the gate, looked at always.

    Exact up to so many answers. Beyond, the bound wants less than a tenth of them wrong, which
    Chernoff's inequality bounds for each number of answers.
    """
    chances, earned, refused = {0: 1.0}, 0.0, 0  # by wrong answers, of which `refused` are too many
    for answers in range(1, most + 1):
        before, chances = chances, defaultdict(float)
        for wrong, chance in before.items():
            if chance > 1e-12:
                chances[wrong] += chance * right
                chances[wrong + 1] += chance * (1 - right)
        while proves_precision(answers - refused, refused):
            refused += 1
        earned += sum(chances.pop(wrong) for wrong in list(chances) if wrong < refused)
    divergence = 0.9 * log(0.9 / right) + 0.1 * log(0.1 / (1 - right))
    return earned + exp(-divergence * most) / (1 - exp(-divergence))


def test_a_good_judge_earns_the_gate() -> None:
    assert certify(World(0.98), ALWAYS) > 0.95


def test_a_report_that_is_nested_without_end_is_none(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("[" * 100_000)
    with pytest.raises(UsageError, match=r"report\.json"):
        read_reports([tmp_path])
