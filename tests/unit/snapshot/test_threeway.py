"""Where the sides of a file collide, and on which lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.threeway import edits, three_way
from prjury.snapshot.model import ConflictRegion, Hunk, LineSpan
from prjury.snapshot.threeway import Edit, edits_of, lines_of


def regions(base: str, onto: str, head: str) -> list[tuple[range, range, range]]:
    return [(one.base, one.onto, one.head) for one in three_way(base, onto, head).regions]


def places(base: str | None, onto: str, head: str) -> list[ConflictRegion]:
    file = three_way(base, onto, head)
    return [file.trim(region) for region in file.regions]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", ()),
        (b"\n", ("\n",)),
        (b"a\nb", ("a\n", "b")),
        (b"a\r\nb\r\n", ("a\r\n", "b\r\n")),
        (b"a\rb\x0cc\n", ("a\rb\x0cc\n",)),
        (b"\xff\n", ("\udcff\n",)),
        ("a\u2028b\n".encode(), ("a\u2028b\n",)),
    ],
)
def test_a_line_ends_at_a_line_feed(content: bytes, lines: tuple[str, ...]) -> None:
    assert lines_of(content) == lines


@given(st.text(alphabet="a\r\n", max_size=30))
def test_no_character_is_lost(text: str) -> None:
    assert "".join(lines_of(text.encode())) == text


def test_edits_of_a_patch_without_context() -> None:
    hunks = [Hunk(0, 0, 1, 2, "", ()), Hunk(3, 2, 5, 1, "", ()), Hunk(9, 1, 9, 0, "", ())]

    assert edits_of(hunks) == (
        Edit(range(0), range(2)),
        Edit(range(2, 4), range(4, 5)),
        Edit(range(8, 9), range(9, 9)),
    )


def test_an_insertion_beside_a_change_collides() -> None:
    assert regions("a\nb\n", "a\nnew\nb\n", "a\nx\n") == [(range(1, 2), range(1, 3), range(1, 2))]
    assert regions("a\nb\n", "x\nb\n", "a\nnew\nb\n") == [(range(1), range(1), range(2))]


def test_files_that_both_add_collide_where_they_differ() -> None:
    assert places(None, "a\nb\nc\n", "a\nx\nc\nd\n") == [
        ConflictRegion(head=LineSpan(2, 1), onto=LineSpan(2, 1)),
        ConflictRegion(head=LineSpan(4, 1), onto=LineSpan(4, 0)),
    ]


@pytest.mark.parametrize(
    ("span", "text", "last"),
    [
        (LineSpan(3, 0), "before line 3", 3),
        (LineSpan(3, 1), "line 3", 3),
        (LineSpan(3, 4), "lines 3 to 6", 6),
    ],
)
def test_spans_in_words(span: LineSpan, text: str, last: int) -> None:
    assert (str(span), span.last) == (text, last)


SOME_LINES = st.lists(st.sampled_from("abcd"), max_size=8).map(
    lambda found: "".join(f"{one}\n" for one in found)
)


@given(SOME_LINES, SOME_LINES, SOME_LINES)
def test_what_lies_outside_of_regions_can_be_merged(base: str, onto: str, head: str) -> None:
    file = three_way(base, onto, head)

    ends = [region.base.stop for region in file.regions]
    starts = [region.base.start for region in file.regions]
    assert all(end < start for end, start in zip(ends, starts[1:], strict=False))
    for region in file.regions:
        was, mine, yours = file.texts(region)
        assert mine != yours
        assert mine != was or yours != was
        place = file.trim(region)
        assert place.head.first >= 1
        assert place.onto.first + place.onto.count - 1 <= len(file.onto)


@given(SOME_LINES, SOME_LINES)
def test_a_side_that_changes_nothing_never_collides(base: str, head: str) -> None:
    assert three_way(base, base, head).regions == ()
    assert three_way(base, head, head).regions == ()
    assert edits(lines_of(base.encode()), lines_of(base.encode())) == ()
