"""Every door to the outside, as a Protocol, on one page.

Judges, sources, models and publishers meet only here. Whoever stands behind a door in production
or in a test is decided in `prjury.wiring`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from prjury.deadline import Deadline
from prjury.dialogue import Prompt, Reply
from prjury.exchange import CheckRun, Command, Completed, PickTrial, TreeEntry
from prjury.jury.asking import Listener
from prjury.jury.population import NOT_CONFIGURED
from prjury.pull.landing import Commit, RebaseTrial
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE


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

    @property
    def identity(self) -> str:
        """Everything that its answers depend on: provider, model, address and options; no key."""
        ...

    @property
    def room(self) -> int:
        """Tokens of material that are laid before it in one prompt."""
        ...

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The reply.

        Raises:
            ModelError: refused, unreachable, out of time, not authorised, over the budget, or
                without a reply.
        """
        ...

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars for so many tokens; None where the price is not known."""
        ...


@dataclass(frozen=True)
class Panel:
    """The models that one judge asks, each of them alone.

    Attributes:
        models: one seat each; none where there is no provider or key.
        missing: why there is none.
        label: the label of the abstention then.
        absent: those among the models that will not answer, by name, and why.
        chair: who reads the answers of the last round and decides; None where votes are counted.
        confidence: the mean confidence, 0..1, below which everybody is asked again.
        rounds: how often everybody is asked at most.
        refusal: why so many input tokens and US dollars (None where the price is not known) would
            exceed what is left of the budget; None where they would not.
        trigger: what confidence is taken from: ``evidence`` (the share of quotes that are true),
            ``flip`` (asked twice, files in another order), ``agreement``, ``self_report``.
    """

    models: tuple[ChatModel, ...] = ()
    missing: str = "no model provider or key is configured"
    label: str = NOT_CONFIGURED
    absent: Mapping[str, str] = field(default_factory=dict)
    chair: ChatModel | None = None
    confidence: float = 0.7
    rounds: int = 1
    trigger: str = "evidence"
    refusal: Callable[[int, float | None], str | None] = lambda _tokens, _usd: None


class Models(Protocol):
    """The models that the operator has."""

    def panel(self, wish: str = "auto") -> Panel:
        """Who is asked, by what a judge's ``model`` option says; ``auto`` is the policy's choice.

        Raises:
            ConfigError: for a provider that is not known.
        """
        ...


class Memory(Protocol):
    """Answers of earlier runs. It may forget anything at any time, and never fails."""

    def recall(self, key: str) -> str | None:
        """What was kept under the key."""
        ...

    def keep(self, key: str, value: str) -> None:
        """Keeps it, if that can be had."""
        ...


class NoModels:
    """There is no model."""

    def __init__(self, missing: str = Panel.missing, label: str = Panel.label) -> None:
        self._nobody = Panel(missing=missing, label=label)

    def panel(self, wish: str = "auto") -> Panel:  # noqa: ARG002 - there is none of any name
        """Nobody."""
        return self._nobody


class NoMemory:
    """Remembers nothing."""

    def recall(self, key: str) -> str | None:  # noqa: ARG002
        """Nothing."""
        return None

    def keep(self, key: str, value: str) -> None:
        """Does nothing."""


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
        models: who may be asked; nobody, unless there is a provider and a key.
        memory: answers of earlier runs.
        redact: takes secrets out of whatever leaves this machine.
        checks: None where they cannot be asked for; ``checks_missing`` says why.
        evidence: of a build elsewhere, None where the operator named none.
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
