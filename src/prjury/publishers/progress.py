"""What a waiting person sees: one live line per judge, or one line per start and finish."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from prjury.jury.voting import Ballot
from prjury.report.phrases import SYMBOLS, duration, first_line
from prjury.report.redact import Redact
from prjury.report.rows import word_of
from prjury.report.sanitise import BY_SHAPE, log_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

_LONGEST = 160


class SilentProgress:
    """Says nothing."""

    def judge_started(self, jury: str, judge: str) -> None:
        """A judge has been asked."""

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """A judge has answered."""

    def say(self, text: str) -> None:
        """What is being done right now."""

    def close(self) -> None:
        """Nothing."""


class PlainProgress:
    """One line per start and finish, for logs; what goes on in between is not told."""

    def __init__(self, stream: TextIO, redact: Redact = BY_SHAPE) -> None:
        self._stream = stream
        self._redact = redact
        self._lock = threading.Lock()
        self._closed = False

    def judge_started(self, jury: str, judge: str) -> None:
        """A judge has been asked."""
        self._write(f"{jury} / {judge}: asked")

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """A judge has answered."""
        self._write(_answer(jury, ballot))

    def say(self, text: str) -> None:
        """Not told: a build prints thousands of lines."""

    def close(self) -> None:
        """Says nothing any more, whatever an abandoned judge still answers."""
        with self._lock:
            self._closed = True

    def _write(self, words: str) -> None:
        line = log_line(words, _LONGEST, self._redact)
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        safe = line.encode(encoding, "backslashreplace").decode(encoding)
        with self._lock:
            if not self._closed:
                self._stream.write(f"{safe}\n")
                self._stream.flush()


@dataclass
class _Running:
    """A judge at work."""

    jury: str
    judge: str
    started: float
    said: str = ""

    @property
    def thread(self) -> str:
        """The name of the thread in which the bench lets the judge work."""
        return f"prjury-{self.jury}-{self.judge}"


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
        self._running: list[_Running] = []
        self._console: Console | None = None
        self._live: Live | None = None
        self._closed = False

    def judge_started(self, jury: str, judge: str) -> None:
        """A judge has been asked: its line appears."""
        with self._stage:
            if self._closed:
                return
            with self._lines:
                self._running.append(_Running(jury, judge, self._clock()))
            if self._live is None:
                self._live = self._new_live()
                self._live.start()

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """A judge has answered: its line gives way to the answer."""
        with self._stage:
            if self._closed:
                return
            with self._lines:
                here = [r for r in self._running if (r.jury, r.judge) == (jury, ballot.judge)]
                for running in here[:1]:
                    self._running.remove(running)
                idle = not self._running
            self._console_of_stream().print(self._line(_answer(jury, ballot)))
            if idle:
                self._rest()

    def say(self, text: str) -> None:
        """What the judge that works in this thread is doing, or else the one asked last."""
        own = threading.current_thread().name
        with self._lines:
            mine = [running for running in self._running if running.thread == own]
            for running in (mine or self._running)[-1:]:
                running.said = first_line(text)

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
            lines = [self._line(self._told(running)) for running in self._running]
        return Group(*lines)

    def _told(self, running: _Running) -> str:
        elapsed = duration(round((self._clock() - running.started) * 1000))
        said = f"  {running.said}" if running.said else ""
        return f"{running.jury} / {running.judge}  {elapsed}{said}"

    def _line(self, words: str) -> RenderableType:
        from rich.text import Text  # noqa: PLC0415 - see above

        line = log_line(words, _LONGEST, self._redact)
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        safe = line.encode(encoding, "backslashreplace").decode(encoding)
        return Text(safe, no_wrap=True, overflow="ellipsis")


def _answer(jury: str, ballot: Ballot) -> str:
    judgment = ballot.judgment
    said = first_line(judgment.reasoning)
    word = f"{SYMBOLS[judgment.status]} {word_of(judgment)} in {duration(ballot.elapsed_ms)}"
    return f"{jury} / {ballot.judge}: {word}{f', {said}' if said else ''}"
