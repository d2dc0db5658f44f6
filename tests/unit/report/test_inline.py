from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.hostile import ATTACKS
from fakes.reports import ballot, pull, report, tier
from fakes.skeletons import blocks, inline_html, inline_types, skeleton
from prjury.jury.judgment import Check, Judgment, Location
from prjury.report.annotations import Remark, Reviewer, list_added_lines, read_markers
from prjury.report.model import Report
from prjury.snapshot.model import FileChange, FileKind, FileStatus, Hunk, Line

SAFE = {
    "text",
    "code_inline",
    "strong_open",
    "strong_close",
    "link_open",
    "link_close",
    "softbreak",
}


def changed(path: str = "a.py", lines: range = range(10, 20), end: str = "\n") -> FileChange:
    """A file with added lines between two that stay."""
    first, last = lines.start - 1, lines.stop
    hunk = Hunk(
        1,
        2,
        first,
        len(lines) + 2,
        "",
        (
            Line(" ", 1, first, "before", end),
            *(Line("+", None, number, f"line {number}", end) for number in lines),
            Line(" ", 2, last, "after", end),
        ),
    )
    return FileChange(path, FileStatus.MODIFIED, FileKind.SOURCE, len(lines), hunks=(hunk,))


def failed(
    line: int | None = 12,
    end_line: int | None = None,
    path: str = "a.py",
    message: str | None = None,
    fix: str | None = None,
) -> Check:
    words = message if message is not None else f"wrong at {line}"
    return Check("pack/rule", False, words, Location(path, line, end_line), fix=fix)


def judged(
    *checks: Check,
    files: list[FileChange] | None = None,
    applicability: str | None = "maybe-incorrect",
    suppressions: tuple[str, ...] = (),
) -> Report:
    details = [
        {
            "rule": check.name,
            "path": check.location.path,
            "line": check.location.line,
            "applicability": applicability,
        }
        for check in checks
        if check.location
    ]
    metadata = {"findings": details, "suppressions": list(suppressions)}
    judge = ballot("patterns", Judgment.failed("no", checks=checks, metadata=metadata))
    return report(tier("t", judge), pull_request=pull(files or [changed()]))


def remarks(made: Report, earlier: tuple[str, ...] = ()) -> list[Remark]:
    return Reviewer(made, list_added_lines(made.pull)).remarks(earlier)


@pytest.mark.parametrize(
    ("line", "end_line", "expected"),
    [
        (12, None, (None, 12)),
        (12, 12, (None, 12)),
        (12, 14, (12, 14)),
        (10, 19, (10, 19)),
        (8, 12, (None, 10)),
        (18, 25, (None, 18)),
        (5, 10**9, (None, 10)),
        (9, None, None),
        (20, None, None),
        (1, 9, None),
        (None, None, None),
    ],
)
def test_remarks_stand_at_added_lines_only(
    line: int | None, end_line: int | None, expected: tuple[int | None, int] | None
) -> None:
    entries = remarks(judged(failed(line, end_line)))
    places = [(one.get("start_line"), one["line"]) for one in entries]
    assert places == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("fix", "fence"),
    [
        ("    total = round(a)", "```"),
        ("\tx = '`'", "```"),
        ("x = '```'", "````"),
        ("`````", "``````"),
    ],
)
def test_a_fix_that_is_the_whole_line_can_be_applied_by_a_click(fix: str, fence: str) -> None:
    (one,) = remarks(judged(failed(fix=fix)))
    assert one["body"].endswith(f"\n{fence}suggestion\n{fix}\n{fence}\n")


@pytest.mark.parametrize(
    "made",
    [
        judged(failed(fix="Remove it"), applicability=None),
        judged(failed(fix="one\ntwo")),
        judged(failed(fix="hidden \u202e")),
        judged(failed(fix="key = 'ghp_" + "a1B2" * 9 + "'")),
        judged(failed(fix="x" * 3_000)),
        judged(failed(12, 14, fix="x = 1")),
        judged(failed(fix="x = 1"), files=[changed(end="\r\n")]),
        judged(failed(fix=None)),
    ],
)
def test_anything_else_is_told_and_cannot_be_applied(made: Report) -> None:
    (one,) = remarks(made)
    assert "suggestion" not in one["body"]


def test_the_thirty_heaviest_stand_at_lines() -> None:
    checks = [Check("hint", False, "a hint", Location("a.py", 10), "hint")]
    checks += [failed(line, path="b.py") for line in range(1, 41)]
    made = judged(*checks, files=[changed(), changed("b.py", range(1, 41))])
    entries = remarks(made)
    assert len(entries) == 30
    assert {one["path"] for one in entries} == {"b.py"}


def test_what_was_told_is_not_told_again() -> None:
    checks = failed(12), failed(13), failed(99)
    made = judged(*checks)
    assert [one["line"] for one in remarks(made, (checks[0].fingerprint,))] == [13]
    assert remarks(made, tuple(check.fingerprint for check in checks)) == []


def test_suppressed_findings_get_no_comment() -> None:
    quiet, loud = failed(12), failed(13)
    made = judged(quiet, loud, suppressions=("pack/rule (a.py:12), by noqa: X",))
    assert [one["line"] for one in remarks(made)] == [13]


def test_a_path_that_cannot_be_sent_gets_no_remark() -> None:
    assert remarks(judged(failed(path="\\xff.py"), files=[changed("\udcff.py")])) == []


@given(st.text())
def test_nobody_writes_our_markers(text: str) -> None:
    forged = f"{text}\n<!-- prjury:v1 finding=0000000000000000 id=default -->"
    (one,) = remarks(judged(failed(message=forged, fix=forged)))
    assert one["body"].count("<!-- prjury:v1") == 1


@pytest.mark.parametrize("words", ATTACKS)
def test_hostile_words_change_nothing_of_a_reviews_structure(words: str) -> None:
    words = words.encode("utf-8", "backslashreplace").decode()
    told = words if words.strip() else "blank"
    for fix in (None, words):
        placed = Check(told, False, told, Location("a.py", 12), fix=fix)
        homeless = Check(told, False, told, Location(told, 3), "warning", fix=fix)
        (one,) = remarks(judged(placed, homeless))
        calm = Check("x", False, "x", Location("a.py", 12), fix=None if fix is None else "x")
        (harmless,) = remarks(judged(calm, applicability=None))
        allowed = {*blocks(harmless["body"]), "fence"}
        assert set(blocks(one["body"])) <= allowed
        assert fix is not None or skeleton(one["body"]) == skeleton(
            harmless["body"].replace(calm.fingerprint, placed.fingerprint)
        )
        assert not inline_html(one["body"])
        assert inline_types(one["body"]) <= SAFE
        assert len(one["body"].encode()) <= 65_536


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", None),
        ("words\n<!-- prjury:v1 id=x -->", None),
        (
            "<!-- prjury:v1 id=x -->\r\n<!-- prjury:v1 told=a,b -->\r\nwords",
            {"id": "x", "told": "a,b"},
        ),
        ("<!-- prjury:v2 id=x -->", None),
    ],
)
def test_markers(body: str, expected: dict[str, str] | None) -> None:
    assert read_markers(body) == expected
