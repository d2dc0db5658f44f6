"""Every port to the outside, as a Protocol; `prjury.app.composition` chooses what implements it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.jury.guard import Listener
from prjury.jury.voting import NOT_CONFIGURED, Ballot
from prjury.ports.messages import Prompt, Reply
from prjury.ports.types import (
    CheckResult,
    Completed,
    FetchedReports,
    ShellCommand,
    TreeEntry,
    WordPlaces,
)
from prjury.report.model import Report
from prjury.report.sanitise import BY_SHAPE, Redact
from prjury.snapshot.merge_style import HistoryCommit, RebaseTrial

if TYPE_CHECKING:
    from prjury.jury.library.agent import AgentClient


class Repository(Protocol):
    """The objects of the repository under judgment, read-only and without its configuration."""

    def files(self, commit: str) -> Sequence[TreeEntry]:
        """Every file of a commit or tree, in git's order."""

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        """The blobs' bytes by object name; None for one that is missing from a partial clone."""

    def export_and_list_missing(self, tree: str, directory: Path) -> Sequence[str]:
        """Writes plain files into an empty directory; returns paths whose content is missing."""

    def nearest_tag(self, commit: str) -> str:
        """The name of the nearest tag in a commit's history; empty where none is known."""

    def recent(self, tip: str, count: int) -> Sequence[HistoryCommit]:
        """The newest commits of a branch along first parents; fewer where its history ends."""

    def rebase(self, base: str, head: str, deadline: Deadline) -> RebaseTrial:
        """Tries the head's commits one after the other on the tip of the base, or a SourceError."""


class SearchableRepository(Repository, Protocol):
    """A repository whose trees can be searched."""

    def with_words(self, tree: str, words: Sequence[str]) -> WordPlaces:
        """Every place of each word in a commit or tree; SourceError if that takes too long."""


class ChatModel(Protocol):
    """A model behind whatever provider: one prompt in, one text out. It has no tools."""

    @property
    def name(self) -> str:
        """``provider:model``."""

    @property
    def identity(self) -> str:
        """Everything that its answers depend on: provider, model, address and options; no key."""

    @property
    def room(self) -> int:
        """Tokens of material that are laid before it in one prompt."""

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The reply, or a ModelError."""

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars for so many tokens; None where the price is not known."""


class Panel(Struct, frozen=True):
    """The models that one judge asks, each of them alone; a chair reads the last round's answers.

    ``missing`` says why there are none, ``absent`` which will not answer; ``refusal`` why so many
    input tokens and US dollars (None if not known) exceed the budget. Below a mean ``confidence``
    (0..1), taken by ``trigger`` (such as ``evidence``, the share of quotes that are true), all are
    asked again; ``passes`` times independently, and ``confirm`` asks a second time about errors.
    """

    models: tuple[ChatModel, ...] = ()
    missing: str = "no model provider or key is configured"
    label: str = NOT_CONFIGURED
    absent: Mapping[str, str] = field(default_factory=dict)
    chair: ChatModel | None = None
    confidence: float = 0.7
    rounds: int = 1
    trigger: str = "evidence"
    passes: int = 1
    confirm: bool = False
    refusal: Callable[[int, float | None], str | None] = lambda _tokens, _usd: None


class Models(Protocol):
    """The models that the operator has."""

    def panel(self, judge_spec: str = "auto") -> Panel:
        """The models that a judge's ``model`` names, or a ConfigError; ``auto``: the policy's."""


class Memory(Protocol):
    """Answers of earlier runs. It may forget anything at any time, and never fails."""

    def recall(self, key: str) -> str | None:
        """Return what was kept under the key."""

    def keep(self, key: str, value: str) -> None:
        """Keeps it, if that can be had."""


class NoModels(Struct, frozen=True):
    """There is no model."""

    nobody: Panel = Panel()

    def panel(self, judge_spec: str = "auto") -> Panel:  # noqa: ARG002 - there is none of any name
        """Nobody."""
        return self.nobody


class NoMemory:
    """Remembers nothing."""

    def recall(self, key: str) -> str | None:  # noqa: ARG002
        """Nothing."""
        return None

    def keep(self, key: str, value: str) -> None:
        """Does nothing."""


class Agents(Protocol):
    """Starts agents, contained and with no secret but their own."""

    def make_client(self, command: str, env: Sequence[str], timeout: float) -> AgentClient:
        """A way to the agent of a command line, with these variables; seconds for each goal."""


class NoAgents(Struct, frozen=True):
    """No agent is started."""

    why: str = "agents are started by `prjury review` alone, not in a stage of its own"
    label: str = "agents_not_started"

    def make_client(self, command: str, env: Sequence[str], timeout: float) -> AgentClient:  # noqa: ARG002 - it refuses
        """Refuse."""
        raise CannotJudgeError(self.why, reason=self.label)


class Shell(Protocol):
    """Runs programs that are not trusted: own session, own environment, limits, no survivors."""

    def run(self, command: ShellCommand, deadline: Deadline, progress: Progress) -> Completed:
        """Runs to the end or to a limit, after which no process of it is left."""

    def environment(self, extra: Sequence[str] = ()) -> Mapping[str, str]:
        """The environment that untrusted programs get: an allow-list and the named extras."""

    def which(self, program: str) -> str | None:
        """Return where a program is on that environment's PATH."""

    def scratch(self) -> AbstractContextManager[Path]:
        """A fresh directory for such programs, removed afterwards whatever they left in it."""

    def copy_caches(self, programs: Collection[str], home: Path) -> None:
        """Copies what these programs have downloaded for the operator into a HOME."""

    @property
    def withheld(self) -> Sequence[str]:
        """The names of proxies and registries that it leaves out of that environment."""

    @property
    def level(self) -> str:
        """The sandbox level that this shell keeps: ``"L0"`` to ``"L2"``."""

    @property
    def gaps(self) -> Sequence[str]:
        """Ways out that are open at this level here; noun phrases."""

    @property
    def lent(self) -> Sequence[str]:
        """Names of the operator's credentials that programs may read."""


class Checks(Protocol):
    """What is said of a repository's commits elsewhere; this program's own reports are left out."""

    def poll(self, commit: str, deadline: Deadline) -> Iterator[Sequence[CheckResult]]:
        """All that is said of the commit, looked up now and again until the deadline."""

    def reports(self, commit: str, names: Sequence[str], deadline: Deadline) -> FetchedReports:
        """The JUnit reports in the commit's newest artifacts of these names, with ``*``."""


class Evidence(Protocol):
    """What a build elsewhere has left behind, as untrusted bytes."""

    def read_evidence_bytes(self) -> bytes:
        """All of it, or a CannotJudgeError: it is missing, unreadable or too large."""


class Progress(Listener, Protocol):
    """Tells a waiting person what is going on."""

    def say(self, text: str) -> None:
        """Return what is being done right now, such as a command's last line of output."""

    def close(self) -> None:
        """The run is over, however it ended."""


class SilentProgress:
    """Progress that nobody watches."""

    def judge_started(self, jury: str, judge: str) -> None:
        """A judge has been asked."""

    def judge_finished(self, jury: str, ballot: Ballot) -> None:
        """A judge has answered."""

    def say(self, text: str) -> None:
        """Return what is being done right now."""

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
        """Publishes, or raises PublishError; returns where it can be seen, if worth telling."""


class Ports(Struct, frozen=True):
    """The ports that a judge may use; ``checks_missing`` says why there are no ``checks``."""

    repository: Repository
    shell: Shell
    progress: Progress
    models: Models = field(default_factory=NoModels)
    memory: Memory = field(default_factory=NoMemory)
    base_outcomes: Memory = field(default_factory=NoMemory)
    redact: Redact = BY_SHAPE
    checks: Checks | None = None
    checks_missing: str = "nothing says where the checks of this repository are"
    evidence: Evidence | None = None
    agents: Agents = field(default_factory=NoAgents)
    journal: Recorder = field(default_factory=NoRecorder)
