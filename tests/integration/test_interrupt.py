"""Ctrl-C, while judges hang in every way that they can."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

PROGRAM = """
import asyncio, os, sys, threading, time
from prjury import Jury, MajorityVoting
from prjury.jury.library.repeated import RepeatedJudge
from prjury.jury.library.retry import JuryWithRetry

def asked():
    os.write(1, b"asked\\n")  # in one piece, whoever else writes

def sleeps(context):
    asked()
    time.sleep(600)

def waits(context):
    asked()
    threading.Event().wait()

def works(context):
    asked()
    while True:
        sum(range(1000))

async def sleeps_in_a_loop(context):
    asked()
    await asyncio.sleep(600)

async def works_aside(context):
    asked()
    await asyncio.to_thread(time.sleep, 600)

async def refuses_to_be_cancelled(context):
    asked()
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            pass

judge = globals()[sys.argv[1]]
majority = MajorityVoting()
juries = {
    "parallel": lambda: Jury([judge] * 3, majority),
    "sequential": lambda: Jury([judge] * 3, majority, parallel=False),
    "nested": lambda: Jury([Jury([judge] * 3, majority).as_judge()], majority),
    "repeated": lambda: Jury([RepeatedJudge(judge, 3)], majority, parallel=False),
    "retry": lambda: JuryWithRetry([judge] * 3),
    "chair": lambda: JuryWithRetry([judge] * 3, judge),
}
timeout = float(sys.argv[3]) if len(sys.argv) > 3 else None
print(juries[sys.argv[2]]().vote(None, timeout=timeout).status)
"""

WAYS = [
    "sleeps",
    "waits",
    "works",
    "sleeps_in_a_loop",
    "works_aside",
    "refuses_to_be_cancelled",
]


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The program, once its first judge has been asked."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        try:
            assert program.stdout
            assert program.stdout.readline() == "asked\n"
            yield program
        finally:
            program.kill()


@pytest.mark.parametrize(
    ("way", "jury"),
    [
        *((way, jury) for way in WAYS for jury in ("parallel", "sequential")),
        ("sleeps", "nested"),
        ("works_aside", "nested"),
        ("waits", "repeated"),
        ("sleeps_in_a_loop", "retry"),
    ],
)
@pytest.mark.parametrize("timeout", [(), ("600",)], ids=["no timeout", "timeout"])
def test_ctrl_c_ends_a_vote_at_once(way: str, jury: str, timeout: tuple[str, ...]) -> None:
    with started(way, jury, *timeout) as program:
        time.sleep(0.1)  # until the main thread waits for the judges
        interrupted = time.monotonic()
        program.send_signal(signal.SIGINT)
        _, complaint = program.communicate(timeout=120)
        assert time.monotonic() - interrupted < 60
    assert program.returncode in {130, -signal.SIGINT}
    assert complaint.endswith("KeyboardInterrupt\n")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("jury", ["parallel", "chair"])
def test_judges_that_hang_keep_no_program_alive(way: str, jury: str) -> None:
    with started(way, jury, "0.3") as program:
        said, complaint = program.communicate(timeout=120)
    assert (program.returncode, complaint) == (0, "")
    assert said.splitlines()[-1] == "fail"
