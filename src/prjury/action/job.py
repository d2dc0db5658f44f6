"""One job of a workflow: the parts it works with, where it leaves its files, and how it ends."""

from __future__ import annotations

import dataclasses
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO
from urllib.parse import urlsplit

from msgspec import Struct, field

from prjury.action.history import StandingCommands
from prjury.app.inputs import OUTPUTS, Inputs
from prjury.app.request import RunEnvironment, open_regular_file
from prjury.errors import ExitCode, PublishError, UsageError
from prjury.git.fetch import Transport
from prjury.github.client import LOOPBACK, GitHub
from prjury.github.event import Event, EventKind, read_event
from prjury.jury.judgment import Judgment
from prjury.policy.load import Policy
from prjury.publishers.files import add_markdown, write_atomically, write_outputs
from prjury.report.judge_facts import RunFacts
from prjury.report.model import Dismissal, EarlierVotes, Report
from prjury.report.render import Renderer
from prjury.report.sanitise import Redact, Redactor, log_line, plain, redact_text
from prjury.sandbox.contained import LOGS

if TYPE_CHECKING:
    from prjury.app.backport import Picks

#: Of a longer log the end is kept.
_LARGEST = 20 * 1024**2


class JobDirectories(Struct, frozen=True):
    """The runner's files, as far as there are any, and a directory for the report files."""

    reports: Path
    summary: Path | None = None
    outputs: Path | None = None

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> JobDirectories:
        temporary = environ.get("RUNNER_TEMP") or tempfile.gettempdir()
        paths = (environ.get(name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"))
        summary, outputs = (Path(path) if path else None for path in paths)
        return cls(Path(temporary) / "prjury-report", summary, outputs)

    def make_report_path(self, name: str) -> Path:
        try:
            self.reports.mkdir(mode=0o755, parents=True, exist_ok=True)
        except OSError as error:
            raise PublishError(
                f"Could not make the directory {self.reports}: {error.strerror}",
                reason="unwritable",
            ) from error
        return self.reports / name


def copy_logs(judgments: Iterable[Judgment], places: JobDirectories, redact: Redact) -> list[Path]:
    """Copies the logs without secrets to ``build-1.log`` and so on; the copies."""
    copies: list[Path] = []
    for log in (Path(name) for each in judgments for name in RunFacts.of(each).logs):
        if log.parent.name.startswith(LOGS) and (content := _read_end(log)):
            path = places.make_report_path(f"build-{len(copies) + 1}.log")
            write_atomically(path, redact_text(content.decode("utf-8", "replace"), redact))
            copies.append(path)
    return copies


def _read_end(log: Path) -> bytes:
    """The end of a regular file; nothing where it is gone, or was replaced by something else."""
    try:
        with open_regular_file(log) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LARGEST))
            return file.read(_LARGEST)
    except OSError:
        return b""


class GitAccess(Struct, frozen=True):
    """How git reaches the server."""

    protocols: str = "https"
    #: The address from which the event's repository is fetched.
    url: Callable[[Event], str] = lambda event: f"{event.server_url}/{event.repo}.git"

    def transport(self, event: Event, environ: Mapping[str, str], token: str) -> Transport:
        """The transport for an event's repository; plain http is for a server on this machine."""
        server = urlsplit(event.server_url)
        is_local = server.scheme == "http" and server.hostname in LOOPBACK
        return Transport(environ, token or None, "http" if is_local else self.protocols)


class Beforehand(Struct, frozen=True):
    """What is known before anything is judged."""

    commands: StandingCommands = field(default_factory=StandingCommands)
    dismissals: tuple[Dismissal, ...] = ()
    earlier_votes: EarlierVotes | None = None
    begun: Callable[[Policy], None] = lambda _policy: None


class Dependencies(Struct, frozen=True, kw_only=True):
    """What judges, what renders, and what speaks with GitHub."""

    judge: Callable[[Job, Event, Beforehand], Report]
    #: Judges for these branches; for none, those of the policy and its labels.
    picks: Callable[[Job, Event, Sequence[str]], Picks]
    connect: Callable[[Event, Inputs], GitHub]
    renderer: Renderer
    environment: RunEnvironment = field(default_factory=RunEnvironment)
    git: GitAccess = field(default_factory=GitAccess)


@dataclass
class Log:
    """Writes lines to the runner."""

    stream: TextIO
    redact: Redactor = dataclasses.field(default_factory=Redactor)

    def say(self, text: str) -> None:
        self._write(log_line(text, redact=self.redact))

    def error(self, text: str) -> None:
        line = log_line(text, redact=self.redact)
        escaped = line.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        self._write(f"::error title=PR Jury::{escaped}")

    @contextmanager
    def commands_stopped(self) -> Iterator[None]:
        word = secrets.token_hex(16)
        self._write(f"::stop-commands::{word}")
        try:
            yield
        finally:
            self._write(f"::{word}::")

    def _write(self, line: str) -> None:
        self.stream.write(line.encode("utf-8", "backslashreplace").decode() + "\n")
        self.stream.flush()


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
        return UsageError(
            f"The mode {self.inputs.mode} takes a token",
            remedy="Give `github-token: ${{ github.token }}` to the action",
        )

    def read_event(self, *kinds: EventKind, remedy: str) -> Event:
        """Read the event; refuse another one than the mode is for, and a missing token."""
        event = read_event(self.environ)
        if event.kind not in kinds:
            mode = self.inputs.mode
            raise UsageError(f"The mode {mode} does not run on {event.kind}", remedy=remedy)
        if not self.inputs.github_token:
            raise self.no_token
        return event

    def end_idle(self, reason: str, *, is_open: bool = False) -> JobResult:
        self.log.say(reason)
        gate = "success" if is_open else "action_required"
        self._write_no_verdict("abstain", gate, reason)
        return JobResult(ExitCode.OPEN)

    def report_end(self, lines: Iterable[str], complaints: Sequence[str]) -> JobResult:
        """Say what was done; what could not be published fails the job."""
        for line in lines:
            self.log.say(line)
        code = ExitCode.NOT_PUBLISHED if complaints else ExitCode.OPEN
        return JobResult(code, " ".join(complaints) or None)

    def tell_error(self, complaint: str) -> None:
        with suppress(PublishError):
            self._write_no_verdict("error", "action_required", complaint)

    def _write_no_verdict(self, verdict: str, gate: str, line: str) -> None:
        if self.places.outputs:
            headline = " ".join(self.log.redact(line).split())
            values = {"verdict": verdict, "gate": gate, "headline": headline, "backports": "{}"}
            write_outputs(self.places.outputs, {**dict.fromkeys(OUTPUTS, ""), **values})
        if self.places.summary:
            line = plain(line, None, self.log.redact)
            add_markdown(self.places.summary, f"**PR Jury:** {line}\n")
