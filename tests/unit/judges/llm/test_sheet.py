from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.llm import changed, hunk
from prjury.judges.llm.sheet import LONGEST_LINE, OVER_BUDGET, Plan, plan
from prjury.pull.model import FileChange, FileKind, FileStatus
from prjury.report.redact import Redactor

BUDGET = 1_000
NO_REDACTION = str


def planned(*files: FileChange, budget: int = BUDGET) -> Plan:
    return plan(files, budget, NO_REDACTION)


def long_file(path: str, lines: int) -> FileChange:
    return changed(path, *(f"+line {i:04d} of {path}" for i in range(lines)))


def test_rows_have_side_number_sign_and_text() -> None:
    file = replace(changed("a.py"), hunks=(hunk(" same", "-gone", "+here", " end", start=10),))
    (piece,) = planned(file).sheets[0]
    assert [row.value for row in piece.rows] == [
        ["new", 10, " ", "same"],
        ["old", 11, "-", "gone"],
        ["new", 11, "+", "here"],
        ["new", 12, " ", "end"],
    ]
    assert [row.old for row in piece.rows] == [10, None, None, 12]


def test_source_comes_before_tests_before_the_rest() -> None:
    paths = ["README.md", "a.min.js", "pom.xml", "tests/test_a.py", "src/b.py", "src/a.py"]
    files = [changed(path, "+x") for path in paths]
    sent = planned(*files).sent()
    assert sent == ("src/b.py", "src/a.py", "tests/test_a.py", "pom.xml", "README.md", "a.min.js")


def test_a_change_that_fits_is_sent_whole() -> None:
    result = planned(changed("a.py", "+" + "x" * 80))
    assert (result.sent(), result.not_sent(), len(result.sheets)) == (("a.py",), (), 1)


def test_a_file_that_does_not_fit_is_named_and_a_smaller_one_takes_its_place() -> None:
    result = planned(long_file("a.py", 15), long_file("b.py", 15), changed("c.py", "+x"))
    assert result.sent() == ("a.py", "c.py")
    assert [(file.path, file.reason) for file in result.not_sent()] == [("b.py", OVER_BUDGET)]
    assert result.sent(1) == ("b.py",)


def test_a_file_larger_than_a_sheet_is_split_between_hunks() -> None:
    hunks = tuple(hunk(*(f"+{h} {i:030d}" for i in range(8)), start=100 * h) for h in range(1, 5))
    result = planned(replace(changed("a.py"), hunks=hunks))
    assert len(result.sheets) > 1
    for sheet in result.sheets:
        assert all(len(passage.rows) == 8 for piece in sheet for passage in piece.passages)
    assert result.sent() == ()
    assert [file.path for file in result.not_sent()] == ["a.py"]


def test_only_a_hunk_larger_than_a_sheet_is_cut() -> None:
    result = planned(long_file("a.py", 100))
    texts = [row.text for sheet in result.sheets for piece in sheet for row in piece.rows]
    assert texts == [f"line {i:04d} of a.py" for i in range(100)]
    assert result.sent() == ()


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (replace(changed("a.py"), unread="larger than 1 MiB"), "larger than 1 MiB"),
        (changed("uv.lock", "+x"), "a lock file"),
        (changed("vendor/a.py", "+x"), "a vendored file"),
        (changed("a.png", "+x"), "a binary file"),
        (FileChange("sub", FileStatus.ADDED, FileKind.SUBMODULE), "a submodule file"),
        (changed("a.py", "+" + "x" * (BUDGET + 1)), f"has a line of {BUDGET + 1} characters"),
    ],
)
def test_what_is_not_sent_has_a_reason(file: FileChange, reason: str) -> None:
    result = planned(file, changed("b.py", "+x"))
    assert [(n.path, n.reason) for n in result.not_sent()] == [(file.path, reason)]
    assert result.sent() == ("b.py",)


def test_a_very_long_line_is_not_sent_whatever_the_budget() -> None:
    file = changed("a.js", "+" + "x" * (LONGEST_LINE + 1))
    assert planned(file, budget=10**6).sheets == ()


def test_hidden_characters_and_odd_bytes_are_visible() -> None:
    nasty = "a\u202eb\u200bc\U000e0041d\x1b[0me\udcfff\x00"
    file = replace(changed("x\n\u202e.py", f"+{nasty}"), old_path="y\x1b.py")
    (piece,) = planned(file).sheets[0]
    text = json.dumps(piece.value, ensure_ascii=False)
    for character in "\u202e\u200b\U000e0041\x1b\udcff\x00":
        assert character not in text
    (row,) = piece.rows
    assert row.text.startswith("a\\u{202e}b\\u{200b}c\\u{e0041}d\\u{1b}[0me\\xfff")
    assert piece.heading["old_path"] == "y\\u{1b}.py"


def test_secrets_are_taken_out_in_place() -> None:
    token = "ghp_" + "a1" * 20
    rows = plan([changed("a.py", "+before", f"+t = '{token}'", "+after")], BUDGET, Redactor())
    texts = [row.text for row in rows.sheets[0][0].rows]
    assert texts == ["before", "t = '[redacted: GitHub token]'", "after"]


def test_a_secret_of_several_lines_leaves_the_numbers_alone() -> None:
    marks = [f"-----{word} RSA PRIVATE KEY-----" for word in ("BEGIN", "END")]
    key = [marks[0], "MIIabcdef", "ghijkl", marks[1]]
    file = changed("a.py", "+first", *(f"+{line}" for line in key), "+last")
    rows = list(plan([file], BUDGET, Redactor()).sheets[0][0].rows)
    assert [row.text for row in rows] == ["first", *["[redacted]"] * 4, "last"]
    assert [row.line for row in rows] == [1, 2, 3, 4, 5, 6]


def test_a_broken_redactor_withholds_everything() -> None:
    def broken(text: str, /) -> str:
        raise RuntimeError(text)

    text = json.dumps(plan([changed("a.py", "+one", "+two")], BUDGET, broken).sheets[0][0].value)
    assert "one" not in text
    assert "two" not in text


lines = st.lists(st.text(max_size=60).map(lambda text: "+" + text.replace("\n", "")), max_size=30)
files = st.lists(st.tuples(st.sampled_from(["a.py", "b.md", "t/test_c.py", "d.lock"]), lines))


@given(files, st.integers(200, 2_000))
def test_nothing_is_lost_and_no_sheet_is_too_large(
    raw: list[tuple[str, list[str]]], budget: int
) -> None:
    changes = [changed(f"{i}/{path}", *texts) for i, (path, texts) in enumerate(raw)]
    result = planned(*changes, budget=budget)
    for sheet in result.sheets:
        size = len(json.dumps([piece.value for piece in sheet], ensure_ascii=False))
        single = [row.size for piece in sheet for row in piece.rows]
        assert size <= budget or len(single) == 1
    for number in range(max(1, len(result.sheets))):
        told = [*result.sent(number), *(file.path for file in result.not_sent(number))]
        assert sorted(told) == sorted(change.path for change in changes)
    left_out = {file.path for file in result.left_out}
    shown = sum(1 for sheet in result.sheets for piece in sheet for _ in piece.rows)
    assert shown == sum(len(h.lines) for c in changes if c.path not in left_out for h in c.hunks)
