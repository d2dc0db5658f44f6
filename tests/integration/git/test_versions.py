"""What is read of files in conflict, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.history import History
from prjury.git import conflicts as versions
from prjury.git.command import GitError
from prjury.git.conflicts import BASE, OURS, THEIRS, ConflictReader, ConflictStage
from prjury.git.operator import open_repository
from prjury.git.store import Store, open_store


@pytest.fixture
def history(tmp_path: Path) -> History:
    history = History(tmp_path / "repo", bare=True)
    history.commit({"a": "a\n", "b": "b\n", "c": "c\n"})
    return history


@pytest.fixture
def store(history: History) -> Iterator[Store]:
    with open_store(open_repository(history.path)) as store:
        yield store


def clash(history: History, path: str, base: str | None, ours: str, theirs: str) -> ConflictReader:
    names = {BASE: base, OURS: ours, THEIRS: theirs}
    blobs = {
        stage: history.git("rev-parse", f"HEAD:{name}") for stage, name in names.items() if name
    }
    return ConflictReader(
        path, {stage: ConflictStage("100644", blob) for stage, blob in blobs.items()}
    )


def test_files_are_read_together(history: History, store: Store) -> None:
    one, two = clash(history, "x\n", "a", "b", "c"), clash(history, "\udcff", None, "a", "b")
    files, reasons = versions.read_versions_or_reasons(store.git, [one, two])

    assert list(files) == ["x\n", "\udcff"]
    assert not reasons
    first, second = files["x\n"], files["\udcff"]
    assert (first.base, first.onto, first.head) == (("a\n",), ("b\n",), ("c\n",))
    assert len(first.regions) == 1
    assert (second.base, second.onto, second.head) == (None, ("a\n",), ("b\n",))


def test_sides_that_are_the_same_do_not_collide(history: History, store: Store) -> None:
    clashes = [clash(history, "x", "a", "b", "b"), clash(history, "y", "a", "a", "b")]
    clashes += [clash(history, "z", "a", "b", "c"), clash(history, "w", None, "a", "a")]
    files, _ = versions.read_versions_or_reasons(store.git, clashes)

    counts = {path: len(file.regions) for path, file in files.items()}
    assert counts == {"x": 0, "y": 0, "z": 1, "w": 0}


def test_content_that_is_missing_is_said(history: History, store: Store) -> None:
    whole = clash(history, "x", "a", "b", "c")
    gone = ConflictReader("y", {**whole.stages, BASE: ConflictStage("100644", "1" * 40)})
    files, reasons = versions.read_versions_or_reasons(store.git, [gone, whole])

    assert reasons == {
        "y": "not looked into: its content is missing from this clone (partial or damaged)"
    }
    assert list(files) == ["x"]


@pytest.mark.parametrize(
    ("sizes", "files", "total", "reason"),
    [
        ([1, 2, 3], 999, 32 * 2**20, None),
        ([1, 2, 3], 1_000, 6, "not looked into: too many conflicts for one merge"),
        ([1, 2, 3], 0, 32 * 2**20 + 1, "not looked into: too many conflicts for one merge"),
        ([2**20], 0, 1, None),
        ([1, 2**20 + 1], 0, 1, "not looked into: larger than 1024 KiB"),
        (
            [1, None],
            0,
            1,
            "not looked into: its content is missing from this clone (partial or damaged)",
        ),
    ],
)
def test_what_is_looked_into_at_most(
    sizes: list[int | None], files: int, total: int, reason: str | None
) -> None:
    assert versions._explain_unread(sizes, files, total) == reason


def test_a_damaged_object_is_an_error(history: History, store: Store) -> None:
    whole = clash(history, "x", "a", "b", "c")
    blob = whole.stages[OURS].blob
    loose = history.git_dir / "objects" / blob[:2] / blob[2:]
    loose.unlink()
    loose.write_bytes(b"damaged")

    with pytest.raises(GitError):
        versions.read_versions_or_reasons(store.git, [whole])
