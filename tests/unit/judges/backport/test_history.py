"""What became of earlier changes on a release branch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.backport.history import EarlierChange, list_earlier_changes, measure_habits
from prjury.judges.backport.titles import tokenise_title
from prjury.ports.types import CommitMessage

SHA = "1234567890" * 4


@pytest.mark.parametrize(
    ("unit", "branch", "reached"),
    [
        ("Fix it", f"Fix it\n\n(cherry picked from commit {SHA})", True),
        ("Fix it", "Fix it\n\n(cherry picked from commit 99999999)", False),
        ("Fix the reader (#7)", "Fix the reader (#7) (#9)", True),
        ("Fix the reader (#7)", "Backport PR #7: Fix the reader", True),
        ("Fix the reader of files (#7)", "[1.3] Fix the reader of files (#9)", True),
        ("Fix the reader of files (#7)", "(cherry-pick) Fix the reader of files (#9)", True),
        ("Fix the reader of files (#7)", "Backport of Fix the reader of files into v1.3", True),
        ("Fix the reader of files (#7)", "v1.3 backport: Fix the reader of files (#9)", True),
        ("bump the reader from 1 to 2", "[1.3] bump the reader from 1 to 2", True),
        ("[ci] Fix the reader of files", "Fix the reader of files", False),
        ("Merge pull request #7 from me/x\n\nFix", "Backport PR #7 on branch v1.x (Fix)", True),
        ("Fix the reader (#7)", "Fix the writer (#8)", False),
        ("Fix the reader of files", "Fix the reader of files", True),
        ("Update", "Update", False),  # so short a title may be anybody's
        ("Fix the reader (#7)", 'Revert "Fix the reader (#7)"', False),
    ],
)
def test_a_change_has_reached_a_branch_that_says_so(unit: str, branch: str, reached: bool) -> None:
    (found,) = list_earlier_changes(
        [CommitMessage(SHA, 0, unit)], [CommitMessage("f" * 40, 0, branch)]
    )
    assert found.reached is reached


def test_a_merge_has_reached_a_branch_that_names_the_commit_that_it_merged() -> None:
    picked = CommitMessage("f" * 40, 0, f"Fix it\n\n(cherry picked from commit {SHA})")
    merge = CommitMessage("d" * 40, 0, "Merge pull request #7 from me/x", ("a" * 40, SHA))
    before = CommitMessage("e" * 40, 0, "Before", (SHA,))
    found = list_earlier_changes([merge, before], [picked])
    assert [change.reached for change in found] == [True, False]


def test_words_are_those_of_the_title_that_a_merge_was_given() -> None:
    text = "Merge pull request #7 from me/x\n\nBUG: Fix the reader"
    (found,) = list_earlier_changes([CommitMessage(SHA, 0, text)], [])
    assert found.words == tokenise_title("BUG: Fix the reader")


def past(title: str, reached: bool) -> EarlierChange:
    return EarlierChange(tokenise_title(title), reached)


TITLES = st.sampled_from(["fix reader", "add writer", "doc: fix it", "", "tidy"])
PASTS = st.lists(st.builds(past, TITLES, st.booleans()), max_size=30)


@given(TITLES, PASTS, st.lists(PASTS, max_size=3))
def test_habits_are_finite_whatever_happened(
    title: str, own: list[EarlierChange], others: list[list[EarlierChange]]
) -> None:
    found = measure_habits(tokenise_title(title), own, others)
    assert 0.0 < found.lately < 1.0
    assert abs(found.lift) <= 1.5 * len(tokenise_title(title))
    assert found == measure_habits(tokenise_title(title), own, others)


@given(PASTS)
def test_one_more_change_of_the_kind_that_reached_the_branch_lifts_no_less(
    own: list[EarlierChange],
) -> None:
    title = frozenset({"reader"})
    more, fewer = ([EarlierChange(title, reached), *own] for reached in (True, False))
    assert measure_habits(title, more).lately > measure_habits(title, fewer).lately
