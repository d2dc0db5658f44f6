"""The report in a terminal: the decision first, then the table, then what has to be fixed.

Every word from outside is cleaned by the template's texts. Symbols become plain ASCII where the
stream cannot show anything else; colours are left out where nobody looks at a screen.
"""

from __future__ import annotations

import shutil
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO, TypeAlias

from prjury.jury.voting import Ballot
from prjury.report.backports import Backports, backports_page
from prjury.report.model import Report
from prjury.report.render import Renderer, render_template
from prjury.report.sanitise import BY_SHAPE, Redact, log_line, remove_commands
from prjury.report.text import STYLED, TerminalText
from prjury.report.wording import describe_outcome, duration, first_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_WIDTH = 100
_LONGEST_LINE = 600
_ASCII = str.maketrans(
    {
        "✅": "[ok]",
        "❌": "[fail]",
        "⚠": "[!]",
        "⚪": "[?]",
        "⏭": "[skip]",
        "💡": "[hint]",
        "\ufe0f": "",
        "·": "|",
        "–": "-",
        "−": "-",
        "…": "...",
        "’": "'",
    }
)
#: The terminal's codes for the styles that the template names.
_CODES = {
    "pass": "1;32",
    "fail": "1;31",
    "error": "1;33",
    "abstain": "1;90",
    "bold": "1",
    "dim": "2",
    "log": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
}
#: Columns of a wrapped line's further lines; those of the line itself for other styles.
_HANGING = {"number": 5, "row": 3}
#: A path stays whole, and so does the decision.
_UNWRAPPED = {"pass", "fail", "error", "abstain", "log"}


def takes_symbols(stream: TextIO) -> bool:
    try:
        "✅–".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def printable_line(
    text: str, stream: TextIO, redact: Redact = BY_SHAPE, longest: int = _LONGEST_LINE
) -> str:
    """A text as one line that the stream can show and that controls nothing."""
    return _encodable(log_line(text, longest, redact), stream)


def render_report(
    report: Report,
    stream: TextIO,
    redact: Redact = BY_SHAPE,
    *,
    color: bool = False,
    width: int | None = None,
) -> str:
    """The report as a stream can show it; its columns are the terminal's, or 100 without one."""
    text = _encodable(Renderer(redact).terminal(report), stream)
    width = width or (shutil.get_terminal_size().columns if stream.isatty() else _WIDTH)
    lines = (line for raw in text.split("\n") for line in _wrap_and_style(raw, width, color=color))
    return "\n".join(lines)


def _wrap_and_style(raw: str, width: int, *, color: bool) -> Iterator[str]:
    match = STYLED.match(raw)
    style = match[1] if match else ""
    words = raw[match.end() :] if match else raw
    if style == "number":
        number, _, rest = words.partition(".")
        words = f"{number:>3}.{rest}"
    hanging = _HANGING.get(style, len(words) - len(words.lstrip()))
    wrapped = textwrap.wrap(
        words,
        width if style not in _UNWRAPPED else len(words) + 1,
        subsequent_indent=" " * hanging,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
    for line in wrapped or [""]:
        # What was in a line's middle comes to stand at the start of the next.
        harmless = remove_commands(line.rstrip())
        code = _CODES.get(style, "") if color else ""
        yield f"\x1b[{code}m{harmless}\x1b[0m" if code and harmless else harmless


def backport_lines(found: Backports, stream: TextIO, redact: Redact = BY_SHAPE) -> list[str]:
    page = backports_page(found)
    text = render_template("backports.txt.j2", redact, TerminalText, page=page).rstrip("\n")
    return _encodable(text, stream).split("\n")


def _encodable(text: str, stream: TextIO) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    shown = text if takes_symbols(stream) else text.translate(_ASCII)
    return shown.encode(encoding, "backslashreplace").decode(encoding)


#: A judge with its jury.
_Seat: TypeAlias = tuple[str, str]

#: What a judge says when it runs a command begins like this.
_COMMAND = "$ "
#: What is meant for programs, such as the messages of `cargo --message-format=json`.
_FOR_PROGRAMS = "{"
#: How often it is looked, within the time after which there has to be a sign of life.
_BEATS = 6
#: Characters of a line about a judge.
_LONGEST = 160


def _describe_answer(jury: str, ballot: Ballot) -> str:
    judgment = ballot.judgment
    reasoning = first_line(judgment.reasoning)
    outcome = describe_outcome(judgment)
    word = f"{outcome.symbol} {outcome.word} in {duration(ballot.elapsed_ms)}"
    return f"{jury} / {ballot.judge}: {word}{f', {reasoning}' if reasoning else ''}"


def _find_working_seat(seats: Iterable[_Seat]) -> _Seat | None:
    thread, last = threading.current_thread().name, None
    for seat in seats:
        last = seat
        if thread == "prjury-{}-{}".format(*seat):
            break
    return last


@dataclass
class _Work:
    started: float
    #: When a line about it was last written.
    shown: float
    words: str = ""


class PlainProgress:
    """For logs: a line per start, command and finish, and a sign of life every so many seconds."""

    def __init__(
        self,
        stream: TextIO,
        redact: Redact = BY_SHAPE,
        interval: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._redact, self._interval, self._clock = stream, redact, interval, clock
        self._lock = threading.Lock()
        self._running: dict[_Seat, _Work] = {}
        self._closed = threading.Event()
        self._pulse: threading.Thread | None = None

    def judge_started(self, jury: str, judge: str) -> None:
        with self._lock:
            now = self._clock()
            self._running[jury, judge] = _Work(now, now)
            self._print_line(f"{jury} / {judge}: started")
            if self._pulse is None and not self._closed.is_set():
                self._pulse = threading.Thread(target=self._beat, name="prjury-pulse", daemon=True)
                self._pulse.start()

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        with self._lock:
            self._running.pop((jury, ballot.judge), None)
            self._print_line(_describe_answer(jury, ballot))

    def say(self, text: str) -> None:
        """Write a command at once; of the thousands of lines of a build one now and then."""
        words = first_line(text)
        with self._lock:
            seat = _find_working_seat(self._running)
            if seat and not words.startswith(_FOR_PROGRAMS):
                self._running[seat].words = words
                if words.startswith(_COMMAND):
                    self._show(seat, self._running[seat])

    def close(self) -> None:
        """Say nothing any more, whatever an abandoned judge still answers."""
        self._closed.set()
        with self._lock:
            pass  # a line that is being written is complete

    def _beat(self) -> None:
        while not self._closed.wait(self._interval / _BEATS):
            with self._lock:
                for seat, work in self._running.items():
                    if self._clock() - work.shown >= self._interval:
                        self._show(seat, work)

    def _show(self, seat: _Seat, work: _Work) -> None:
        work.shown = self._clock()
        time = duration(round((work.shown - work.started) * 1000))
        self._print_line(": ".join([" / ".join(seat), ", ".join(filter(None, [time, work.words]))]))

    def _print_line(self, words: str) -> None:
        if not self._closed.is_set():
            line = printable_line(words, self._stream, self._redact, _LONGEST)
            self._stream.write(f"{line}\n")
            self._stream.flush()


class LiveProgress:
    """One live line per running judge with its time and what it said last; for terminals only.

    The lines appear with the first judge and vanish with the last one; every answer stays. Rich
    draws them from a thread of its own, which never waits for ours.
    """

    def __init__(
        self, stream: TextIO, redact: Redact = BY_SHAPE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream, self._redact, self._clock = stream, redact, clock
        self._lock = threading.RLock()
        self._tasks: dict[_Seat, TaskID] = {}
        self._live: Progress | None = None
        self._closed = False

    def judge_started(self, jury: str, judge: str) -> None:
        with self._lock:
            if not self._closed:
                self._live = self._live or self._start_rich_progress()
                name = self._clean_line(f"{jury} / {judge}")
                self._tasks[jury, judge] = self._live.add_task(name, words="")

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        from rich.text import Text  # noqa: PLC0415 - rich takes longer to load than many a run

        with self._lock:
            task = self._tasks.pop((jury, ballot.judge), None)
            if self._live is None:
                return
            if task is not None:
                self._live.remove_task(task)
            line = self._clean_line(_describe_answer(jury, ballot))
            self._live.console.print(Text(line, no_wrap=True, overflow="ellipsis"))
            if not self._tasks:
                self._rest()

    def say(self, text: str) -> None:
        """Note what the judge that works in this thread is doing, or else the one asked last."""
        words = first_line(text)
        with self._lock:
            seat = _find_working_seat(self._tasks)
            if self._live and seat and not words.startswith(_FOR_PROGRAMS):
                self._live.update(self._tasks[seat], words=self._clean_line(words))

    def close(self) -> None:
        """Take the live lines away and say nothing any more."""
        with self._lock:
            self._closed = True
            self._rest()

    def _rest(self) -> None:
        live, self._live = self._live, None
        if live:
            live.stop()

    def _start_rich_progress(self) -> Progress:
        from rich.console import Console  # noqa: PLC0415 - see above
        from rich.progress import Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415
        from rich.table import Column  # noqa: PLC0415

        cut = Column(no_wrap=True, overflow="ellipsis")
        live = Progress(
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[words]}", markup=False, table_column=cut),
            console=Console(file=self._stream, force_terminal=True, highlight=False, emoji=False),
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            get_time=self._clock,
        )
        live.start()
        return live

    def _clean_line(self, words: str) -> str:
        return printable_line(words, self._stream, self._redact, _LONGEST)
