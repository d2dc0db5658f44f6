from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest

from fakes import reports as fake
from fakes.hostile import ATTACKS, report_holding
from prjury.errors import PublishError
from prjury.jury.judgment import Check, Judgment, Location
from prjury.publishers.terminal import TerminalPublisher, printable_line
from prjury.report.model import Report
from prjury.report.sanitise import Redactor

REPORTS = [fake.passed, fake.broken_build, fake.conflicting, fake.needs_a_human]
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


class Ascii(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="ascii", write_through=True)

    def text(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode("ascii")


def printed(report: Report, stream: io.StringIO | None = None, *, color: bool = False) -> str:
    stream = stream or io.StringIO()
    TerminalPublisher(stream, color=color, width=100).publish(report)
    return stream.getvalue()


@pytest.mark.parametrize("make", REPORTS)
def test_the_headline_is_the_very_first_line(make: Callable[[], Report]) -> None:
    report = make()
    assert printed(report).split("\n")[0] == report.headline


@pytest.mark.parametrize("make", [fake.broken_build, fake.unread])
def test_what_was_judged_stands_below_the_reason(make: Callable[[], Report]) -> None:
    above = printed(make()).partition("\nJudged:")[0]
    assert "\n\n" not in above
    assert not above.endswith("\n")


def test_numbers_from_ten_on_stand_whole_beside_their_findings() -> None:
    report = fake.report(
        fake.tier(
            "t",
            fake.ballot(
                "j",
                Judgment.failed(
                    "x",
                    checks=[Check(f"r{n}", False, "m", Location("a.py", n)) for n in range(1, 21)],
                ),
            ),
        )
    )
    text = printed(report)
    assert "\n  9. a.py:9 r9: m" in text
    assert "\n 10. a.py:10 r10: m" in text
    assert "\n 20. a.py:20 r20: m" in text


def test_a_finding_that_is_wrapped_keeps_its_indent() -> None:
    text = printed(fake.with_findings(1, "a sentence that is much longer than a line " * 3))
    start = text.index("  1. ")
    assert re.match(r"  1\. \S.*\n(     \S.*\n)+     \|", text[start:])


def test_a_stream_without_utf8_gets_plain_ascii() -> None:
    stream = Ascii()
    TerminalPublisher(stream, color=False).publish(report_holding("é✅\u202e"))
    text = stream.text()
    assert text.startswith("[fail] Do not merge: ")
    assert "\\xe9[ok]\\u{202e}" in text


@pytest.mark.parametrize("words", ATTACKS, ids=range(len(ATTACKS)))
def test_nothing_from_outside_controls_the_terminal_or_the_runner(words: str) -> None:
    text = printed(report_holding(words))
    assert not CONTROL.search(text)
    for line in text.split("\n"):
        assert "##[" not in line
        assert not line.lstrip().startswith("::")


def test_markup_is_printed_as_it_is() -> None:
    text = printed(report_holding("[bold red]x[/] [link=https://e]y[/link] :smile:"), color=True)
    assert "[bold red]x[/] [link=https://e]y[/link] :smile:" in text.replace("\n", " ")


def test_secrets_are_not_printed() -> None:
    stream = io.StringIO()
    redact = Redactor(("hunter2-hunter2",))
    report = report_holding("a hunter2-hunter2 b")
    TerminalPublisher(stream, color=False, width=200, redact=redact).publish(report)
    assert "hunter2" not in stream.getvalue()


def test_a_stream_that_is_gone_is_a_publish_error() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(32, "Broken pipe")

    with pytest.raises(PublishError, match="could not be printed"):
        TerminalPublisher(Gone(), color=False).publish(fake.passed())


def test_a_single_line_is_printable_wherever_it_goes() -> None:
    assert printable_line("✅ a\x1b\nb", io.StringIO()) == "✅ a\\u{1b}\\nb"
    assert printable_line("✅ é", Ascii()) == "[ok] \\xe9"
