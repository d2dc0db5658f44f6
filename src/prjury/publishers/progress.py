"""What is shown of a run while it goes on: lines of a log, or one live line per judge."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from prjury.jury.voting import Ballot
from prjury.report.redact import Redact
from prjury.report.rows import word_of
from prjury.report.sanitise import BY_SHAPE, log_line
from prjury.report.wording import SYMBOLS, duration, first_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

#: What a judge says when it runs a command begins like this.
_COMMAND = "$ "
#: How often it is looked, within the time after which there has to be a sign of life.
_BEATS = 6
#: Characters of a line about a judge.
LONGEST = 160


@dataclass
class Running:
    """A judge at work.

    Attributes:
        found: when something was last said of it.
    """

    jury: str
    judge: str
    started: float
    found: float
    said: str = ""

    @property
    def thread(self) -> str:
        """The name of the thread in which the bench lets the judge work."""
        return f"prjury-{self.jury}-{self.judge}"

    def elapsed(self, now: float) -> str:
        """How long it has been at work."""
        return duration(round((now - self.started) * 1000))


class ProgressState:
    """The judges at work, and what each of them said last. Callers hold a lock."""

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


class PlainProgress:
    """For logs: a line per start, command and finish, and a sign of life now and then.

    Args:
        stream: a file, a pipe, the log of a job.
        every: seconds without a line after which a judge at work is named again, with its time
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
            self._write(f"{jury} / {judge}: started")
            if self._pulse is None and not self._closed.is_set():
                self._pulse = threading.Thread(target=self._beat, name="prjury-pulse", daemon=True)
                self._pulse.start()

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """A judge has answered."""
        with self._lock:
            self._at_work.finished(jury, ballot.judge)
            self._write(answer(jury, ballot))

    def say(self, text: str) -> None:
        """A command is shown at once; of the thousands of lines of a build one now and then."""
        with self._lock:
            running = self._at_work.said(text)
            if running and running.said.startswith(_COMMAND):
                self._tell(running)

    def close(self) -> None:
        """Says nothing any more, whatever an abandoned judge still answers."""
        self._closed.set()
        with self._lock:
            pass  # a line that is being written is complete

    def _beat(self) -> None:
        while not self._closed.wait(self._every / _BEATS):
            with self._lock:
                for running in self._at_work.running:
                    if self._clock() - running.found >= self._every:
                        self._tell(running)

    def _tell(self, running: Running) -> None:
        running.found = self._clock()
        said = f", {running.said}" if running.said else ""
        self._write(f"{running.jury} / {running.judge}: {running.elapsed(running.found)}{said}")

    def _write(self, words: str) -> None:
        line = line_for(self._stream, words, self._redact)
        if not self._closed.is_set():
            self._stream.write(f"{line}\n")
            self._stream.flush()


class LiveProgress:
    """One live line per running judge with its time and what it said last; for terminals only.

    The lines appear with the first judge and vanish with the last one; every answer stays.

    Args:
        stream: a terminal.
        clock: seconds on a clock that never goes back.
    """

    def __init__(
        self,
        stream: TextIO,
        redact: Redact = BY_SHAPE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._redact = redact
        self._clock = clock
        # rich draws from a thread of its own, which holds rich's lock while it asks for our lines.
        # So `_lines` guards the lines alone, and nobody who holds it calls rich; `_stage` keeps
        # those apart who do.
        self._lines = threading.Lock()
        self._stage = threading.RLock()
        self._at_work = ProgressState()
        self._console: Console | None = None
        self._live: Live | None = None
        self._closed = False

    def judge_started(self, jury: str, judge: str) -> None:
        """A judge has been asked: its line appears."""
        with self._stage:
            if self._closed:
                return
            with self._lines:
                self._at_work.started(jury, judge, self._clock())
            if self._live is None:
                self._live = self._new_live()
                self._live.start()

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """A judge has answered: its line gives way to the answer."""
        with self._stage:
            if self._closed:
                return
            with self._lines:
                self._at_work.finished(jury, ballot.judge)
                idle = not self._at_work.running
            self._console_of_stream().print(self._line(answer(jury, ballot)))
            if idle:
                self._rest()

    def say(self, text: str) -> None:
        """What the judge that works in this thread is doing, or else the one asked last."""
        with self._lines:
            self._at_work.said(text)

    def close(self) -> None:
        """Takes the live lines away and says nothing any more."""
        with self._stage:
            self._closed = True
            self._rest()

    def _rest(self) -> None:
        """Takes the live lines away; a later judge brings them back."""
        with self._stage:
            live, self._live = self._live, None
            if live:
                live.stop()

    def _new_live(self) -> Live:
        # Imported here because rich takes longer to load than many a run without it.
        from rich.live import Live  # noqa: PLC0415

        return Live(
            console=self._console_of_stream(),
            get_renderable=self._render,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def _console_of_stream(self) -> Console:
        from rich.console import Console  # noqa: PLC0415 - see above

        if self._console is None:
            self._console = Console(
                file=self._stream,
                force_terminal=True,
                markup=False,
                highlight=False,
                emoji=False,
                soft_wrap=False,
            )
        return self._console

    def _render(self) -> RenderableType:
        from rich.console import Group  # noqa: PLC0415 - see above

        with self._lines:
            lines = [self._line(self._told(running)) for running in self._at_work.running]
        return Group(*lines)

    def _told(self, running: Running) -> str:
        said = f"  {running.said}" if running.said else ""
        return f"{running.jury} / {running.judge}  {running.elapsed(self._clock())}{said}"

    def _line(self, words: str) -> RenderableType:
        from rich.text import Text  # noqa: PLC0415 - see above

        line = line_for(self._stream, words, self._redact)
        return Text(line, no_wrap=True, overflow="ellipsis")
