"""Characters that a reader of the change does not see, and encodings that hide code."""

from __future__ import annotations

import pytest

from fakes.repository import BASE, MERGED, FakeRepository, pull_between
from fakes.shell import ScriptedShell
from prjury.deadline import Deadline
from prjury.judges.merge.parses import check_syntax, find_hidden, list_doubts
from prjury.ports import Ports, SilentProgress


@pytest.mark.parametrize(
    ("line", "point"),
    [
        ("if access != 'user\u202e \u2066// admin\u2069 \u2066':", "U+202E"),  # reads backwards
        ("is_admin\u200b = True", "U+200B"),
        ("x = 'a\u2060b'", "U+2060"),
        ("pass\u00adword = 1", "U+00AD"),
        ("na\u200dme = 1", "U+200D"),
        ("x = 1 \ufeff# y", "U+FEFF"),
        ("# fine \U000e0041\U000e0042", "U+E0041"),
        ("a\u200f = b", "U+200F"),
    ],
)
def test_a_character_that_nobody_sees_is_told(line: str, point: str) -> None:
    pull = pull_between({"a.py": "x = 1\n"}, {"a.py": f"x = 1\n{line}\n"})
    [check] = find_hidden(pull.files)

    assert (check.name, check.severity, check.passed) == ("hidden-characters", "warning", False)
    assert point in check.message
    assert check.location is not None
    assert (check.location.path, check.location.line) == ("a.py", 2)
    assert line not in str(check.evidence)
    assert str(check.evidence).isascii()


@pytest.mark.parametrize(
    "text",
    [
        "x = 'ä ø 你好'",
        "# 👩\u200d💻 did it",
        "می\u200cخواهم",
        "\ufeffimport os",
        "# café – “quote”",
    ],
)
def test_what_languages_and_symbols_need_is_not(text: str) -> None:
    assert find_hidden(pull_between({}, {"a.py": text}).files) == []


def test_lines_that_were_there_are_not_and_many_are_cut() -> None:
    there = "a\u202e\n"
    assert find_hidden(pull_between({"a": there}, {"a": there + "b\n"}).files) == []
    assert len(find_hidden(pull_between({}, {"a": there * 99}).files)) == 20


@pytest.mark.parametrize(
    ("content", "hides"),
    [
        (b"# coding: utf-7\nx = '+ACc-; import os #'\n", True),
        (b"# -*- coding: shift_jis -*-\nx = '\x83\\'\nimport os #'\n", True),
        (b"# coding: utf-16\nx = 1\n", False),  # the parser calls that an error
        (b"# coding: latin-1\nx = '\xe4'\n", False),
        (b"# coding: cp1252\nx = '\x93'\n", False),
        (b"# coding: utf-8\nx = '\xc3\xa4'\n", False),
        (b"\xef\xbb\xbfx = 1\n", False),
        (b"# coding: no-such-thing\nx = 1\n", False),
        (b"x = '\xff'\n", False),
    ],
)
def test_an_encoding_that_hides_code_makes_the_file_unread(content: bytes, *, hides: bool) -> None:
    files = {"a.py": content}
    ports = Ports(FakeRepository({BASE: {}, MERGED: files}), ScriptedShell(), SilentProgress())
    checks = check_syntax(pull_between({}, files, tree=MERGED), ports, Deadline.after(60))
    doubts = list_doubts(checks)
    assert any("it is other code" in doubt.reason for doubt in doubts) is hides
