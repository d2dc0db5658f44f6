"""The score: what speaks for a backport and against it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fakes.repository import pull_between
from prjury.judges.backport.history import Habits
from prjury.judges.backport.score import (
    BranchTraits,
    ChangeTraits,
    describe_score,
    find_traits,
    score_change,
)

FIX = ChangeTraits(fix=True, plain=True, recorded=True, lines=12)
FEATURE = ChangeTraits(lines=900, new_files=3)
OPEN = BranchTraits(Habits(0.4, 2.0), removed=1.0)
CLOSED = BranchTraits(Habits(0.1, -1.5), conflicts=3, removed=0.4, newest=False)

changes = st.builds(
    ChangeTraits,
    fix=st.booleans(),
    recorded=st.booleans(),
    lines=st.integers(0, 10_000_000),
    new_files=st.integers(0, 10_000),
)
habits = st.builds(Habits, st.floats(0.01, 0.99), st.floats(-10.0, 10.0))
branches = st.builds(
    BranchTraits,
    habits,
    st.integers(0, 500),
    st.none() | st.floats(0.0, 1.0),
    st.booleans(),
)


@given(changes, branches)
def test_every_change_has_a_likelihood_and_reasons(
    change: ChangeTraits, branch: BranchTraits
) -> None:
    score = score_change(change, branch)
    assert 0.0 < score.value < 1.0
    start = score.possible_from
    bands = {"unlikely": (0.0, start), "grey": (start, 0.7), "likely": (0.7, 1.0)}
    low, high = bands[score.band]
    assert low <= score.value <= high or (score.band == "grey" and branch.habits.lately < 0.25)
    assert all((*score.reasons_for, *score.reasons_against))
    assert score == score_change(change, branch)


@given(changes, branches)
def test_a_clean_pick_and_a_recorded_fix_never_hurt(
    change: ChangeTraits, branch: BranchTraits
) -> None:
    value = score_change(change, branch).value
    assert score_change(change, replace(branch, conflicts=0)).value >= value
    assert score_change(replace(change, fix=True, recorded=True), branch).value >= value


def test_a_small_clean_fix_is_told_apart_from_a_large_conflicting_feature() -> None:
    fix, feature = score_change(FIX, OPEN), score_change(FEATURE, CLOSED)
    assert (fix.band, feature.band) == ("likely", "unlikely")
    assert "a fix by its label or changelog entry" in fix.reasons_for
    assert "it conflicts" in feature.reasons_against
    first, *_ = describe_score(feature).split(";")
    assert first == "by what other projects do, 1% of such changes are backported"


@pytest.mark.parametrize(
    ("path", "text", "recorded"),
    [
        ("docs/changes/io/12.bugfix.rst", "Fixed.\n", True),
        ("docs/changes/io/12.security.md", "Fixed.\n", True),
        ("doc/release/upcoming_changes/12.new_feature.rst", "New.\n", False),
        ("changelogs/fragments/12-x.yml", "bugfixes:\n  - it works\n", True),
        ("changelogs/fragments/12-x.yml", "minor_changes:\n- x\n", False),
        ("CHANGELOG.md", "## Fixed\n- x\n", True),
        (".changes/v1.12/BUG FIXES-1.yaml", "kind: BUG FIXES\n", True),
        (".changes/v1.12/ENHANCEMENTS-1.yaml", "kind: ENHANCEMENTS\n", False),
        (".chloggen/12.yaml", "change_type: bug_fix\n", True),
        (".changelog/12.txt", "```release-note:bug\n", True),
        ("docs/changelog/12.yaml", "type: bug\n", True),
        ("CHANGELOG.md", "- no heading\n", False),
        ("src/12.bugfix.py", "bugfixes:\n", False),
    ],
)
def test_changelog_entries_record_fixes(path: str, text: str, recorded: bool) -> None:
    assert find_traits(pull_between({}, {path: text})).recorded is recorded


def test_nothing_is_likely_on_a_branch_that_lately_takes_few_changes() -> None:
    score = score_change(FIX, BranchTraits(Habits(0.2, 6.0), removed=1.0))
    assert (score.value > 0.7, score.band) == (True, "grey")


FILES: Mapping[str, str] = {"a.py": "x = 1\n", "b.py": "y = 1\nz = 1\n"}


@pytest.mark.parametrize(
    ("title", "labels", "recorded", "plain"),
    [
        ("Mend it", ("bug",), True, False),
        ("Mend it", ("type: bug",), True, False),
        ("Mend it", ("kind/regression",), True, False),
        ("Mend it", ("Changelog: Bugfix",), True, False),
        ("Mend it", ("debugging", "not a bugle"), False, False),
        ("Fix a crash", (), False, True),
        ("Add a flag to fix crashes", (), False, False),
        ("Fix flaky tests", (), False, False),
        ("fix(hooks): correct hooks delete order", (), False, True),
        ("Bugfix: remove unused options", (), False, True),
        ("fix(deps): bump a to 2", (), False, False),
        ("fix(ci): mend a workflow", (), False, False),
        ("docs: fix a typo", (), False, False),
    ],
)
def test_labels_and_plain_titles_call_a_change_a_fix(
    title: str, labels: tuple[str, ...], recorded: bool, plain: bool
) -> None:
    traits = find_traits(replace(pull_between({}, FILES), title=title, labels=labels))
    assert (traits.recorded, traits.plain) == (recorded, plain)
    assert (traits.lines, traits.new_files) == (3, 2)
