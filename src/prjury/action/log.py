"""The job's log, in which no text of others becomes a workflow command."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

from prjury.report.redact import Redactor
from prjury.report.sanitise import log_line


@dataclass
class Log:
    """Writes lines to the runner.

    Attributes:
        redact: takes secrets out; set once they are known.
    """

    stream: TextIO
    redact: Redactor = field(default_factory=Redactor)

    def say(self, text: str) -> None:
        """One line; whatever looks like a command in it is broken."""
        self._write(log_line(text, redact=self.redact))

    def error(self, text: str) -> None:
        """One line that the runner also shows as an annotation of the job."""
        line = log_line(text, redact=self.redact)
        escaped = line.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        self._write(f"::error title=PR Jury::{escaped}")

    @contextmanager
    def commands_stopped(self) -> Iterator[None]:
        """Within this block the runner ignores workflow commands in the output."""
        word = secrets.token_hex(16)
        self._write(f"::stop-commands::{word}")
        try:
            yield
        finally:
            self._write(f"::{word}::")

    def _write(self, line: str) -> None:
        self.stream.write(line.encode("utf-8", "backslashreplace").decode() + "\n")
        self.stream.flush()
