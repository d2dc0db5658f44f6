"""Photographs of real repositories: what changed, under which names, within which caps."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.history import Files, History, link, script, snapshot, submodule
from prjury.snapshot.model import FileChange, FileKind, FileStatus, PullRequest

TEXT = "".join(f"line {number}\n" for number in range(1, 31))


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "repo", bare=True)


def changed(history: History, before: Files, after: Files) -> dict[str, FileChange]:
    """The files of a pull request that turns one set of files into another."""
    history.commit(before)
    history.switch("change", create=True)
    history.commit(after)
    return {file.path: file for file in snapshot(history).files}


def only(history: History, before: Files, after: Files) -> FileChange:
    (file,) = changed(history, before, after).values()
    return file


def added(file: FileChange) -> list[str]:
    return [line.text for line in file.added_lines]


def removed(file: FileChange) -> list[str]:
    return [line.text for hunk in file.hunks for line in hunk.lines if line.sign == "-"]


def test_mrg_09_nothing_is_left_out(history: History) -> None:
    before: Files = {
        "mode": "m\n",
        "crlf.py": "a\nb\n",
        "file": "f\n",
        "link": link("x"),
        "r.py": TEXT,
    }
    after: Files = {
        "mode": script("m\n"),
        "crlf.py": "a\r\nb\r\n",
        "file": link("elsewhere"),
        "link": "now a file\n",
        "r.py": None,
        "moved.py": TEXT,
    }
    files = changed(history, before, after)

    assert {path: file.status for path, file in files.items()} == {
        "mode": FileStatus.MODE_CHANGED,
        "crlf.py": FileStatus.MODIFIED,
        "file": FileStatus.TYPE_CHANGED,
        "link": FileStatus.TYPE_CHANGED,
        "moved.py": FileStatus.RENAMED,
    }
    assert [(line.text, line.end) for line in files["crlf.py"].added_lines] == [
        ("a", "\r\n"),
        ("b", "\r\n"),
    ]
    assert (removed(files["file"]), added(files["file"])) == (["f"], ["elsewhere"])
    assert files["file"].kind is FileKind.SYMLINK
    assert (removed(files["link"]), added(files["link"])) == (["x"], ["now a file"])


def test_scn_19_a_flipped_mode_alone(history: History) -> None:
    file = only(history, {"run.sh": "echo\n"}, {"run.sh": script("echo\n")})

    assert (file.status, file.old_mode, file.new_mode) == (
        FileStatus.MODE_CHANGED,
        "100644",
        "100755",
    )


def test_scn_19_a_submodule_s_pointer_alone(history: History) -> None:
    file = only(history, {"lib": submodule("1" * 40)}, {"lib": submodule("2" * 40)})

    assert (file.kind, file.unread, file.hunks) == (FileKind.SUBMODULE, "a submodule pointer", ())


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5\n"


@pytest.mark.parametrize("path", ["m.dat", "lib.so", "data.json", "model", "a.py"])
@pytest.mark.parametrize("before", [None, "x\n", POINTER.format("1" * 64)])
def test_scn_19_a_pointer_of_large_file_storage_is_what_it_stands_for(
    history: History, path: str, before: str | None
) -> None:
    file = only(history, {path: before, "x": ""}, {path: POINTER.format("2" * 64)})

    assert file.kind is FileKind.BINARY
    assert file.unread == "a Git LFS pointer, whose content is not here"


def test_binary_content_is_counted_out(history: History) -> None:
    file = only(history, {"a.png": b"\x89PNG\0\1"}, {"a.png": b"\x89PNG\0\2"})

    assert (file.kind, file.unread, file.additions) == (FileKind.BINARY, "binary content", 0)
    assert not file.readable


@pytest.mark.parametrize("name", ["a.py", "Makefile", ".gitattributes"])
def test_scn_08_nul_bytes_do_not_hide_text(history: History, name: str) -> None:
    file = only(history, {"b": ""}, {name: b"evil()\n" * 9 + b"\0"})

    assert file.readable
    assert (file.additions, file.unread) == (10, "not text (NUL bytes or UTF-16)")


def test_scn_11_nul_bytes_do_not_hide_a_script_without_a_suffix(history: History) -> None:
    files = changed(
        history,
        {"a": ""},
        {"bin/run": b"#!/bin/sh\nevil\n\0", "bin/elf": b"\x7fELF\0\n\n"},
    )

    assert (files["bin/run"].kind, files["bin/run"].additions) == (FileKind.SOURCE, 3)
    assert (files["bin/elf"].kind, files["bin/elf"].additions) == (FileKind.BINARY, 0)


def test_scn_08_encodings(history: History) -> None:
    files = changed(
        history,
        {"x": ""},
        {
            "utf16.java": "class A {}\n".encode("utf-16"),
            "bom.java": b"\xef\xbb\xbfclass A {}\n",
            "latin1.java": "// ü\n".encode("latin-1"),
        },
    )

    assert files["utf16.java"].unread == "not text (NUL bytes or UTF-16)"
    assert files["utf16.java"].additions > 0
    assert added(files["bom.java"]) == ["\ufeffclass A {}"]
    assert added(files["latin1.java"]) == ["// \udcfc"]


def test_line_ends_that_appear_and_vanish(history: History) -> None:
    files = changed(
        history,
        {"lose.py": "a\n", "gain.py": "a", "cr.py": "a\rb\n"},
        {"lose.py": "a", "gain.py": "a\n", "cr.py": "a\rc\n"},
    )

    assert [(line.sign, line.end) for line in files["lose.py"].hunks[0].lines] == [
        ("-", "\n"),
        ("+", ""),
    ]
    assert [(line.sign, line.end) for line in files["gain.py"].hunks[0].lines] == [
        ("-", ""),
        ("+", "\n"),
    ]
    assert added(files["cr.py"]) == ["a\rc"]


NAMES = [
    b"a\nb",
    b"x|y",
    b"q`z",
    b"e\x1b[31m",
    b"<!-- v -->",
    b"--help",
    b"\xff",
    b"tab\there",
    b'quo"te',
    b"back\\slash",
    b"sp ace ",
    b":(top)x",
    b"-",
    b"*",
    "ü/é".encode(),
    b"\xe2\x80\xae.py",
    b"@@ -1 +1 @@",
    b"diff --git a",
]


def test_scn_01_every_name_appears_exactly_once(history: History) -> None:
    history.commit({"keep": "1\n"})
    history.switch("change", create=True)
    history.commit(dict.fromkeys(NAMES, b"one\ntwo\n"))
    pull = snapshot(history)

    assert sorted(file.path.encode("utf-8", "surrogateescape") for file in pull.files) == sorted(
        NAMES
    )
    assert {file.additions for file in pull.files} == {2}


def test_mrg_01_an_empty_commit_changes_nothing(history: History) -> None:
    history.commit({"a": "1"})
    history.switch("change", create=True)
    history.commit(message="empty on purpose")
    pull = snapshot(history)

    assert (pull.files, pull.ahead, pull.behind, pull.merge.clean) == ((), 1, 0, True)
    assert pull.title == "empty on purpose"


def test_a_base_that_moved_on_is_compared_at_the_merge_base(history: History) -> None:
    start = history.commit({"a.py": "a\n", "b.py": "b\n"})
    history.branch("change")
    history.commit({"b.py": "base only\n"})
    history.commit({"c.py": "base only\n"})
    history.switch("change")
    history.commit({"a.py": "changed\n"})
    pull = snapshot(history)

    assert pull.merge_base == start
    assert [file.path for file in pull.files] == ["a.py"]
    assert (pull.behind, pull.ahead) == (2, 1)


def criss_cross(history: History) -> None:
    history.commit({"a.py": TEXT, "b.py": TEXT})
    history.branch("change")
    ours = history.commit({"a.py": TEXT.replace("line 3\n", "three\n")})
    history.switch("change")
    theirs = history.commit({"b.py": TEXT.replace("line 9\n", "nine\n")})
    history.merge(ours)
    history.switch("main")
    history.merge(theirs)
    history.commit({"c.py": "base\n"})
    history.switch("change")
    history.commit({"d.py": "head\n"})


def test_mrg_06_a_merge_that_takes_the_base_s_change_back_is_seen(history: History) -> None:
    history.commit({"a.py": "bug\n", "b.py": "b\n"})
    history.branch("change")
    history.commit({"a.py": "fixed\n"})
    history.switch("change")
    history.commit({"b.py": "feature\n"})
    history.merge("main", files={"a.py": "bug\n"})
    pull = snapshot(history)

    assert {file.path: added(file) for file in pull.files} == {
        "a.py": ["bug"],
        "b.py": ["feature"],
    }


def test_mrg_11_emptied_and_deleted_tests_are_seen(history: History) -> None:
    files = changed(
        history,
        {"tests/test_a.py": "def test(): ...\n", "tests/test_b.py": "def test(): ...\n"},
        {"tests/test_a.py": "", "tests/test_b.py": None},
    )

    assert {file.kind for file in files.values()} == {FileKind.TEST}
    assert [file.deletions for file in files.values()] == [1, 1]


def test_git_31_messages_in_any_encoding(history: History) -> None:
    history.commit({"a": "1"})
    history.switch("change", create=True)
    subject = b"sub\xffject \x1b[31m" + b"x" * 1_000_000
    history.commit({"a": "2"}, subject, author=b"\xff\x01 <\xfe@x>", encoding="utf-7")
    pull = snapshot(history)

    assert pull.title.startswith("sub\N{REPLACEMENT CHARACTER}ject")
    assert len(pull.title) == 500


@pytest.fixture
def many(history: History) -> History:
    history.commit({"keep": "1\n"})
    history.switch("change", create=True)
    return history


def unread(pull: PullRequest) -> dict[str, str]:
    return {file.path: file.unread for file in pull.files if file.unread}


BEYOND = "beyond the limit for one pull request: "


def test_scn_05_the_1001st_file_is_named_as_not_checked(many: History) -> None:
    many.commit({f"f{number:04}.py": "x\n" for number in range(1_001)})

    assert unread(snapshot(many)) == {"f1000.py": f"{BEYOND}1,000 files"}


def test_scn_05_the_20001st_line_is_named_as_not_checked(many: History) -> None:
    many.commit({"a.py": "x\n" * 20_000, "b.py": "x\n", "c.txt": ""})
    pull = snapshot(many)

    assert unread(pull) == {"b.py": f"{BEYOND}20,000 added lines"}
    assert {file.path: file.additions for file in pull.files}["b.py"] == 1


def test_vendored_files_take_what_the_others_leave_of_the_caps(many: History) -> None:
    many.commit({"yarn.lock": "x\n" * 19_999, "vendor/a.go": "x\n" * 19_999, "z.py": "x\n" * 9})

    beyond = f"{BEYOND}20,000 added lines"
    assert unread(snapshot(many)) == {"vendor/a.go": beyond, "yarn.lock": "a lock file"}
    assert [file.path for file in snapshot(many).files] == ["vendor/a.go", "yarn.lock", "z.py"]


def test_what_the_bases_attributes_exempt_is_marked(history: History) -> None:
    before: Files = {
        ".gitattributes": "gen/** linguist-generated\n*.jar linguist-vendored=true\n",
        "sub/.gitattributes": "*.py linguist-generated\nmine.py -linguist-generated\n",
    }
    paths = ("gen/a.py", "lib/a.jar", "sub/x.py", "sub/mine.py", "a.py", "gen2/a.py")
    after: Files = {
        **dict.fromkeys(paths, "x = 1\n"),
        ".gitattributes": "* linguist-generated\n",
        "gen2/.gitattributes": "* linguist-generated\n",
    }
    files = changed(history, before, after)
    generated = "linguist-generated in the base's .gitattributes"
    assert {path: file.exempt for path, file in files.items() if file.exempt} == {
        "gen/a.py": generated,
        "lib/a.jar": generated.replace("generated", "vendored"),
        "sub/x.py": generated,
    }
    assert not files["gen/a.py"].readable
    assert added(files["gen/a.py"]) == []
    assert added(files["gen2/a.py"]) == ["x = 1"]


def test_mrg_05_criss_cross_merges(history: History) -> None:
    criss_cross(history)
    pull = snapshot(history)

    assert len(history.git("merge-base", "--all", "main", "change").split()) == 2
    assert pull.merge_base == history.git("merge-base", "main", "change")
    assert pull.merge.tree == history.git("merge-tree", "--write-tree", "main", "change")
    assert "d.py" in {file.path for file in pull.files}
