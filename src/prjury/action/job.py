"""One job of a workflow: its inputs, its parts, where it leaves its files, and how it ends."""

from __future__ import annotations

import dataclasses
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO, get_args
from urllib.parse import urlsplit

from msgspec import Struct, field

from prjury.action.history import StandingCommands
from prjury.app.request import RunEnvironment, open_regular_file
from prjury.errors import ExitCode, PublishError, UsageError
from prjury.git.fetch import Transport
from prjury.github.client import LOOPBACK, GitHub
from prjury.github.event import Event, EventKind, read_event
from prjury.jury.judgment import Judgment
from prjury.policy.load import Policy
from prjury.publishers.files import add_markdown, append_outputs, write_atomically
from prjury.report.judge_facts import RunFacts
from prjury.report.model import Dismissal, EarlierVotes, Report
from prjury.report.render import Renderer
from prjury.report.sanitise import Redact, Redactor, log_line, plain, redact_text
from prjury.sandbox.contained import LOGS

if TYPE_CHECKING:
    from prjury.app.backport import Picks

Mode = Literal[
    "review", "build", "collect", "decide", "publish", "backport", "conflicts", "comment"
]
FailOn = Literal["gate", "never"]

_PREFIX = "PRJURY_INPUT_"
#: What later steps can read; see `prjury.publishers.files`.
OUTPUTS = (
    "verdict",
    "gate",
    "headline",
    "report-json",
    "report-html",
    "build-log",
    "comment-url",
    "backports",
    "llm-usd",
)


class Inputs(Struct, frozen=True):
    """The inputs of one run; an empty text means that nothing was given."""

    mode: Mode = "review"
    github_token: str = ""
    config: str = ""
    model: str = ""
    model_api_key: str = ""
    model_base_url: str = ""
    build: bool = True
    base: str = ""
    head: str = ""
    fail_on: FailOn = "gate"
    junit: str = ""
    python_version: str = ""
    #: Whether the token is the job's own, whose account is known.
    is_job_token: bool = False

    def __repr__(self) -> str:
        return f"Inputs(mode={self.mode!r})"  # a token or a key is printed nowhere


#: The inputs that `action.yml` declares, each with the variable in which it hands the value over.
INPUTS: Mapping[str, str] = {
    name.replace("_", "-"): _PREFIX + name.upper() for name in Inputs.__struct_fields__[:-1]
}
#: The values of an input that is not free text.
ALLOWED: Mapping[str, tuple[str, ...]] = {
    "mode": get_args(Mode),
    "build": ("true", "false"),
    "fail-on": get_args(FailOn),
}


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """Read the inputs in the environment; refuse others, and values that they cannot have."""
    for variable in environ:
        if variable.startswith(_PREFIX) and variable not in INPUTS.values():
            raise UsageError(
                f"There is no input for {variable}",
                why="action.yml and the program are of different versions",
                remedy="Use one release of the action as a whole",
            )
    values: dict[str, Any] = {}
    for name, variable in INPUTS.items():
        text = environ.get(variable, "").strip()
        allowed = ALLOWED.get(name)
        if text and allowed and text not in allowed:
            raise UsageError(
                f"The input {name} cannot be {text[:60]!r}",
                remedy=f"Use one of: {', '.join(allowed)}",
            )
        if text:
            values[name.replace("-", "_")] = text == "true" if "true" in (allowed or ()) else text
    return Inputs(**values, is_job_token=environ.get("PRJURY_JOB_TOKEN") == "true")


#: Of a longer log the end is kept.
_LARGEST = 20 * 1024**2


class JobDirectories(Struct, frozen=True):
    """The runner's files, as far as there are any, and a directory for the report files."""

    report_directory: Path
    summary: Path | None = None
    outputs: Path | None = None

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> JobDirectories:
        temporary = environ.get("RUNNER_TEMP") or tempfile.gettempdir()
        paths = (environ.get(name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"))
        summary, outputs = (Path(path) if path else None for path in paths)
        return cls(Path(temporary) / "prjury-report", summary, outputs)

    def make_directory_and_path(self, file_name: str) -> Path:
        try:
            self.report_directory.mkdir(mode=0o755, parents=True, exist_ok=True)
        except OSError as error:
            raise PublishError(
                f"Could not make the directory {self.report_directory}: {error.strerror}",
                reason="unwritable",
            ) from error
        return self.report_directory / file_name


def copy_logs(judgments: Iterable[Judgment], places: JobDirectories, redact: Redact) -> list[Path]:
    """Copies the logs without secrets to ``build-1.log`` and so on; the copies."""
    copies: list[Path] = []
    for log in (Path(name) for each in judgments for name in RunFacts.parse(each).logs):
        if log.parent.name.startswith(LOGS) and (content := _read_end_or_nothing(log)):
            path = places.make_directory_and_path(f"build-{len(copies) + 1}.log")
            write_atomically(path, redact_text(content.decode("utf-8", "replace"), redact))
            copies.append(path)
    return copies


def _read_end_or_nothing(log: Path) -> bytes:
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


class PriorState(Struct, frozen=True):
    """What is known before anything is judged."""

    commands: StandingCommands = field(default_factory=StandingCommands)
    dismissals: tuple[Dismissal, ...] = ()
    earlier_votes: EarlierVotes | None = None
    begun: Callable[[Policy], None] = lambda _policy: None


class Dependencies(Struct, frozen=True, kw_only=True):
    """What judges, what renders, and what speaks with GitHub."""

    judge: Callable[[Job, Event, PriorState], Report]
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

    def require_event_and_token(self, *kinds: EventKind, remedy: str) -> Event:
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
        self._write_outputs_and_summary("abstain", gate, reason)
        return JobResult(ExitCode.OPEN)

    def report_end(self, lines: Iterable[str], complaints: Sequence[str]) -> JobResult:
        """Say what was done; what could not be published fails the job."""
        for line in lines:
            self.log.say(line)
        code = ExitCode.NOT_PUBLISHED if complaints else ExitCode.OPEN
        return JobResult(code, " ".join(complaints) or None)

    def tell_error(self, complaint: str) -> None:
        with suppress(PublishError):
            self._write_outputs_and_summary("error", "action_required", complaint)

    def _write_outputs_and_summary(self, verdict: str, gate: str, line: str) -> None:
        if self.places.outputs:
            headline = " ".join(self.log.redact(line).split())
            values = {"verdict": verdict, "gate": gate, "headline": headline, "backports": "{}"}
            append_outputs(self.places.outputs, {**dict.fromkeys(OUTPUTS, ""), **values})
        if self.places.summary:
            line = plain(line, None, self.log.redact)
            add_markdown(self.places.summary, f"**PR Jury:** {line}\n")
