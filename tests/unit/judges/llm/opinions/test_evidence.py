from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.llm import FOUR, answer, changed, hunk, quote, reply
from prjury.judges.llm.asking.reply import Quote, read
from prjury.judges.llm.material.change import pieces_of
from prjury.judges.llm.material.documents import document
from prjury.judges.llm.material.plan import plan
from prjury.judges.llm.opinions.evidence import Lines, verified
from prjury.report.redact import Redactor

FILE = replace(
    changed("src/a.py"),
    hunks=(hunk(" def f():", "-    return 1", "+    x = 2", "+", "+    return x  ", start=10),),
)


def lines_of(*files: Any) -> Lines:
    pieces, _ = pieces_of(files or (FILE,), Redactor())
    return Lines(pieces)


def at(line: int, text: str, end: int | None = None, **more: Any) -> Quote:
    place = {"path": "src/a.py", "side": "new", "line": line, "end_line": end or line}
    return Quote.model_validate({**place, "quote": text, **more})


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
def test_what_stands_there_is_true(said: Quote) -> None:
    assert lines_of().hold(said)


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
def test_what_does_not_stand_there_is_not(said: Quote) -> None:
    assert not lines_of().hold(said)


def test_a_quote_of_what_was_shown_is_true_also_where_it_was_made_safe() -> None:
    token = "ghp_" + "a1" * 20
    lines = lines_of(changed("src/a.py", "+x = '\u202e'", f"+t = '{token}'"))
    assert lines.hold(at(1, "x = '\\u{202e}'"))
    assert lines.hold(at(2, "t = '[redacted: GitHub token]'"))
    assert not lines.hold(at(2, f"t = '{token}'"))


def test_a_part_that_was_not_sent_cannot_be_quoted() -> None:
    big = changed("src/a.py", *(f"+line {i}" for i in range(200)))
    pieces, _ = pieces_of([big], str)
    lines = Lines(plan(pieces, (), 1_000).sheets[0].pieces)
    assert lines.hold(at(1, "line 0"))
    assert not lines.hold(at(200, "line 199"))


def test_a_document_can_be_quoted_and_is_no_place() -> None:
    lines = Lines([document("answer", "answer", "one\ntwo", str)])
    said = at(2, "two", path="answer")
    assert lines.hold(said)
    assert lines.path_of(said) is None
    assert lines_of().path_of(at(10, "def f():")) == "src/a.py"


def test_a_file_goes_by_the_name_that_was_shown() -> None:
    lines = lines_of(changed("src/\u202ea.py", "+x"))
    said = at(1, "x", path="src/\\u{202e}a.py")
    assert lines.hold(said)
    assert lines.path_of(said) == "src/\u202ea.py"


def test_untrue_evidence_is_dropped_and_counted() -> None:
    true, untrue = quote(), quote(line=1, text="something else")
    answers = read(
        reply(
            correctness=answer("fail", [true, untrue]),
            tests=answer("fail", [untrue]),
            conventions=answer("pass", [untrue, untrue]),
            risk=answer("fail", []),
        ),
        FOUR,
    )
    lines = lines_of(changed("src/app.py", " def f():", "+return a + b"))
    findings = verified(answers, lines)
    assert {name: (f.verdict, len(f.quotes), f.dropped) for name, f in findings.items()} == {
        "correctness": ("fail", 1, 1),
        "tests": ("abstain", 0, 1),
        "conventions": ("abstain", 0, 2),
        "risk": ("abstain", 0, 0),
    }


def test_a_verdict_that_its_author_does_not_believe_does_not_count() -> None:
    said = reply(
        risk=answer("pass", [], 0.49), tests=answer("fail", [quote()], 0.5), conventions=answer()
    )
    findings = verified(read(said, FOUR), lines_of(changed("src/app.py", " x", "+return a + b")))
    assert [findings[name].verdict for name in ("risk", "tests", "conventions")] == [
        "abstain",
        "fail",
        "pass",
    ]


places = st.integers(1, 20)


@given(places, places, st.text(max_size=20), st.sampled_from(["old", "new"]))
def test_only_the_text_of_the_very_lines_is_true(line: int, end: int, text: str, side: str) -> None:
    new = {10: "def f():", 11: "    x = 2", 12: "", 13: "    return x  "}
    old = {10: "def f():", 11: "    return 1"}
    texts = new if side == "new" else old
    expected = [texts[n] for n in range(line, end + 1) if n in texts]
    if lines_of().hold(at(line, text, end, side=side)):
        assert "\n".join(expected).strip() == text.replace("\r\n", "\n").strip()
