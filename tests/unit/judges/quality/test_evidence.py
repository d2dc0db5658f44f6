from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fakes.llm import FOUR, answer, changed, hunk, quote, reply
from prjury.judges.quality.evidence import Lines, ReportedFinding, read_answers, verify_answers
from prjury.judges.quality.prompt_input import Material, make_sections, plan_chunks
from prjury.report.sanitise import Redactor

FILE = replace(
    changed("src/a.py"),
    hunks=(hunk(" def f():", "-    return 1", "+    x = 2", "+", "+    return x  ", start=10),),
)


def lines_of(*files: Any) -> Lines:
    sections, _ = make_sections(files or (FILE,), Redactor())
    return Lines(sections)


def at(line: int, text: str, end: int | None = None, **more: Any) -> ReportedFinding:
    place = quote("src/a.py", line, text, end_line=end or line)
    return msgspec.convert({**place, **more}, ReportedFinding)


@pytest.mark.parametrize(
    "said",
    [
        at(11, "    x = 2"),
        at(11, "x = 2"),
        at(11, "x = 2\n"),
        at(13, "return x"),
        at(10, "def f():"),
        at(10, "def f():", side="old"),
        at(11, "    return 1", side="old"),
        at(10, "def f():\n    x = 2", 11),
        at(11, "x = 2\r\n\r\n    return x", 13),
    ],
)
def test_what_stands_there_is_true(said: ReportedFinding) -> None:
    assert lines_of().matches_quote(said)


@pytest.mark.parametrize(
    "said",
    [
        at(11, "x = 3"),
        at(11, "x  = 2"),
        at(11, "x ="),
        at(11, "# x = 2"),
        at(10, "x = 2"),
        at(11, "return 1"),
        at(11, "x = 2", side="old"),
        at(11, "x = 2", path="src/b.py"),
        at(11, "x = 2", path="SRC/a.py"),
        at(11, "x = 2\nreturn x", 13),
        at(11, "x = 2", 12, path="src/a.py", side="old"),
        at(11, "x = 2", 10_000_000),
        at(13, "return x", 12),
        at(99, "x = 2"),
        at(12, ""),
        at(12, "   "),
    ],
)
def test_what_does_not_stand_there_is_not(said: ReportedFinding) -> None:
    assert not lines_of().matches_quote(said)


def test_a_quote_of_what_was_shown_is_true_also_where_it_was_made_safe() -> None:
    token = "ghp_" + "a1" * 20
    lines = lines_of(changed("src/a.py", "+x = '\u202e'", f"+t = '{token}'"))
    assert lines.matches_quote(at(1, "x = '\\u{202e}'"))
    assert lines.matches_quote(at(2, "t = '[redacted: GitHub token]'"))
    assert not lines.matches_quote(at(2, f"t = '{token}'"))


def test_a_part_that_was_not_sent_cannot_be_quoted() -> None:
    big = changed("src/a.py", *(f"+line {i}" for i in range(200)))
    sections, _ = make_sections([big], str)
    lines = Lines(plan_chunks(Material(sections), 1_000).chunks[0].sections)
    assert lines.matches_quote(at(1, "line 0"))
    assert not lines.matches_quote(at(200, "line 199"))


def test_a_file_goes_by_the_name_that_was_shown() -> None:
    lines = lines_of(changed("src/\u202ea.py", "+x"))
    said = at(1, "x", path="src/\\u{202e}a.py")
    assert lines.matches_quote(said)
    assert lines.path_of(said) == "src/\u202ea.py"


def test_untrue_evidence_is_dropped_and_counted() -> None:
    true, untrue = quote(), quote(line=1, text="something else")
    answers = read_answers(
        reply(
            correctness=answer("fail", [true, untrue]),
            tests=answer("fail", [untrue]),
            conventions={**answer(), "findings": [untrue, untrue]},
            risk=answer("fail", []),
        ),
        FOUR,
    )
    lines = lines_of(changed("src/app.py", " def f():", "+return a + b"))
    findings = verify_answers(answers, lines)
    assert {name: (f.verdict, len(f.claims), f.dropped) for name, f in findings.items()} == {
        "correctness": ("fail", 1, 1),
        "tests": ("abstain", 0, 1),
        "conventions": ("abstain", 0, 2),
        "risk": ("abstain", 0, 0),
    }


def test_what_is_only_warned_of_is_no_failure_and_stated_confidence_decides_nothing() -> None:
    warned = quote(severity="warning")
    said = reply(
        risk=answer("pass", [], 0.1),
        tests=answer("fail", [quote()], 0.1),
        conventions=answer("fail", [warned]),
        correctness=answer("fail", [warned, quote()]),
    )
    answers = verify_answers(
        read_answers(said, FOUR), lines_of(changed("src/app.py", " x", "+return a + b"))
    )
    assert {name: each.verdict for name, each in answers.items()} == {
        "risk": "pass",
        "tests": "fail",
        "conventions": "pass",
        "correctness": "fail",
    }


places = st.integers(1, 20)


@pytest.mark.slow
@given(places, places, st.text(max_size=20), st.sampled_from(["old", "new"]))
def test_only_the_text_of_the_very_lines_is_true(line: int, end: int, text: str, side: str) -> None:
    new = {10: "def f():", 11: "    x = 2", 12: "", 13: "    return x  "}
    old = {10: "def f():", 11: "    return 1"}
    texts = new if side == "new" else old
    expected = [texts[n] for n in range(line, end + 1) if n in texts]
    if lines_of().matches_quote(at(line, text, end, side=side)):
        assert "\n".join(expected).strip() == text.replace("\r\n", "\n").strip()


# Quotes that stand elsewhere, or otherwise, than the model said.

LONG = replace(
    changed("src/a.py"),
    hunks=(
        hunk(
            " def pay(self, source, amount):",
            "-    source.take(amount)",
            "+    source.balance += amount",
            "+    if amount:",
            "+        self.log(amount)",
            "+    return None",
            " def undo(self):",
            "+    self.log(undone)",
            "+    return None",
            start=10,
        ),
    ),
)


@pytest.mark.parametrize(
    ("said", "line", "end"),
    [
        pytest.param(at(12, "source.balance += amount"), 11, 11, id="off by one"),
        pytest.param(at(90, "source.balance  +=\tamount"), 11, 11, id="white space"),
        pytest.param(at(12, "if amount:\nself.log(amount)", 13), 12, 13, id="dedented"),
        pytest.param(at(11, "balance += amount"), 11, 11, id="part of a line"),
        pytest.param(at(13, "balance += amount"), 11, 11, id="part of another line"),
        pytest.param(at(11, "source.balance += amount", 12), 11, 11, id="range too wide"),
        pytest.param(at(11, "+    source.balance += amount"), 11, 11, id="sign"),
        pytest.param(at(11, "+11|    source.balance += amount"), 11, 11, id="sign and number"),
        pytest.param(at(11, "11|    source.balance += amount"), 11, 11, id="number"),
        pytest.param(
            at(10, " 10|def pay(self, source, amount):\n+11|    source.balance += amount", 11),
            10,
            11,
            id="from an unchanged line on",
        ),
        pytest.param(at(12, "+    if amount:\n+\n", 13), 12, 12, id="blank end"),
        pytest.param(at(14, "return None\n def undo(self):", 15), 14, 15, id="claimed of several"),
        pytest.param(at(11, "source.balance += amount", path="b/src/a.py"), 11, 11, id="b/"),
        pytest.param(at(10, "source.take(amount)", path="a/src/a.py", side="old"), 11, 11, id="a/"),
        pytest.param(at(11, "-    source.take(amount)", side="old"), 11, 11, id="removed"),
        pytest.param(at(11, "source.balance += amount  # lost"), 11, 11, id="words added"),
        pytest.param(at(90, "source.balance += amount; x()"), 11, 11, id="words added elsewhere"),
        pytest.param(at(12, "if amo"), 12, 12, id="a short part of the line that is named"),
    ],
)
def test_a_quote_that_matches_once_is_moved_there(
    said: ReportedFinding, line: int, end: int
) -> None:
    lines = lines_of(LONG)
    found = lines.relocate(said)
    assert found is not None
    assert (found.path, found.line, found.end_line) == ("src/a.py", line, end)
    assert found != said
    assert lines.matches_quote(found)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(at(12, "return None"), id="two places"),
        pytest.param(at(11, "    self.log("), id="a short part of another line"),
        pytest.param(at(11, "self.log(amou"[:11]), id="eleven characters"),
        pytest.param(at(11, "nt", 11), id="a fragment"),
        pytest.param(at(10, "def undo(self):"), id="nothing that changes"),
        pytest.param(at(11, "source.take(amount)"), id="the other side"),
        pytest.param(at(11, "-    source.balance += amount"), id="the other sign"),
        pytest.param(at(11, "source.balance += amount", path="b/src/b.py"), id="no such file"),
        pytest.param(at(11, "source.balance += amount", path="c/src/a.py"), id="no such prefix"),
        pytest.param(at(11, "source.balance += amount\nself.log(amount)", 12), id="a gap"),
        pytest.param(at(11, "source.balance += total"), id="invented"),
        pytest.param(at(11, " \n\t\n"), id="blank"),
        pytest.param(at(11, "+"), id="a sign"),
    ],
)
def test_a_quote_that_matches_nowhere_or_twice_is_dropped(said: ReportedFinding) -> None:
    assert lines_of(LONG).relocate(said) is None


def test_a_part_that_stands_in_two_lines_is_dropped_unless_one_is_named() -> None:
    lines = lines_of(changed("src/a.py", "+total = add(first, second)", "+x = add(first, second)"))
    assert lines.relocate(at(3, "add(first, second)")) is None
    assert lines.relocate(at(2, "total = add(first")) is not None


def test_a_line_far_from_any_change_is_dropped_and_counted_apart() -> None:
    far = replace(
        changed("src/app.py"),
        hunks=(hunk(" def f():", "     return x", start=1), hunk("+return a + b", start=50)),
    )
    said = reply(risk=answer("fail", [quote(line=1, text="def f():"), quote(line=50)]))
    risk = verify_answers(read_answers(said, FOUR), lines_of(far))["risk"]
    assert (risk.not_changed, risk.no_quote, len(risk.claims)) == (1, 0, 1)


def test_relocated_evidence_counts_and_is_counted() -> None:
    moved = msgspec.to_builtins(at(13, "balance += amount"))
    answers = read_answers(
        reply(risk=answer("fail", [moved, msgspec.to_builtins(at(1, "gone()"))])), FOUR
    )
    finding = verify_answers(answers, lines_of(LONG))["risk"]
    assert (finding.verdict, finding.relocated, finding.dropped) == ("fail", 1, 1)
    assert finding.claims[0].finding.quote == "    source.balance += amount"


words = st.sampled_from(["alpha", "beta(gamma)", "", "    delta", "+ echo", "7|foxtrot golf", "x"])
signed = st.lists(st.tuples(st.sampled_from("+- "), words), min_size=1, max_size=8)
texts = st.lists(words, min_size=1, max_size=3).map("\n".join) | st.text(max_size=15)
befores = st.sampled_from(["", "+", "-", " ", "+4|", "4|", "    "])


@given(signed, texts, befores, places, places, st.sampled_from(["old", "new"]), st.booleans())
def test_what_is_found_stands_where_it_is_said_to(
    rows: list[tuple[str, str]],
    text: str,
    before: str,
    line: int,
    end: int,
    side: str,
    prefixed: bool,
) -> None:
    file = changed("src/a.py", *(sign + word for sign, word in rows))
    lines = lines_of(file)
    quoted = "\n".join(before + word for word in text.split("\n"))
    said = at(line, quoted, end, side=side, path="b/src/a.py" if prefixed else "src/a.py")
    found = lines.relocate(said)
    if found is None:
        assert not lines.matches_quote(said)
        return
    assert lines.matches_quote(found)
    assert (found.path, found.side) == ("src/a.py", side)
    shown = [row for part in file.hunks for row in part.lines]
    number = {row: row.new if side == "new" else row.old for row in shown}
    span = range(found.line, found.end_line + 1)
    if found != said:
        assert (
            lines.matches_quote(said)
            or found.quote.strip()
            == "\n".join(row.text for row in shown if number[row] in span).strip()
        )
