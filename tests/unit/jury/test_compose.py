from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from fakes.refusals import refused
from prjury.jury.codec import judgment_from_json
from prjury.jury.compose import (
    all_of,
    always_fail,
    always_pass,
    any_of,
    both,
    disambiguate_names,
    either,
    named,
)
from prjury.jury.judge import FunctionJudge, Judge, ask
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.score import NumericalScore
from prjury.jury.voting import is_benign
from strategies import Says

PASS, FAIL, ABSTAIN, ERROR = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR
NOT_MINE = Judgment.abstained("docs only", "not_applicable")


class Bench:
    """Judges with these statuses, and the list of those that were asked."""

    def __init__(self, *statuses: Status) -> None:
        self.asked: list[int] = []
        self.judges: list[Judge[object]] = [
            FunctionJudge(self._answer(place, status), f"judge{place}")
            for place, status in enumerate(statuses)
        ]

    def _answer(self, place: int, status: Status):  # type: ignore[no-untyped-def]  # noqa: ANN202
        def answer(context: object) -> Judgment:
            self.asked.append(place)
            return Judgment(status, f"answer {place}")

        return answer


@pytest.mark.parametrize(
    ("statuses", "expected", "asked"),
    [
        ([PASS, PASS], PASS, 2),
        ([PASS, FAIL], FAIL, 2),
        ([FAIL, PASS], FAIL, 1),
        ([PASS, ABSTAIN], ABSTAIN, 2),
        ([ABSTAIN, FAIL], ABSTAIN, 1),
        ([ERROR, PASS], ERROR, 1),
        ([PASS, PASS, ERROR, FAIL], ERROR, 3),
    ],
)
def test_all_of_stops_at_the_first_that_does_not_pass(
    statuses: list[Status], expected: Status, asked: int
) -> None:
    bench = Bench(*statuses)
    answer = ask(all_of(*bench.judges), None)
    assert answer.status is expected
    assert answer.reasoning.endswith(f"answer {asked - 1}")
    assert bench.asked == list(range(asked))


@pytest.mark.parametrize(
    ("statuses", "expected", "asked"),
    [
        ([PASS, FAIL], PASS, 1),
        ([FAIL, PASS], PASS, 2),
        ([FAIL, FAIL], FAIL, 2),
        ([ABSTAIN, PASS, FAIL], PASS, 2),
        ([ERROR, FAIL], FAIL, 2),
        ([FAIL, ERROR], ERROR, 2),
        ([FAIL, ABSTAIN], ABSTAIN, 2),
    ],
)
def test_any_of_stops_at_the_first_that_passes(
    statuses: list[Status], expected: Status, asked: int
) -> None:
    bench = Bench(*statuses)
    answer = ask(any_of(*bench.judges), None)
    assert answer.status is expected
    assert answer.reasoning.endswith(f"answer {asked - 1}")
    assert bench.asked == list(range(asked))


@given(st.sampled_from([PASS, FAIL, ABSTAIN, ERROR]), st.sampled_from([PASS, FAIL, ABSTAIN, ERROR]))
def test_both_and_either_are_the_two_for_a_pair(first: Status, second: Status) -> None:
    one, two = Bench(first, second), Bench(first, second)
    assert ask(both(*one.judges), None) == ask(all_of(*two.judges), None)
    assert ask(either(*one.judges), None) == ask(any_of(*two.judges), None)
    assert one.asked == two.asked
    assert both(*one.judges).name == "judge0 and judge1"
    assert either(*one.judges).name == "judge0 or judge1"


def test_a_composition_needs_a_judge() -> None:
    with refused(ValueError, "all_of needs at least one judge"):
        all_of()
    with refused(ValueError, "any of them needs at least one judge"):
        any_of(name="any of them")


@pytest.mark.parametrize(
    ("compose", "expected"),
    [
        (lambda echo: all_of(echo, echo), "this change"),
        (lambda echo: any_of(always_fail(), echo), "this change"),
        (lambda echo: both(always_pass(), echo), "this change"),
        (lambda echo: either(echo, always_fail()), "this change"),
        (lambda echo: named(echo, "parrot"), "this change"),
    ],
)
def test_members_see_what_the_composition_is_shown(compose: Any, expected: str) -> None:
    echo: FunctionJudge[object] = FunctionJudge(
        lambda context: Judgment.passed(str(context)), "echo"
    )
    said = ask(compose(echo), "this change")
    assert said.status is PASS
    assert expected in said.reasoning


# What the members said is kept.


def checked(name: str, status: Status, score: float, *, passed: bool) -> Says:
    check = Check(f"{name}-check", passed=passed, message=name)
    return Says(name, Judgment(status, f"{name} says", NumericalScore(score), checks=(check,)))


@pytest.mark.parametrize(
    ("compose", "statuses", "checks"),
    [
        (all_of, [PASS, PASS], ["a-check", "b-check"]),
        (all_of, [PASS, FAIL], ["a-check", "b-check"]),
        (any_of, [FAIL, FAIL], ["a-check", "b-check"]),
        (both, [PASS, FAIL], ["a-check", "b-check"]),
        # What failed before is no finding of a chain that passes.
        (any_of, [FAIL, PASS], ["b-check"]),
        (either, [FAIL, PASS], ["b-check"]),
    ],
)
def test_a_chain_has_the_checks_and_the_scores_of_its_members(
    compose: Any, statuses: list[Status], checks: list[str]
) -> None:
    members = [
        checked(name, status, score, passed=status is PASS)
        for name, status, score in zip("ab", statuses, (0.25, 0.75), strict=True)
    ]
    said = ask(compose(*members), None)
    assert [check.name for check in said.checks] == checks
    assert said.score == NumericalScore(0.75)
    kept = [judgment_from_json(member) for member in said.metadata["members"].values()]
    assert kept == [member.judgment for member in members]
    assert list(said.metadata["members"]) == ["a", "b"]


@pytest.mark.parametrize("against", [Judgment.failed("broken"), Judgment.errored("crashed")])
def test_a_judge_to_which_nothing_applies_excuses_nobody_who_failed(against: Judgment) -> None:
    answer = ask(any_of(Says("build", against), Says("patterns", NOT_MINE)), None)
    assert answer.status is Status.ABSTAIN
    assert not is_benign(answer)


def test_a_judge_to_which_nothing_applies_excuses_nobody_who_was_not_asked() -> None:
    answer = ask(both(Says("patterns", NOT_MINE), always_fail()), None)
    assert answer.status is Status.ABSTAIN
    assert not is_benign(answer)


@pytest.mark.parametrize("earlier", [NOT_MINE, Judgment.abstained("no key", "not_configured")])
def test_a_composition_to_which_nothing_applies_is_benign(earlier: Judgment) -> None:
    assert is_benign(ask(any_of(Says("a", earlier), Says("b", NOT_MINE)), None))
    assert is_benign(ask(all_of(Says("a", Judgment.passed("")), Says("b", NOT_MINE)), None))
    assert is_benign(ask(all_of(Says("a", earlier)), None))


@pytest.mark.parametrize(
    ("given_names", "expected"),
    [
        (["lint", None, "lint", "unit", "lint"], ["lint", "Judge#2", "lint-2", "unit", "lint-3"]),
        ([None, None], ["Judge#1", "Judge#2"]),
        (["Judge#2", None], ["Judge#2", "Judge#2-2"]),
        (["a-2", "a", "a"], ["a-2", "a", "a-3"]),
        (["", "a"], ["Judge#1", "a"]),
    ],
)
def test_automatic_names(given_names: list[str | None], expected: list[str]) -> None:
    assert list(disambiguate_names(given_names)) == expected


@given(st.lists(st.none() | st.sampled_from(["a", "a-2", "a-3", "Judge#1"]) | strategies.words))
def test_automatic_names_are_unique_and_keep_the_first(names: list[str | None]) -> None:
    result = disambiguate_names(names)
    assert len(set(result)) == len(names)
    for name, given_name in zip(result, names, strict=True):
        assert name.startswith(given_name or "Judge#")
