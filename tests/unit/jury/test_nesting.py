from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.unruly import FINE
from prjury.jury.compose import all_of, any_of, both, either, named
from prjury.jury.confidence import Confidence
from prjury.jury.judge import Judge
from prjury.jury.judgment import Judgment
from prjury.jury.jury import Jury, Seat
from prjury.jury.library.repeated import RepeatedJudge
from prjury.jury.library.retry import JuryWithRetry
from prjury.jury.nesting import MAX_DEPTH, MAX_QUESTIONS, Extent
from prjury.jury.voting import MajorityVoting
from strategies import Says, seated

A = Says("a", FINE)


def fine(context: object) -> Judgment:
    return FINE


def jury_of(*judges: Any) -> Jury[Any]:
    return seated(judges, MajorityVoting())


def retrying(judges: Sequence[Any], *more: Any, **options: Any) -> JuryWithRetry[Any]:
    return JuryWithRetry(judges, *more, **options)


class Panel:
    """A user's own judge made of judges."""

    name = "panel"

    def __init__(self, members: Any, **more: Any) -> None:
        self.members = members
        vars(self).update(more)

    def judge(self, context: object, /) -> Judgment:
        return FINE


# How much there is.


@pytest.mark.parametrize(
    ("judge", "depth", "questions"),
    [
        (A, 1, 1),
        (fine, 1, 1),
        (named(A, "b"), 2, 1),
        (all_of(A, A, fine), 2, 3),
        (any_of(A, named(A, "b")), 3, 2),
        (both(A, either(A, A)), 3, 3),
        (jury_of(A, A), 2, 2),
        (jury_of(A, A).as_judge(), 2, 2),
        (jury_of(jury_of(A, A).as_judge(), A).as_judge(), 3, 3),
        (all_of(jury_of(A, A).as_judge()), 3, 2),
        (named(jury_of(A, A, A).as_judge(), "b"), 3, 3),
        (RepeatedJudge(A, 5), 2, 5),
        (RepeatedJudge(jury_of(A, A).as_judge(), 5), 3, 10),
        (jury_of(RepeatedJudge(A, 5), A), 3, 6),
        (retrying([A, A, A], max_iterations=4).as_judge(), 2, 12),
        (retrying([A, A, A], fine).as_judge(), 2, 7),
        (retrying([A], all_of(fine, fine)).as_judge(), 3, 4),
        (retrying([A, Seat(A, confidence="flip")], max_iterations=3).as_judge(), 3, 9),
        (retrying([Seat(A, confidence="agreement")], max_iterations=1).as_judge(), 2, 1),
        (Panel((A, fine)), 2, 2),
        (Panel([A, Panel([A, A])]), 3, 3),
        (Panel((A, A), runs=3), 2, 6),
        (Panel((), extent=Extent(3, 50)), 3, 50),
    ],
    ids=lambda value: "" if isinstance(value, int) else type(value).__name__,
)
def test_levels_and_questions(judge: Any, depth: int, questions: int) -> None:
    assert Extent.of(judge) == Extent(depth, questions)


@pytest.mark.parametrize(
    "members",
    [(), [], None, 7, ("alice", "bob"), {"a": A}, {A}, "ab", lambda: (A, A)],
    ids=lambda members: type(members).__name__,
)
def test_what_names_no_members_counts_as_one(members: Any) -> None:
    assert Extent.of(Panel(members)) == Extent(1, 1)


def test_members_that_cannot_be_asked_do_not_count() -> None:
    assert Extent.of(Panel([A, "alice", None, fine])) == Extent(2, 2)


@pytest.mark.parametrize("runs", [0, -3, "often", None, 2.5, True])
def test_odd_runs_count_as_one(runs: Any) -> None:
    assert Extent.of(Panel((A, A), runs=runs)) == Extent(2, 2)


def test_an_extent_that_is_something_else_is_not_looked_at() -> None:
    assert Extent.of(Panel((A, A), extent="large")) == Extent(2, 2)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_questions_add_up(sizes: Sequence[int]) -> None:
    inner = [jury_of(*[A] * size).as_judge() for size in sizes]
    assert jury_of(*inner).extent == Extent(3, sum(sizes))


def test_nobody_is_asked_nothing() -> None:
    assert Extent.around([]) == Extent(1, 0)


def test_two_side_by_side() -> None:
    assert Extent(3, 4).beside(Extent(2, 5)) == Extent(3, 9)
    assert Extent(2, 4).beside(Extent(3, 5)) == Extent(3, 9)


# The limits.


def nested(levels: int, wrap: Callable[[Judge[object]], Judge[object]]) -> Judge[object]:
    judge: Judge[object] = A
    for _ in range(levels - 1):
        judge = wrap(judge)
    return judge


def test_the_limits_are_these() -> None:
    assert (MAX_DEPTH, MAX_QUESTIONS) == (10, 1000)
    assert Extent(10, 1000).within_limits("it") == Extent(10, 1000)


def test_ten_levels_are_enough() -> None:
    assert Extent.of(nested(10, all_of)).depth == 10
    assert Extent.of(nested(10, lambda judge: jury_of(judge).as_judge())).depth == 10


@pytest.mark.parametrize(
    ("what", "wrap"),
    [
        ("all_of", all_of),
        ("any_of", any_of),
        ("the jury 'jury'", lambda judge: jury_of(judge).as_judge()),
        ("the jury 'jury'", lambda judge: retrying([judge], max_iterations=1).as_judge()),
        ("a repeated", lambda judge: RepeatedJudge(judge, 1)),
    ],
)
def test_eleven_levels_are_a_mistake(what: str, wrap: Any) -> None:
    told = f"{what} is nested 11 levels deep; the limit is 10. Seat the inner judges directly"
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        nested(11, wrap)


def test_names_count_as_levels_of_the_jury_in_which_they_sit() -> None:
    deep = nested(10, lambda judge: named(judge, "b"))
    with pytest.raises(ValueError, match=r"^the jury 'jury' is nested 11 levels deep"):
        jury_of(deep)
    with pytest.raises(ValueError, match=r"^the jury 'jury' is nested 11 levels deep"):
        retrying([A], deep)


@pytest.mark.parametrize(
    ("what", "make"),
    [
        ("the jury 'jury'", lambda: jury_of(*[A] * 1001)),
        ("the jury 'jury'", lambda: jury_of(RepeatedJudge(A, 1000), A)),
        ("the jury 'jury'", lambda: jury_of(Panel((A,) * 77, runs=13))),
        ("all_of", lambda: all_of(*[A] * 1001)),
        ("a repeated", lambda: RepeatedJudge(A, 1001)),
        ("the jury 'jury'", lambda: retrying([A] * 500, fine)),
        ("the jury 'jury'", lambda: retrying([A], max_iterations=1001)),
        (
            "the jury 'jury'",
            lambda: retrying([Seat(A, confidence=Confidence.FLIP)] * 500 + [A] * 1, fine, 0.5),
        ),
    ],
)
def test_a_thousand_questions_are_enough(what: str, make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=f"^{what} would ask [0-9]+ questions in one vote") as told:
        make()
    assert str(told.value).endswith(
        "; the limit is 1000. Split it into tiers, or lower the number of runs"
    )


def test_a_thousand_questions_are_not_too_many() -> None:
    assert jury_of(*[A] * 1000).extent.questions == 1000
    assert retrying([A] * 500).extent.questions == 1000
    told = "would ask 1001 questions in one vote; the limit is 1000"
    with pytest.raises(ValueError, match=told):
        jury_of(*[A] * 1001)


# Members without an end.


def test_a_judge_that_is_a_member_of_itself_is_refused() -> None:
    panel = Panel([A])
    panel.members.append(panel)
    told = "a Panel is, at some depth, a member of itself"
    with pytest.raises(ValueError, match=f"^{told}$"):
        jury_of(panel)
    with pytest.raises(ValueError, match=f"^{told}$"):
        all_of(A, panel)


def test_so_is_one_that_is_a_member_of_its_members() -> None:
    first, second = Panel([]), Panel([])
    first.members = (A, named(all_of(second), "b"))
    second.members = (first,)
    with pytest.raises(ValueError, match=r"^a Panel is, at some depth, a member of itself$"):
        retrying([A, first])


def test_members_that_are_made_anew_each_time_have_no_end_either() -> None:
    class Endless(Panel):
        def __init__(self) -> None:
            pass

        @property
        def members(self) -> tuple[Panel]:
            return (Endless(),)

    with pytest.raises(ValueError, match=r"^the jury 'jury' is nested 13 levels deep"):
        jury_of(Endless())


def test_the_same_judge_in_many_places_is_looked_at_once() -> None:
    panel = Panel((A,) * 30)
    for _ in range(7):
        panel = Panel((panel,) * 30)
    with pytest.raises(ValueError, match=f"would ask {30**8} questions in one vote"):
        jury_of(panel)


def test_the_same_judge_side_by_side_is_no_circle() -> None:
    shared = all_of(A, A)
    assert jury_of(shared, shared, both(shared, shared)).extent == Extent(4, 8)
