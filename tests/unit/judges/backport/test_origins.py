"""What a commit of a release branch says that it brings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.backport.origins import Origins, read_origins

FULL = "1234567890abcdef1234567890abcdef12345678"


@pytest.mark.parametrize(
    ("message", "shas"),
    [
        (f"Fix\n\n(cherry picked from commit {FULL})", (FULL,)),
        (f"Fix\r\n\r\n(cherry picked from commit {FULL})\r\n", (FULL,)),
        ("Fix\n\n(backported from commit ABCDEF1)", ("abcdef1",)),
        ("Fix (cherry-picked from commit abcdef1)", ("abcdef1",)),
        ("Fix\n\n(cherry picked from commits abcdef1, abcdef2 and abcdef3)", 3),
        ("Cherry-picked from abcdef1", ("abcdef1",)),
        ("Fix\n\nThis is a backport of 1f3bfa9cca8.", ("1f3bfa9cca8",)),
        ("Backport commit abcdef1 to 1.0.x", ("abcdef1",)),
        ("Direct backport of 0df2022", ("0df2022",)),
        ("Fix\n\nBackported from main (abcdef1) with modifications:", ("abcdef1",)),
        ("Fix\n\ncommit abcdef1234567 upstream.", ("abcdef1234567",)),
        ("Fix\n\n[ Upstream commit abcdef1234567 ]", ("abcdef1234567",)),
        (f"Backport of https://github.com/o/n/commit/{FULL}", (FULL,)),
        (f"Backport of https://github.com/o/n/pull/3/commits/{FULL}", (FULL,)),
        (f"Fix\n\n(cherry picked from commit {FULL})\n(cherry picked from commit abcdef1)", 2),
        ("Fix\n\n(cherry picked from commit abcdef)", ()),  # too short to be anything
        ("Fix what commit abcdef1 broke", ()),
        ("Fix\n\nFixes: abcdef1234567", ()),
    ],
)
def test_commits(message: str, shas: tuple[str, ...] | int) -> None:
    found = read_origins(message).shas
    assert (len(found) if isinstance(shas, int) else found) == shas


@pytest.mark.parametrize(
    ("message", "pulls"),
    [
        ("Fix (#123)", (123,)),
        ("Fix (#123) (#456)", (123, 456)),
        ("Fix (#123)(#456)", (123, 456)),
        ("[1.0.x] Fix (#123)", (123,)),
        ("[8.14] Fix (#123) (#456)", (123, 456)),
        ("Fix (backport #123) (#456)", (123, 456)),
        ("[8.14](backport #123) Fix", (123,)),
        ("Backport #123", (123,)),
        ("Back-port #123", (123,)),
        ("Fix\n\nBackports #123", (123,)),
        ("Backport PR #123: Fix the fix (#99)", (123, 99)),
        ("Backport PR #123 on branch v7.2.x (Fix)", (123,)),
        ("Backport PR 123 onto v7.2.x (Fix) (#456)", (123, 456)),
        ("[PR #123/abcdef12 backport][3.9] Fix (#456)", (123, 456)),
        ("[backport][2.9][PRs #123 #124] Fix", (123, 124)),
        ("Cherry-pick of #123", (123,)),
        ("Automated cherry pick of #123: Fix", (123,)),
        ("Fix\n\nCherry pick of #123 #124 on release-1.2.", (123, 124)),
        ("Manual backport of #123 onto v7.2.x", (123,)),
        ("MNT: Manual backport of https://github.com/o/n/pull/123", (123,)),
        ("Backport of gh-123", (123,)),
        ("Backport fixes from #1, #2, #3, and #4 (#5)", (1, 2, 3, 4, 5)),
        ("* Backport PR #1: a\n* Backport PR #2: b", (1, 2)),
        ("Merge pull request #9 from bot/auto-backport-of-pr-123-on-v7.2.x", (123,)),
        ("Merge pull request #9 from someone/backport-27128", (27128,)),
        ("Merge pull request #9 from someone/backport-27128-27150", (27128, 27150)),
        ("Merge pull request #9 from someone/backport-pr123-onto-v1.2.x", (123,)),
        ("Merge pull request #9 from o/backport-123-to-1.2", (123,)),
        ("Merge pull request #9 from o/backport/8.14/pr-123", (123,)),
        ("Merge pull request #9 from o/mergify/bp/1.2.x/pr-123", (123,)),
        ("Merge pull request #9 from o/patchback/backports/3.9/abcdef12/pr-123", (123,)),
    ],
)
def test_pull_requests(message: str, pulls: tuple[int, ...]) -> None:
    assert read_origins(message).pulls == pulls


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Fix #123",
        "Fix\n\nCloses #123",
        "Merge pull request #9 from someone/fix-123",
        "Merge branch '1.0.x' into 1.1.x",
        "Backport the fix of the parser",
        "Backport of other/project#12",
        "Partial backport of #123",
        "Backport support for 3.9",
        "Bump x\n\n<li>Backport #123: Fix</li>\n> Backport #124",
        'Revert "Backport PR #123: Fix (#456)" (#789)\n\nThis reverts commit abcdef1234.',
        "Drop\n\nUndo the backport of #12",
        "List fixes\n\nSkipped backports: #12, #13",
        "Changelog of 1.2\n\nTODO cherry-pick #12",
        "Tidy, so that we can backport #12",
        "Backport the docs from #12",
        "Fix\n\nPartial fix; backport of #12 follows",
        "Fix\n\n(partially cherry picked from commit 1234567890abcdef1234567890abcdef12345678)",
    ],
)
def test_what_states_no_origin(message: str) -> None:
    assert read_origins(message) == Origins()


WORDS = ["backport", "cherry picked", "from", "of", "commit", "PR", "#1", "(#2)", "abcdef1", "\n"]


@given(st.lists(st.sampled_from([*WORDS, " ", ",", "and", "[", "]", "/pull/3", "https://x/o/n"])))
def test_words_in_any_order_break_nothing(words: list[str]) -> None:
    found = read_origins(" ".join(words))
    assert set(found.shas) <= {"abcdef1"}
    assert set(found.pulls) <= {1, 2, 3}


@given(st.text())
def test_no_text_breaks_it(message: str) -> None:
    assert isinstance(read_origins(message), Origins)
