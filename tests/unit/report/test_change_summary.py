"""What a change does, in the words of a program."""

from __future__ import annotations

from dataclasses import replace

from fakes import reports
from fakes.render import to_comment, to_html
from fakes.reports import ballot, file, pull, report, tier
from prjury.jury.judgment import Judgment
from prjury.report.codec import report_to_json
from prjury.report.model import ChangedNames
from prjury.report.view import change_lines
from prjury.snapshot.model import FileKind, FileStatus


def test_files_by_kind_and_where_they_lie() -> None:
    files = (
        file("a/b/x.py", 30, 2),
        file("a/b/y.py", 1, 0, status=FileStatus.ADDED),
        file("tests/test_x.py", 9, 0, FileKind.TEST, FileStatus.ADDED),
        file("README.md", 1, 1, FileKind.DOCS),
    )
    made = report(tier("t", ballot("merge", Judgment.passed("ok"))), pull_request=pull(files))
    (line,) = change_lines(made)
    assert line.startswith("4 files (2 source, 1 test, 1 documentation; 2 new), +41 −3 lines, ")
    assert line.endswith("mostly in `a/b`, `tests`, the top directory.")


def test_files_of_one_kind_are_counted_once() -> None:
    files = (file("a/x.py", 3, 2), file("a/y.py", 1, 0, status=FileStatus.ADDED))
    made = report(tier("t", ballot("merge", Judgment.passed("ok"))), pull_request=pull(files))
    assert change_lines(made) == ("2 source files (1 new), +4 −2 lines, in `a`.",)


def test_the_page_tells_what_the_comment_tells() -> None:
    made = replace(reports.passed(), names=ChangedNames(("Cart.total(int)",)))
    for text in (to_comment(made), to_html(made)):
        assert "What the change does" in text
        assert "Public names: 1 new" in text


def test_public_names_and_how_many_may_break_callers() -> None:
    names = ChangedNames(("Cart.total(int)",), (), ("a", "b", "c", "d", "e"), 5)
    told = change_lines(replace(reports.passed(), names=names))
    assert (
        "Public names: 1 new (`Cart.total(int)`), 5 removed (`a`, `b`, `c`, `d` and 1 more); "
        "5 may break callers."
    ) in told
    assert "Public names: none touched." in change_lines(
        replace(reports.passed(), names=ChangedNames())
    )


def test_tests_beside_those_of_the_base() -> None:
    counts = {"run": 12, "failed": 1, "skipped": 0, "base": {"run": 10, "failed": 0, "skipped": 0}}
    facts = {"facts": "build", "failure_counts": {}, "tests": counts}
    said = Judgment.passed("ok", metadata=facts)
    made = report(tier("t", ballot("build", said)))
    assert change_lines(made)[-1] == "12 tests, 2 more than on the base, 1 failed."


def test_hostile_names_are_told_as_code_and_kept_in_the_report() -> None:
    evil = "f`](http://evil.example)<img>"
    made = replace(reports.passed(), names=ChangedNames((evil,)))
    text = to_comment(made)
    assert "](http://evil.example)" not in text.replace("\\", "")
    assert "<img>" not in text
    assert report_to_json(made)["names"] == {
        "added": [evil],
        "changed": [],
        "removed": [],
        "breaking": 0,
    }
