"""Judges that crash, hang or answer in an order of their own, and who listens to them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from prjury.jury.judge import FunctionJudge, JudgeType
from prjury.jury.judgment import Judgment
from prjury.jury.voting import Ballot

FINE = Judgment.passed("fine")
BROKEN = Judgment.failed("broken")

#: Seconds after which a test that waits for something gives up.
LONG = 60


class PanicError(BaseException):
    """What a native parser raises."""


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this works")


class Chatty:
    """A listener that writes everything down."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, str]] = []

    def judge_started(self, jury: str, judge: str) -> None:
        self.heard.append(("started", jury, judge))

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        self.heard.append(("finished", jury, ballot.judge))


class Deaf(Chatty):
    """A listener that fails at one of the two, after it has written it down."""

    def __init__(self, crash: BaseException, at: str) -> None:
        super().__init__()
        self.crash = crash
        self.at = at

    def judge_started(self, jury: str, judge: str) -> None:
        super().judge_started(jury, judge)
        if self.at == "started":
            raise self.crash

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        super().judge_finished(jury, ballot)
        if self.at == "finished":
            raise self.crash


@dataclass
class Shy:
    """A judge that would pass, but does not tell its name or its type."""

    hides: str
    crash: BaseException
    asked: int = 0

    @property
    def name(self) -> str:
        return self._tell("name", "shy")

    @property
    def type(self) -> str:
        return self._tell("type", JudgeType.LLM_POWERED)

    def _tell(self, what: str, truth: str) -> str:
        if what == self.hides:
            raise self.crash
        return truth

    def judge(self, context: object, /) -> Judgment:
        self.asked += 1
        return FINE


def raising(
    crash: BaseException, name: str = "crashing", kind: JudgeType = JudgeType.DETERMINISTIC
) -> FunctionJudge[object]:
    """A judge that raises."""

    def crashes(context: object) -> Judgment:
        raise crash

    return FunctionJudge(crashes, name, type=kind)


@contextmanager
def hanging(
    name: str = "hanging", kind: JudgeType = JudgeType.DETERMINISTIC
) -> Iterator[FunctionJudge[object]]:
    """A judge that says nothing until the test is over."""
    released = threading.Event()

    def hangs(context: object) -> Judgment:
        released.wait(LONG)
        return FINE

    try:
        yield FunctionJudge(hangs, name, type=kind)
    finally:
        released.set()


def finishing_in(order: Sequence[int]) -> list[FunctionJudge[object]]:
    """Judges, the n-th of which answers as the ``order[n]``-th, once all of them are asked."""
    together = threading.Barrier(len(order))
    turns = [threading.Event() for _ in range(len(order) + 1)]
    turns[0].set()

    def at(turn: int) -> FunctionJudge[object]:
        def answers(context: object) -> Judgment:
            together.wait(LONG)
            turns[turn].wait(LONG)
            turns[turn + 1].set()
            return Judgment.passed(f"answered as number {turn}")

        return FunctionJudge(answers, f"turn {turn}")

    return [at(turn) for turn in order]
