"""A rebase in object space: every commit is picked onto what the commits before it have made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from prjury.deadline import Deadline
from prjury.git.command import TIMEOUT, Git, GitError
from prjury.git.log import LogEntries, log
from prjury.git.merge import try_merge
from prjury.snapshot.merge_style import RebaseTrial, StyleCommit
from prjury.snapshot.model import MergeTrial
from prjury.snapshot.threeway import Classify, SideNames, unclassified

#: More commits than this are not picked one by one; nobody reviews them one by one either.
MOST_COMMITS = 1_000
_NAMES = SideNames("the base", "the commit")
_PICK = SideNames("the branch", "the commit")


def recent_commits(git: Git, tip: str, count: int) -> list[StyleCommit]:
    """The newest commits of a branch along first parents, the newest first; fewer where it ends."""
    return [one.commit for one in log(git, "--first-parent", f"--max-count={count}", tip)]


def landing(git: Git, head: str, base: str) -> StyleCommit | None:
    """The commit along the base's first parents by which the head came in.

    None where the head is not in the base, or is its first commit.
    """
    args = ("--first-parent", "--ancestry-path", "--reverse", f"{head}..{base}")
    above = [one.commit for one in log(git, *args)]
    by_merge = above[0] if above and head not in above[0].parents[:1] else None
    found = by_merge or next(iter(recent_commits(git, head, 1)))
    return found if found.parents else None


def try_rebase(
    git: Git, base: str, head: str, deadline: Deadline, classify: Classify = unclassified
) -> RebaseTrial:
    """Picks the head's commits onto the tip of the base, up to the first conflict.

    As `git rebase` does, merges are left out, and so are commits whose change the base has already.

    Raises:
        GitError: when git fails for another reason than the time.
    """
    try:
        listed = list(_to_pick(git, base, head, deadline))
    except GitError as error:
        return _given_up(RebaseTrial(None, 0), error)
    commits = [one for one in listed if not one.applied]
    trial = RebaseTrial(None, len(commits), applied=len(listed) - len(commits))
    if len(listed) > MOST_COMMITS:
        return replace(trial, unfinished="too_large")
    return _picked(_Line(git, base, _tree_of(git, base), classify), commits, trial, deadline)


def pick_each(
    git: Git,
    since: str,
    head: str,
    onto: str,
    deadline: Deadline,
    classify: Classify = unclassified,
) -> RebaseTrial:
    """Picks the commits from ``since`` to the head onto a commit or tree, up to the first conflict.

    Merges are left out, as by `git cherry-pick` of a range of commits.

    Raises:
        GitError: when git fails for another reason than the time.
    """
    order = ("--topo-order", "--reverse", "--no-merges")
    commits = list(log(git, *order, f"{since}..{head}", timeout=_left(deadline)))
    trial = RebaseTrial(None, len(commits))
    if len(commits) > MOST_COMMITS:
        return replace(trial, unfinished="too_large")
    line = _Line(git, None, _tree_of(git, onto), classify, _PICK)
    return _picked(line, commits, trial, deadline)


def _to_pick(git: Git, base: str, head: str, deadline: Deadline) -> Iterator[LogEntries]:
    order = ("--topo-order", "--reverse", "--no-merges")
    sides = ("--cherry-mark", "--right-only", f"{base}...{head}")
    return log(git, *order, *sides, timeout=_left(deadline))


def _left(deadline: Deadline) -> float:
    return min(TIMEOUT, deadline.remaining)


def _given_up(trial: RebaseTrial, error: GitError) -> RebaseTrial:
    if error.reason != "timeout":
        raise error
    return replace(trial, unfinished="timeout")


def _tree_of(git: Git, commit: str) -> str:
    return git.text("rev-parse", "--verify", f"{commit}^{{tree}}")


@dataclass(frozen=True)
class _Line:
    """The line of rebased commits so far.

    Attributes:
        tip: the commit of the head's own history at which the line ends, None once it has left it.
        tree: what the line holds.
    """

    git: Git
    tip: str | None
    tree: str
    classify: Classify
    names: SideNames = _NAMES

    def with_(self, one: LogEntries, timeout: float) -> tuple[_Line, MergeTrial]:
        """The line with one commit more; the same line where that conflicts."""
        if one.commit.parents == (self.tip,):
            return replace(self, tip=one.commit.sha, tree=one.tree), MergeTrial(one.tree)
        ours, theirs = self._sides(one)
        merge = try_merge(
            self.git, ours, theirs, self.names, classify=self.classify, timeout=timeout
        )
        return (replace(self, tip=None, tree=merge.tree) if merge.tree else self), merge

    def _sides(self, one: LogEntries) -> tuple[str, str]:
        """Two commits whose only common one is the parent of what is picked."""
        if one.commit.parents:
            return self._commit(self.tree, one.commit.parents[0]), one.commit.sha
        nothing = self._commit(self.git.text("mktree"))
        return self._commit(self.tree, nothing), self._commit(one.tree, nothing)

    def _commit(self, tree: str, *parents: str) -> str:
        options = [word for parent in parents for word in ("-p", parent)]
        return self.git.text("commit-tree", tree, *options, "-m", "trial pick")


def _picked(
    line: _Line, commits: list[LogEntries], trial: RebaseTrial, deadline: Deadline
) -> RebaseTrial:
    for place, one in enumerate(commits, 1):
        if not deadline.remaining:
            return replace(trial, unfinished="timeout")
        try:
            longer, merge = line.with_(one, _left(deadline))
        except GitError as error:
            return _given_up(trial, error)
        if merge.impossible:
            return replace(trial, stopped_at=one.commit, impossible=merge.impossible)
        if not merge.clean:
            left = tuple(later.commit.sha for later in commits[place:])
            return replace(trial, stopped_at=one.commit, conflicts=merge.conflicts, left=left)
        changes = longer.tree != line.tree
        kept = (*trial.kept, one.commit.sha) if changes else trial.kept
        emptied = trial.emptied + (not changes)
        line, trial = longer, replace(trial, picked=trial.picked + 1, emptied=emptied, kept=kept)
    return replace(trial, tree=line.tree)
