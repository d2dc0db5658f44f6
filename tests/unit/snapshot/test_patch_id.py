from __future__ import annotations

import pytest
from msgspec.structs import replace

from fakes.llm import changed, pull
from prjury.snapshot.model import FileChange, PullRequest, patch_id

CHANGE = changed("src/app.py", " def add(a, b):", "-    return a - b", "+    return a + b")


def moved(file: FileChange, by: int) -> FileChange:
    """The same change further down."""
    hunks = tuple(
        replace(hunk, old_start=hunk.old_start + by, new_start=hunk.new_start + by)
        for hunk in file.hunks
    )
    return replace(file, hunks=hunks)


@pytest.mark.parametrize(
    "other",
    [
        pull(moved(CHANGE, 40)),
        replace(pull(CHANGE), title="another", base=replace(pull().base, sha="d" * 40)),
        pull(replace(CHANGE, new_blob="e" * 40, old_blob="f" * 40)),
    ],
    ids=["moved", "another base", "another rest of the file"],
)
def test_what_is_the_same_change(other: PullRequest) -> None:
    assert patch_id(other) == patch_id(pull(CHANGE))


@pytest.mark.parametrize(
    "other",
    [
        pull(),
        pull(replace(CHANGE, path="src/other.py")),
        pull(replace(CHANGE, new_mode="100755")),
        pull(changed("src/app.py", " def add(a, b):", "-    return a - b", "+    return  a + b")),
        pull(changed("src/app.py", " def sub(a, b):", "-    return a - b", "+    return a + b")),
        pull(CHANGE, changed("b.py", "+x")),
        pull(replace(CHANGE, hunks=(), new_blob="e" * 40)),
    ],
    ids=["nothing", "path", "mode", "blank", "context", "more", "unread"],
)
def test_what_is_another_change(other: PullRequest) -> None:
    assert patch_id(other) != patch_id(pull(CHANGE))
