"""Mechanical conflicts and those that need a human."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.threeway import three_way
from prjury.judges.merge.conflict_class import classify, regenerate
from prjury.snapshot.kinds import LOCK_FILES
from prjury.snapshot.threeway import Classified, Edit, Region, SideNames, ThreeWay

ADDED = "both sides add different lines at the same place"


def told(path: str, base: str | None, ours: str, theirs: str) -> tuple[bool, str]:
    return pair(classify(path, three_way(base, ours, theirs)))


def pair(found: Classified) -> tuple[bool, str]:
    return found.mechanical, found.reason


def headed(section: str) -> ThreeWay:
    edits = [Edit(range(1), range(1), section)]
    return ThreeWay.of(("a",), ("b",), ("c",), (edits, edits))


@pytest.mark.parametrize(
    ("path", "base", "ours", "theirs", "reason"),
    [
        ("a.java", "", "import b.C;\n", "import b.D;\n", "imports only: keep both sides'"),
        (
            "a.java",
            "a();\n",
            "  b();\n",
            "\tb();\r\n",
            "white space only: take the lines of the base",
        ),
        ("a.txt", "a\n", "b\r\n", "b\n", "line ends only: take the lines of the base"),
        (
            "a.py",
            "a\n",
            "a \n",
            "b\n",
            "the base changes white space only: take the lines of the head",
        ),
        (
            "pom.xml",
            "<project>\n<version>1</version>\n</project>\n",
            "<project>\n<version>2</version>\n</project>\n",
            "<project>\n<version>3</version>\n</project>\n",
            "version numbers only: take the newer one",
        ),
        ("CHANGELOG.md", "", "- mine\n", "- yours\n", "changelog entries: keep both"),
        ("docs/release-notes.adoc", "", "* a\n", "* b\n", "changelog entries: keep both"),
        ("NEWS", "old", "old\na\n", "old\nb", "changelog entries: keep both"),
        (
            "package-lock.json",
            "a\n",
            "b\n",
            "c\n",
            "a lock file: take either side's and run `npm install --package-lock-only`",
        ),
        ("sub/go.sum", "", "a\n", "b\n", "a lock file: take either side's and run `go mod tidy`"),
    ],
)
def test_what_anybody_could_resolve(
    path: str, base: str, ours: str, theirs: str, reason: str
) -> None:
    assert told(path, base, ours, theirs) == (True, reason)


def test_regions_of_several_classes() -> None:
    frame = "<project>\n{}\n<x/>\n<version>{}</version>\n</project>\n"
    ours, theirs = frame.format("<a/> ", 2), frame.format("<a/>", 3)

    assert told("pom.xml", frame.format("<b/>", 1), ours, theirs) == (
        True,
        "white space only: take the lines of the base; version numbers only: take the newer one",
    )


@pytest.mark.parametrize(
    ("path", "base", "ours", "theirs", "reason"),
    [
        ("a.java", "a\n", "b\n", "c\n", "both sides change the same line"),
        ("a.java", "a\nb\n", "c\n", "d\n", "both sides change the same 2 lines"),
        ("a.java", "a\nb\n", "", "a\nc\n", "the base deletes 2 lines that the head changes"),
        ("a.java", "a\n", "c\n", "", "the head deletes a line that the base changes"),
        ("a.java", "", "a\n", "b\n", ADDED),
        ("a.java", "", "a\nb\n", "a\n", "the base adds all that the head adds, and 1 line more"),
        (
            "a.java",
            "",
            "b\n",
            "a\nb\nc\n",
            "the head adds all that the base adds, and 2 lines more",
        ),
        ("CHANGELOG.md", "- a\n", "- b\n", "- c\n", "both sides change the same line"),
        ("CHANGELOG.md", "- a\n", "- b\n- a\n", "- c\n", "both sides change the same line"),
        ("CHANGELOG.md", "- a\n", "- b\n", "", "the head deletes a line that the base changes"),
        ("CHANGELOG.md", "- a\n- b\n", "- b\n- a\n- c\n", "- a\n- b\n- d\n", None),
        (
            "src/history.js",
            "",
            "a()\n",
            "b()\n",
            ADDED,
        ),
        ("changes.py", "", "a()\n", "b()\n", ADDED),
        ("newsletter.md", "", "a\n", "b\n", ADDED),
        ("go.mod", "", "\ta v1\n", "\tb v1\n", ADDED),
    ],
)
def test_what_needs_a_human(
    path: str, base: str, ours: str, theirs: str, reason: str | None
) -> None:
    mechanical, found = told(path, base, ours, theirs)

    assert not mechanical
    assert reason in {found, None}


def test_one_region_of_code_makes_the_file_a_human_s_business() -> None:
    frame = "import a;\n{1}\nclass A {{\n  f({0});\n}}\n"
    sides = [
        frame.format(*words) for words in (("x", ""), ("y", "import y;\n"), ("z", "import z;\n"))
    ]

    assert classify("A.java", three_way(*sides)).regions == (True, False)
    assert told("A.java", *sides) == (
        False,
        "1 of 2 regions needs a human: both sides change the same line",
    )


def test_the_first_that_needs_a_human_is_told() -> None:
    frame = "import a;\n{2}\nclass A {{\n  f({0});\n}}\n\n{1}"
    words = ("x", "", ""), ("y", "1\n", "import y;\n"), ("z", "2\n", "import z;\n")
    sides = [frame.format(*side) for side in words]

    assert told("A.java", *sides) == (
        False,
        "2 of 3 regions need a human: in the first of them both sides change the same line",
    )


def test_files_that_both_sides_add() -> None:
    one = "both sides add the file, with different lines in one place"
    two = "both sides add the file, with different lines in 2 places"

    assert told("a.py", None, "a\n", "b\n") == (False, one)
    assert told("a.py", None, "a\nx\nb\n", "c\nx\nd\n") == (False, two)
    assert told("go.sum", None, "a\n", "b\n")[0]
    assert told("CHANGELOG.md", None, "- a\n", "- b\n") == (True, "changelog entries: keep both")


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("def f():", ", below `def f():`"),
        ("", ""),
        ("   ", ""),
        ("x" * 60, f", below `{'x' * 60}`"),
        ("x" * 61, f", below `{'x' * 60}…`"),
        ("a\u202eb\r", ", below `a\\u202eb`"),
    ],
)
def test_the_heading_of_the_place(section: str, words: str) -> None:
    same = "both sides change the same line"

    assert pair(classify("a.py", headed(section))) == (False, same + words)
    assert pair(classify("a.md", headed(section))) == (False, same)


def test_names_of_the_sides() -> None:
    names = SideNames("the branch", "the commit")

    assert pair(classify("a.x", three_way("a\nb\n", "", "c\n"), names)) == (
        False,
        "the branch deletes 2 lines that the commit changes",
    )
    assert pair(classify("a.x", three_way("a\n", "b\n", "a\r\n"), names)) == (
        True,
        "the commit changes line ends only: take the lines of the branch",
    )


def test_without_regions_the_sides_collide_as_a_whole() -> None:
    words = "the sides collide as a whole, not line by line"

    assert pair(classify("x.py", ThreeWay(("a",), ("b",), ("c",)))) == (False, words)


def test_more_regions_than_are_looked_into() -> None:
    at = range(1)
    few = ThreeWay(("a\n",), ("b\n",), ("b \n",), (Region(at, at, at),) * 1_000)
    many = ThreeWay(few.base, few.ours, few.theirs, few.regions + few.regions[:1])

    assert pair(classify("a.py", few)) == (True, "white space only: take the lines of the base")
    assert pair(classify("a.py", many)) == (False, "1001 regions, more than are looked into")


def test_every_lock_file_has_its_command() -> None:
    assert all(regenerate(f"a/{name.upper()}") for name in LOCK_FILES)
    assert regenerate("package.json") is None


def test_lines_that_look_like_markers_are_lines() -> None:
    marked = "<<<<<<< HEAD\nimport a;\n=======\nimport b;\n>>>>>>> pr\n"

    assert not told("A.java", "", marked, marked.replace("b", "c"))[0]


@given(st.text(alphabet="<>=| ab\n\r#", max_size=60), st.text(alphabet="ab\n ", max_size=60))
def test_any_text_can_be_classified(ours: str, theirs: str) -> None:
    for base in (None, "", "a\nb\n"):
        mechanical, reason = told("a.py", base, ours, theirs)
        assert not mechanical or three_way(base, ours, theirs).regions
        assert reason
