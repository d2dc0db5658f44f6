"""Every door to the outside, as a Protocol, on one page.

Judges, sources, models and publishers meet only here. Whoever stands behind a door in production
or in a test is decided in `app`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from prjury.deadline import Deadline
from prjury.dialogue import Prompt, Reply
from prjury.jury.asking import Listener
from prjury.pull.landing import Commit, RebaseTrial
from prjury.pull.model import MergeTrial
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file of a commit: its path (see `prjury.pull.model`), git mode and object name."""

    path: str
    mode: str
    blob: str


@dataclass(frozen=True, slots=True)
class PickTrial:
    """A change picked onto another branch in object space.

    Attributes:
        merge: the outcome; its tree is what the branch would hold afterwards.
        branch_sha: the tip that the change was tried on.
        empty: whether the branch would not change, because it holds the change already.
    """

    merge: MergeTrial
    branch_sha: str
    empty: bool = False


class Repository(Protocol):
    """The objects of the repository under judgment, read-only and without its configuration."""

    def files(self, commit: str) -> Sequence[TreeEntry]:
        """Every file of a commit or tree, in git's order."""
        ...

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        """The blobs' bytes by object name; None for one that is missing from a partial clone."""
        ...

    def export(self, tree: str, directory: Path) -> Sequence[str]:
        """Writes a tree into an empty directory: plain files, no ``.git``, no filters run.

        Returns the paths of the files that are not there, because a partial clone lacks their
        content.
        """
        ...

    def pick(self, base: str, head: str, onto: str) -> PickTrial:
        """Tries the change from ``base`` to ``head`` as one commit on the branch ``onto``.

        Raises:
            SourceError: when there is no such branch.
        """
        ...

    def recent(self, tip: str, count: int) -> Sequence[Commit]:
        """The newest commits of a branch along first parents; fewer where its history ends."""
        ...

    def rebase(self, base: str, head: str, deadline: Deadline) -> RebaseTrial:
        """Tries the head's commits one after the other on the tip of the base.

        Raises:
            SourceError: when objects are missing or damaged, or git fails.
        """
        ...


@dataclass(frozen=True)
class Command:
    """A program to run.

    Attributes:
        argv: program and arguments, or one string for ``/bin/sh -c``.
        directory: where it runs.
        env: the whole environment; nothing is inherited.
        output_limit: bytes of output beyond which the program is stopped.
    """

    argv: Sequence[str] | str
    directory: Path
    env: Mapping[str, str] = field(default_factory=dict)
    output_limit: int = 200 * 1024 * 1024

    @property
    def text(self) -> str:
        """The command line as a person would type it."""
        return self.argv if isinstance(self.argv, str) else " ".join(self.argv)


@dataclass(frozen=True)
class Completed:
    """What became of a program.

    Attributes:
        exit_code: its exit code; minus the signal's number if a signal ended it.
        log: the file that holds everything it printed, standard output and error together.
        stopped: which limit we ended it at (``"timeout"``, ``"output_limit"``, ``"memory_limit"``,
            ``"process_limit"``), else None.
        seconds: how long it ran.
    """

    exit_code: int
    log: Path
    seconds: float
    stopped: str | None = None

    def tail(self, lines: int = 30, size: int = 16_384) -> str:
        """The last lines of the log, decoded with replacement."""
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - size))
            text = file.read().decode("utf-8", "replace")
        return "\n".join(text.splitlines()[-lines:])


class Shell(Protocol):
    """Runs programs that are not trusted: own session, own environment, limits, no survivors."""

    def run(self, command: Command, deadline: Deadline, progress: Progress) -> Completed:
        """Runs to the end or to a limit; no process of it is left afterwards.

        Raises:
            CannotJudgeError: when the program does not exist or cannot be started.
        """
        ...

    def environment(self, extra: Sequence[str] = ()) -> Mapping[str, str]:
        """The environment that untrusted programs get: an allow-list and the named extras."""
        ...

    def which(self, program: str) -> str | None:
        """Where a program is on that environment's PATH."""
        ...

    def scratch(self) -> AbstractContextManager[Path]:
        """A fresh directory for such programs, removed afterwards whatever they left in it."""
        ...

    @property
    def level(self) -> str:
        """The sandbox level that this shell keeps: ``"L0"`` to ``"L3"``."""
        ...


@dataclass(frozen=True, slots=True)
class CheckRun:
    """What was said of a commit elsewhere: a check run, a commit status, a workflow's run.

    Attributes:
        name: the check's name or the status's context; whoever reports it has chosen it.
        app: who reports it: the slug of an app, or ``@login`` for a commit status.
        conclusion: how it ended, such as ``"success"``; None as long as it has not.
        url: the page about it, an http(s) address.
    """

    name: str
    app: str
    conclusion: str | None = None
    url: str | None = None


class Checks(Protocol):
    """What is said of a repository's commits elsewhere; this program's own reports are left out."""

    def of(self, commit: str, deadline: Deadline) -> Iterator[Sequence[CheckRun]]:
        """All that is said of the commit, looked up once and then now and again until the deadline.

        Whoever has seen enough stops asking.

        Raises:
            SourceError: when it cannot be looked up.
        """
        ...


class Evidence(Protocol):
    """What a build elsewhere has left behind, as untrusted bytes."""

    def read(self) -> bytes:
        """All of it.

        Raises:
            CannotJudgeError: when it is not there or cannot be read, or is too large.
        """
        ...


class ChatModel(Protocol):
    """A model behind whatever provider: one prompt in, one text out. It has no tools."""

    @property
    def name(self) -> str:
        """``provider:model``."""
        ...

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The reply.

        Raises:
            ModelError: refused, unreachable, out of time, not authorised, or without a reply.
        """
        ...


class Progress(Listener, Protocol):
    """Tells a waiting person what is going on."""

    def say(self, text: str) -> None:
        """What is being done right now, such as a command's last line of output."""

    def close(self) -> None:
        """The run is over, however it ended."""


class Publisher(Protocol):
    """Hangs the report up in one place."""

    @property
    def name(self) -> str:
        """The publisher's name in messages."""
        ...

    def publish(self, report: Report) -> str | None:
        """Publishes; the result is where it can be seen, if that is worth telling.

        Raises:
            PublishError: when it could not; the report itself is unharmed.
        """
        ...


@dataclass(frozen=True)
class Doors:
    """The doors that a judge may use.

    Attributes:
        model: None where there is none; ``model_missing`` says why.
        redact: takes secrets out of whatever leaves this machine.
        checks: None where they cannot be asked for; ``checks_missing`` says why.
        evidence: of a build elsewhere, None where the operator named none.
    """

    repository: Repository
    shell: Shell
    progress: Progress
    model: ChatModel | None = None
    model_missing: str = "no model provider or key is configured"
    redact: Redact = BY_SHAPE
    checks: Checks | None = None
    checks_missing: str = "nothing says where the checks of this repository are"
    evidence: Evidence | None = None
