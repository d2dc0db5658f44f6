"""White space that carries no meaning, and white space that does."""

from __future__ import annotations

import pytest

from fakes.threeway import three_way
from prjury.judges.merge.conflict_class import WhiteSpace
from prjury.snapshot.threeway import BASE_AND_HEAD, SideNames


def told(path: str, base: str, ours: str, theirs: str) -> list[str | None]:
    file = three_way(base, ours, theirs)
    assert file.regions
    reader = WhiteSpace(path, file)
    return [reader.only(region, BASE_AND_HEAD) for region in file.regions]


@pytest.mark.parametrize("path", ["a.java", "a.py", "a.yml", "Makefile", "a.txt", "a.md", "a"])
def test_line_ends_carry_no_meaning_anywhere(path: str) -> None:
    assert told(path, "a\n", "b\r\n", "b\n") == ["line ends only: take the lines of the base"]
    assert told(path, "a\n", "b", "b\n") == ["line ends only: take the lines of the base"]
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
        ("a.py", "x = 1  \n", "x = 1\n"),
        ("a.toml", "x = 1\t\n", "x = 1\n"),
        ("a.ini", "x = 1 \n", "x = 1\n"),
    ],
)
def test_blanks_without_meaning(path: str, ours: str, theirs: str) -> None:
    assert told(path, "old\n", ours, theirs) == ["white space only: take the lines of the base"]
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
        ("a.scala", "    x\n", "x\n"),
        ("a.sc", "x \n", "x\n"),
        ("a.hs", "  x\n", "x\n"),
        ("a.fs", "  x\n", "x\n"),
        ("a.nim", "  x\n", "x\n"),
        ("a.elm", "  x\n", "x\n"),
        ("a.coffee", "  x\n", "x\n"),
        ("a.pug", "  x\n", "x\n"),
        ("a.sass", "  x\n", "x\n"),
        ("a.xml", "  x\n", "x\n"),
        ("a.c", "#define A x \\\n\ny\n", "#define A x \\\ny\n"),
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


@pytest.mark.parametrize(
    ("path", "frame"),
    [
        ("a.js", "f(); // it`s\nx = `\n@`\n"),
        ("a.js", "/* it`s\n */\nx = `\n@`\n"),
        ("a.js", "f('`');\nx = `\n@`\n"),
        ("a.js", "f(/[`/]/);\nx = `\n@`\n"),
        ("a.js", "if (x) /`/.test(y);\nx = `\n@`\n"),
        ("a.js", "x = `a${`b`}\n@`\n"),
        ("a.js", "x = `${f()}\n@`\n"),
        ("a.js", "x = `\\`\n@`\n"),
        ("a.rs", 'let c = \'"\';\nlet s = "\n@";\n'),
        ("a.rs", 'let s = r#"a" b\n@"#;\n'),
        ("a.c", 'char *s = "a \\\n@b";\n'),
        ("a.py", '# """\nx = """\n@"""\n'),
        ("a.py", 'x = \'# """\'\ny = """\n@"""\n'),
        ("a.toml", "x = 'a\\'\ny = '''\n@'''\n"),
        ("a.kt", 'fun `it\'s`() {}\nx = """\\\n@"""\n'),
        ("a.swift", 'x = """\n\\(f("""a"""))\n@"""\n'),
        ("a.swift", 'x = #"\\"#\n@'),
        ("a.dart", "x = r'''\n@'''\n"),
        ("a.groovy", "x = /a\n@/\n"),
        ("a.cs", 'x = """\n\\"""; y = """\n@"""\n'),
        ("a.php", "<?php\n# it's\n$x = '\n@';\n"),
        ("a.php", '<?php\n$x = "{$y["\'"]}";\n@'),
        ("a.php", "<?php // ?>\n@"),
        ("a.php", "<p>\n@"),
        ("a.go", "// +build x\n@package a\n"),
        ("a.xml", "<a>\n  text\n@</a>\n"),
    ],
)
def test_where_text_begins_and_ends_is_known_or_nothing_is(path: str, frame: str) -> None:
    sides = (frame.replace("@", text) for text in ("old\n", "x \n", "x\n"))

    assert told(path, *sides) == [None]


@pytest.mark.parametrize(
    ("path", "frame"),
    [
        ("a.js", "f(); // it`s\nx = `\n`\n@"),
        ("a.js", "/* it`s */ f('`', \"`\");\nx = a[1] / 2 / f(3);\n@"),
        ("a.js", "f(/[`/\\]]/g); g(x) / 2;\nx = `${y}\n`;\n@"),
        ("a.tsx", "<p>a<br />b</p>\n@"),
        ("a.rs", "let c = '\"'; fn f<'a>(x: &'a str) {}\n@"),
        ("a.rs", 'let s = r##"a" b"##; let t = "\n";\n@'),
        ("a.c", "char c = '\"', d = '\\'', e = u8'\"';\nint n = 0xA'000'000;\n@"),
        ("a.py", '# """\nx = "\\"" + f"{y}"\n"""a\n"""\n@'),
        ("a.kt", 'fun `it\'s`() {}\nval s = "a ${b} \\" c"\n@'),
        ("a.swift", 'let s = "a \\(f(b)) c"\n@'),
        ("a.dart", "final s = r'\\'; /* x */\n@"),
        ("a.cs", 'x = $"{y} {z:0}"; c = \'"\';\n@'),
        ("a.go", "r := '`'\ns := `\\`\n@"),
    ],
)
def test_what_only_looks_like_text(path: str, frame: str) -> None:
    sides = (frame.replace("@", text) for text in ("old\n", "x \n", "x\n"))

    assert told(path, *sides) == ["white space only: take the lines of the base"]


def test_what_comes_after_the_place_does_not_count() -> None:
    sides = (f"{text}\n// it`s\nx = `\n`; y = 'z'\n" for text in ("old", "  x", "x"))

    assert told("a.js", *sides) == ["white space only: take the lines of the base"]


def test_blanks_between_tags() -> None:
    frame = "<a>\n@<b/>\n</a>\n"
    sides = (frame.replace("@", text) for text in ("<c/>\n", "  <d/>\n", "<d/>\n\n"))

    assert told("pom.xml", *sides) == ["white space only: take the lines of the base"]


def test_text_that_has_ended_does_not_count() -> None:
    frame = 'a = """\nb\n""";\n{}c = """d""";\n'

    assert told("a.java", *map(frame.format, ("old\n", "  f\n", "f\n"))) == [
        "white space only: take the lines of the base"
    ]


def test_text_that_is_open_on_one_side_only() -> None:
    ours, theirs = 'a = """\nb\n""";\nx\n  f\n', 'a = """\nb\n\ny\nf\n'
    found = told("a.java", 'a = """\nb\n""";\nz\nold\n', ours, theirs)

    assert found == [None]


def test_a_side_without_base_is_compared_with_the_other_only() -> None:
    file = three_way(None, "\na\n", "a\n")
    (region,) = file.regions

    assert (
        WhiteSpace("a.java", file).only(region, SideNames("x", "y"))
        == "white space only: take the lines of x"
    )
    file = three_way(None, "\na\n", "b\na\n")
    assert WhiteSpace("a.java", file).only(file.regions[0], SideNames("x", "y")) is None
