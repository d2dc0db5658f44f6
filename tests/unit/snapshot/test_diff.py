"""The reader against patches written by hand, by git, and at random."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.history import ENVIRONMENT
from prjury.snapshot.diff import DiffError, FilePatch, read_patches
from prjury.snapshot.model import Line


def the_patch(body: bytes) -> FilePatch:
    (patch,) = read_patches(b"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n" + body)
    return patch


def lines(body: bytes) -> list[Line]:
    return [line for hunk in the_patch(body).hunks() for line in hunk.lines]


def git_diff(old: bytes, new: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "old").write_bytes(old)
        Path(directory, "new").write_bytes(new)
        argv = ["git", "diff", "--no-index", "--text", "--unified=99", "old", "new"]
        return subprocess.run(
            argv, cwd=directory, env=ENVIRONMENT, capture_output=True, check=False
        ).stdout


def side(patch: FilePatch, signs: str) -> bytes:
    kept = [line for hunk in patch.hunks() for line in hunk.lines if line.sign in signs]
    return "".join(line.text + line.end for line in kept).encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    "text", ["++ b/x", "-- a/x", "@ -1 +1 @@", "diff --git a/y b/y", "\\ No newline", "", " "]
)
def test_content_that_looks_like_a_header_is_content(text: str) -> None:
    body = b"@@ -1 +1,2 @@\n-%s\n+%s\n+next\n" % (text.encode(), text.encode())

    assert [line.text for line in lines(body)] == [text, text, "next"]


def test_a_second_file_follows_content_that_looks_like_one() -> None:
    patch = (
        b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+diff --git a/z b/z\n"
        b"+@@ -1 +1 @@\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +0,0 @@\n-y\n"
    )

    assert [(file.additions, file.deletions) for file in read_patches(patch)] == [(2, 0), (0, 1)]


@pytest.mark.parametrize(
    ("body", "ends"),
    [
        (b"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", ["", "\n"]),
        (b"@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", ["\n", ""]),
        (b"@@ -1 +1 @@\n-a\n\\ Kein Ende\n+b\n\\ Kein Ende\n", ["", ""]),
        (b"@@ -1,2 +1 @@\n-a\n b\n\\ No newline at end of file\n", ["\n", ""]),
    ],
)
def test_a_missing_line_end_is_known_on_either_side(body: bytes, ends: list[str]) -> None:
    assert [line.end for line in lines(body)] == ends


@pytest.mark.parametrize("char", ["\r", "\f", "\v", "\x1c", "\x85", "\u2028", "\0"])
def test_scn_10_only_a_line_feed_ends_a_line(char: str) -> None:
    text = f"a{char}b"

    assert [line.text for line in lines(b"@@ -0,0 +1 @@\n+%s\n" % text.encode())] == [text]


def test_files_without_hunks() -> None:
    patch = (
        b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"
        b"diff --git a/y b/z\nsimilarity index 100%\nrename from y\nrename to z\n"
        b"diff --git a/e b/e\nnew file mode 100644\nindex 0..e\n"
        b"diff --git a/p b/p\nindex 1..2 100644\nBinary files a/p and b/p differ\n"
    )
    files = list(read_patches(patch))

    assert [file.binary for file in files] == [False, False, False, True]
    assert [file.hunks() for file in files] == [()] * 4


def test_two_patches_of_one_file_are_one() -> None:
    first, second = the_patch(b"@@ -1 +0,0 @@\n-a\n"), the_patch(b"@@ -0,0 +1 @@\n+bcd\n")
    both = first.combine(second)

    assert [hunk.old_lines for hunk in both.hunks()] == [1, 0]
    assert (both.additions, both.deletions, both.longest) == (1, 1, 3)


@pytest.mark.parametrize(
    "patch",
    [
        b"something else\n",
        b"diff --git a/x b/x\n@@ -1,2 +1,2 @@\n same\n",
        b"diff --git a/x b/x\n@@ nonsense @@\n",
        b"diff --git a/x b/x\n@@ -1,2 +1,1 @@\n-a\n b\n?c\n",
        b"diff --git a/x b/x\n@@ -1 +1,2 @@\n?\n",
        b"diff --git a/x b/x\n@@ -0,0 +1,1 @@\n-a\n+b\n",
    ],
)
def test_what_is_not_a_patch_is_refused(patch: bytes) -> None:
    with pytest.raises(DiffError):
        list(read_patches(patch))


def test_a_note_without_a_line_is_refused() -> None:
    with pytest.raises(DiffError, match="starts with the note"):
        the_patch(b"@@ -1 +1 @@\n\\ No newline\n-a\n+b\n").hunks()


PIECES = st.sampled_from(
    [b"a", b"b", b"", b"++ b/x", b"-- a/x", b"@@ -1 +1 @@", b"\\ x", b"c\r", b"\r", b"\xff", b"\0"]
)
FILES = st.tuples(st.lists(PIECES, max_size=30), st.booleans()).map(
    lambda drawn: b"\n".join(drawn[0]) + b"\n" * drawn[1]
)


@settings(max_examples=60, deadline=None)
@given(FILES, FILES)
def test_reading_git_s_patch_gives_back_both_sides(old: bytes, new: bytes) -> None:
    patches = list(read_patches(git_diff(old, new)))
    if old == new:
        assert patches == []
        return
    (patch,) = patches

    assert side(patch, " -") == old
    assert side(patch, " +") == new
    for hunk in patch.hunks():
        assert [line.old for line in hunk.lines if line.old] == list(
            range(hunk.old_start, hunk.old_start + hunk.old_lines)
        )
        assert [line.new for line in hunk.lines if line.new] == list(
            range(hunk.new_start, hunk.new_start + hunk.new_lines)
        )


@settings(max_examples=60, deadline=None)
@given(FILES, FILES)
def test_measuring_agrees_with_taking_apart(old: bytes, new: bytes) -> None:
    for patch in read_patches(git_diff(old, new)):
        found = [line for hunk in patch.hunks() for line in hunk.lines]
        added = [line for line in found if line.sign == "+"]

        assert patch.additions == len(added)
        assert patch.deletions == sum(line.sign == "-" for line in found)
