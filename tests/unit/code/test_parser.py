"""The parser's process: answers, time limits, deaths."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest

from prjury.code.languages import LANGUAGES
from prjury.code.parser import (
    DIED,
    MEMORY,
    REFUSED,
    TIMEOUT,
    Job,
    NotParsed,
    Parsed,
    Parser,
    make_job,
    run_worker_with_exit_code,
)
from prjury.code.worker import run_job_or_error
from prjury.deadline import Deadline

JAVA = LANGUAGES["java"]
SOON = Deadline.after(3_600)  # counted from the import: the whole suite may run before
CLASS = {"rule": {"kind": "class_declaration"}}


def java(text: str, *rules: dict[str, Any]) -> Job:
    return make_job(text, JAVA, rules or (CLASS,))


def test_offsets_are_characters_also_beyond_the_basic_plane() -> None:
    text = '/* é😀 */ class A {} // ü\nString s = "😀";'
    [parsed] = Parser().parse([java(text)], SOON)
    assert isinstance(parsed, Parsed)
    [(number, (start, end))] = parsed.matches
    assert (number, text[start:end]) == (0, "class A {}")
    assert [text[a:b] for a, b in parsed.comments] == ["/* é😀 */", "// ü"]
    assert [text[a:b] for a, b in parsed.strings] == ['"😀"']


def test_a_rule_that_the_parser_refuses_is_an_error_of_that_job_alone() -> None:
    wrong = java("class A {}", {"rule": {"kind": "no_such_kind"}})
    first, second = Parser().parse([wrong, java("class A {}")], SOON)
    assert isinstance(first, NotParsed)
    assert (first.reason, first.crashed) == (REFUSED, True)
    assert "Kind `no_such_kind` is invalid" in first.detail
    assert isinstance(second, Parsed)


def test_a_panic_of_the_native_code_becomes_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    unknown = {**java("x"), "language": "no-such-language"}
    assert "error" in run_job_or_error(unknown)
    capfd.readouterr()
    [reply] = Parser().parse([unknown], SOON)
    assert isinstance(reply, NotParsed)
    assert capfd.readouterr().err == ""


def quadratic(length: int) -> Job:
    """Nested names of ``length`` parts: a regex over each of them reads them all again."""
    rule = {"rule": {"kind": "scoped_identifier", "regex": "z$"}}
    return java("import " + "a." * length + "b;", rule, rule, rule)


@pytest.mark.slow
def test_a_text_that_takes_too_long_is_given_up_and_the_next_is_parsed() -> None:
    started = time.monotonic()
    jobs = [java("class A {}"), quadratic(400_000), java("class B {}")]
    first, second, third = Parser(seconds=3).parse(jobs, SOON)
    assert time.monotonic() - started < 60
    assert isinstance(first, Parsed)
    assert isinstance(third, Parsed)
    assert isinstance(second, NotParsed)
    assert (second.reason, second.crashed) == (TIMEOUT, False)


def test_a_deadline_ends_everything() -> None:
    replies = Parser().parse([quadratic(400_000), java("class A {}")], Deadline.after(0.5))
    assert [reply.reason for reply in replies if isinstance(reply, NotParsed)] == [TIMEOUT] * 2


@pytest.mark.parametrize("text", ["(" * 100_000, "{" * 100_000, "@A(" * 50_000])
def test_deep_nesting_kills_nobody(text: str) -> None:
    [reply] = Parser().parse([java("class A { int x = " + text)], SOON)
    assert isinstance(reply, Parsed)


@pytest.mark.slow
def test_a_text_that_takes_too_much_memory_is_given_up_and_the_next_is_parsed() -> None:
    bomb = java("class A { int x = " + "a<" * 50_000)
    first, second = Parser(seconds=60).parse([bomb, java("class A {}")], SOON)
    assert isinstance(first, NotParsed)
    assert (first.reason, first.crashed) == (MEMORY, False)
    assert isinstance(second, Parsed)


class DyingWorker:
    """Runs workers, of which the first ones are killed."""

    def __init__(self, times: int) -> None:
        self.times, self.runs = times, 0

    def __call__(self, lines: bytes, timeout: float) -> tuple[bytes, int | None]:
        self.runs += 1
        return (b"", -9) if self.runs <= self.times else run_worker_with_exit_code(lines, timeout)


def test_a_worker_that_somebody_kills_is_started_again() -> None:
    [reply] = Parser(run_worker_with_exit_code=DyingWorker(1)).parse([java("class A {}")], SOON)
    assert isinstance(reply, Parsed)


def test_a_text_at_which_the_worker_dies_twice_is_given_up() -> None:
    jobs = [java("class A {}"), java("class B {}")]
    first, second = Parser(run_worker_with_exit_code=DyingWorker(2)).parse(jobs, SOON)
    assert isinstance(first, NotParsed)
    assert (first.reason, first.detail, first.crashed) == (DIED, "signal SIGKILL", True)
    assert isinstance(second, Parsed)


def test_a_worker_that_always_dies_is_not_started_for_ever() -> None:
    worker = DyingWorker(1000)
    replies = Parser(run_worker_with_exit_code=worker).parse([java("class A {}")] * 50, SOON)
    assert {reply.reason for reply in replies if isinstance(reply, NotParsed)} == {DIED}
    assert len(replies) == 50
    assert worker.runs == 6


SCRIPT = """
import os, signal, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from prjury.code import parser
from prjury.code.languages import LANGUAGES
from prjury.code.parser import NotParsed, Parsed, Parser, await_standby, ensure_standby, make_job
from prjury.deadline import Deadline

JAVA = LANGUAGES["java"]
CLASS = {"rule": {"kind": "class_declaration"}}
SOON = Deadline.after(60)


def java(text, *rules):
    return make_job(text, JAVA, rules or (CLASS,))

"""
LAUNCHED_AGAIN = {
    "somebody kills the process": """
Parser().parse([java("class A {}")], SOON)
os.kill(ensure_standby().process.pid, signal.SIGKILL)
[reply] = Parser().parse([java("class A {}")], SOON)
assert isinstance(reply, Parsed), reply
""",
    "the program forks": """
first = ensure_standby()
if child := os.fork():
    assert ensure_standby() is first
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
assert ensure_standby().process.pid != first.process.pid
[reply] = Parser().parse([java("class A {}")], SOON)
assert isinstance(reply, Parsed), reply
""",
}
WAITS = """
parser.ALL_SECONDS = 0.5
standby = ensure_standby()
os.kill(standby.process.pid, signal.SIGSTOP)
started = time.monotonic()
threading.Timer(1.2, standby.process.send_signal, [signal.SIGCONT]).start()
await_standby()
assert time.monotonic() - started > 1.2
"""


def run_script(case: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + case], capture_output=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")


@pytest.mark.parametrize("case", LAUNCHED_AGAIN.values(), ids=LAUNCHED_AGAIN)
def test_a_process_that_does_not_serve_is_launched_again(case: str) -> None:
    run_script(case)


def test_a_build_waits_until_the_process_has_loaded_however_long_that_takes() -> None:
    run_script(WAITS)


AWAITED = """
await_standby()
await_standby()
"""
CASES = {
    "many at once": """
with ThreadPoolExecutor(8) as pool:
    for number, [one] in enumerate(pool.map(lambda n: Parser().parse(
        [java("class A {} " * n)], SOON), range(40))):
        assert len(one.matches) == number
""",
    "somebody kills the process, and builds may have changed the files for another": """
os.kill(ensure_standby().process.pid, signal.SIGKILL)
[reply] = Parser().parse([java("class A {}")], SOON)
assert (reply.reason, reply.crashed) == ("parser_died", True), reply
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_answers_while_builds_run(case: str) -> None:
    run_script(AWAITED + case)
