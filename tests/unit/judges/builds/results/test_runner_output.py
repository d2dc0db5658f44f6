"""Whose path a failure bears."""

from __future__ import annotations

import pytest

from prjury.judges.builds.failure import Kind
from prjury.judges.builds.results.lines import LogSection
from prjury.judges.builds.results.tree import TreeFiles

#: ``out`` is a link that leads out of the tree.
TREE = TreeFiles(frozenset({"out", "main/src/x.py", "src/x.py"}))
SECTION = LogSection((), (), TREE)


@pytest.mark.parametrize("path", ["out/main/src/x.py", "out/x.py", "made/up.py", "/tmp/x.py"])
@pytest.mark.parametrize("kind", ["test", "error", "compile"])
def test_a_path_that_is_not_the_tree_s_is_left_away(path: str, kind: Kind) -> None:
    failure = SECTION.failure(kind, "boom", path, 3, "t" if kind == "test" else None)
    assert (failure.path, failure.line) == (None, None)


def test_errors_in_two_files_that_are_not_the_tree_s_are_two() -> None:
    one, other = (SECTION.failure("compile", "boom", f"out/{name}.py", 3) for name in "ab")
    assert (one.message, other.message) == ("out/a.py:3: boom", "out/b.py:3: boom")
    assert one.id != other.id
    assert one.id == SECTION.failure("compile", "boom", "out/a.py", 9).id


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("main/src/x.py: boom", "boom"),
        ("./main/src/x.py: boom", "boom"),
        ("main/src/x.py:3:14: boom", "boom"),
        ("boom in main/src/x.py: no", "boom in main/src/x.py: no"),
        ("main/src/x.py: main/src/y.py: no", "main/src/y.py: no"),
        ("main/src/x.py: ", "main/src/x.py:"),
        ("main/src/x.python: no", "main/src/x.python: no"),
    ],
)
def test_a_message_does_not_begin_with_its_own_place(message: str, told: str) -> None:
    failure = SECTION.failure("error", message, "./main/src/x.py", 3)
    assert (failure.place, failure.message) == ("main/src/x.py:3", told)
