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
    from rich.console import RenderableType
    from rich.live import Live

#: What a judge says when it runs a command begins like this.
_COMMAND = "$ "
#: What is meant for programs, such as the messages of `cargo --message-format=json`.
_FOR_PROGRAMS = "{"
#: How often it is looked, within the time after which there has to be a sign of life.
_BEATS = 6
#: Characters of a line about a judge.
LONGEST = 160


@dataclass
class Running:
    """A judge at work."""

    jury: str
    judge: str
    started: float
    #: When a line about it was last written.
    shown: float
    words: str = ""

    @property
    def name(self) -> str:
        """The judge with its tier."""
        return f"{self.jury} / {self.judge}"

    def elapsed(self, now: float) -> str:
        """Return how long it has been at work."""
        return duration(round((now - self.started) * 1000))


def line_for(stream: TextIO, words: str, redact: Redact, longest: int = LONGEST) -> str:
    """Return one harmless line that the stream can hold, whatever its encoding."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return log_line(words, longest, redact).encode(encoding, "backslashreplace").decode(encoding)


def answer(jury: str, ballot: Ballot) -> str:
    """Return who answered, what, after how long."""
    judgment = ballot.judgment
    reasoning = first_line(judgment.reasoning)
    word = f"{SYMBOLS[judgment.status]} {word_of(judgment)} in {duration(ballot.elapsed_ms)}"
    return f"{jury} / {ballot.judge}: {word}{f', {reasoning}' if reasoning else ''}"


class _Watch:
    """The judges at work, and what each of them said last."""

    def __init__(
        self,
        stream: TextIO,
        redact: Redact = BY_SHAPE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._redact = redact
        self._clock = clock
        self._lock = threading.Lock()
        self._running: list[Running] = []

    def _start(self, jury: str, judge: str) -> None:
        now = self._clock()
        self._running.append(Running(jury, judge, now, now))

    def _finish(self, jury: str, ballot: Ballot) -> None:
        matching = [one for one in self._running if (one.jury, one.judge) == (jury, ballot.judge)]
        for running in matching[:1]:
            self._running.remove(running)

    def _hear(self, text: str) -> Running | None:
        """Note what the judge of this thread, or else the one asked last, says for people."""
        words = first_line(text)
        thread = threading.current_thread().name
        own = [one for one in self._running if thread == f"prjury-{one.jury}-{one.judge}"]
        speakers = own or self._running
        if not speakers or words.startswith(_FOR_PROGRAMS):
            return None
        speakers[-1].words = words
        return speakers[-1]


class PlainProgress(_Watch):
    """For logs: a line per start, command and finish, and a sign of life now and then."""

    def __init__(
        self,
        stream: TextIO,
        redact: Redact = BY_SHAPE,
        every: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(stream, redact, clock)
        self._every = every
        self._closed = threading.Event()
        self._pulse: threading.Thread | None = None

    def judge_started(self, jury: str, judge: str) -> None:
        """Write that a judge has been asked."""
        with self._lock:
            self._start(jury, judge)
            self._write(f"{jury} / {judge}: started")
            if self._pulse is None and not self._closed.is_set():
                self._pulse = threading.Thread(target=self._beat, name="prjury-pulse", daemon=True)
                self._pulse.start()

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """Write what a judge has answered."""
        with self._lock:
            self._finish(jury, ballot)
            self._write(answer(jury, ballot))

    def say(self, text: str) -> None:
        """Write a command at once; of the thousands of lines of a build one now and then."""
        with self._lock:
            running = self._hear(text)
            if running and running.words.startswith(_COMMAND):
                self._show(running)

    def close(self) -> None:
        """Say nothing any more, whatever an abandoned judge still answers."""
        self._closed.set()
        with self._lock:
            pass  # a line that is being written is complete

    def _beat(self) -> None:
        while not self._closed.wait(self._every / _BEATS):
            with self._lock:
                for running in self._running:
                    if self._clock() - running.shown >= self._every:
                        self._show(running)

    def _show(self, running: Running) -> None:
        running.shown = self._clock()
        words = f", {running.words}" if running.words else ""
        self._write(f"{running.name}: {running.elapsed(running.shown)}{words}")

    def _write(self, words: str) -> None:
        line = line_for(self._stream, words, self._redact)
        if not self._closed.is_set():
            self._stream.write(f"{line}\n")
            self._stream.flush()


class LiveProgress(_Watch):
    """One live line per running judge with its time and what it said last; for terminals only.

    The lines appear with the first judge and vanish with the last one; every answer stays.
    """

    def __init__(
        self,
        stream: TextIO,
        redact: Redact = BY_SHAPE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(stream, redact, clock)
        # rich draws from a thread of its own, which holds rich's lock while it asks for our lines.
        # So `_lock` guards the lines alone, and nobody who holds it calls rich; `_stage` keeps
        # those apart who do.
        self._stage = threading.RLock()
        self._live: Live | None = None
        self._closed = False

    def judge_started(self, jury: str, judge: str) -> None:
        """Show the line of a judge that has been asked."""
        with self._stage:
            if self._closed:
                return
            with self._lock:
                self._start(jury, judge)
            if self._live is None:
                self._live = self._new_live()
                self._live.start()

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """Replace the line of a judge by its answer."""
        with self._stage:
            if self._closed:
                return
            with self._lock:
                self._finish(jury, ballot)
                idle = not self._running
            if self._live:
                self._live.console.print(self._line(answer(jury, ballot)))
            if idle:
                self._rest()

    def say(self, text: str) -> None:
        """Note what the judge that works in this thread is doing, or else the one asked last."""
        with self._lock:
            self._hear(text)

    def close(self) -> None:
        """Take the live lines away and say nothing any more."""
        with self._stage:
            self._closed = True
            self._rest()

    def _rest(self) -> None:
        live, self._live = self._live, None
        if live:
            live.stop()

    def _new_live(self) -> Live:
        # Imported here because rich takes longer to load than many a run without it.
        from rich.console import Console  # noqa: PLC0415
        from rich.live import Live  # noqa: PLC0415

        return Live(
            console=Console(file=self._stream, force_terminal=True, highlight=False, emoji=False),
            get_renderable=self._render,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def _render(self) -> RenderableType:
        from rich.console import Group  # noqa: PLC0415 - see above

        now = self._clock()
        with self._lock:
            shown = [(one.name, one.elapsed(now), one.words) for one in self._running]
        return Group(*(self._line("  ".join(filter(None, words))) for words in shown))

    def _line(self, words: str) -> RenderableType:
        from rich.text import Text  # noqa: PLC0415 - see above

        line = line_for(self._stream, words, self._redact)
        return Text(line, no_wrap=True, overflow="ellipsis")
