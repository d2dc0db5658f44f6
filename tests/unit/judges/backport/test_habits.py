"""What became of earlier changes on a release branch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.backport.score.history_features import Earlier, earlier, habits
from prjury.judges.backport.score.title_features import words
from prjury.ports.types import Message

SHA = "1234567890" * 4


@pytest.mark.parametrize(
    ("unit", "branch", "reached"),
    [
        ("Fix it", f"Fix it\n\n(cherry picked from commit {SHA})", True),
        ("Fix it", "Fix it\n\n(cherry picked from commit 99999999)", False),
        ("Fix the reader (#7)", "Fix the reader (#7) (#9)", True),
        ("Fix the reader (#7)", "Backport PR #7: Fix the reader", True),
        ("Merge pull request #7 from me/x\n\nFix", "Backport PR #7 on branch v1.x (Fix)", True),
        ("Fix the reader (#7)", "Fix the writer (#8)", False),
        ("Fix the reader of files", "Fix the reader of files", True),
        ("Update", "Update", False),  # so short a title may be anybody's
        ("Fix the reader (#7)", 'Revert "Fix the reader (#7)"', False),
    ],
)
def test_a_change_has_reached_a_branch_that_says_so(unit: str, branch: str, reached: bool) -> None:
    (found,) = earlier([Message(SHA, 0, unit)], [Message("f" * 40, 0, branch)])
    assert found.reached is reached


def test_words_are_those_of_the_title_that_a_merge_was_given() -> None:
    text = "Merge pull request #7 from me/x\n\nBUG: Fix the reader"
    (found,) = earlier([Message(SHA, 0, text)], [])
    assert found.words == words("BUG: Fix the reader")


def past(title: str, reached: bool) -> Earlier:
    return Earlier(words(title), reached)


FIXES_ONLY = [past("fix reader", True), past("add writer", False), past("tidy up", False)] * 10


def test_words_whose_changes_reached_the_branch_speak_for_a_backport() -> None:
    fix, feature = (habits(words(title), FIXES_ONLY).lift for title in ("fix x", "add y"))
    assert fix > 1
    assert feature < 0


def test_a_word_that_nobody_used_before_says_nothing() -> None:
    assert habits(words("quux"), FIXES_ONLY).lift == 0.0


def test_other_branches_count_less_and_against_what_they_get_themselves() -> None:
    alone = habits(words("fix x"), [], [FIXES_ONLY]).lift
    assert 0 < alone < habits(words("fix x"), FIXES_ONLY).lift
    takes_all = [past("fix reader", True)] * 30
    assert habits(words("fix x"), [], [takes_all]).lift == 0.0


def test_only_the_newest_changes_tell_what_a_branch_gets_lately() -> None:
    new, old = [past("a b", True)] * 50, [past("a b", False)] * 500
    found = habits(frozenset(), [*new, *old])
    assert found.lately == pytest.approx(52 / 60)
    assert found.earlier == 550
    assert habits(frozenset(), []).lately == pytest.approx(0.2)


TITLES = st.sampled_from(["fix reader", "add writer", "doc: fix it", "", "tidy"])
PASTS = st.lists(st.builds(past, TITLES, st.booleans()), max_size=30)


@given(TITLES, PASTS, st.lists(PASTS, max_size=3))
def test_habits_are_finite_whatever_happened(
    title: str, own: list[Earlier], others: list[list[Earlier]]
) -> None:
    found = habits(words(title), own, others)
    assert 0.0 < found.lately < 1.0
    assert abs(found.lift) <= 1.5 * len(words(title))
    assert found == habits(words(title), own, others)


@given(PASTS)
def test_one_more_change_of_the_kind_that_reached_the_branch_lifts_no_less(
    own: list[Earlier],
) -> None:
    title = frozenset({"reader"})
    more, fewer = ([Earlier(title, reached), *own] for reached in (True, False))
    assert habits(title, more).lately > habits(title, fewer).lately
