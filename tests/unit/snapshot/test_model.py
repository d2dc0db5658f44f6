"""Small properties of the photograph's values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.snapshot.kinds import edits_only_docs
from prjury.snapshot.model import (
    FileChange,
    FileKind,
    FileStatus,
    Hunk,
    Line,
    MergeTrial,
    PullRequest,
    Side,
    visible,
)


def change(path: str, kind: FileKind, hunks: tuple[Hunk, ...] = ()) -> FileChange:
    return FileChange(path, FileStatus.MODIFIED, kind, additions=2, deletions=1, hunks=hunks)


def pull(*files: FileChange) -> PullRequest:
    sides = Side("main", "a" * 40), Side("change", "b" * 40)
    return PullRequest("o/r", *sides, "a" * 40, MergeTrial("c" * 40), files)


def test_sums_and_added_lines() -> None:
    hunk = Hunk(1, 1, 1, 1, "", (Line("-", 1, None, "x"), Line("+", None, 1, "y")))
    file = change("a.py", FileKind.SOURCE, (hunk,))

    assert [line.text for line in file.added_lines] == ["y"]
    assert (pull(file, file).additions, pull(file, file).deletions) == (4, 2)


@pytest.mark.parametrize(
    ("status", "before", "only"),
    [
        (FileStatus.RENAMED, "old.md", True),
        (FileStatus.COPIED, "docs/old.txt", True),
        (FileStatus.RENAMED, "app.py", False),
        (FileStatus.RENAMED, "words/words.txt", False),
        (FileStatus.DELETED, None, False),
    ],
)
def test_what_becomes_documentation_or_goes_away_is_more_than_documentation(
    status: FileStatus, before: str | None, only: bool
) -> None:
    assert edits_only_docs(pull(FileChange("a.md", status, FileKind.DOCS, old_path=before))) is only


@pytest.mark.parametrize(
    ("kind", "readable"),
    [(FileKind.SYMLINK, True), (FileKind.TEST, True), (FileKind.SUBMODULE, False)],
)
def test_what_judges_are_expected_to_read(kind: FileKind, readable: bool) -> None:
    assert change("x", kind).readable is readable


def test_a_trial_without_a_tree_is_not_clean() -> None:
    assert not MergeTrial(None).clean
    assert MergeTrial("a" * 40).clean


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("feature/ü", "feature/ü"),
        ("a\nb\x1b[31m", r"a\nb\x1b[31m"),
        ("x\u202ey\u2028z\u200b", r"x\u202ey\u2028z\u200b"),
        ("\U000e0041", r"\U000e0041"),
        ("\udcff", r"\xff"),
    ],
)
def test_git_22_nothing_in_a_name_hides_or_moves_text(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_visible_text_is_one_printable_line(text: str) -> None:
    assert visible(text.encode("utf-8", "replace").decode("utf-8", "surrogateescape")).isprintable()
