"""What a judge of pull requests is asked about."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from prjury.deadline import Deadline
from prjury.jury.context import JudgmentContext
from prjury.jury.voting import Ballot
from prjury.ports.types import LinkedIssue
from prjury.snapshot.model import PullRequest

T = TypeVar("T")

#: The name under which ``Once`` keeps the issues, where a judge has asked for them.
LINKED_ISSUES = "linked issues"


class Once:
    """What several judges of one pull request need, made by the first one that asks for it."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, name: str, make: Callable[[], T]) -> T:
        """The thing of this name, made once; others wait. A failure is not kept."""
        with self._lock:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            if name not in self._made:
                self._made[name] = make()
            return cast("T", self._made[name])


@dataclass(frozen=True)
class CallSite:
    """A line that the change leaves as it is, and that uses a name which the change alters.

    Attributes:
        path: as the report prints it.
        verb: ``defines`` for a line that defines what the change calls, or an altered name again.
    """

    name: str
    path: str
    line: int
    text: str
    verb: str = "uses"


@dataclass(frozen=True)
class PullRequestContext(JudgmentContext):
    """A judgment context with the snapshot of a pull request and the time that is left.

    Attributes:
        once: what judges share, so that it is made once.
        ballots: what the judges before have said.
        find_call_sites: looks for them; nobody needs them where no model is asked.
        read_issues: reads those that the change closes; one judge alone asks for them.
        workflow: the file of the workflow that runs the review as the change has it.
    """

    pull: PullRequest = field(kw_only=True)
    deadline: Deadline = field(kw_only=True)
    workflow: str | None = field(default=None, kw_only=True)
    once: Once = field(default_factory=Once, kw_only=True, repr=False, compare=False)
    ballots: list[Ballot] = field(default_factory=list, kw_only=True, repr=False, compare=False)
    find_call_sites: Callable[[], Sequence[CallSite]] = field(
        default=tuple, kw_only=True, repr=False, compare=False
    )
    read_issues: Callable[[], Sequence[LinkedIssue]] = field(
        default=tuple, kw_only=True, repr=False, compare=False
    )


@runtime_checkable
class AskedBeforeBuilds(Protocol):
    """A judge whose answer must not depend on what a build leaves behind."""

    def prepare(self, context: PullRequestContext) -> object:
        """Find the answer before anything of the change runs; it is kept in ``context.once``."""
