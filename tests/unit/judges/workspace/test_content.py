from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.workspace.content import expect_exactly, expect_match, expect_part
from prjury.jury.judgment import Location

LINES = st.text(alphabet="ab\n\r", max_size=12)


def normal(text: str) -> str:
    """The text as the workspace hands it over."""
    return text.replace("\r\n", "\n")


class TestExact:
    def test_the_same_text(self) -> None:
        check = expect_exactly("a\r\nb\n")("a\nb\n", "f")
        assert check.passed
        assert check.message == "f is exactly the expected text"
        assert check.location == Location("f")

    @pytest.mark.parametrize(
        ("expected", "found", "told", "line", "evidence"),
        [
            (
                "a\nb\n",
                "a\nc\n",
                "line 2 is the first that differs",
                2,
                r"expected: 'b\n'|found:    'c\n'",
            ),
            (
                "a\n",
                "a",
                "the line end after line 1 is missing",
                1,
                r"expected: 'a\n'|found:    'a'",
            ),
            (
                "a",
                "a\n",
                "there is a line end after line 1 where there should be none",
                1,
                r"expected: 'a'|found:    'a\n'",
            ),
            (
                "a\nb",
                "a\n",
                "it ends before line 2",
                1,
                "expected: 'b'|found:    (the end of the text)",
            ),
            (
                "a\n",
                "a\nb\n",
                "it goes on with line 2 where it should end",
                2,
                r"expected: (the end of the text)|found:    'b\n'",
            ),
            (
                "",
                "a\n",
                "it goes on with line 1 where it should end",
                1,
                r"expected: (the end of the text)|found:    'a\n'",
            ),
            ("a", "", "it ends before line 1", 1, "expected: 'a'|found:    (the end of the text)"),
            (
                "a b",
                "a\tb",
                "line 1 is the first that differs",
                1,
                r"expected: 'a b'|found:    'a\tb'",
            ),
        ],
    )
    def test_the_first_difference(
        self, expected: str, found: str, told: str, line: int, evidence: str
    ) -> None:
        check = expect_exactly(expected)(found, "f")
        assert not check.passed
        assert check.message == f"f is not the expected text: {told}"
        assert check.location == Location("f", line)
        assert check.evidence == evidence.replace("|", "\n")

    def test_a_long_line_is_shown_around_the_difference(self) -> None:
        check = expect_exactly("x" * 100 + "a" + "y" * 100)("x" * 100 + "b" + "y" * 100, "f")
        around = "x" * 40 + "{}" + "y" * 38 + "…"
        assert check.evidence == (
            f"expected: …'{around.format('a')}'\nfound:    …'{around.format('b')}'"
        )

    @given(LINES, LINES)
    def test_it_passes_for_equal_texts_only(self, expected: str, found: str) -> None:
        assert expect_exactly(expected)(normal(found), "f").passed == (
            normal(expected) == normal(found)
        )


class TestContains:
    def test_a_text_in_a_line(self) -> None:
        check = expect_part("needle")("hay\nhay needle hay\n", "f")
        assert check.passed
        assert check.message == "f contains 'needle'"
        assert check.location == Location("f", 2)
        assert check.evidence == "needle"

    def test_a_text_of_several_lines(self) -> None:
        check = expect_part("b\r\nc")("a\nb\nc\nd\n", "f")
        assert check.passed
        assert check.location == Location("f", 2, 3)
        assert check.evidence == "b\nc"

    def test_a_line_end_belongs_to_its_line(self) -> None:
        assert expect_part("b\n")("a\nb\nc\n", "f").location == Location("f", 2)
        assert expect_part("\n")("a\nb\n", "f").location == Location("f", 1)

    def test_what_is_not_there(self) -> None:
        check = expect_part("Needle")("needle\n", "f")
        assert not check.passed
        assert check.message == "f does not contain 'Needle'"
        assert check.location == Location("f")
        assert check.evidence is None

    def test_long_texts_are_cut_in_words_and_evidence(self) -> None:
        check = expect_part("x" * 1000)("x" * 1000, "f")
        assert check.message == f"f contains '{'x' * 79}…'"
        assert check.evidence == "x" * 499 + "…"
        assert expect_part("x" * 80)("x" * 80, "f").message == f"f contains '{'x' * 80}'"

    def test_nothing_is_in_every_file(self) -> None:
        with pytest.raises(ValueError, match="an empty text is in every file"):
            expect_part("")

    @given(LINES.filter(bool), LINES)
    def test_it_finds_what_is_there(self, expected: str, found: str) -> None:
        check = expect_part(expected)(normal(found), "f")
        assert check.passed == (normal(expected) in normal(found))
        if check.passed:
            assert check.evidence == normal(expected)


class TestRegex:
    def test_anchors_are_those_of_lines(self) -> None:
        check = expect_match("^b.$")("ab\nbc\ncd\n", "f")
        assert check.passed
        assert check.message == "f matches '^b.$'"
        assert check.location == Location("f", 2)
        assert check.evidence == "bc"

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
        assert expect_match(pattern)(text, "f").passed is matches

    def test_lines_are_counted_in_characters(self) -> None:
        check = expect_match("b+\n*c")("é\né\nbbb\nc\n", "f")
        assert check.location == Location("f", 3, 4)
        assert check.evidence == "bbb\nc"

    def test_an_empty_match(self) -> None:
        check = expect_match("^$")("a\n\nb\n", "f")
        assert check.passed
        assert check.location == Location("f", 2)
        assert check.evidence is None

    def test_what_does_not_match(self) -> None:
        check = expect_match("x+")("a\n", "f")
        assert not check.passed
        assert check.message == "nothing in f matches 'x+'"
        assert check.location == Location("f")

    @pytest.mark.parametrize(
        ("pattern", "told"),
        [
            ("(", "RE2 refuses '(': missing ): ("),
            ("(?=a)", "RE2 refuses '(?=a)': invalid perl operator: (?="),
            (r"(a)\1", r"RE2 refuses '(a)\\1': invalid escape sequence: \1"),
            ("a{1001}", "RE2 refuses 'a{1001}': invalid repetition size: {1001}"),
            ("", "an empty expression matches every file: say what it has to match"),
        ],
    )
    def test_what_is_refused(self, pattern: str, told: str) -> None:
        with pytest.raises(ValueError, match=r"RE2|empty") as refusal:
            expect_match(pattern)
        assert str(refusal.value) == told

    def test_what_is_no_text_is_refused(self) -> None:
        with pytest.raises(ValueError, match="surrogates not allowed"):
            expect_match("\ud800")

    def test_hostile_expressions_take_linear_time(self) -> None:
        assert not expect_match("(a*)*(a*)*(a*)*$b")("a" * 100_000, "f").passed
