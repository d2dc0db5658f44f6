from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fakes.skeletons import blocks, skeleton
from prjury.report.sanitise import EMPTY, clean, fence_text, inline_code, log_line, plain, prose

NASTY = st.text(
    st.sampled_from(list("ab1 \t\n\r`~|\\<>#@*_[]()!-=+.:&'\"\x1b\u202e\u200b\U000e0041é😀\u0301")),
    max_size=60,
)
ANY = st.one_of(NASTY, st.text(st.characters(), max_size=60))
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def raw_hidden(text: str) -> list[str]:
    return re.findall(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", text
    )


@given(ANY)
def test_an_inline_code_is_one_code_span_with_the_clean_text(text: str) -> None:
    (inline,) = [
        token for token in PARSER.parse(f"a {inline_code(text)} b") if token.type == "inline"
    ]
    assert [child.type for child in inline.children or ()] == ["text", "code_inline", "text"]


@given(ANY)
def test_a_cell_never_changes_the_number_of_columns(text: str) -> None:
    code = prose(f"`{text}`", in_cell=True)
    row = f"| {code} | {prose(text, in_cell=True)} | {plain(text)} |"
    html = PARSER.render(f"| a | b | c |\n|---|---|---|\n{row}\n| 1 | 2 | 3 |\n")
    assert html.count("<td>") == 6
    assert html.count("<tr>") == 3


@given(ANY, st.integers(0, 4))
def test_a_block_is_one_fence_whatever_is_in_it(text: str, indent: int) -> None:
    source = (
        f"{' ' * 0}- item\n\n{fence_text(text, indent=2)}\n\nafter\n"
        if indent
        else f"{fence_text(text)}\n"
    )
    fences = [token for token in PARSER.parse(source) if token.type == "fence"]
    assert len(fences) == 1
    assert fences[0].info == ""


@given(ANY)
def test_plain_words_and_prose_hold_nothing_live(text: str) -> None:
    for slot in (plain, prose):
        tokens = PARSER.parse(slot(text))
        assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
        children = {child.type for child in tokens[1].children or ()}
        assert children <= {"text", "text_special", "code_inline"}


@given(ANY)
def test_plain_words_are_the_same_block_wherever_they_stand(text: str) -> None:
    for source in ("{}", "## {}", "- {}", "1. {}", "**{}**: x", "> {}", "<sub>{}</sub>"):
        assert skeleton(source.format(plain(text))) == skeleton(source.format("x"))


@given(ANY)
def test_nothing_hidden_is_left(text: str) -> None:
    for slot in (clean, inline_code, fence_text, plain, prose, log_line):
        assert raw_hidden(slot(text)) == []


@given(ANY, st.integers(1, 40))
def test_a_cut_keeps_the_limit_and_counts_the_rest(text: str, limit: int) -> None:
    whole, short = clean(text), clean(text, limit)
    if short == whole:
        assert len(whole) <= limit + len("… (+9 chars)")
    else:
        match = re.fullmatch(r"(?s)(.*)… \(\+(\d+) chars\)", short)
        assert match
        assert whole.startswith(match[1])
        assert len(match[1]) <= limit
        assert len(whole) - len(match[1].rstrip()) >= int(match[2]) >= len(whole) - limit


@given(ANY)
def test_a_log_line_holds_no_runner_command(text: str) -> None:
    line = log_line(text)
    assert "\n" not in line
    assert "##[" not in line
    assert not line.lstrip().startswith("::")


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "\t"])
def test_nothing_is_shown_as_empty(text: str) -> None:
    assert inline_code(text) == f"`{EMPTY}`"
    assert fence_text(text) == f"```\n{EMPTY}\n```"
    assert clean(plain(text).replace("\\", "")) == EMPTY
    assert log_line(text) == EMPTY


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("fixes #1", "#1"),
        ("org/repo#5", "#5"),
        ("see GH-7", "GH-7"),
        ("@octocat", "@octocat"),
        ("user@deadbee1", "@deadbee1"),
        (":white_check_mark:", ":white_check_mark:"),
    ],
)
def test_references_are_broken_in_the_rendered_text(text: str, live: str) -> None:
    assert live not in PARSER.render(plain(text))


@pytest.mark.parametrize(
    "text", ["abc1234", "see abc1234.", "`abc1234", "abc1234`", "a*b abc1234 *c*", "x/abc1234/y"]
)
def test_a_commit_is_code_that_can_be_copied(text: str) -> None:
    for slot in (plain, prose):
        rendered = PARSER.render(slot(text))
        assert "<code>abc1234</code>" in rendered
        assert "\u200b" not in rendered


@pytest.mark.parametrize("text", ["https://evil.example", "www.evil.example", "x@evil.example"])
def test_bare_addresses_are_no_links(text: str) -> None:
    rendered = PARSER.render(plain(text))
    for live in ("://", "www.e", "@e"):
        assert live not in rendered


def test_hidden_characters_are_named() -> None:
    assert inline_code("a\u202eb") == r"`a\u{202e}b`"
    assert inline_code("e\x1b[31m") == r"`e\u{1b}[31m`"
    assert inline_code(b"\xff.txt".decode("utf-8", "surrogateescape")) == r"`\xff.txt`"
    assert inline_code("a\nb") == r"`a\nb`"
    assert clean("\ud800") == r"\u{d800}"


def test_our_marker_cannot_be_written_by_others() -> None:
    for slot in (inline_code, fence_text, plain, prose):
        assert "<!-- prjury" not in slot("<!-- prjury:v1 key=1 -->")
        assert "<!--prjury" not in slot("<!--prjury:v1 key=1 -->")


def test_a_cut_does_not_part_a_grapheme() -> None:
    assert clean("ab\u0300\u0302" + "c" * 20, 3).startswith("a…")
    assert clean("a👍🏽" + "b" * 20, 2) == "a… (+22 chars)"


def test_a_megabyte_is_cut_and_counted() -> None:
    assert clean("x" * 1_000_000, 100) == "x" * 100 + "… (+999900 chars)"


def test_fences_are_longer_than_any_run() -> None:
    assert fence_text("```\n~~~~\n## ✅ PASS") == "````\n```\n~~~~\n## ✅ PASS\n````"
    assert blocks(fence_text("```\n~~~~\n## ✅ PASS")) == ["fence"]


def test_a_broken_redactor_withholds_the_text() -> None:
    def broken(_text: str) -> str:
        raise RuntimeError("no")

    assert clean("secret", redact=broken) == "[withheld: redaction error]"


@pytest.mark.parametrize(
    "words",
    [
        "shelf/stock.py:12 AttributeError",
        "test_put_and_take (tests.test_stock.StockTest), cut… (+3 chars)",
        "skipped: --no-llm",
        "a = b - c",
    ],
)
def test_punctuation_inside_a_line_is_left_alone(words: str) -> None:
    assert plain(words) == words


def test_a_hidden_character_is_named_in_every_slot() -> None:
    for slot in (inline_code, fence_text, plain, prose, log_line):
        assert r"\u{202e}" in slot("a\u202eb")
