"""What is proposed of a merged change: its verdicts, and each pick as commits to be made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from prjury.app.backport import BackportResult, judge_backports
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.deadline import Deadline
from prjury.git.open_snapshot import NothingToReview
from prjury.git.releases import ReleaseBranches
from prjury.policy.schema import OpenConfig
from prjury.report.model import Backport
from prjury.snapshot.model import PullRequest
from prjury.snapshot.picked import Author, Pick, PickedCommit

#: Seconds in which commits are picked one by one.
_PATIENCE = 120.0


@dataclass(frozen=True)
class Proposals:
    """The verdicts on a merged change, and the picks that the policy wants proposed.

    Attributes:
        open: what the policy says of opening pull requests.
        nothing: why there is nothing to judge; empty where there is.
    """

    open: OpenConfig
    backports: tuple[Backport, ...] = ()
    picks: tuple[Pick, ...] = ()
    nothing: str = ""


def proposals(
    request: ReviewRequest,
    environment: RunEnvironment,
    wanted: Callable[[Backport, OpenConfig], bool],
) -> Proposals:
    """Judges a merged change and makes the picks of the branches that it suits.

    What the author says in title and description asks for nothing here: both can be edited after
    somebody has looked at them.

    Args:
        wanted: whether a verdict is reason enough to propose the pick.

    Raises:
        PrJuryError: with the exit code that says whose fault it is.
    """
    with judge_backports(request, environment, texts=False) as found:
        if isinstance(found, NothingToReview):
            return Proposals(OpenConfig(), nothing=found.reason)
        open_, backports = found.policy.config.backport.open, found.told.backports
        if not open_.enabled:
            return Proposals(open_, backports)
        making = _Making(found, ReleaseBranches(found.snapshot.store))
        picks = [making.pick(one) for one in backports if wanted(one, open_)]
        return Proposals(open_, backports, tuple(picks))


@dataclass(frozen=True)
class _Making:
    """Makes picks out of verdicts."""

    found: BackportResult
    releases: ReleaseBranches

    @property
    def _pull(self) -> PullRequest:
        return self.found.snapshot.pull

    def pick(self, backport: Backport) -> Pick:
        """The pick of one branch, with every object that it takes."""
        pull = self._pull
        tip = self.releases.tip(backport.branch_sha or backport.branch)
        clean = backport.tree is not None
        return Pick(
            branch=backport.branch,
            branch_sha=tip.sha,
            branch_tree=tip.tree,
            commits=tuple(self._commits(backport, tip.tree)) if clean else (),
            verdict=backport.verdict,
            number=pull.number or 0,
            title=pull.title,
            url=pull.url or "",
            reasons=backport.reasons,
            conflicts=() if clean else backport.conflicts,
            prerequisites=backport.prerequisites,
            commands=backport.commands,
        )

    def _commits(self, backport: Backport, tree: str) -> Iterator[PickedCommit]:
        """What comes first, then the change as the project would bring it."""
        for sha in [named.split(" ")[0] for named in backport.prerequisites]:
            commit = self._commit(sha, [sha], tree)
            yield commit
            tree = commit.tree
        if self.found.policy.config.backport.merge == "rebase" and self._pull.ahead > 1:
            yield from self._each(tree)
        else:
            yield self._squash(tree)

    def _each(self, tree: str) -> Iterator[PickedCommit]:
        pull, deadline = self._pull, Deadline.after(_PATIENCE)
        for sha in self.releases.pick_each(pull.merge_base, pull.head.sha, tree, deadline).kept:
            commit = self._commit(sha, [sha], tree)
            yield commit
            tree = commit.tree

    def _squash(self, tree: str) -> PickedCommit:
        pull = self._pull
        after = self.releases.pick(pull.merge_base, pull.head.sha, tree).tree or tree
        message, author = self.releases.written(pull.head.sha)
        if pull.ahead > 1:
            number = f" (#{pull.number})" if pull.number else ""
            message = f"{' '.join(pull.title.split())}{number}\n"
            author = self._author() or author
        files = self.releases.differing(tree, after)
        return PickedCommit(after, files, message, author, (pull.head.sha,))

    def _author(self) -> Author | None:
        """Whoever wrote the newest commit that is no merge."""
        commits = self.releases.messages(self._pull.merge_base, self._pull.head.sha)
        own = next((one.sha for one in commits if len(one.parents) == 1), None)
        return self.releases.written(own)[1] if own else None

    def _commit(self, sha: str, origins: Sequence[str], tree: str) -> PickedCommit:
        """One commit picked onto a tree."""
        parent = self.releases.parent(sha)
        after = self.releases.pick(parent, sha, tree).tree or tree
        message, author = self.releases.written(sha)
        return PickedCommit(
            after, self.releases.differing(tree, after), message, author, tuple(origins)
        )
