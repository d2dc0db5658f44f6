"""Who is at work right now, and how an answer is told."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TextIO

from prjury.jury.voting import Ballot
from prjury.report.redact import Redact
from prjury.report.rows import word_of
from prjury.report.sanitise import log_line
from prjury.report.wording import SYMBOLS, duration, first_line

#: Characters of a line about a judge.
LONGEST = 160


@dataclass
class Running:
    """A judge at work.

    Attributes:
        told: when something was last told of it.
    """

    jury: str
    judge: str
    started: float
    told: float
    said: str = ""

    @property
    def thread(self) -> str:
        """The name of the thread in which the bench lets the judge work."""
        return f"prjury-{self.jury}-{self.judge}"

    def elapsed(self, now: float) -> str:
        """How long it has been at work."""
        return duration(round((now - self.started) * 1000))


class ProgressState:
    """The judges at work, and what each of them said last. Whoever asks holds a lock."""

    def __init__(self) -> None:
        self.running: list[Running] = []

    def started(self, jury: str, judge: str, now: float) -> None:
        """One more."""
        self.running.append(Running(jury, judge, now, now))

    def finished(self, jury: str, judge: str) -> None:
        """One less."""
        here = [one for one in self.running if (one.jury, one.judge) == (jury, judge)]
        for running in here[:1]:
            self.running.remove(running)

    def said(self, text: str) -> Running | None:
        """The judge that works in this thread, or else the one asked last, has said something."""
        own = threading.current_thread().name
        mine = [one for one in self.running if one.thread == own]
        for running in (mine or self.running)[-1:]:
            running.said = first_line(text)
            return running
        return None


def line_for(stream: TextIO, words: str, redact: Redact, longest: int = LONGEST) -> str:
    """One harmless line that the stream can hold, whatever its encoding."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return log_line(words, longest, redact).encode(encoding, "backslashreplace").decode(encoding)


def answer(jury: str, ballot: Ballot) -> str:
    """Who answered, what, after how long."""
    judgment = ballot.judgment
    said = first_line(judgment.reasoning)
    word = f"{SYMBOLS[judgment.status]} {word_of(judgment)} in {duration(ballot.elapsed_ms)}"
    return f"{jury} / {ballot.judge}: {word}{f', {said}' if said else ''}"
