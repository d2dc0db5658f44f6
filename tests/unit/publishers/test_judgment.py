from __future__ import annotations

import io
import json
from typing import TextIO

import pytest
from hypothesis import given

from prjury.jury.codec import judgment_from_json
from prjury.jury.judgment import Check, Judgment, Location
from prjury.publishers.judgment import JudgmentPrinter
from prjury.report.sanitise import Redactor
from strategies import judgments

TOKEN = "ghp_" + "a1B2" * 9


def lines(judgment: Judgment, stream: TextIO | None = None) -> list[str]:
    return list(JudgmentPrinter(stream or io.StringIO()).lines("name", judgment))


def ascii_stream() -> TextIO:
    return io.TextIOWrapper(io.BytesIO(), encoding="ascii")


def test_the_decision_comes_first() -> None:
    assert lines(Judgment.passed("all is well")) == ["✅ pass: name: all is well"]
    assert lines(Judgment.failed("it is not")) == ["❌ fail: name: it is not"]
    assert lines(Judgment.abstained("who knows", "x")) == ["⚪ no answer: name: who knows"]
    assert lines(Judgment.errored("it broke")) == ["⚪ could not judge: name: it broke"]


def test_checks_with_their_places_and_the_evidence_of_failed_ones() -> None:
    checks = [
        Check("first", passed=True, message="fine", evidence="not shown"),
        Check("second", passed=False, location=Location("a.py", 3), evidence="one\n\ntwo\n"),
        Check("third", passed=False, message="hm", severity="warning", fix="do it"),
        Check("fourth", passed=False, message="maybe", severity="hint", location=Location("b")),
        Check("fifth", passed=False, message="the reason"),
    ]
    assert lines(Judgment.failed("the reason", checks=checks)) == [
        "❌ fail: name: the reason",
        "  ✅ first: fine",
        "  ❌ a.py:3 second",
        "     | one",
        "     | two",
        "  ⚠️ third: hm",
        "     fix: do it",
        "  💡 b fourth: maybe",
        "  ❌ fifth",
    ]


def test_a_finding_in_several_places_is_told_once() -> None:
    checks = [Check("gone", False, "it is gone", Location("a.py", n)) for n in range(1, 62)]
    _, first, others = lines(Judgment.failed("no", checks=[*checks, Check("x", True)]))[:3]
    assert first == "  ❌ a.py:1 gone: it is gone"
    assert others.startswith("     also at a.py:2, a.py:3, a.py:4, ")
    assert others.endswith(", a.py:6 and 55 more")


def test_the_log_is_named() -> None:
    assert lines(Judgment.failed("no", metadata={"log": "/tmp/x.log"}))[-1] == "  log: /tmp/x.log"
    assert lines(Judgment.passed("yes", metadata={"log": None})) == ["✅ pass: name: yes"]
    assert lines(Judgment.passed("yes", metadata={"log": 3})) == ["✅ pass: name: yes"]


def test_long_lists_are_cut_and_counted() -> None:
    evidence = "\n".join(f"line {number}" for number in range(31))
    check = Check("c", passed=False, evidence=evidence)
    shown = lines(Judgment.failed("no", checks=[check]))
    assert shown[2] == "     | line 1"
    assert shown[-2:] == ["     | line 30", "     … (the last 30 of 31 lines)"]
    shown = lines(Judgment.passed("yes", checks=[Check("c", passed=True)] * 51))
    assert len(shown) == 52
    assert shown[-1] == "  … and 1 more check"
    assert len(lines(Judgment.passed("yes", checks=[Check("c", passed=True)] * 50))) == 51


def test_nothing_in_a_text_controls_the_terminal() -> None:
    evil = "\x1b[2J\x1b]0;title\x07\r\u202e::error::x\n##[group]"
    check = Check(f"c{evil}", passed=False, message=evil, evidence=evil, location=Location(evil))
    for line in lines(Judgment.failed(evil, checks=[check])):
        assert line.isprintable()
        assert "##[" not in line
    assert lines(Judgment.passed("a\nb")) == ["✅ pass: name: a\\nb"]


def test_secrets_are_withheld() -> None:
    printer = JudgmentPrinter(io.StringIO(), Redactor(("my-own-secret",)))
    judgment = Judgment.failed(
        f"found {TOKEN} and my-own-secret",
        checks=[Check("c", passed=False, evidence=TOKEN)],
        metadata={"my-own-secret": [TOKEN, 3]},
    )
    told = "found [redacted: GitHub token] and [redacted: secret]"
    assert list(printer.lines("name", judgment)) == [
        f"❌ fail: name: {told}",
        "  ❌ c",
        "     | [redacted: GitHub token]",
    ]
    assert printer.complaint("name", judgment) == (
        f"prjury: name failed: {told}. Correct the work and judge it again."
    )
    loaded = json.loads(printer.json(judgment))
    assert loaded["reasoning"] == told
    assert loaded["metadata"] == {"[redacted: secret]": ["[redacted: GitHub token]", 3]}


def test_a_stream_that_shows_ascii_only() -> None:
    check = Check("c", passed=False, location=Location("é.py"), evidence="–")
    assert lines(Judgment.failed("no", checks=[check]), ascii_stream()) == [
        "[fail] fail: name: no",
        "  [fail] \\xe9.py c",
        "     | -",
    ]


@pytest.mark.parametrize(
    ("judgment", "told"),
    [
        (
            Judgment.failed("it is\nwrong. "),
            "prjury: name failed: it is wrong. Correct the work and judge it again.",
        ),
        (
            Judgment.errored("it broke. Mend it."),
            "prjury: name could not judge: it broke. Mend it.",
        ),
        (Judgment.passed("yes"), ""),
        (
            Judgment.abstained("no key is set.", "not_configured"),
            "prjury: name gave no answer: no key is set. Add what is missing, or drop this judge.",
        ),
        (Judgment.abstained("no pack applies", "not_applicable"), ""),
    ],
)
def test_the_line_that_an_unsuccessful_run_ends_with(judgment: Judgment, told: str) -> None:
    assert JudgmentPrinter(io.StringIO()).complaint("name", judgment) == told


def test_json_is_the_judgment() -> None:
    judgment = Judgment.failed("é", checks=[Check("c", passed=False)], metadata={"a": [1, None]})
    text = JudgmentPrinter(io.StringIO()).json(judgment)
    assert judgment_from_json(json.loads(text)) == judgment
    assert '"reasoning": "é"' in text


def test_json_holds_no_lone_surrogates() -> None:
    judgment = Judgment.failed("\udcff", checks=[Check("c", passed=False, evidence="\ud800")])
    loaded = json.loads(JudgmentPrinter(io.StringIO()).json(judgment).encode())
    assert loaded["reasoning"] == "\\xff"
    assert loaded["checks"][0]["evidence"] == "\\u{d800}"


@given(judgments())
def test_every_judgment_can_be_printed(judgment: Judgment) -> None:
    printer = JudgmentPrinter(ascii_stream())
    for line in printer.lines("name", judgment):
        assert line.isascii()
        assert "\n" not in line
    assert json.loads(printer.json(judgment).encode())["status"] == judgment.status.value
