from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.hostile import ATTACKS, report_holding
from fakes.reports import (
    ballot,
    broken_build,
    file,
    needs_a_human,
    pull,
    report,
    tier,
    with_findings,
)
from prjury.jury.judgment import Check, Judgment, Location, Severity
from prjury.report.annotations import Annotations, annotate, is_sendable
from prjury.report.sanitise import Redactor
from prjury.snapshot.model import FileChange, FileKind, FileStatus

TOKEN = "ghp_" + "a1B2" * 9


def found(*checks: Check, files: list[FileChange] | None = None) -> Annotations:
    files = files if files is not None else [file("a.py")]
    judge = ballot("patterns", Judgment.failed("no", checks=checks))
    return annotate(report(tier("t", judge), pull_request=pull(files)))


def failed(
    message: str = "it is wrong",
    path: str = "a.py",
    line: int | None = 3,
    severity: Severity = "error",
    end_line: int | None = None,
    evidence: str | None = None,
    fix: str | None = None,
) -> Check:
    place = Location(path, line, end_line)
    return Check("pack/rule", False, message, place, severity, evidence, fix)


def test_a_blocker_says_what_is_wrong_and_what_would_make_it_pass() -> None:
    (one,) = found(failed(evidence="x = 1", fix="x = 2", end_line=4)).entries
    assert one == {
        "path": "a.py",
        "start_line": 3,
        "end_line": 4,
        "annotation_level": "failure",
        "title": "pack/rule",
        "message": "it is wrong",
        "raw_details": "x = 1\n\nTo fix: x = 2",
    }


def test_levels_are_what_a_finding_means_for_the_merge() -> None:
    levels = [one["annotation_level"] for one in annotate(needs_a_human()).entries]
    assert levels == ["warning", "notice"]
    broken = [one["annotation_level"] for one in annotate(broken_build()).entries]
    assert broken == ["failure"] * 3 + ["warning"]


def test_only_files_of_the_head_have_lines() -> None:
    files = [
        file("gone.py", status=FileStatus.DELETED),
        FileChange("new.py", FileStatus.RENAMED, FileKind.SOURCE, old_path="old.py"),
    ]
    checks = [failed(str(n), path) for n, path in enumerate(["gone.py", "old.py", "new.py", "x"])]
    result = found(*checks, Check("placeless", False, "no place"), files=files)
    assert [one["path"] for one in result.entries] == ["new.py", "x"]
    assert result.left_out == 3


@pytest.mark.parametrize(
    "path", ["a\nb.py", "a\x1b.py", "\udcff.py", "/etc/passwd", "a/../b", "\x7f"]
)
def test_paths_that_cannot_be_sent_are_counted(path: str) -> None:
    assert not is_sendable(path)
    shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    result = found(failed(path=shown), files=[file(path)])
    assert (result.entries, result.left_out) == ((), 1)


def test_at_most_five_hundred_and_the_rest_is_told() -> None:
    result = annotate(with_findings(620))
    assert len(result.entries) == 500
    assert result.left_out == 120
    assert result.note == "Not annotated, but in the report: 120 findings."


def test_nothing_hidden_and_no_secret_gets_out() -> None:
    (one,) = found(failed(f"bidi \u202e and {TOKEN}", evidence="\x1b[31mred")).entries
    assert "\u202e" not in one["message"]
    assert TOKEN not in one["message"]
    assert "\x1b" not in one.get("raw_details", "")


def test_secrets_of_the_run_are_taken_out() -> None:
    judge = ballot("j", Judgment.failed("no", checks=[failed("the word is swordfish")]))
    redact = Redactor(("swordfish",))
    (one,) = annotate(report(tier("t", judge), pull_request=pull([file("a.py")])), redact).entries
    assert "swordfish" not in one["message"]


@pytest.mark.parametrize("words", ATTACKS)
def test_hostile_words_are_only_text(words: str) -> None:
    for one in annotate(report_holding(words)).entries:
        texts = (one["path"], one["title"], one["message"], one.get("raw_details", ""))
        assert not any(map(re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u200b]").search, texts))
        assert one["title"]
        assert one["message"]


@given(st.text(), st.text(max_size=50), st.integers(1, 10**9))
def test_everything_fits(message: str, evidence: str, times: int) -> None:
    huge = evidence * (times % 7_000)
    for one in found(failed(message + huge, evidence=huge)).entries:
        assert len(one["title"]) <= 255
        assert 0 < len(one["message"].encode()) <= 65_536
        assert len(one.get("raw_details", "").encode()) <= 65_536
