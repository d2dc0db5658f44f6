"""One job of a workflow: what it was given, and how it ends."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple, TextIO

from msgspec import Struct

from prjury.action.dependencies import Dependencies
from prjury.action.directories import JobDirectories
from prjury.app.inputs import OUTPUTS, Inputs
from prjury.errors import ExitCode, PublishError, UsageError
from prjury.publishers.files import add_markdown, write_outputs
from prjury.report.model import Report
from prjury.report.sanitise import Redact, Redactor, log_line, plain


@dataclass
class Log:
    """Writes lines to the runner."""

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


def write_no_verdict(
    places: JobDirectories, verdict: str, gate: str, line: str, redact: Redact
) -> None:
    """Outputs and summary of a run without a report."""
    if places.outputs:
        values = {
            "verdict": verdict,
            "gate": gate,
            "headline": " ".join(redact(line).split()),
            "backports": "{}",
        }
        write_outputs(places.outputs, {**dict.fromkeys(OUTPUTS, ""), **values})
    if places.summary:
        add_markdown(places.summary, f"**PR Jury:** {plain(line, None, redact)}\n")


class JobResult(NamedTuple):
    """How a job ends: its exit code, and what is shown as its error."""

    code: ExitCode
    complaint: str | None = None


class Job(Struct, frozen=True):
    """What a job works with."""

    inputs: Inputs
    environ: Mapping[str, str]
    log: Log
    dependencies: Dependencies
    places: JobDirectories

    @property
    def no_token(self) -> UsageError:
        """The error where the mode takes a token and there is none."""
        return UsageError(
            f"The mode {self.inputs.mode} takes a token",
            remedy="Give `github-token: ${{ github.token }}` to the action",
        )

    def end_idle(self, reason: str, *, is_open: bool = False) -> JobResult:
        """Ends where nothing is judged, and says so."""
        self.log.say(reason)
        gate = "success" if is_open else "action_required"
        write_no_verdict(self.places, "abstain", gate, reason, self.log.redact)
        return JobResult(ExitCode.OPEN)

    def report_end(self, lines: Iterable[str], complaints: Sequence[str]) -> JobResult:
        """Say what was done; what could not be published fails the job."""
        for line in lines:
            self.log.say(line)
        code = ExitCode.NOT_PUBLISHED if complaints else ExitCode.OPEN
        return JobResult(code, " ".join(complaints) or None)

    def tell_error(self, complaint: str) -> None:
        """Says in the summary and the outputs that there is no verdict."""
        with suppress(PublishError):
            write_no_verdict(self.places, "error", "action_required", complaint, self.log.redact)


def job_result(report: Report, complaints: list[str]) -> JobResult:
    """The gate is the exit code; what could not be published is one where the gate is open."""
    code = report.gate.exit_code
    code = ExitCode.NOT_PUBLISHED if complaints and code is ExitCode.OPEN else code
    return JobResult(code, " ".join(complaints) or None)
