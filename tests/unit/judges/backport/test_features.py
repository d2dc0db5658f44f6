"""What of a change counts: its title, its parts, its changelog entries."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.repository import pull_between
from prjury.judges.backport.score.features import (
    ChangeFeatures,
    Part,
    change_features,
    classes,
    title_of,
    words,
)


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
    assert title_of(title, body) == expected


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
    assert classes(title) == expected


def test_words_carry_their_classes_and_what_stands_before_the_colon() -> None:
    assert words("BUG: Fix the reader") == {"bug", "bug:", "fix", "the", "reader", "<fix>"}


@pytest.mark.parametrize(
    ("files", "only"),
    [
        (("docs/a.rst",), "docs"),
        (("README.md", "docs/x/conf.py"), "docs"),
        (("tests/test_a.py",), "tests"),
        ((".github/workflows/a.yml",), "ci"),
        (("pyproject.toml",), "build"),
        (("src/a.py",), "source"),
        (("src/a.py", "changes/1.bugfix.rst"), "source"),
        (("src/a.py", "tests/test_a.py"), None),
        (("CHANGELOG.md",), "docs"),
        ((), None),
    ],
)
def test_a_change_of_one_part_only_is_known(files: tuple[str, ...], only: Part | None) -> None:
    assert change_features(pull_between({}, dict.fromkeys(files, "x\n"))).only == only


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("docs/changes/io/12.bugfix.rst", "Fixed.\n", {"fix"}),
        ("doc/release/upcoming_changes/12.new_feature.rst", "New.\n", {"feature"}),
        ("docs/changes/12.api.rst", "Gone.\n", {"breaking"}),
        ("changelogs/fragments/12-x.yml", "bugfixes:\n  - it works\n", {"fix"}),
        (
            "changelogs/fragments/12-x.yml",
            "minor_changes:\n- x\nbugfixes:\n- y\n",
            {"fix", "feature"},
        ),
        ("CHANGELOG.md", "## Removed\n- x\n", {"breaking"}),
        ("CHANGELOG.md", "- no heading\n", set()),
        ("src/12.bugfix.py", "bugfixes:\n", set()),
    ],
)
def test_changelog_entries_say_what_they_are_about(
    path: str, text: str, expected: set[str]
) -> None:
    assert change_features(pull_between({}, {path: text})).notes == expected


def test_sizes_and_declarations_are_counted() -> None:
    before = {"a.py": "x = 1\n"}
    after = {"a.py": "def read():\n    def _inner():\n", "B.java": "public class B {\n}\n"}
    found = change_features(pull_between(before, after))
    assert (found.files, found.lines, found.new_files, found.declared) == (2, 5, 1, 2)


@pytest.mark.parametrize(
    ("title", "author", "bot"),
    [
        ("Bump a from 1 to 2", None, True),
        ("chore(deps): update b", None, True),
        ("Fix it", "renovate[bot]", True),
        ("Fix it", "robot", False),
        ("Bump the limit", None, False),
    ],
)
def test_programs_are_known_by_name_or_title(title: str, author: str | None, bot: bool) -> None:
    pull = replace(pull_between({}, {}), title=title, author=author)
    assert change_features(pull).bot is bot


@given(st.text(), st.text())
def test_no_title_is_too_odd(title: str, body: str) -> None:
    told = title_of(title, body)
    assert classes(told) >= set()
    assert words(told) == words(told)


def test_the_same_pull_request_has_the_same_traits() -> None:
    pull = pull_between({"a.py": "1\n"}, {"a.py": "2\n"})
    assert change_features(pull) == change_features(pull)
    assert isinstance(hash(change_features(pull)), int)
    assert change_features(pull) != ChangeFeatures()
