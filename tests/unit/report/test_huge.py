"""Reports that are larger than what GitHub takes, full of words that want out of their place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fakes.huge import HARMLESS, MESSAGES, PATHS, huge
from fakes.render import to_comment, to_feedback, to_html, to_summary
from fakes.skeletons import skeleton
from prjury.report.annotations import (
    MOST,
    MOST_INLINE,
    Annotation,
    Remark,
    Reviewer,
    annotate,
    list_added_lines,
    read_markers,
)
from prjury.report.continuity import format_findings_for_marker
from prjury.report.findings import Weight, findings
from prjury.report.model import Report
from prjury.report.render import (
    CHECK_LIMIT,
    COMMENT_LIMIT,
    COMMENT_SHAPES,
    SUMMARY_LIMIT,
    SUMMARY_SHAPES,
    Renderer,
    Shape,
    marker,
)

pytestmark = pytest.mark.slow

CUT = "left out here for length"
#: Characters, and bytes, that GitHub takes for a review's body and for one remark.
REVIEW_LIMIT = 65_536
#: Bytes of an annotation's message, and of its details.
ANNOTATION_LIMIT = 65_536
#: Characters of an annotation's title.
TITLE_LIMIT = 255
PLACES: list[tuple[Callable[[Report], str], int]] = [
    (to_comment, COMMENT_LIMIT),
    (Renderer().check, CHECK_LIMIT),
    (to_summary, SUMMARY_LIMIT),
    (to_feedback, SUMMARY_LIMIT),
]
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@pytest.fixture(scope="module")
def hostile() -> Report:
    return huge()


@pytest.fixture(scope="module")
def harmless() -> Report:
    return huge(HARMLESS, HARMLESS)


def check_whole(text: str) -> None:
    """Every fold and every fence that is opened is closed again, each where it was opened."""
    lines = text.split("\n")
    depth = 0
    for token in PARSER.parse(text):
        if token.type == "html_block":
            for tag in re.findall(r"</?details", token.content):
                depth += 1 if tag == "<details" else -1
                assert depth in {0, 1}
        if token.type == "fence":
            assert depth in {0, 1}
            assert token.map
            last = lines[token.map[1] - 1].strip()
            assert last == token.markup
    assert depth == 0


@pytest.mark.parametrize(("render", "limit"), PLACES, ids=["comment", "check", "summary", "agent"])
def test_the_largest_report_fits_every_place(
    hostile: Report, render: Callable[[Report], str], limit: int
) -> None:
    text = render(hostile)
    assert len(text) <= len(text.encode()) <= limit
    start = text.split("\n")[0] + text.split("\n")[1]
    assert "Do not merge: judge 0" in start or start.startswith("**Why:** judge 0")


def test_the_largest_comment_keeps_its_marker_and_its_first_line(hostile: Report) -> None:
    text = Renderer().comment(hostile, run="7.1")
    first, second, *rest = text.split("\n")
    assert first == marker(hostile, "7.1", format_findings_for_marker(hostile))
    assert second.startswith("## ❌ Do not merge: judge 0 ")
    assert rest[0].startswith("**Why:** ")
    assert text.lower().count("<!-- prjury") == 1


def test_the_largest_comment_uses_the_room_that_there_is(hostile: Report) -> None:
    assert len(to_comment(hostile).encode()) > COMMENT_LIMIT / 2
    assert len(to_summary(hostile).encode()) > SUMMARY_LIMIT / 2


def at(report: Report, shape: Shape, name: str = "comment.md.j2") -> str:
    """The report in a shape, however long that gets."""
    return Renderer().render(report, name, (shape,), 1 << 40)


@pytest.mark.nightly
def test_the_largest_comment_has_the_blocks_of_a_harmless_one(hostile: Report) -> None:
    text = to_comment(hostile).partition("\n")[2]
    shape = next(shape for shape in COMMENT_SHAPES if at(hostile, shape) == text)
    assert skeleton(text) == skeleton(at(as_large(), shape))
    check_whole(text)


def as_large(findings: int = 2_000) -> Report:
    """A report in which harmless words stand at the places of the hostile ones."""
    return huge(HARMLESS * len(MESSAGES), HARMLESS * len(PATHS), findings=findings)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        *(("comment.md.j2", shape) for shape in COMMENT_SHAPES[::3]),
        ("summary.md.j2", SUMMARY_SHAPES[0]),
    ],
)
def test_at_every_size_hostile_words_change_no_block(
    name: str, shape: Shape, fewer: tuple[Report, Report]
) -> None:
    text, other = (at(report, shape, name) for report in fewer)
    check_whole(text)
    assert skeleton(text) == skeleton(other)


@pytest.fixture(scope="module")
def fewer() -> tuple[Report, Report]:
    return huge(findings=250), as_large(250)


@pytest.mark.parametrize("name", ["comment.md.j2", "summary.md.j2"])
@pytest.mark.parametrize("shape", COMMENT_SHAPES)
def test_what_is_not_there_is_named(harmless: Report, name: str, shape: Shape) -> None:
    text = at(harmless, shape, name)
    parts = {
        "Should look at (1": "to look at",
        "What each judge says (30)": "what each judge says",
        "Backport (40": "the backports (40)",
        "Not checked, and why (3000)": "what was not checked (3000)",
    }
    for fold, told in parts.items():
        assert (fold in text) != (told in text)
    assert "### Must fix (" in text
    assert (CUT in text) == shape.cut
    assert ("job summary" in text) == (shape.cut and name == "comment.md.j2")


def test_a_list_that_is_cut_says_how_much_is_missing(harmless: Report) -> None:
    weights = Counter(finding.weight for finding in findings(harmless.verdict))
    blockers, others = weights[Weight.MUST_FIX], weights.total() - weights[Weight.MUST_FIX]
    lines = to_comment(harmless).split("\n")
    for words in (
        f"… and {blockers - 60} more",
        f"… and {others - 50} more",
        "  - … and 27 more conflicts",
        "  - … and 6 more commits first",
        "… and 5 more notes.",
    ):
        assert words in lines


def test_files_that_were_not_read_are_told_by_reason(harmless: Report) -> None:
    (line,) = (line for line in to_comment(harmless).split("\n") if " (3,000 files)" in line)
    assert line.endswith(" and 2995 more")
    assert " and 2900 more" in to_html(harmless)


def remarks(report: Report) -> list[Remark]:
    return Reviewer(report, list_added_lines(report.pull)).remarks()


def test_the_largest_review_fits(hostile: Report) -> None:
    entries = remarks(hostile)
    assert len(entries) == MOST_INLINE
    for remark in entries:
        assert len(remark["body"].encode()) <= REVIEW_LIMIT
        assert list(read_markers(remark["body"]) or {}) == ["finding", "seat", "id"]
        assert remark["body"].lower().count("<!-- prjury") == 1


def check_annotations(entries: Sequence[Annotation]) -> None:
    for one in entries:
        assert len(one["title"]) <= TITLE_LIMIT
        assert len(one["message"].encode()) <= ANNOTATION_LIMIT
        assert len(one.get("raw_details", "").encode()) <= ANNOTATION_LIMIT
        assert not re.search("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", one["path"])


def test_annotations_fit_and_those_that_do_not_are_counted(hostile: Report) -> None:
    found = annotate(hostile)
    assert len(found.entries) == MOST
    assert len(found.entries) + found.left_out == len(findings(hostile.verdict))
    check_annotations(found.entries)


def test_one_message_that_is_longer_than_any_place_fits_them_all() -> None:
    report = huge(("😀" * 200_000,), HARMLESS, findings=3, judges=3, branches=1, unread=3)
    found = annotate(report).entries
    assert len(found) == 3
    check_annotations(found)
    for render, limit in PLACES:
        text = render(report)
        assert len(text.encode()) <= limit
    assert all(len(one["body"].encode()) <= REVIEW_LIMIT for one in remarks(report))


#: One byte, two, three and four; what becomes longer when it is defused; what is hidden.
LETTERS = ["a", "é", "あ", "😀", "@", "|", "`", "<", "\u202e", "\n", "e\u0301"]


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """From a handful of words to a few times of what a comment takes."""
    letters = draw(st.lists(st.sampled_from(LETTERS), min_size=1, max_size=3))
    messages = ["x" + "".join(letters) * draw(st.integers(0, 150)) for _ in range(2)]
    return huge(
        messages,
        draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=3)),
        findings=draw(st.integers(1, 120)),
        judges=draw(st.integers(3, 6)),
        branches=draw(st.integers(0, 4)),
        unread=draw(st.integers(0, 40)),
    )


@settings(deadline=None, max_examples=25)
@given(reports())
def test_a_report_of_any_size_fits_and_stays_whole(report: Report) -> None:
    for render, limit in PLACES[:2]:
        text = render(report)
        assert len(text.encode()) <= limit
        titles = 0 if render == PLACES[1][0] else 1
        assert text.count("\n## ❌ Do not merge: ") == titles
        check_whole(text)
    assert all(len(remark["body"].encode()) <= REVIEW_LIMIT for remark in remarks(report))


def steps_across(limit: int, shape: Shape, letter: str) -> Iterator[tuple[int, str, Report]]:
    """Reports whose text in this shape grows past the limit, a few bytes at a time."""

    def sized(length: int) -> tuple[int, Report]:
        report = huge((letter * length,), HARMLESS, findings=60, judges=3, branches=0, unread=0)
        text = Renderer().render(report, "comment.md.j2", (shape,), 1 << 40, titled=False)
        return len(text.encode()), report

    low, high = 1, 400
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if sized(middle)[0] <= limit else (low, middle)
    for length in (low - 1, low, high, high + 1):
        size, report = sized(length)
        yield size, letter, report


@pytest.mark.parametrize("letter", ["x", "é", "あ", "😀"])
def test_nothing_is_left_out_below_the_limit_and_something_above(letter: str) -> None:
    sizes = []
    for size, _, report in steps_across(CHECK_LIMIT, COMMENT_SHAPES[0], letter):
        text = Renderer().check(report)
        assert len(text.encode()) <= CHECK_LIMIT
        assert (CUT in text) == (size > CHECK_LIMIT)
        sizes.append(size > CHECK_LIMIT)
    assert sizes == [False, False, True, True]
