"""What of a change's files and lines stands on a branch."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fakes.repository import FakeRepository, Files, blob_of, pull_between
from prjury.judges.backport.checks.lines_and_files import (
    TouchedOnBranch,
    check_lines_and_files,
    compare_touched,
)

BASE: Files = {"a.py": "one\ntwo\nthree\n", "docs/b.md": "text\n", "c.py": "x\n"}


def found_on(
    branch: Files, after: Files, *, gone: set[str] | None = None, **more: object
) -> TouchedOnBranch:
    renamed = more.get("renamed")
    pull = pull_between(BASE, after, renamed=renamed if isinstance(renamed, Mapping) else None)
    repository = FakeRepository({"tip": branch}, gone=gone or set())
    return compare_touched(pull, repository, "tip", lambda _: {})


def changed(**files: str) -> dict[str, str | bytes]:
    return {**BASE, **{path.replace("_", "."): content for path, content in files.items()}}


def test_files_are_listed_and_read_once_however_many_there_are() -> None:
    before = {f"{n}.py": f"{n}\nold\n" for n in range(40)}
    after = {path: content.replace("old", "new") for path, content in before.items()}
    branch = {path: f"# older\n{content}" for path, content in before.items()}
    repository = FakeRepository({"tip": branch})
    found = compare_touched(pull_between(before, after), repository, "tip", lambda _: {})
    assert (len(found.has), found.removed, found.share, len(repository.reads)) == (40, 40, 1, 1)


@pytest.mark.parametrize(
    ("branch", "share"),
    [
        ("  one\n\ttwo\nthree", 1),  # blanks around a line do not count
        ("one\r\ntwo\r\nthree\r\n", 1),
        ("one\nthree\n", 0),
        ("", 0),
        (b"\xff\xfe\x00two\n", 0),
    ],
)
def test_lines_stand_anywhere_in_the_branchs_version(branch: str | bytes, share: float) -> None:
    found = found_on({**BASE, "a.py": branch}, changed(a_py="one\n2\nthree\n"))
    assert (found.removed, found.share) == (1, share)


def test_a_missing_file_is_told_and_its_lines_count_nowhere() -> None:
    found = found_on({"docs/b.md": "text\n"}, {**BASE, "a.py": "1\n", "docs/b.md": "other\n"})
    assert (found.has, found.lacks) == (("docs/b.md",), ("a.py",))
    assert (found.removed, found.share) == (1, 1)


def test_a_file_that_the_change_adds_need_not_be_there() -> None:
    found = found_on({}, {**BASE, "new.py": "x\n"})
    assert found == TouchedOnBranch()
    check = check_lines_and_files(found)
    assert (check.passed, check.message) == (
        True,
        "the change touches no existing file",
    )


def test_a_deleted_file_has_to_be_there() -> None:
    after = {path: content for path, content in BASE.items() if path != "c.py"}
    assert found_on({"a.py": ""}, after).lacks == ("c.py",)


def test_what_a_partial_clone_lacks_is_said() -> None:
    other = "two\nand more\n"
    found = found_on(
        {**BASE, "a.py": other}, changed(a_py="one\n2\nthree\n"), gone={blob_of(other)}
    )
    reason = "its content on the branch is missing from this clone (partial or damaged)"
    assert found.unread == (("a.py", reason),)
    assert f"not checked: `a.py` ({reason})" in check_lines_and_files(found).message


def test_the_check_names_files_and_lines_with_their_places() -> None:
    after = {**BASE, "a.py": "three\n", "c.py": "y\n"}
    check = check_lines_and_files(found_on({"a.py": "one\n"}, after))
    assert check.name == "lines-and-files"
    assert not check.passed
    assert check.message == (
        "the branch lacks 1 of 2 touched files: `c.py`; "
        "1 of 2 lines that the change removes is missing"
    )
    assert (str(check.location), check.evidence) == ("a.py:2", "a.py:2: two")


def test_the_check_is_in_order_where_all_is_there() -> None:
    check = check_lines_and_files(found_on(BASE, changed(a_py="three\n")))
    assert check.passed
    assert check.message == (
        "the branch has the file that the change touches; "
        "it has all 2 lines that the change removes"
    )


def test_names_and_lines_that_hide_something_are_shown_as_they_are() -> None:
    odd = "a\u202eb.py"
    pull = pull_between({odd: "x\u200b\n"}, {odd: "y\n"})
    repository = FakeRepository({"tip": {odd: "z\n"}})
    check = check_lines_and_files(compare_touched(pull, repository, "tip", lambda _: {}))
    assert check.evidence == "a\\u202eb.py:1: x\\u200b"
