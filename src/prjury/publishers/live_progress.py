"""What a person at a terminal sees: one live line per judge."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from prjury.jury.voting import Ballot
from prjury.publishers.progress_state import ProgressState, Running, answer, line_for
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live


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
