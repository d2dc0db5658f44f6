"""What a change brings, found out once for all branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock

from prjury.code.parser import Parser
from prjury.deadline import Deadline
from prjury.judges.backport.content.dependency_check import Bumps, bumps_of
from prjury.judges.backport.content.interface import Interface, interface_of
from prjury.judges.backport.content.missing_symbols import ChangeReferences, needs_of
from prjury.judges.backport.past.already_applied import Identity, identity_of
from prjury.judges.backport.requests.find import RequestSources
from prjury.judges.backport.score.change_features import ChangeFeatures, change_features
from prjury.ports import Releases, Repository
from prjury.snapshot.model import PullRequest


@dataclass(frozen=True)
class Change:
    """The pull request, and what depends on it alone.

    Attributes:
        identity: by what it is known again on a branch.
        requests: what people say about backports of it.
        concerned: the files that version patterns have something to say about.
        parents: of the head.
    """

    pull: PullRequest
    identity: Identity
    requests: RequestSources
    interface: Interface
    bumps: Bumps
    traits: ChangeFeatures
    repository: Repository
    concerned: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    @property
    def needs(self) -> ChangeReferences:
        """What it refers to: found out once, when the first branch asks."""
        with self._lock:
            return self._needs

    @cached_property
    def _needs(self) -> ChangeReferences:
        return needs_of(self.pull, self.repository)


def change_of(
    pull: PullRequest,
    wishes_in: Callable[[Sequence[str]], RequestSources],
    repository: Repository,
    releases: Releases,
    parser: Parser,
    deadline: Deadline,
) -> Change:
    """Looks at the change.

    Args:
        wishes_in: what people say about backports, with the messages of the commits.

    Raises:
        SourceError: when the repository cannot be read.
    """
    commits = releases.messages(pull.merge_base, pull.head.sha)
    single = [one for one in reversed(commits) if len(one.parents) == 1]
    return Change(
        pull,
        identity_of(pull, [(one.parents[0], one.sha) for one in single]),
        wishes_in([one.text for one in commits]),
        interface_of(pull, repository, parser, deadline),
        bumps_of(pull, repository),
        change_features(pull),
        repository,
        parents=commits[0].parents if commits else (),
    )
