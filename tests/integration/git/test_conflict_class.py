"""Conflicts that anybody can resolve, and those that need a human."""

from __future__ import annotations

import pytest

from fakes.threeway import three_way
from prjury.git.conflicts import describe_resolution
from prjury.snapshot.kinds import LOCK_FILES

ENTRIES = "changelog entries: keep both"
MARKED = "<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> pr\n"


@pytest.mark.parametrize(
    ("path", "base", "ours", "theirs"),
    [
        ("CHANGELOG.md", "", "- mine\n", "- yours\n"),
        ("docs/release-notes.adoc", "", "* a\n", "* b\n"),
        ("NEWS", "old", "old\na\n", "old\nb"),
        ("CHANGELOG.md", None, "- a\n", "- b\n"),
        ("CHANGELOG.md", "", MARKED, MARKED.replace("b", "c")),
    ],
)
def test_both_sides_add_entries(path: str, base: str | None, ours: str, theirs: str) -> None:
    assert describe_resolution(path, three_way(base, ours, theirs)) == ENTRIES


@pytest.mark.parametrize(
    ("path", "base", "ours", "theirs"),
    [
        ("CHANGELOG.md", "- a\n", "- b\n", "- c\n"),
        ("CHANGELOG.md", "- a\n", "- b\n- a\n", "- c\n"),
        ("CHANGELOG.md", "- a\n", "- b\n", ""),
        ("CHANGELOG.md", "- a\n- b\n", "- b\n- a\n- c\n", "- a\n- b\n- d\n"),
        ("src/history.js", "", "a()\n", "b()\n"),
        ("changes.py", "", "a()\n", "b()\n"),
        ("newsletter.md", "", "a\n", "b\n"),
        ("go.mod", "", "\ta v1\n", "\tb v1\n"),
        ("a.java", "", "import b.C;\n", "import b.D;\n"),
        ("pom.xml", "<version>1</version>\n", "<version>2</version>\n", "<version>3</version>\n"),
    ],
)
def test_what_needs_a_human(path: str, base: str, ours: str, theirs: str) -> None:
    assert describe_resolution(path, three_way(base, ours, theirs)) is None


@pytest.mark.parametrize("name", LOCK_FILES)
def test_a_lock_file_is_written_anew_by_its_command(name: str) -> None:
    words = f"a lock file: take either side's and run `{LOCK_FILES[name]}`"

    assert describe_resolution(f"sub/{name.upper()}", None) == words
    assert describe_resolution(name, three_way("a\n", "b\n", "c\n")) == words


def test_a_changelog_that_is_not_read_needs_a_human() -> None:
    assert describe_resolution("CHANGELOG.md", None) is None
