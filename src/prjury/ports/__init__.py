"""Every port to the outside, as a Protocol.

Judges, adapters and publishers meet only here; `prjury.app.composition` chooses what
implements a port.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
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
    BranchTip,
    CheckResult,
    CommitMessage,
    Completed,
    LeftReports,
    ShellCommand,
    TreeEntry,
)
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE
from prjury.snapshot.merge_style import RebaseTrial, StyleCommit
from prjury.snapshot.model import LineSpan, MergeTrial, PullRequest

if TYPE_CHECKING:
    from prjury.jury.library.agent import AgentClient


class Repository(Protocol):
    """The objects of the repository under judgment, read-only and without its configuration."""

    def files(self, commit: str) -> Sequence[TreeEntry]:
        """Every file of a commit or tree, in git's order."""

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        """The blobs' bytes by object name; None for one that is missing from a partial clone."""

    def export(self, tree: str, directory: Path) -> Sequence[str]:
        """Writes a tree into an empty directory: plain files, no ``.git``, no filters run.

        Returns the paths of the files that are not there, because a partial clone lacks their
        content.
        """

    def nearest_tag(self, commit: str) -> str:
        """The name of the nearest tag in a commit's history; empty where none is known."""

    def recent(self, tip: str, count: int) -> Sequence[StyleCommit]:
        """The newest commits of a branch along first parents; fewer where its history ends."""

    def rebase(self, base: str, head: str, deadline: Deadline) -> RebaseTrial:
        """Tries the head's commits one after the other on the tip of the base.

        Raises:
            SourceError: when objects are missing or damaged, or git fails.
        """


class Releases(Protocol):
    """The release branches of the repository under judgment: what they hold, and picks onto them.

    Commits and trees are object names. Whatever looks into history raises SourceError where that
    cannot be read.
    """

    def tip(self, name: str) -> BranchTip:
        """The branch's tip; any ref or commit may stand for a branch.

        Raises:
            SourceError: when there is no such branch.
            UsageError: for something that cannot be the name of a ref.
        """

    def parted(self, one: str, other: str) -> str | None:
        """The nearest common commit; None where there is none, or where that is not known."""

    def holds(self, tip: str, commit: str) -> bool:
        """Return whether the commit itself is part of a branch's history."""

    def pick(self, base: str, head: str, onto: str) -> MergeTrial:
        """Tries the change from ``base`` to ``head`` as one commit on a commit or a tree."""

    def picked_tree(self, base: str, head: str, onto: str) -> str | None:
        """The tree that such a pick comes to; None where it conflicts, without saying how."""

    def pick_each(self, base: str, head: str, onto: str, deadline: Deadline) -> RebaseTrial:
        """Tries the commits of the change one after the other, without merges."""

    def picked(self, pull: PullRequest, tip: BranchTip, tree: str) -> PullRequest:
        """The picked change as a pull request onto the branch, for judges of pull requests."""

    def moved(self, since: str, until: str, paths: Collection[str]) -> Mapping[str, str]:
        """Return where these files of one commit are in another, as git detects renames."""

    def breadth(self, base: str, head: str) -> int:
        """Return how many files differ between two commits."""

    def units(
        self, since: str, until: str, paths: Sequence[str], most: int
    ) -> Sequence[StyleCommit]:
        """Return what was brought to a branch and touches one of the paths, newest first.

        A merged pull request is one unit, its merge commit.
        """

    def blamed(
        self, path: str, lines: Sequence[LineSpan], since: str, until: str
    ) -> AbstractSet[str]:
        """The units since then that the lines of a file, as it is at ``until``, come from."""

    def bringing(self, word: str, path: str, since: str, until: str) -> StyleCommit | None:
        """The first unit since then that brought a word to a file."""

    def lines_between(self, before: str, after: str) -> tuple[int, int]:
        """Count the lines of text that one tree has and another has not, and the reverse."""

    def messages(self, since: str, until: str) -> Sequence[CommitMessage]:
        """The messages of all commits of a range, newest first."""

    def brought(self, since: str, until: str, most: int) -> Sequence[CommitMessage]:
        """The messages of the units that were brought to a branch, newest first."""

    def same_patches(
        self, changes: Sequence[tuple[str, str]], paths: Sequence[str], since: str, until: str
    ) -> Mapping[tuple[str, str], Sequence[str]]:
        """Which changes, from a commit to another, a branch holds with the very same patch.

        The result tells in which commits. What commits do to other files is not compared.
        """


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
        """The reply.

        Raises:
            ModelError: refused, unreachable, out of time, not authorised, over the budget, or
                without a reply.
        """

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars for so many tokens; None where the price is not known."""


class Panel(Struct, frozen=True):
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
        passes: how often each seat is asked independently; all that it finds is joined.
        confirm: whether each error needs a second question to count.
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

    def panel(self, request: str = "auto") -> Panel:
        """Return the models that a judge's ``model`` option names; ``auto`` is the policy's choice.

        Raises:
            ConfigError: for a provider that is not known.
        """


class Memory(Protocol):
    """Answers of earlier runs. It may forget anything at any time, and never fails."""

    def recall(self, key: str) -> str | None:
        """Return what was kept under the key."""

    def keep(self, key: str, value: str) -> None:
        """Keeps it, if that can be had."""


class NoModels:
    """There is no model."""

    def __init__(self, missing: str = Panel().missing, label: str = Panel().label) -> None:
        self._nobody = Panel(missing=missing, label=label)

    def panel(self, request: str = "auto") -> Panel:  # noqa: ARG002 - there is none of any name
        """Nobody."""
        return self._nobody


class NoMemory:
    """Remembers nothing."""

    def recall(self, key: str) -> str | None:  # noqa: ARG002
        """Nothing."""
        return None

    def keep(self, key: str, value: str) -> None:
        """Does nothing."""


class Agents(Protocol):
    """Starts agents, contained and with no secret but their own."""

    def client(self, command: str, env: Sequence[str], timeout: float) -> AgentClient:
        """A way to the agent.

        Args:
            command: one line for ``/bin/sh``.
            env: names of variables that it gets.
            timeout: seconds for each goal.

        Raises:
            CannotJudgeError: where none may be started.
        """


class NoAgents(Struct, frozen=True):
    """No agent is started (`Agents`).

    Attributes:
        why: for the reader.
        label: the machine-readable reason.
    """

    why: str = "agents are started by `prjury review` alone, not in a stage of its own"
    label: str = "agents_not_started"

    def client(self, command: str, env: Sequence[str], timeout: float) -> AgentClient:  # noqa: ARG002 - it refuses
        """Raises CannotJudgeError."""
        raise CannotJudgeError(self.why, reason=self.label)


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

    def of(self, commit: str, deadline: Deadline) -> Iterator[Sequence[CheckResult]]:
        """All that is said of the commit, looked up once and then now and again until the deadline.

        Stop iterating when enough was seen.

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
        """Publishes; the result is where it can be seen, if that is worth telling.

        Raises:
            PublishError: when it could not; the report itself is unharmed.
        """


class Ports(Struct, frozen=True):
    """The ports that a judge may use.

    Attributes:
        models: who may be asked; nobody, unless there is a provider and a key.
        memory: answers of earlier runs.
        base_outcomes: what bases came to that earlier runs built.
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
    base_outcomes: Memory = field(default_factory=NoMemory)
    redact: Redact = BY_SHAPE
    checks: Checks | None = None
    checks_missing: str = "nothing says where the checks of this repository are"
    evidence: Evidence | None = None
    agents: Agents = field(default_factory=NoAgents)
    journal: Recorder = field(default_factory=NoRecorder)
