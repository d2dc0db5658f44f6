"""What a title says about its change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.backport.titles import classify_title, strip_title_number, tokenise_title


@pytest.mark.parametrize(
    ("title", "body", "expected"),
    [
        ("Fix the parser (#12)", "", "Fix the parser"),
        ("Fix the parser (gh-12)", "", "Fix the parser"),
        (
            "Merge pull request #1 from me/fix-parser",
            "\nBUG: Fix the parser\n\nmore",
            "BUG: Fix the parser",
        ),
        ("Merge pull request #1 from me/fix-parser", "", "fix-parser"),
        ("Merge pull request #1 from me/fix-parser", "Co-authored-by: x", "fix-parser"),
        ("Merge branch 'fix-parser' into 'main'", "Fix the parser", "Fix the parser"),
        ("Merge branch 'origin/fix-parser'", "", "fix-parser"),
        ("Merge sort in place", "not the title", "Merge sort in place"),
        ("", "body", ""),
    ],
)
def test_the_title_is_what_a_person_wrote(title: str, body: str, expected: str) -> None:
    assert strip_title_number(title, body) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Fixes a crash in the reader", {"fix"}),
        ("BUG: wrong dtype", {"fix"}),
        ("feat(core)!: drop the old reader", {"feature", "removal"}),
        ("DOC: explain it", {"docs"}),
        ("Bump lodash from 1 to 2", {"dependency"}),
        ("MAINT: rename variables", {"tidying"}),
        ('Revert "Add x"', {"revert", "feature"}),
        ("fix_memory_leak", {"fix"}),
        ("Prefix handling", set()),
        ("", set()),
    ],
)
def test_a_title_says_what_its_change_is(title: str, expected: set[str]) -> None:
    assert classify_title(title) == expected


def test_words_carry_their_classes_and_what_stands_before_the_colon() -> None:
    assert tokenise_title("BUG: Fix the reader") == {"bug", "bug:", "fix", "the", "reader", "<fix>"}


@given(st.text(), st.text())
def test_no_title_is_too_odd(title: str, body: str) -> None:
    text = strip_title_number(title, body)
    assert classify_title(text) >= set()
    assert tokenise_title(text) == tokenise_title(text)
