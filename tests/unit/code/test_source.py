"""The line model: what ends a line, and which number of git's it has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.code.languages import LANGUAGES
from prjury.code.source import Source, UnreadableError, decode_text, unescape_java
from unit.judges.patterns.bench import adding, found

JAVA, KOTLIN = LANGUAGES["java"], LANGUAGES["kotlin"]


@given(st.text(alphabet="ab\n\r\\u0é😀 ", max_size=60))
def test_every_offset_has_a_line_of_git(text: str) -> None:
    source = Source.of(text, JAVA)
    lines = text.count("\n") + 1
    numbers = [source.line_at(offset) for offset in range(len(source.text) + 1)]
    assert numbers == sorted(numbers)
    assert set(numbers) <= set(range(1, lines + 1))
    assert "\r" not in source.text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (r"\u006aavax", "javax"),
        (r"\uuu006aavax", "javax"),
        (r"\\u006a", r"\\u006a"),
        (r"\\\u006a", r"\\j"),
        (r"\u006a\u0061", "ja"),
        (r"\ud83d", r"\ud83d"),
        (r"\u00g1", r"\u00g1"),
    ],
)
def test_javas_escapes_are_resolved_as_javac_does(line: str, expected: str) -> None:
    assert unescape_java(line, JAVA) == expected
    assert unescape_java(line, KOTLIN) == line


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("package x;\r\nimport javax.persistence.Entity;\r\nclass A {}\r\n", 2),
        ("// x\rimport javax.persistence.Entity;\nclass A {}\n", 1),
        ("package x;\rimport javax.persistence.Entity;\rclass A {}\r", 1),
        ("\ufeffimport javax.persistence.Entity;\n", 1),
        ('// ü😀\nclass A { String s = "é😀"; javax.persistence.Entity e; }\n', 2),
        ("// x \\u000a import javax.persistence.Entity;\n", 1),
        ("import \\u006aavax.persistence.Entity;\n", 1),
        ("import\n  javax\n  .persistence\n  .Entity;\n", 2),
        ("package x;\fimport javax.persistence.Entity;\n", 1),
    ],
)
def test_tricks_with_line_ends_hide_nothing(code: str, line: int) -> None:
    judgment = adding(code)
    assert found(judgment) == [("jakarta/persistence", "error", line)]


@pytest.mark.parametrize(
    "code",
    [
        "// import javax.persistence.Entity;\nclass A {}\n",
        "/* import javax.persistence.Entity;\n import javax.persistence.Id; */ class A {}\n",
        "/** {@link javax.persistence.Entity} */ class A {}\n",
        'class A { String s = "javax.persistence.Entity"; }\n',
        'class A { String s = """\n  import javax.persistence.Entity;\n  """; }\n',
        "// x\u2028import javax.persistence.Entity;\n",
        'class A { char c = \'"\'; String s = "javax.persistence.Entity"; }\n',
    ],
)
def test_comments_and_strings_are_not_code(code: str) -> None:
    assert found(adding(code)) == []


@pytest.mark.parametrize("content", [b"\xff\xfea\x00", b"caf\xe9", b"a\x00b", b"x" * 20_001])
def test_what_cannot_be_decoded_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadableError):
        decode_text(content)


@pytest.mark.parametrize("line", ["# coding: unicode_escape", "#!/x\n# -*- coding: utf-7 -*-"])
def test_python_in_an_encoding_that_hides_lines_is_not_read(line: str) -> None:
    with pytest.raises(UnreadableError, match="declares the encoding"):
        Source.of(f"{line}\n# \\u000ax = 1\n", LANGUAGES["python"])
    source = Source.of("# coding: utf-8\nx = 1\n", LANGUAGES["python"])
    assert list(source.numbers) == [1, 2, 3]
