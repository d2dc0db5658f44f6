"""What is said of a run while it goes on: the lines of a log."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TextIO

from prjury.jury.voting import Ballot
from prjury.publishers.progress_state import ProgressState, Running, answer, line_for
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE

#: What a judge says when it runs a command begins like this.
_COMMAND = "$ "

#: How often it is looked, within the time after which there has to be a sign of life.
_BEATS = 6


class PlainProgress:
    """For logs: a line per start, command and finish, and a sign of life now and then.

    Args:
        stream: a file, a pipe, the log of a job.
        every: seconds without a line after which a judge at work is told of again, with its time
            and what it said last.
        clock: seconds on a clock that never goes back.
    """

    def __init__(
        self,
        stream: TextIO,
        redact: Redact = BY_SHAPE,
        every: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._redact = redact
        self._every = every
        self._clock = clock
        self._lock = threading.Lock()
        self._at_work = ProgressState()
        self._closed = threading.Event()
        self._pulse: threading.Thread | None = None

    def judge_started(self, jury: str, judge: str) -> None:
        """A judge has been asked."""
        with self._lock:
            self._at_work.started(jury, judge, self._clock())
            self._write(f"{jury} / {judge}: asked")
            if self._pulse is None and not self._closed.is_set():
                self._pulse = threading.Thread(target=self._beat, name="prjury-pulse", daemon=True)
                self._pulse.start()

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """A judge has answered."""
        with self._lock:
            self._at_work.finished(jury, ballot.judge)
            self._write(answer(jury, ballot))

    def say(self, text: str) -> None:
        """A command is told at once; of the thousands of lines of a build one now and then."""
        with self._lock:
            running = self._at_work.said(text)
            if running and running.said.startswith(_COMMAND):
                self._tell(running)

    def close(self) -> None:
        """Says nothing any more, whatever an abandoned judge still answers."""
        self._closed.set()
        with self._lock:
            pass  # whoever is writing has written

    def _beat(self) -> None:
        while not self._closed.wait(self._every / _BEATS):
            with self._lock:
                for running in self._at_work.running:
                    if self._clock() - running.told >= self._every:
                        self._tell(running)

    def _tell(self, running: Running) -> None:
        running.told = self._clock()
        said = f", {running.said}" if running.said else ""
        self._write(f"{running.jury} / {running.judge}: {running.elapsed(running.told)}{said}")

    def _write(self, words: str) -> None:
        line = line_for(self._stream, words, self._redact)
        if not self._closed.is_set():
            self._stream.write(f"{line}\n")
            self._stream.flush()
