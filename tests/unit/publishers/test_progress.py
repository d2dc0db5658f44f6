from __future__ import annotations

import io
import re
import threading
import time

import pytest

from fakes import reports as fake
from prjury.jury.judge import FunctionJudge
from prjury.jury.judgment import Judgment
from prjury.jury.jury import Jury
from prjury.jury.voting import Ballot, ConsensusVoting
from prjury.ports import Progress, SilentProgress
from prjury.publishers.terminal import LiveProgress, PlainProgress


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


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
    progress = PlainProgress(stream, every=0.12, clock=lambda: now[0])
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
