"""Every way in which sides collide: its type, its sentence, and odd content on top."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fakes.history import Entry, Files, History, link, script, snapshot, submodule
from prjury.git.operator import open_repository
from prjury.git.releases import Releases
from prjury.git.store import open_store
from prjury.snapshot.model import Conflict, ConflictRegion, ConflictType, LineSpan, visible

TEXT = "".join(f"line {number}\n" for number in range(1, 31))
OTHER = "".join(f"another {number}\n" for number in range(1, 31))
BINARY = b"\0" * 50
OBJECT = re.compile("[0-9a-f]{40}")


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "repo", bare=True)


def parted(history: History, before: Files, ours: Files, theirs: Files) -> dict[str, Conflict]:
    history.commit(before)
    history.branch("change")
    history.commit(ours)
    history.switch("change")
    history.commit(theirs)
    return found(history)


def found(history: History) -> dict[str, Conflict]:
    merge = snapshot(history).merge
    assert not merge.clean
    assert merge.impossible is None
    assert len({conflict.path for conflict in merge.conflicts}) == len(merge.conflicts)
    return {conflict.path: conflict for conflict in merge.conflicts}


def edited(text: str, number: int, line: str) -> str:
    return text.replace(f"line {number}\n", f"{line}\n")


@pytest.mark.parametrize(
    ("before", "ours", "theirs", "path", "type"),
    [
        ({"f": TEXT}, {"f": None}, {"f": TEXT + "x\n"}, "f", ConflictType.MODIFY_DELETE),
        ({"f": TEXT}, {"f": TEXT + "x\n"}, {"f": None}, "f", ConflictType.MODIFY_DELETE),
        ({"x": ""}, {"f": "ours\n"}, {"f": "theirs\n"}, "f", ConflictType.ADD_ADD),
        ({"f": BINARY}, {"f": BINARY + b"1"}, {"f": BINARY + b"2"}, "f", ConflictType.BINARY),
        ({"x": ""}, {"f": BINARY + b"1"}, {"f": BINARY + b"2"}, "f", ConflictType.BINARY),
        (
            {"s": submodule("1" * 40)},
            {"s": submodule("2" * 40)},
            {"s": submodule("3" * 40)},
            "s",
            ConflictType.SUBMODULE,
        ),
        (
            {"s": submodule("1" * 40)},
            {"s": None},
            {"s": submodule("3" * 40)},
            "s",
            ConflictType.MODIFY_DELETE,
        ),
        ({"l": link("a")}, {"l": link("b")}, {"l": link("c")}, "l", ConflictType.CONTENT),
        ({"x": ""}, {"l": link("b")}, {"l": link("c")}, "l", ConflictType.ADD_ADD),
        ({"x": ""}, {"f": link("a")}, {"f": "text\n"}, "f", ConflictType.MODE),
        ({"f": TEXT}, {"f": submodule("1" * 40)}, {"f": TEXT + "x\n"}, "f", ConflictType.MODE),
        ({"x": ""}, {"f": "same\n"}, {"f": script("same\n")}, "f", ConflictType.MODE),
        ({"x": ""}, {"d/f": "1\n"}, {"d": "2\n"}, "d", ConflictType.OTHER),
        ({"x": ""}, {"d": "1\n"}, {"d/f": "2\n"}, "d", ConflictType.OTHER),
        ({"f": TEXT}, {"f": None, "f/g": "1\n"}, {"f": TEXT + "x\n"}, "f", ConflictType.OTHER),
        ({"f": TEXT}, {"f": None, "g": TEXT}, {"f": None, "h": TEXT}, "f", ConflictType.RENAME),
        ({"f": TEXT}, {"f": None, "g": TEXT}, {"f": None}, "g", ConflictType.RENAME),
        (
            {"f": TEXT},
            {"f": None},
            {"f": None, "g\n": edited(TEXT, 3, "x")},
            "g\n",
            ConflictType.RENAME,
        ),
        ({"f": TEXT}, {"f": None, "g": TEXT}, {"g": OTHER}, "g", ConflictType.ADD_ADD),
        ({"f": TEXT}, {"g": OTHER}, {"f": None, "g": TEXT}, "g", ConflictType.ADD_ADD),
        (
            {"f": TEXT, "h": OTHER},
            {"f": None, "g": TEXT},
            {"h": None, "g": OTHER},
            "g",
            ConflictType.ADD_ADD,
        ),
        (
            {"f": TEXT},
            {"f": None, "g": edited(TEXT, 3, "x")},
            {"f": edited(TEXT, 3, "y"), "g": OTHER},
            "g",
            ConflictType.RENAME,
        ),
        (
            {"d/a": TEXT, "d/b": OTHER},
            {"d/a": None, "d/b": None, "e/a": TEXT, "e/b": OTHER},
            {"d/new": "n\n"},
            "e/new",
            ConflictType.RENAME,
        ),
        (
            {"d/a": TEXT, "d/b": OTHER},
            {"d/new": "n\n"},
            {"d/a": None, "d/b": None, "e/a": TEXT, "e/b": OTHER},
            "e/new",
            ConflictType.RENAME,
        ),
    ],
)
def test_how_sides_collide(
    history: History,
    before: Files,
    ours: Files,
    theirs: Files,
    path: str,
    type: ConflictType,  # noqa: A002 - what the value is called
) -> None:
    conflict = parted(history, before, ours, theirs)[path]

    assert conflict.type is type
    assert visible(path) in conflict.reason
    assert not OBJECT.search(conflict.reason)
    assert not conflict.mechanical


def test_directories_that_are_split_or_in_the_way(history: History) -> None:
    before = {"d/1": TEXT, "d/2": OTHER}
    ours = {"d/1": None, "d/2": None, "e/1": TEXT, "f/2": OTHER}
    conflict = parted(history, before, ours, {"d/new": "new\n"})["d"]

    assert conflict.type is ConflictType.RENAME


def test_a_renamed_directory_that_holds_the_file_already(history: History) -> None:
    before = {"d/1": TEXT, "d/2": OTHER}
    ours = {"d/1": None, "d/2": None, "e/1": TEXT, "e/2": OTHER, "e/new": "ours\n"}
    conflict = parted(history, before, ours, {"d/new": "theirs\n"})["e/new"]

    assert conflict.type is ConflictType.RENAME


def test_a_file_in_the_way_of_a_renamed_directory(history: History) -> None:
    before = {"d/1": TEXT, "d/2": OTHER}
    ours = {"d/1": None, "d/2": None, "e/1": TEXT, "e/2": OTHER}
    conflict = parted(history, before, ours, {"d/new": "1\n", "e/new": "2\n"})["e/new"]

    assert conflict.type is ConflictType.RENAME


def test_names_that_git_makes_up_are_not_shown(history: History) -> None:
    tilde = "f~x"
    conflicts = parted(
        history,
        {tilde: TEXT},
        {tilde: edited(TEXT, 3, "a"), "d/f": "1\n", "l": link("a")},
        {tilde: edited(TEXT, 3, "b"), "d": "2\n", "l": "text\n"},
    )

    assert sorted(conflicts) == ["d", tilde, "l"]


def test_a_renamed_file_is_looked_into_line_by_line(history: History) -> None:
    conflict = parted(
        history,
        {"a.py": TEXT},
        {"a.py": None, "b.py": "new\n" + edited(TEXT, 9, "ours")},
        {"a.py": edited(TEXT, 9, "theirs")},
    )["b.py"]

    assert conflict.type is ConflictType.CONTENT
    assert conflict.regions == (ConflictRegion(head=LineSpan(9, 1), onto=LineSpan(10, 1)),)


def test_both_sides_of_a_criss_cross(history: History) -> None:
    history.commit({"a": "1\n", "f": TEXT})
    history.branch("change")
    history.commit({"a": "2\n"})
    history.switch("change")
    history.commit({"f": edited(TEXT, 3, "x")})
    first = history.head
    history.merge("main")
    history.switch("main")
    history.merge(first)
    history.commit({"f": edited(TEXT, 3, "ours")})
    history.switch("change")
    history.commit({"f": edited(TEXT, 3, "theirs")})

    bases = history.git("merge-base", "--all", "main", "change").split()
    assert len(bases) == 2
    assert found(history)["f"].regions == (ConflictRegion(LineSpan(3, 1), LineSpan(3, 1)),)


@pytest.mark.parametrize(
    ("before", "ours", "theirs"),
    [
        (b"a", b"a\n", b"b"),
        (b"a\nb\n", b"a\r\nb\r\n", b"a\nc\n"),
        (b"\xff\n", b"\xfe\n", b"\xfd\n"),
        (b"", b"\n", b"a\n"),
        (b"a\r", b"b\r", b"c\r"),
    ],
)
def test_odd_content(history: History, before: bytes, ours: bytes, theirs: bytes) -> None:
    conflict = parted(history, {"a.c": before}, {"a.c": ours}, {"a.c": theirs})["a.c"]

    assert (conflict.mechanical, conflict.reason) == (False, "Merge conflict in a.c")
    assert conflict.lines


def test_lock_files_are_made_anew_whatever_they_hold(history: History) -> None:
    conflicts = parted(
        history,
        {"bun.lockb": BINARY, "go.sum": "a\n", "Cargo.lock": "a\n"},
        {"bun.lockb": BINARY + b"1", "go.sum": "b\n", "Cargo.lock": None},
        {"bun.lockb": BINARY + b"2", "go.sum": "c\n", "Cargo.lock": "b\n"},
    )

    assert conflicts["bun.lockb"].mechanical
    assert conflicts["bun.lockb"].reason == (
        "a lock file: take either side's and run `bun install --lockfile-only`"
    )
    assert conflicts["go.sum"].mechanical
    assert not conflicts["Cargo.lock"].mechanical


def test_very_many_regions_are_counted_and_not_all_listed(history: History) -> None:
    def every_other(word: str) -> str:
        return "".join(f"{word if n % 2 else 'same'} {n}\n" for n in range(1, 2_401))

    conflict = parted(
        history, {"f": every_other("a")}, {"f": every_other("b")}, {"f": every_other("c")}
    )["f"]

    assert conflict.lines == (1, 2_399)
    assert len(conflict.regions) == 100


def test_a_backport_speaks_of_its_branch(tmp_path: Path) -> None:
    history = History(tmp_path / "repo")
    history.commit({"f": TEXT})
    history.branch("1.x")
    base, head = history.head, history.commit({"f": TEXT + "x\n"})
    history.switch("1.x")
    history.commit({"f": None})
    with open_store(open_repository(history.path)) as store:
        (conflict,) = Releases(store).pick(base, head, history.sha("1.x")).conflicts

    assert conflict.reason == "f deleted in the branch and modified in the change"


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_both_object_formats(tmp_path: Path, object_format: str) -> None:
    history = History(tmp_path / "repo", bare=True, object_format=object_format)
    conflict = parted(history, {"f": "a\n"}, {"f": Entry(b"b\n")}, {"f": "c\n"})["f"]

    assert conflict.lines == (1, 1)
