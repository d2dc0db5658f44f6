"""Mechanical conflicts and those that need a human."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.pull.conflicts import ConflictHunk, classify, read_conflicts


def conflict(ours: str, theirs: str) -> tuple[ConflictHunk, ...]:
    return read_conflicts(f"before\n<<<<<<< 0123\n{ours}=======\n{theirs}>>>>>>> 4567\nafter\n")


def mechanical(path: str, ours: str, theirs: str) -> bool:
    return classify(path, conflict(ours, theirs))[0]


def test_vector_classify_conflict_008_imports_only() -> None:
    hunks = read_conflicts("<<<<<<< HEAD\nimport a.B;\n=======\nimport a.C;\n>>>>>>> pr\n")

    assert classify("x/A.java", hunks) == (True, "imports only")


def test_vector_classify_conflict_009_a_deleted_dependency() -> None:
    text = "<dependency><artifactId>core</artifactId></dependency>\n"

    assert classify("pom.xml", conflict(text, "")) == (
        False,
        "1 of 1 regions change the same code",
    )


@pytest.mark.parametrize(
    ("path", "ours", "theirs"),
    [
        ("a.py", "import b\n", "from c import d\n"),
        ("a.rs", "use a::b;\n", "use a::c;\n"),
        ("a.cs", "using A.B;\n", "using static C.D;\n"),
        ("a.js", "const a = require('a');\n", "import b from 'b'\n"),
        ("a.c", "#include <a.h>\n", '#include "b.h"\n'),
        ("a.java", "  foo();\n", "\tfoo();\r\n\n"),
        ("a.py", "x = 1  \n", "x = 1\n"),
        ("pom.xml", "<version>1.2.3</version>\n", "<version>1.10.0-RC1</version>\n"),
        ("Cargo.toml", 'serde = "1.0.1"\n', 'serde = "1.0.2"\n'),
        ("CHANGELOG.md", "- mine\n", "- yours\n"),
        ("docs/release-notes.adoc", "* mine\n", "* yours\n"),
        ("NEWS", "mine\n", "yours\n"),
        ("package-lock.json", "anything\n", "else\n"),
    ],
)
def test_what_anybody_could_resolve(path: str, ours: str, theirs: str) -> None:
    assert mechanical(path, ours, theirs)


@pytest.mark.parametrize(
    ("path", "ours", "theirs"),
    [
        ("a.py", "    return x\n", "return x\n"),
        ("a.yml", "  key: 1\n", "key: 1\n"),
        ("Makefile", "\tcc\n", "cc\n"),
        ("a.py", 'x = "a b"\n', 'x = "a  b"\n'),
        ("a.py", "import b\n", "b = 1\n"),
        ("a.py", "import_all()\n", "from_file(x)\n"),
        ("a.js", "import('a').then(run)\n", "import('b').then(run)\n"),
        ("a.js", "from = 1\n", "from = 2\n"),
        ("a.js", "const a = require('a')(1);\n", "const a = require('a')(2);\n"),
        ("a.cs", "using var x = Open(1);\n", "using var x = Open(2);\n"),
        ("a.cs", "using (Open(1)) {\n", "using (Open(2)) {\n"),
        ("a.rs", "use_it(1);\n", "use_it(2);\n"),
        ("pom.xml", "<version>1.2.3</version>\n", "<scope>test</scope>\n"),
        ("go.mod", "require a.org/b v1.2.3\n", "require c.org/d v1.2.3\n"),
        ("a.java", "int x = 12;\n", "int x = 13;\n"),
        ("src/history.js", "a()\n", "b()\n"),
        ("changes.py", "a()\n", "b()\n"),
        ("newsletter.md", "a\n", "b\n"),
        ("CHANGELOG.md", "- mine\n", ""),
    ],
)
def test_what_needs_a_human(path: str, ours: str, theirs: str) -> None:
    assert not mechanical(path, ours, theirs)


def test_one_region_of_code_makes_the_file_a_human_s_business() -> None:
    text = "<<<<<<< a\nimport b\n=======\nimport c\n>>>>>>> d\n"
    hunks = read_conflicts(text + text.replace("import", "call"))

    assert classify("x.py", hunks) == (False, "1 of 2 regions change the same code")


def test_without_regions_the_sides_collide_as_a_whole() -> None:
    assert classify("x.py", ()) == (False, "the sides collide as a whole, not line by line")


def test_regions_know_their_lines_and_keep_crlf() -> None:
    (hunk,) = read_conflicts("a\r\n<<<<<<< x\r\none\r\n=======\r\ntwo\r\n>>>>>>> y\r\n")

    assert (hunk.line, hunk.ours, hunk.theirs) == (2, ("one\r",), ("two\r",))


def test_a_region_that_does_not_end_is_no_region() -> None:
    assert read_conflicts("<<<<<<< a\nx\n=======\ny\n") == ()
    assert read_conflicts("=======\n>>>>>>> b\n") == ()


@given(st.text(alphabet="<>=| ab\n\r", max_size=200))
def test_any_text_can_be_read_and_classified(text: str) -> None:
    verdict, reason = classify("a.py", read_conflicts(text))

    assert isinstance(verdict, bool)
    assert reason
