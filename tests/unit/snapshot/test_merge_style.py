"""The project's way, told from its history."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.snapshot.merge_style import Habit, HistoryCommit, RebaseTrial, Way, guess_habit


def plain(subject: str = "Fix it") -> HistoryCommit:
    return HistoryCommit("a" * 40, ("b" * 40,), subject)


def merge(subject: str = "Merge pull request #7 from x/y") -> HistoryCommit:
    return HistoryCommit("a" * 40, ("b" * 40, "c" * 40), subject)


def told(count: int, merges: int, numbered: int) -> str:
    return (
        f"of the last {count} commits on the base {merges} are merges "
        f"and {numbered} end in a pull request's number"
    )


FEW = Habit(Way.MERGE, "the default, since the base has a short history")


@pytest.mark.parametrize(
    ("commits", "expected"),
    [
        ([merge()] * 10, Habit(Way.MERGE, told(10, 10, 0))),
        ([merge()] * 2 + [plain()] * 40, Habit(Way.MERGE, told(42, 2, 0))),
        ([plain("Add it (#12)")] * 10, Habit(Way.SQUASH, told(10, 0, 10))),
        ([plain("a (#1)")] * 2 + [plain()] * 40, Habit(Way.SQUASH, told(42, 0, 2))),
        ([plain("a (#1)")] * 5 + [merge()] * 5, Habit(Way.MERGE, told(10, 5, 5))),
        ([plain("a (#1)")] * 6 + [merge()] * 5, Habit(Way.SQUASH, told(11, 5, 6))),
        ([plain()] * 10, Habit(Way.REBASE, told(10, 0, 0))),
        ([plain()] * 10 + [merge()], Habit(Way.REBASE, told(11, 1, 0))),
        ([plain()] * 10 + [plain("a (#1)")], Habit(Way.REBASE, told(11, 0, 1))),
        ([], FEW),
        ([plain()], FEW),
        ([plain()] * 9, FEW),
        (
            [plain()] * 9 + [merge("Merge branch '7.0.x'")] * 3,
            FEW,
        ),
    ],
)
def test_habits(commits: list[HistoryCommit], expected: Habit) -> None:
    assert guess_habit(commits) == expected
    assert guess_habit(commits[::-1]) == expected


@pytest.mark.parametrize(
    "subject",
    [
        "Merge branch '7.0.x'",
        "Merge branch '7.0.x' into main",
        "Merge branch 'release/1.2'",
        "Merge branch 'release-2' into develop",
        "Merge remote-tracking branch 'origin/5.3.x'",
        "Merge commit 'v7.1.0-M1~1'",
        "Merge tag 'v1.2.3'",
        "Merge branch 'maint-2.1'",
        "Merge branch 'v3'",
    ],
)
def test_merges_of_release_branches_do_not_count(subject: str) -> None:
    commits = [merge(subject)] * 30 + [plain()] * 10

    assert guess_habit(commits) == Habit(Way.REBASE, told(10, 0, 0))


@pytest.mark.parametrize(
    "subject",
    [
        "Merge pull request #7 from x/1.2",
        "Merge branch 'topic'",
        "Merge branch '12-fix-the-thing' into 'main'",
        "Merge branch 'release-notes'",
        "Merge branch 'v2-api'",
        "Merge x",
    ],
)
def test_merges_of_other_branches_do(subject: str) -> None:
    assert guess_habit([merge(subject)] * 30 + [plain()] * 10).way is Way.MERGE


@pytest.mark.parametrize("subject", ["a (#1)", "a (gh-12)", "a (GH-12)", "a (!3)"])
def test_numbers_of_pull_requests(subject: str) -> None:
    assert guess_habit([plain(subject)] * 10).way is Way.SQUASH


@pytest.mark.parametrize("subject", ["a #1", "(#1) a", "a (1)", "a (#x)", "Fixes gh-1", "a (#1)."])
def test_other_numbers(subject: str) -> None:
    assert guess_habit([plain(subject)] * 10).way is Way.REBASE


@given(st.lists(st.sampled_from([plain(), plain("a (#1)"), merge(), merge("Merge branch '1.x'")])))
def test_the_order_does_not_matter(commits: list[HistoryCommit]) -> None:
    assert guess_habit(commits) == guess_habit(sorted(commits, key=lambda commit: commit.subject))


def test_a_trial_is_clean_when_it_has_a_tree() -> None:
    assert RebaseTrial("t", 1).clean
    assert not RebaseTrial(None, 1).clean
