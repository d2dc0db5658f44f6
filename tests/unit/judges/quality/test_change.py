from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fakes.llm import changed
from prjury.judges.quality.prompt_input import (
    LONGEST_LINE,
    ChunkRow,
    Passage,
    Section,
    make_document,
    make_sections,
)
from prjury.report.sanitise import Redact, Redactor
from prjury.snapshot.model import FileChange, FileKind, FileStatus

LONGEST = 1_000


def laid_out(*files: FileChange, redact: Redact = str) -> tuple[Section, ...]:
    sections, left_out = make_sections(files, redact)
    assert left_out == ()
    return sections


def texts(file: FileChange, redact: Redact) -> list[str]:
    (section,) = laid_out(file, redact=redact)
    return [row.text for row in section.rows]


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (replace(changed("a.py"), unread="larger than 1 MiB"), "larger than 1 MiB"),
        (changed("uv.lock", "+x"), "a lock file"),
        (replace(changed("vendor/a.py", "+x"), exempt="exempt by the base"), "exempt by the base"),
        (changed("a.png", "+x"), "a binary file"),
        (FileChange("sub", FileStatus.ADDED, FileKind.SUBMODULE), "a submodule file"),
        (changed("a.py", "+" + "x" * (LONGEST + 1)), f"has a line of {LONGEST + 1} characters"),
    ],
)
def test_what_is_not_sent_has_a_reason(file: FileChange, reason: str) -> None:
    sections, left_out = make_sections([file, changed("b.py", "+x")], str, LONGEST)
    assert [(named.path, named.reason) for named in left_out] == [(file.path, reason)]
    assert [section.path for section in sections] == ["b.py"]


def test_a_very_long_line_is_not_sent_whatever_room_there_is() -> None:
    file = changed("a.js", "+" + "x" * (LONGEST_LINE + 1))
    sections, left_out = make_sections([file], str, 10**6)
    assert (sections, len(left_out)) == ((), 1)


def test_hidden_characters_and_odd_bytes_are_visible() -> None:
    nasty = "a\u202eb\u200bc\U000e0041d\x1b[0me\udcfff\x00"
    file = replace(changed("x\n\u202e.py", f"+{nasty}"), old_path="y\x1b.py")
    (section,) = laid_out(file)
    text = json.dumps(section.value, ensure_ascii=False)
    for character in "\u202e\u200b\U000e0041\x1b\udcff\x00":
        assert character not in text
    (row,) = section.rows
    assert row.text.startswith("a\\u{202e}b\\u{200b}c\\u{e0041}d\\u{1b}[0me\\xfff")
    assert section.heading["old_path"] == "y\\u{1b}.py"


def test_secrets_are_taken_out_in_place() -> None:
    token = "ghp_" + "a1" * 20
    file = changed("a.py", "+before", f"+t = '{token}'", "+after")
    assert texts(file, Redactor()) == ["before", "t = '[redacted: GitHub token]'", "after"]


def test_a_secret_of_several_lines_leaves_the_numbers_alone() -> None:
    marks = [f"-----{word} RSA PRIVATE KEY-----" for word in ("BEGIN", "END")]
    key = [marks[0], "MIIabcdef", "ghijkl", marks[1]]
    file = changed("a.py", "+first", *(f"+{line}" for line in key), "+last")
    (section,) = laid_out(file, redact=Redactor())
    assert [row.text for row in section.rows] == ["first", *["[redacted]"] * 4, "last"]
    assert [row.line for row in section.rows] == [1, 2, 3, 4, 5, 6]


def test_a_secret_in_the_name_of_a_file_is_not_shown() -> None:
    token = "ghp_" + "a1" * 20
    (section,) = laid_out(changed(f"src/{token}.py", "+x"), redact=Redactor())
    assert token not in json.dumps(section.value)
    assert section.path == f"src/{token}.py"


def test_a_broken_redactor_withholds_everything() -> None:
    def broken(text: str, /) -> str:
        raise RuntimeError(text)

    (section,) = laid_out(changed("a.py", "+one", "+two"), redact=broken)
    assert "one" not in json.dumps(section.value)
    assert "two" not in json.dumps(section.value)


def section(file: FileChange) -> Section:
    ((made,), _) = make_sections([file], str)
    return made


FILE = changed("src/a.py", " same", "-gone", "+here")


def test_the_digest_knows_everything_else() -> None:
    others = [
        changed("src/b.py", " same", "-gone", "+here"),
        changed("src/a.py", " same", "-gone", "+Here"),
        changed("src/a.py", " same", "+gone", "+here"),
        changed("src/a.py", " same", "-gone", "+here", "+"),
        replace(FILE, old_path="src/old.py"),
        replace(FILE, hunks=(*FILE.hunks, *FILE.hunks)),
        replace(FILE, hunks=(replace(FILE.hunks[0], section="def f():"),)),
    ]
    assert len({section(file).digest for file in [FILE, *others]}) == len(others) + 1


rows = st.builds(
    ChunkRow, st.sampled_from(["new", "old"]), st.integers(1, 9_999_999), st.just("+"), st.text()
)


@given(st.text(), st.lists(rows, max_size=5))
def test_the_size_is_at_least_that_of_the_prompt(section: str, lines: list[ChunkRow]) -> None:
    made = Section("a.py", {"path": "a.py"}, (Passage(section, tuple(lines)),))
    assert made.size >= len(json.dumps(made.value, ensure_ascii=False, separators=(",", ":")))


def lines(text: str) -> list[tuple[int, str]]:
    return [
        (row.line, row.text) for row in make_document("answer", "answer", text, Redactor()).rows
    ]


def test_hidden_characters_are_visible_and_secrets_gone() -> None:
    token = "ghp_" + "a1" * 20
    assert lines(f"a\u202eb {token}") == [(1, "a\\u{202e}b [redacted: GitHub token]")]
