"""The terminal that commands share: its streams, environment and formats."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias, TypeVar

from prjury.errors import PublishError, UsageError

if TYPE_CHECKING:
    from prjury.app.request import RunEnvironment
    from prjury.journal.write import RunJournal
    from prjury.report.model import Report
    from prjury.report.sanitise import Redact

Kind = TypeVar("Kind", bound=str)
#: How a report, verdicts on backports and lists of packs, one judgment, and the rest is printed.
OutputFormat: TypeAlias = Literal["terminal", "markdown", "json", "html", "sarif", "feedback"]
TextFormat: TypeAlias = Literal["terminal", "markdown", "json"]
JudgmentFormat: TypeAlias = Literal["terminal", "json", "feedback"]
PlainFormat: TypeAlias = Literal["terminal", "json"]
#: Stands for a file, which takes every sign.
FILE = StringIO()


@dataclass
class Terminal:
    """The operator's terminal and environment, and the journal once something has happened."""

    environ: Mapping[str, str] = field(default_factory=dict)
    verbose: bool = False
    color: bool = True
    command: str = ""
    #: Whether people read standard output, or a program.
    prints_for_people: bool = True
    journal: RunJournal | None = None

    def make_journal_once(self) -> RunJournal:
        """The journal; a reason why it cannot be written is one line on standard error."""
        from prjury.journal.write import RunJournal
        from prjury.resources import program_version

        def warn(line: str) -> None:
            print(f"prjury: {self.redact(line)}", file=sys.stderr)

        if self.journal is None:
            self.journal = RunJournal(
                self.environ, self.command, version=program_version(), redact=self.redact, warn=warn
            )
        return self.journal

    @cached_property
    def redact(self) -> Redact:
        """Takes the operator's own secrets, and what looks like one, out of texts."""
        from prjury.report.sanitise import Redactor
        from prjury.secret_env import secrets_in

        return Redactor(secrets_in(self.environ))

    def show_tracebacks(self) -> None:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Redacted(self.redact))
        logger = logging.getLogger("prjury")
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)

    def make_environment(self) -> RunEnvironment:
        """The surroundings of one run; progress goes to standard error, live on a terminal."""
        from prjury.app.request import RunEnvironment
        from prjury.journal.write import RecordedProgress
        from prjury.publishers.terminal import LiveProgress, PlainProgress

        live = sys.stderr.isatty() and self.color
        kind = LiveProgress if live else PlainProgress
        journal = self.make_journal_once()
        progress = RecordedProgress(kind(sys.stderr, self.redact), journal)
        return RunEnvironment(self.environ, progress, self.redact, journal=journal)

    def render(self, report: Report, kind: OutputFormat, stream: TextIO = FILE) -> str:
        """The report in a format; the one for people as the stream can show it."""
        from prjury.publishers.terminal import render_report
        from prjury.report.render import Renderer

        if kind == "terminal":
            color = self.color and stream.isatty()
            return render_report(report, stream, self.redact, color=color)
        renderer = Renderer(self.redact)
        name = "summary" if kind == "markdown" else kind
        render: Callable[[Report], str] = getattr(renderer, name)
        return render(report)

    def print_lines(self, lines: Iterable[str]) -> None:
        """Print lines that may hold words from outside, each so that it controls nothing."""
        from prjury.publishers.terminal import printable_line

        for line in lines:
            print(printable_line(line, sys.stdout, self.redact))

    def complain(self, words: str) -> None:
        from prjury.publishers.terminal import printable_line

        print(printable_line(f"prjury: {words}", sys.stderr, self.redact), file=sys.stderr)


class _Redacted(logging.Formatter):
    def __init__(self, redact: Redact) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


def print_out(
    subject: str,
    text: str,
    encoding: str = "utf-8",
    remedy: str = "Free some space, or read all of the output",
) -> None:
    """Write to standard output; a reader that has seen enough is no reason to end otherwise."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode(encoding, "backslashreplace"))
        sys.stdout.buffer.write(b"" if text.endswith("\n") else b"\n")
        sys.stdout.buffer.flush()
    except OSError as error:
        close_terminal()  # what is left of it would be tried once more at the end, and fail again
        if not isinstance(error, BrokenPipeError):
            raise PublishError(
                f"The {subject} could not be printed: {error}",
                why="The disk is full, or standard output is closed",
                remedy=remedy,
            ) from error


def print_and_write(
    kind: Kind, files: list[tuple[Kind, Path]], render: Callable[[Kind, TextIO], str]
) -> None:
    """Print a report and write it to files; what cannot be printed is written all the same.

    Machine formats are UTF-8 whatever the locale.
    """
    from prjury.publishers.files import write_atomically

    refused = None
    encoding = sys.stdout.encoding if kind == "terminal" else "utf-8"
    try:
        remedy = f"Write it to a file with --output {kind}=FILE"
        print_out("report", render(kind, sys.stdout), encoding, remedy)
    except PublishError as error:
        refused = error
    for form, file in files:
        write_atomically(file, render(form, FILE))
    if refused:
        raise refused


def close_terminal() -> None:
    """Send further output nowhere: the reader (``| head -1``) has closed the pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parse_outputs(texts: list[str] | None, formats: tuple[Any, ...]) -> list[tuple[Any, Path]]:
    files = []
    for text in texts or ():
        name, equals, file = text.partition("=")
        if not equals or not file or name not in formats:
            raise UsageError(
                f"--output {text!r} is not FORMAT=FILE",
                remedy=f"Formats are {', '.join(formats)}; for example --output json=report.json",
            )
        refuse_place(Path(file))
        files.append((name, Path(file)))
    return files


def refuse_place(output: Path) -> None:
    if not output.absolute().parent.is_dir() or output.is_dir():
        raise UsageError(
            f"--output cannot write {output}", remedy="Name a file in a directory that exists"
        )
