from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fakes.roots import root_of, touching
from prjury.judges.builds.source_tree import SourceTree, find_excluded_part, join_path
from prjury.manifests.node import read_package_json
from prjury.ports.types import TreeEntry


@pytest.mark.parametrize(
    ("directory", "relative", "path"),
    [
        ("", "a", "a"),
        ("a/b", "../c", "a/c"),
        ("a", "..", ""),
        ("a", "../..", None),
        ("", "..", None),
        ("a", "./b//c/.", "a/b/c"),
        ("a", "", "a"),
        ("a", "/etc", None),
        ("a", "..\\c", "c"),
        ("a", "b/../../..", None),
    ],
)
def test_joined(directory: str, relative: str, path: str | None) -> None:
    assert join_path(directory, relative) == path


@given(st.text("ab./", max_size=20))
def test_what_is_joined_stays_in_the_tree(relative: str) -> None:
    path = join_path("a/b", relative)
    assert path is None or not {"", ".", ".."} & set(path.split("/") if path else ())


@pytest.mark.parametrize(
    ("directory", "part"),
    [
        ("", None),
        ("backend", None),
        ("a/b/c/d/e", None),
        ("a/Tests", "Tests"),
        ("a/testdata/b", "testdata"),
        ("examples/a", "examples"),
        ("a/_examples/b", "_examples"),
        ("a/__tests__", "__tests__"),
        ("node_modules/a", "node_modules"),
        ("latest", None),
        (".github", ".github"),
        ("_build", None),
        ("-x", None),
        ("a\u202e", "a\u202e"),
        ("a\nb", "a\nb"),
        ("a\udcff", "a\udcff"),
        ("größe", None),
    ],
)
def test_what_is_left_out(directory: str, part: str | None) -> None:
    assert find_excluded_part(directory) == part


def test_where_projects_may_be() -> None:
    root = root_of({"a/x": ""})
    assert [root.may_hold_project(place) for place in ("", "a", "a/b/c", "a/b/c/d", "docs")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    around = replace(root, changed=touching("a/b/c/d/e/f/x.c", "docs/x.c"))
    assert around.may_hold_project("a/b/c/d")
    assert around.may_hold_project("a/b/c/d/e/f")
    assert not around.may_hold_project("a/b/c/x")
    assert not around.may_hold_project("docs")


def test_a_part_knows_what_changes_in_it_and_what_is_documentation() -> None:
    paths = touching("a/b.py", "c", "README.md", "a/docs.md", "docs/a.txt")
    root = replace(root_of({"a/x": ""}), changed=paths)
    assert root.changed_docs == {"README.md", "a/docs.md", "docs/a.txt"}
    assert root.changed_sources == {"a/b.py", "c"}
    part = root.below("a")
    assert part.changed_sources == {"b.py"}
    assert part.changed_docs == {"docs.md"}
    assert root.below("docs").changed_docs == {"a.txt"}


def test_files_are_read_once_and_many_together() -> None:
    entries = [TreeEntry(f"a/{number}", "100644", f"blob{number}") for number in range(501)]
    batches: list[int] = []

    def read(some: Sequence[TreeEntry]) -> dict[str, str]:
        batches.append(len(some))
        return {entry.blob: f"text of {entry.path}" for entry in some}

    root = SourceTree(entries, read)
    part = root.below("a")
    assert [part.text("7"), part.text("7"), part.text("b")] == ["text of 7", "text of 7", ""]
    assert len(dict(part.texts([str(number) for number in range(501)]))) == 501
    assert batches == [1, 500, 1]


def test_links_and_submodules_are_no_files() -> None:
    entries = [TreeEntry("a", "120000", "1"), TreeEntry("b", "160000", "2")]
    root = SourceTree(entries, lambda entries: {})
    assert (root.files, root.has("a", "b"), root.text("a")) == ({}, None, "")


@pytest.mark.parametrize("text", ["", "x = ", "x" * 2 * 1024**2, "\0", "[" * 100_000])
def test_a_build_file_that_cannot_be_read_is_none_and_has_no_settings(text: str) -> None:
    root = root_of({"package.json": text, "tox.toml": text})
    assert root.readable("package.json", read_package_json) is None
    assert root.settings("tox.toml") == {}
