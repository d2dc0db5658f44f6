"""Every port to the outside, as a Protocol.

Judges, adapters and publishers meet only here; `prjury.app.composition` chooses what
implements a port.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from prjury.deadline import Deadline
from prjury.jury.guard import Listener
from prjury.jury.voting import Ballot
from prjury.ports.agents import Agents, NoAgents
from prjury.ports.models import ChatModel, Memory, Models, NoMemory, NoModels, Panel
from prjury.ports.repository import Releases, Repository
from prjury.ports.types import (
    CheckAnnotation,
    CheckResult,
    Completed,
    LeftReports,
    ShellCommand,
)
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE

__all__ = [
    "Agents",
    "ChatModel",
    "Checks",
    "Evidence",
    "Memory",
    "Models",
    "NoAgents",
    "NoMemory",
    "NoModels",
    "NoRecorder",
    "Panel",
    "Ports",
    "Progress",
    "Publisher",
    "Recorder",
    "Releases",
    "Repository",
    "Shell",
    "SilentProgress",
]


class Shell(Protocol):
    """Runs programs that are not trusted: own session, own environment, limits, no survivors."""

    def run(self, command: ShellCommand, deadline: Deadline, progress: Progress) -> Completed:
        """Runs to the end or to a limit; no process of it is left afterwards.

        Raises:
            CannotJudgeError: when the program does not exist or cannot be started.
        """

    def ask(self, command: ShellCommand, deadline: Deadline) -> str:
        """The last lines that a short program prints; empty where it cannot be run."""

    def environment(self, extra: Sequence[str] = ()) -> Mapping[str, str]:
        """The environment that untrusted programs get: an allow-list and the named extras."""

    def which(self, program: str) -> str | None:
        """Where a program is on that environment's PATH."""

    def scratch(self) -> AbstractContextManager[Path]:
        """A fresh directory for such programs, removed afterwards whatever they left in it."""

    def copy_caches(self, programs: Collection[str], home: Path) -> None:
        """Copies what these programs have downloaded for the operator into a HOME."""

    @property
    def withheld(self) -> Sequence[str]:
        """The names of proxies and registries that it leaves out of that environment."""

    @property
    def level(self) -> str:
        """The sandbox level that this shell keeps: ``"L0"`` to ``"L3"``."""


class Checks(Protocol):
    """What is said of a repository's commits elsewhere; this program's own reports are left out."""

    def of(self, commit: str, deadline: Deadline) -> Iterator[Sequence[CheckResult]]:
        """All that is said of the commit, looked up once and then now and again until the deadline.

        Stop iterating when enough was seen.

        Raises:
            SourceError: when it cannot be looked up.
        """

    def annotations(self, run: CheckResult, deadline: Deadline) -> Sequence[CheckAnnotation]:
        """What a check run says of lines; nothing for anything else.

        Raises:
            SourceError: when it cannot be looked up.
        """

    def reports(self, commit: str, names: Sequence[str], deadline: Deadline) -> LeftReports:
        """The JUnit reports in the newest artifacts of the commit that have one of these names.

        Args:
            names: ``*`` stands for any text.

        Raises:
            SourceError: when they cannot be looked up.
        """


class Evidence(Protocol):
    """What a build elsewhere has left behind, as untrusted bytes."""

    def read(self) -> bytes:
        """All of it.

        Raises:
            CannotJudgeError: when it is not there or cannot be read, or is too large.
        """


class Progress(Listener, Protocol):
    """Tells a waiting person what is going on."""

    def say(self, text: str) -> None:
        """What is being done right now, such as a command's last line of output."""

    def close(self) -> None:
        """The run is over, however it ended."""


class SilentProgress:
    """Progress that nobody watches."""

    def judge_started(self, jury: str, judge: str) -> None:
        """A judge has been asked."""

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """A judge has answered."""

    def say(self, text: str) -> None:
        """What is being done right now."""

    def close(self) -> None:
        """Nothing."""


class Recorder(Protocol):
    """Keeps what happened in a run, to be read later."""

    def record(self, event: str, /, **facts: object) -> None:
        """Keep one event, such as ``model``; ``ms`` is how long it took. It never raises."""


class NoRecorder:
    """Nobody keeps anything."""

    def record(self, event: str, /, **facts: object) -> None:
        """Nothing."""


class Publisher(Protocol):
    """Hangs the report up in one place."""

    @property
    def name(self) -> str:
        """The publisher's name in messages."""

    def publish(self, report: Report) -> str | None:
        """Publishes; the result is where it can be seen, if that is worth telling.

        Raises:
            PublishError: when it could not; the report itself is unharmed.
        """


@dataclass(frozen=True)
class Ports:
    """The ports that a judge may use.

    Attributes:
        models: who may be asked; nobody, unless there is a provider and a key.
        memory: answers of earlier runs.
        redact: takes secrets out of whatever leaves this machine.
        checks: None where they cannot be asked for; ``checks_missing`` says why.
        evidence: of a build elsewhere, None where the operator named none.
        agents: who starts agents; nobody, but in a review.
        journal: keeps what happens.
    """

    repository: Repository
    shell: Shell
    progress: Progress
    models: Models = field(default_factory=NoModels)
    memory: Memory = field(default_factory=NoMemory)
    redact: Redact = BY_SHAPE
    checks: Checks | None = None
    checks_missing: str = "nothing says where the checks of this repository are"
    evidence: Evidence | None = None
    agents: Agents = field(default_factory=NoAgents)
    journal: Recorder = field(default_factory=NoRecorder)
