"""What a change brings, found once for all branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock

from prjury.code.parser import Parser
from prjury.deadline import Deadline
from prjury.judges.backport.checks.api import Interface, interface_of
from prjury.judges.backport.checks.asked_for import RequestSources
from prjury.judges.backport.checks.dependencies import Bumps, bumps_of
from prjury.judges.backport.checks.not_there_yet import Identity, identity_of
from prjury.judges.backport.references import ChangeReferences, needs_of
from prjury.judges.backport.score.features import ChangeFeatures, change_features
from prjury.ports import Releases, Repository
from prjury.snapshot.model import PullRequest


@dataclass(frozen=True)
class Change:
    """The pull request and what depends on it alone.

    Attributes:
        concerned: the files that version patterns are about.
        parents: of the head.
    """

    pull: PullRequest
    identity: Identity
    requests: RequestSources
    interface: Interface
    bumps: Bumps
    features: ChangeFeatures
    repository: Repository
    concerned: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    @property
    def needs(self) -> ChangeReferences:
        """What the change refers to, found once when the first branch asks."""
        with self._lock:
            return self._needs

    @cached_property
    def _needs(self) -> ChangeReferences:
        return needs_of(self.pull, self.repository)


def change_of(
    pull: PullRequest,
    requests_in: Callable[[Sequence[str]], RequestSources],
    concerned: frozenset[str],
    repository: Repository,
    releases: Releases,
    parser: Parser,
    deadline: Deadline,
) -> Change:
    """Find what the change brings.

    Args:
        requests_in: reads requests for backports, given the messages of the commits.

    Raises:
        SourceError: when the repository cannot be read.
    """
    commits = releases.messages(pull.merge_base, pull.head.sha)
    single = [one for one in reversed(commits) if len(one.parents) == 1]
    return Change(
        pull,
        identity_of(pull, [(one.parents[0], one.sha) for one in single]),
        requests_in([one.text for one in commits]),
        interface_of(pull, repository, parser, deadline),
        bumps_of(pull, repository),
        change_features(pull),
        repository,
        concerned,
        commits[0].parents if commits else (),
    )
