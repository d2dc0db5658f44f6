from __future__ import annotations

import io
import re
import threading
import time
from collections.abc import Callable

import pytest

from fakes import reports as fake
from fakes.hostile import ATTACKS, report_holding
from prjury.jury.judge import FunctionJudge
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.jury import Jury
from prjury.jury.voting import Ballot, ConsensusVoting
from prjury.ports import Progress, SilentProgress
from prjury.publishers.terminal import LiveProgress, PlainProgress, printable_line, render_report
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


def printed(report: Report, stream: io.StringIO | None = None, *, color: bool = False) -> str:
    stream = stream or io.StringIO()
    return render_report(report, stream, color=color, width=100)


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
    text = render_report(report_holding("é✅\u202e"), Ascii())
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
    redact = Redactor(("hunter2-hunter2",))
    report = report_holding("a hunter2-hunter2 b")
    assert "hunter2" not in render_report(report, io.StringIO(), redact, width=200)


def test_a_single_line_is_printable_wherever_it_goes() -> None:
    assert printable_line("✅ a\x1b\nb", io.StringIO()) == "✅ a\\u{1b}\\nb"
    assert printable_line("✅ é", Ascii()) == "[ok] \\xe9"


def visible(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_plain_lines_tell_start_and_finish() -> None:
    stream = io.StringIO()
    progress: Progress = PlainProgress(stream)
    progress.judge_started("build", "merge")
    progress.say("not told")
    progress.judge_finished("build", fake.ballot("merge", fake.MERGED, 240))
    assert stream.getvalue() == (
        "build / merge: started\n"
        "build / merge: ✅ pass in 0.2 s, merges cleanly, 3 commits behind\n"
    )


def test_plain_lines_tell_commands_and_give_signs_of_life() -> None:
    stream, now = io.StringIO(), [0.0]
    progress = PlainProgress(stream, interval=0.12, clock=lambda: now[0])
    progress.judge_started("build", "build")
    progress.say("$ ./mvnw -q verify")
    progress.say("[INFO] Compiling shop")
    time.sleep(0.2)
    assert stream.getvalue() == "build / build: started\nbuild / build: 0 s, $ ./mvnw -q verify\n"
    now[0] = 90.0
    deadline = time.monotonic() + 20
    while "Compiling" not in stream.getvalue() and time.monotonic() < deadline:
        time.sleep(0.02)
    progress.close()
    assert stream.getvalue().endswith("\nbuild / build: 1 m 30 s, [INFO] Compiling shop\n")


def test_plain_lines_are_flushed_and_hold_no_commands() -> None:
    class Counting(io.StringIO):
        flushed = 0

        def flush(self) -> None:
            self.flushed += 1

    stream = Counting()
    bad = fake.ballot("j", Judgment.failed("\x1b[31m ##[error]x"))
    PlainProgress(stream).judge_finished("t", bad)
    assert stream.flushed == 1
    assert "##[" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_a_stream_without_utf8_is_no_reason_to_crash() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", write_through=True)
    PlainProgress(stream).judge_finished("t", fake.ballot("j", fake.MERGED))
    assert b"[ok] pass" in raw.getvalue()


def test_silence() -> None:
    progress: Progress = SilentProgress()
    progress.judge_started("a", "b")
    progress.say("x")
    progress.judge_finished("a", fake.ballot("b", fake.MERGED))


def test_live_lines_show_time_and_what_is_said_and_leave_the_answer() -> None:
    now = [0.0]
    stream = Screen()
    progress = LiveProgress(stream, clock=lambda: now[0])
    progress.judge_started("build", "build")
    progress.say("[INFO] Compiling \x1b[31mshop")
    now[0] = 61.0
    time.sleep(0.6)
    progress.judge_finished("build", fake.ballot("build", fake.BUILT, 61_000))
    text = stream.getvalue()
    assert "build / build 0:01:01 [INFO] Compiling \\u{1b}[31mshop" in visible(text)
    assert "build / build: ✅ pass in 1 m 1 s, passed in 3 min" in visible(text)
    assert text.endswith("\x1b[?25h") or "\x1b[?25h" in text


def test_what_a_judge_says_is_shown_in_its_own_line() -> None:
    stream = Screen()
    progress = LiveProgress(stream)
    gate = threading.Event()

    def talk(_context: object) -> Judgment:
        progress.say("talking")
        gate.wait(5)
        return Judgment.passed("ok")

    def wait(_context: object) -> Judgment:
        time.sleep(0.6)
        gate.set()
        return Judgment.passed("ok")

    jury: Jury[object] = Jury(
        [FunctionJudge(talk, "talker"), FunctionJudge(wait, "waiter")], ConsensusVoting(), "t"
    )
    jury.vote(object(), listener=progress)
    lines = visible(stream.getvalue()).replace("\r", "\n").split("\n")
    assert any(re.fullmatch(r"t / talker \S+ talking *", line) for line in lines)
    assert not any("waiter" in line and "talking" in line for line in lines)


def test_many_threads_at_once_neither_crash_nor_hang() -> None:
    stream = Screen()
    progress = LiveProgress(stream)

    def work(number: int) -> None:
        for turn in range(10):
            name = f"j{number}-{turn}"
            progress.judge_started("t", name)
            progress.say(name)
            progress.judge_finished("t", fake.ballot(name, fake.MERGED))

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
    assert visible(stream.getvalue()).count("✅ pass") == 80


@pytest.mark.parametrize("kind", [LiveProgress, PlainProgress])
def test_nothing_is_said_after_the_end(kind: type[LiveProgress | PlainProgress]) -> None:
    stream = Screen()
    progress = kind(stream)
    progress.judge_started("build", "build")
    progress.close()
    said = stream.getvalue()
    progress.judge_finished("build", Ballot("build", Judgment.passed("too late")))
    progress.judge_started("build", "merge")
    assert stream.getvalue() == said
