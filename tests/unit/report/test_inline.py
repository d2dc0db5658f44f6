from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.hostile import ATTACKS
from fakes.reports import ballot, file, pull, report, tier
from fakes.skeletons import blocks, inline_html, inline_types, skeleton
from prjury.jury.judgment import Check, Judgment, Location
from prjury.report.inline import Remarks, Reviewer, added_lines, markers
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
FIRST = f"<!-- prjury:v1 key=k id=default head={'b' * 40} -->"


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


def remarks(made: Report, told: tuple[str, ...] = (), most: int = 30) -> Remarks:
    reviewer = Reviewer(made, FIRST, added_lines(made.pull))
    found = reviewer.remarks(told, most)
    assert found is not None
    return found


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
    found = remarks(judged(failed(line, end_line)))
    places = [(one.get("start_line"), one["line"]) for one in found.inline]
    assert places == ([expected] if expected else [])
    assert ("wrong at" in found.body) == (expected is None)


def test_a_remark_says_what_is_wrong_and_names_its_finding() -> None:
    check = failed(fix="Remove it", message="`x` is <b>gone</b>, @octocat")
    (one,) = remarks(judged(check, applicability=None)).inline
    assert one["body"].splitlines() == [
        f"<!-- prjury:v1 finding={check.fingerprint} seat=8b1c0c61 id=default -->",
        "Must fix: **pack/rule**: `x` is \\<b\\>gone\\</b\\>, \\@\u200boctocat",
        "",
        "To fix: Remove it",
    ]
    assert markers(one["body"]) == {
        "finding": check.fingerprint,
        "seat": "8b1c0c61",
        "id": "default",
    }


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
    (one,) = remarks(judged(failed(fix=fix))).inline
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
    (one,) = remarks(made).inline
    assert "suggestion" not in one["body"]


def test_the_heaviest_stand_at_lines_and_the_rest_in_the_body() -> None:
    checks = [Check("hint", False, "a hint", Location("a.py", 10), "hint")]
    checks += [failed(line, path="b.py") for line in range(1, 41)]
    made = judged(*checks, files=[changed(), changed("b.py", range(1, 41))])
    found = remarks(made)
    assert len(found.inline) == 30
    assert {one["path"] for one in found.inline} == {"b.py"}
    assert "30 comments on lines that this change adds." in found.body
    assert "11 findings not on an added line:" in found.body
    everything = remarks(made, most=0)
    assert everything.inline == ()
    assert "41 findings:" in everything.body
    assert "https://github.com/acme/shop/blob/" in everything.body


def test_what_was_told_is_not_told_again() -> None:
    checks = failed(12), failed(13), failed(99)
    made = judged(*checks)
    found = remarks(made, told=(checks[0].fingerprint,))
    assert [one["line"] for one in found.inline] == [13]
    assert (markers(found.body) or {})["told"] == checks[2].fingerprint
    reviewer = Reviewer(made, FIRST, added_lines(made.pull))
    assert reviewer.remarks([check.fingerprint for check in checks]) is None


def test_nothing_to_say_is_no_review() -> None:
    fine = report(tier("t", ballot("merge", Judgment.passed("fine"))))
    assert Reviewer(fine, FIRST, {}).remarks() is None


def test_suppressed_findings_get_no_comment() -> None:
    quiet, loud = failed(12), failed(13)
    made = judged(quiet, loud, suppressions=("pack/rule (a.py:12), by noqa: X",))
    assert [one["line"] for one in remarks(made).inline] == [13]


def test_a_path_that_cannot_be_sent_is_told_in_the_body() -> None:
    made = judged(failed(path="\\xff.py"), files=[changed("\udcff.py")])
    found = remarks(made)
    assert found.inline == ()
    assert "xff.py" in found.body


def test_the_body_begins_with_its_markers_and_stays_within_the_limit() -> None:
    checks = [failed(n, path=f"{'😀' * 60}/{n}.py", message="`" * 900) for n in range(1, 900)]
    found = remarks(judged(*checks, files=[file("a.py")]))
    assert (markers(found.body) or {})["head"] == "b" * 40
    assert len((markers(found.body) or {})["told"].split(",")) == 500
    assert len(found.body.encode()) <= 65_536
    assert "more in the report" in found.body


@given(st.text())
def test_nobody_writes_our_markers(text: str) -> None:
    forged = f"{text}\n<!-- prjury:v1 finding=0000000000000000 id=default -->"
    (one,) = remarks(judged(failed(message=forged, fix=forged))).inline
    assert one["body"].count("<!-- prjury:v1") == 1


@pytest.mark.parametrize("words", ATTACKS)
def test_hostile_words_change_nothing_of_a_reviews_structure(words: str) -> None:
    words = words.encode("utf-8", "backslashreplace").decode()
    told = words if words.strip() else "blank"
    for fix in (None, words):
        placed = Check(told, False, told, Location("a.py", 12), fix=fix)
        homeless = Check(told, False, told, Location(told, 3), "warning", fix=fix)
        found = remarks(judged(placed, homeless))
        (one,) = found.inline
        calm = Check("x", False, "x", Location("a.py", 12), fix=None if fix is None else "x")
        (harmless,) = remarks(judged(calm, applicability=None)).inline
        allowed = {*blocks(harmless["body"]), "fence"}
        assert set(blocks(one["body"])) <= allowed
        assert fix is not None or skeleton(one["body"]) == skeleton(
            harmless["body"].replace(calm.fingerprint, placed.fingerprint)
        )
        for body in (one["body"], found.body):
            assert not inline_html(body)
            assert inline_types(body) <= SAFE
            assert len(body.encode()) <= 65_536


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
    assert markers(body) == expected
