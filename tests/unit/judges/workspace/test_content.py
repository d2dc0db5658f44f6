from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.files.judges import FileContentJudge
from prjury.judges.workspace.files import Kind
from prjury.jury.judgment import Check, Location

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
    def test_nothing_is_in_every_file(self) -> None:
        with pytest.raises(
            ValueError, match="an empty text is in every file: say what the file has to hold"
        ):
            look("a", contains="")

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
            ("(", "RE2 refuses '(': missing ): ("),
            ("(?=a)", "RE2 refuses '(?=a)': invalid perl operator: (?="),
            (r"(a)\1", r"RE2 refuses '(a)\\1': invalid escape sequence: \1"),
            ("a{1001}", "RE2 refuses 'a{1001}': invalid repetition size: {1001}"),
            ("", "an empty text is in every file: say what the file has to hold"),
        ],
    )
    def test_what_is_refused(self, pattern: str, told: str) -> None:
        with pytest.raises(ValueError, match=r"RE2|empty") as refusal:
            look("a", regex=pattern)
        assert str(refusal.value) == told

    def test_what_is_no_text_is_refused(self) -> None:
        with pytest.raises(ValueError, match="surrogates not allowed"):
            look("a", regex="\ud800")

    def test_hostile_expressions_take_linear_time(self) -> None:
        assert not look("a" * 100_000, regex="(a*)*(a*)*(a*)*$b").passed
