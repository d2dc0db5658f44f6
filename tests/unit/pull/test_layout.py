"""White space that carries no meaning, and white space that does."""

from __future__ import annotations

import pytest

from fakes.threeway import three_way
from prjury.pull.layout import LayoutReader


def told(path: str, base: str, ours: str, theirs: str) -> list[str | None]:
    file = three_way(base, ours, theirs)
    assert file.regions
    reader = LayoutReader(path, file)
    return [reader.only(region, "the base", "the head") for region in file.regions]


@pytest.mark.parametrize("path", ["a.java", "a.py", "a.yml", "Makefile", "a.txt", "a.md", "a"])
def test_line_ends_carry_no_meaning_anywhere(path: str) -> None:
    assert told(path, "a\n", "b\r\n", "b\n") == ["line ends only"]
    assert told(path, "a\n", "b", "b\n") == ["line ends only"]
    assert told(path, "a\n", "a\r\n", "b\n") == [
        "the base changes line ends only: take the lines of the head"
    ]
    assert told(path, "a\n", "b\n", "a") == [
        "the head changes line ends only: take the lines of the base"
    ]
    assert told(path, "a\n", "b\r\n", "c\n") == [None]


@pytest.mark.parametrize(
    ("path", "ours", "theirs"),
    [
        ("a.java", "  foo();\n", "\tfoo();\n\n"),
        ("a.java", "foo(); \n", "foo();\r\n"),
        ("a.ts", "  f('x')\n", "f('x')\n"),
        ("a.go", "\tf()\n", "  f()\n"),
        ("a.json", '  "a": 1\n', '"a": 1\n'),
        ("a.rs", 'f("a");\n', '    f("a");\n'),
        ("pom.xml", "<a>\n", "  <a>\n"),
        ("a.py", "x = 1  \n", "x = 1\n"),
        ("a.toml", "x = 1\t\n", "x = 1\n"),
        ("a.ini", "x = 1 \n", "x = 1\n"),
    ],
)
def test_blanks_without_meaning(path: str, ours: str, theirs: str) -> None:
    assert told(path, "old\n", ours, theirs) == ["white space only"]
    assert told(path, theirs, ours, "new\n") == [
        "the base changes white space only: take the lines of the head"
    ]
    assert told(path, theirs, "new\n", ours) == [
        "the head changes white space only: take the lines of the base"
    ]


@pytest.mark.parametrize(
    ("path", "ours", "theirs"),
    [
        ("a.py", "    return x\n", "return x\n"),
        ("a.py", "a\n\nb\n", "a\nb\n"),
        ("a.toml", "  x = 1\n", "x = 1\n"),
        ("a.yml", "  key: 1\n", "key: 1\n"),
        ("a.yml", "key: 1 \n", "key: 1\n"),
        ("Makefile", "\tcc\n", "cc\n"),
        ("a.md", "a  \n", "a\n"),
        ("a.properties", "a=b \n", "a=b\n"),
        ("a.txt", "a \n", "a\n"),
        ("a.sh", "a \n", "a\n"),
        ("a.py", 'x = "a b"\n', 'x = "a  b"\n'),
        ("a.java", "int x;\n", "intx;\n"),
        ("a.c", "#define A \\\n", "#define A \\ \n"),
        ("a.java", "a\x0c\n", "a\n"),
        ("a.java", "a\u00a0\n", "a\n"),
    ],
)
def test_blanks_with_meaning(path: str, ours: str, theirs: str) -> None:
    assert told(path, "old\n", ours, theirs) == [None]


@pytest.mark.parametrize(
    ("path", "frame"),
    [
        ("a.java", 'String s = """\n@""";\n'),
        ("a.java", '@String s = """\n""";\n'),
        ("a.kt", "val s = '''\n@'''\n"),
        ("a.js", "x = `\n@`\n"),
        ("a.go", "x := `\n@`\n"),
        ("a.rs", 'let x = "\n@";\n'),
        ("a.php", "<?php\n$x = <<<X\n@X;\n"),
        ("a.php", '$x = "\n@";\n'),
        ("a.cs", 'x = @"\n@";\n'),
        ("a.cc", 'x = R"(\n@)";\n'),
        ("a.xml", "<a><![CDATA[\n@]]></a>\n"),
        ("a.xml", '<a xml:space="preserve">\n@</a>\n'),
        ("a.groovy", "x = $/\n@/$\n"),
    ],
)
def test_text_over_several_lines_keeps_its_blanks(path: str, frame: str) -> None:
    inside = "  f\n", "f\n"
    if frame.startswith("@"):
        # The region itself opens the text.
        frame, inside = "@", ('x = """\n  f\n""";\n', 'x = """\nf\n""";\n')
    base, ours, theirs = (frame.replace("@", text) for text in ("old\n", *inside))
    if path == "a.cs":
        base, ours, theirs = (f'x = @"\n{text}";\n' for text in ("old\n", *inside))

    assert told(path, base, ours, theirs) == [None]


def test_text_that_has_ended_does_not_count() -> None:
    frame = 'a = """\nb\n""";\n{}c = """d""";\n'

    assert told("a.java", *map(frame.format, ("old\n", "  f\n", "f\n"))) == ["white space only"]


def test_text_that_is_open_on_one_side_only() -> None:
    ours, theirs = 'a = """\nb\n""";\nx\n  f\n', 'a = """\nb\n\ny\nf\n'
    found = told("a.java", 'a = """\nb\n""";\nz\nold\n', ours, theirs)

    assert found == [None]


def test_a_side_without_base_is_compared_with_the_other_only() -> None:
    file = three_way(None, "\na\n", "a\n")
    (region,) = file.regions

    assert LayoutReader("a.java", file).only(region, "x", "y") == "white space only"
    file = three_way(None, "\na\n", "b\na\n")
    assert LayoutReader("a.java", file).only(file.regions[0], "x", "y") is None
