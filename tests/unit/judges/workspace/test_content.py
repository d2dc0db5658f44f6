from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.files.judges import FileContentJudge, FileExistsJudge
from prjury.judges.workspace.files import Kind
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Check, Location, Status
from prjury.jury.score import BooleanScore

LINES = st.text(alphabet="ab\n\r", max_size=12)


class OneFile:
    def __init__(self, content: str) -> None:
        self.content = content

    def kind(self, _path: str) -> Kind:
        return "file"

    def text(self, _path: str) -> str:
        return self.content


def look(content: str, **expectation: Any) -> Check:
    [check] = FileContentJudge("f", **expectation).judge_in(OneFile(content)).checks
    return check


def normal(text: str) -> str:
    """The text as the workspace hands it over."""
    return text.replace("\r\n", "\n")


class TestExact:
    @pytest.mark.parametrize(
        ("expected", "found", "line", "evidence"),
        [
            ("a\nb\n", "a\nc\n", 2, r"expected: 'b\n'|found:    'c\n'"),
            ("a\n", "a", 1, r"expected: 'a\n'|found:    'a'"),
            ("a", "a\n", 1, r"expected: 'a'|found:    'a\n'"),
            ("a\nb", "a\n", 1, "expected: 'b'|found:    ''"),
            ("a\n", "a\nb\n", 2, r"expected: ''|found:    'b\n'"),
            ("a", "", 1, "expected: 'a'|found:    ''"),
            ("a b", "a\tb", 1, r"expected: 'a b'|found:    'a\tb'"),
        ],
    )
    def test_the_first_difference(
        self, expected: str, found: str, line: int, evidence: str
    ) -> None:
        check = look(found, exact=expected)
        assert not check.passed
        assert check.location == Location("f", line)
        assert check.evidence == evidence.replace("|", "\n")

    @given(LINES, LINES)
    def test_it_passes_for_equal_texts_only(self, expected: str, found: str) -> None:
        assert look(normal(found), exact=expected).passed == (normal(expected) == normal(found))


class TestContains:
    @given(LINES.filter(bool), LINES)
    def test_it_finds_what_is_there(self, expected: str, found: str) -> None:
        check = look(normal(found), contains=expected)
        assert check.passed == (normal(expected) in normal(found))


class TestRegex:
    @pytest.mark.parametrize(
        ("pattern", "text", "matches"),
        [
            (r"\Ab", "a\nb\n", False),
            (r"\Aa", "a\nb\n", True),
            (r"b\z", "b\nc", False),
            ("a.b", "a\nb", False),
            ("(?s)a.b", "a\nb", True),
            ("(?i)HELLO", "hello", True),
            ("HELLO", "hello", False),
            ("a\r\nb", "a\nb", True),
            ("x|^b$", "a\nb\n", True),
            ("(?-m)^b", "a\nb\n", False),
            ("é+", "caféé", True),
        ],
    )
    def test_what_matches(self, pattern: str, text: str, *, matches: bool) -> None:
        assert look(text, regex=pattern).passed is matches

    @pytest.mark.parametrize(
        ("pattern", "told"),
        [
            ("(?=a)", "RE2 refuses '(?=a)': invalid perl operator: (?="),
            (r"(a)\1", r"RE2 refuses '(a)\\1': invalid escape sequence: \1"),
            ("a{1001}", "RE2 refuses 'a{1001}': invalid repetition size: {1001}"),
        ],
    )
    def test_what_is_refused(self, pattern: str, told: str) -> None:
        with pytest.raises(ValueError, match="RE2") as refusal:
            look("a", regex=pattern)
        assert str(refusal.value) == told

    def test_what_is_no_text_is_refused(self) -> None:
        with pytest.raises(ValueError, match="surrogates not allowed"):
            look("a", regex="\ud800")

    def test_hostile_expressions_take_linear_time(self) -> None:
        assert not look("a" * 100_000, regex="(a*)*(a*)*(a*)*$b").passed


@pytest.fixture
def context(tmp_path: Path) -> JudgmentContext:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_bytes(b"# Title\r\n\r\nIt works.\r\n")
    os.mkfifo(tmp_path / "pipe")
    return JudgmentContext("goal", workspace=tmp_path)


@pytest.mark.parametrize(
    ("path", "status", "reasoning"),
    [
        ("README.md", Status.PASS, "README.md is there"),
        (Path("README.md"), Status.PASS, "README.md is there"),
        ("LICENSE", Status.FAIL, "there is no file LICENSE"),
        ("docs", Status.FAIL, "docs is a directory, not a file"),
        ("pipe", Status.FAIL, "pipe is a special file, not a file"),
    ],
)
def test_a_file_is_there_or_not(
    context: JudgmentContext, path: str | Path, status: Status, reasoning: str
) -> None:
    judgment = FileExistsJudge(path).judge(context)
    (check,) = judgment.checks
    assert (judgment.status, judgment.reasoning) == (status, reasoning)
    assert judgment.score == BooleanScore(status is Status.PASS)
    assert (check.name, check.passed) == ("file-exists", status is Status.PASS)
    assert (check.message, check.location) == (reasoning, Location(str(path)))
    assert judgment.metadata == {"path": str(path)}


def test_a_name_that_is_no_utf_8_can_be_told(context: JudgmentContext) -> None:
    judgment = FileExistsJudge("\udcff").judge(context)
    assert judgment.reasoning == "there is no file \\xff"
    assert judgment.metadata == {"path": "\\xff"}


@pytest.mark.parametrize(
    ("expectation", "status", "reasoning", "line"),
    [
        (
            {"exact": "# Title\n\nIt works.\n"},
            Status.PASS,
            "README.md is exactly the expected text",
            None,
        ),
        ({"contains": "It works"}, Status.PASS, "README.md contains 'It works'", 3),
        ({"regex": r"^It \w+\.$"}, Status.PASS, r"README.md matches '^It \\w+\\.$'", 3),
        ({"contains": "It fails"}, Status.FAIL, "README.md does not contain 'It fails'", None),
        ({"regex": "x{3}"}, Status.FAIL, "README.md does not match 'x{3}'", None),
        (
            {"exact": "# Title\n"},
            Status.FAIL,
            "README.md is not the expected text: line 2 is the first that differs",
            2,
        ),
    ],
)
def test_the_text_is_as_expected_or_not(
    context: JudgmentContext,
    expectation: dict[str, Any],
    status: Status,
    reasoning: str,
    line: int | None,
) -> None:
    judgment = FileContentJudge("README.md", **expectation).judge(context)
    (check,) = judgment.checks
    assert (judgment.status, judgment.reasoning) == (status, reasoning)
    assert judgment.score == BooleanScore(status is Status.PASS)
    assert (check.name, check.passed) == ("file-content", status is Status.PASS)
    assert check.location == Location("README.md", line)
    assert judgment.metadata == {"path": "README.md"}


@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [
        ("LICENSE", Status.FAIL, None),
        ("docs", Status.FAIL, None),
        ("pipe", Status.ERROR, "unreadable"),
        ("../x", Status.ERROR, "outside_workspace"),
    ],
)
def test_where_there_is_no_text(
    context: JudgmentContext, path: str, status: Status, reason: str | None
) -> None:
    judgment = FileContentJudge(path, contains="x").judge(context)
    assert (judgment.status, judgment.metadata.get("reason")) == (status, reason)


@pytest.mark.parametrize(
    ("expectation", "told"),
    [
        ({}, "name exactly one of exact, contains and regex, not none"),
        (
            {"exact": "a", "regex": "b"},
            "name exactly one of exact, contains and regex, not exact and regex",
        ),
        ({"contains": ""}, "an empty text is in every file: say what the file has to hold"),
        ({"regex": "("}, "RE2 refuses '(': missing ): ("),
    ],
)
def test_expectations_that_make_no_sense(expectation: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=r"exactly one|empty|RE2") as refusal:
        FileContentJudge("a", **expectation)
    assert str(refusal.value) == told


@pytest.mark.parametrize("make", [FileExistsJudge, lambda path: FileContentJudge(path, exact="")])
def test_paths_that_make_no_sense(make: Any) -> None:
    with pytest.raises(ValueError, match="'' is not a path"):
        make("")
