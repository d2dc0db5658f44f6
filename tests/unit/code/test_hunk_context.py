"""Hunks with their surroundings: examples of each kind of change, and what holds of all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.code.hunk_context import Definition, widen_to_functions
from prjury.snapshot.model import Hunk, Line

FUNCTION, CLASS = True, False
NEW = """\
import os


@final
class A(
    B,
):
    x = 1

    def short(self):
        a = 1
        b = 2
        c = 3
        d = 4
        e = 5
        f = 6
        g = 7
        h = 8

    def other(self):
        pass


def outer():
    i = 9
    def inner():
        j = 10
    k = 11
    return
"""
SCOPES = (
    Definition(CLASS, 4, 7, 21),
    Definition(FUNCTION, 10, 10, 18),
    Definition(FUNCTION, 20, 20, 21),
    Definition(FUNCTION, 24, 24, 29),
    Definition(FUNCTION, 26, 26, 27),
)


def pieces(text: str) -> list[str]:
    """Git's lines, with their ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def line(sign: str, old: int | None, new: int | None, raw: str) -> Line:
    end = next(end for end in ("\r\n", "\n", "") if raw.endswith(end))
    return Line(sign, old, new, raw.removesuffix(end), end)


def diff(old: str, new: str, context: int = 1) -> tuple[Hunk, ...]:
    """Hunks as git writes them, with so many lines of context."""
    if old == new:
        return ()
    before, after = pieces(old), pieces(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    hunks = []
    for group in matcher.get_grouped_opcodes(context):
        lines: list[Line] = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [line(" ", a + i + 1, c + i + 1, before[a + i]) for i in range(b - a)]
                continue
            lines += [line("-", i + 1, None, before[i]) for i in range(a, b)]
            lines += [line("+", None, i + 1, after[i]) for i in range(c, d)]
        olds, news = group[-1][2] - group[0][1], group[-1][4] - group[0][3]
        starts = group[0][1] + bool(olds), group[0][3] + bool(news)
        hunks.append(Hunk(starts[0], olds, starts[1], news, "section", tuple(lines)))
    return tuple(hunks)


def shown(hunks: Sequence[Hunk]) -> list[list[int]]:
    """The head's lines that each hunk shows."""
    return [[line.new for line in hunk.lines if line.new] for hunk in hunks]


def span(first: int, last: int) -> list[int]:
    return list(range(first, last + 1))


def changed(find: str, new: str, longest: int = 60) -> list[list[int]]:
    """What is shown when the text ``new`` becomes NEW's ``find``."""
    assert find in NEW
    return shown(widen_to_functions(diff(NEW.replace(find, new), NEW), NEW, SCOPES, longest))


def test_a_change_outside_of_all_definitions_stays_as_it_is() -> None:
    hunks = diff(NEW.replace("import os", "import re"), NEW)
    assert widen_to_functions(hunks, NEW, SCOPES) == hunks
    assert widen_to_functions(hunks, NEW, ()) == hunks


def test_a_deletion_at_a_function_s_end_is_told_by_its_indentation() -> None:
    inside = changed("        h = 8\n", "        h = 8\n\n        more\n")
    assert inside == [span(4, 7), span(10, 20)]
    method = "        h = 8\n\n    def gone(self):\n        more\n"
    assert changed("        h = 8\n", method) == [span(4, 7), span(19, 20)]
    function = "        pass\n\n\ndef gone():\n    more\n"
    assert changed("        pass\n", function) == [span(23, 24)]


def test_definitions_within_very_many_others_are_not_looked_at() -> None:
    new = "".join(f"line {number}\n" for number in range(1, 2_001))
    old = new.replace("line 1000\n", "line\n")
    scopes = [Definition(CLASS, number, number, 2_001 - number) for number in range(1, 999)]
    assert shown(widen_to_functions(diff(old, new), new, scopes)) == [span(1, 12), span(999, 1_001)]


TEXTS = st.tuples(
    st.lists(st.sampled_from(["a\n", "b\n", "  c\n", "d\r\n", "\n", " \r\r\n"]), max_size=25),
    st.sampled_from(["", "", "z", "z\r"]),
).map(lambda drawn: "".join(drawn[0]) + drawn[1])


def scope(numbers: tuple[int, int, int], whole: bool) -> Definition:
    first, heading, last = sorted(numbers)
    return Definition(FUNCTION if whole else CLASS, first, heading, last)


NUMBERS = st.integers(1, 30)
SCOPES_ANYWHERE = st.builds(scope, st.tuples(NUMBERS, NUMBERS, NUMBERS), st.booleans())
SCOPE_LISTS = st.lists(SCOPES_ANYWHERE, max_size=8)


def side(hunks: Sequence[Hunk], signs: str) -> list[Line]:
    return [line for hunk in hunks for line in hunk.lines if line.sign in signs]


@given(TEXTS, TEXTS, SCOPE_LISTS, st.integers(0, 3), st.integers(0, 12))
def test_only_true_context_is_added(
    old: str, new: str, scopes: list[Definition], context: int, longest: int
) -> None:
    hunks = diff(old, new, context)
    result = widen_to_functions(hunks, new, scopes, longest)
    assert side(result, "+-") == side(hunks, "+-")
    assert set(side(result, " ")) >= set(side(hunks, " "))
    before, after = pieces(old), pieces(new)
    for each in side(result, " "):
        assert each.old is not None
        assert each.new is not None
        assert before[each.old - 1] == after[each.new - 1] == each.text + each.end


@given(TEXTS, TEXTS, SCOPE_LISTS, st.integers(0, 3), st.integers(0, 12))
def test_hunks_are_contiguous_ascend_and_do_not_touch(
    old: str, new: str, scopes: list[Definition], context: int, longest: int
) -> None:
    ends = (0, 0)
    for hunk in widen_to_functions(diff(old, new, context), new, scopes, longest):
        begins = hunk.old_start + (not hunk.old_lines), hunk.new_start + (not hunk.new_lines)
        assert begins[0] > ends[0]
        assert begins[1] > ends[1]
        ends = begins[0] + hunk.old_lines, begins[1] + hunk.new_lines
        assert [line.old for line in hunk.lines if line.old] == span(begins[0], ends[0] - 1)
        assert [line.new for line in hunk.lines if line.new] == span(begins[1], ends[1] - 1)


@given(TEXTS, TEXTS, st.integers(0, 3))
def test_a_function_that_is_the_whole_file_shows_both_sides_whole(
    old: str, new: str, context: int
) -> None:
    hunks = diff(old, new, context)
    result = widen_to_functions(hunks, new, [Definition(FUNCTION, 1, 1, len(pieces(new)))])
    if side(hunks, "+"):
        assert "".join(line.text + line.end for line in side(result, " -")) == old
        assert "".join(line.text + line.end for line in side(result, " +")) == new


@pytest.mark.parametrize("context", [0, 3])
@given(TEXTS, TEXTS, SCOPE_LISTS)
def test_widening_again_changes_nothing(
    context: int, old: str, new: str, scopes: list[Definition]
) -> None:
    once = widen_to_functions(diff(old, new, context), new, scopes)
    assert widen_to_functions(once, new, scopes) == once
