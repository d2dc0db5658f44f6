"""A rebase in object space: every commit is picked onto what the commits before it have made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from prjury.deadline import Deadline
from prjury.pull.conflicts import SideNames
from prjury.pull.landing import Commit, RebaseTrial
from prjury.pull.model import MergeTrial
from prjury.sources.git.command import TIMEOUT, Git, GitError
from prjury.sources.git.merge import try_merge

#: More commits than this are not picked one by one; nobody reviews them one by one either.
MOST_COMMITS = 1_000
_NAMES = SideNames("the base", "the commit")


def recent_commits(git: Git, tip: str, count: int) -> list[Commit]:
    """The newest commits of a branch along first parents, the newest first; fewer where it ends."""
    return [one.commit for one in _log(git, "--first-parent", f"--max-count={count}", tip)]


def try_rebase(git: Git, base: str, head: str, deadline: Deadline) -> RebaseTrial:
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
    return _picked(_Line(git, base, _tree_of(git, base)), commits, trial, deadline)


@dataclass(frozen=True)
class _Listed:
    """A commit of the log, its tree, and whether the other side has its change already."""

    commit: Commit
    tree: str
    applied: bool = False


def _to_pick(git: Git, base: str, head: str, deadline: Deadline) -> Iterator[_Listed]:
    order = ("--topo-order", "--reverse", "--no-merges")
    sides = ("--cherry-mark", "--right-only", f"{base}...{head}")
    return _log(git, *order, *sides, timeout=_left(deadline))


def _log(git: Git, *args: str, timeout: float = TIMEOUT) -> Iterator[_Listed]:
    fixed = ("log", "-z", "--no-show-signature", "--encoding=UTF-8", "--format=%m%H %T %P%n%s")
    output = git(*fixed, *args, timeout=timeout).decode("utf-8", "replace")
    for record in output.split("\0")[: -1 if output.endswith("\0") else None]:
        if record:
            names, _, subject = record.partition("\n")
            sha, tree, *parents = names[1:].split()
            yield _Listed(Commit(sha, tuple(parents), subject), tree, applied=names[0] == "=")


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

    def with_(self, one: _Listed, timeout: float) -> tuple[_Line, MergeTrial]:
        """The line with one commit more; the same line where that conflicts."""
        if one.commit.parents == (self.tip,):
            return replace(self, tip=one.commit.sha, tree=one.tree), MergeTrial(one.tree)
        merge = try_merge(self.git, *self._sides(one), _NAMES, timeout=timeout)
        return (replace(self, tip=None, tree=merge.tree) if merge.tree else self), merge

    def _sides(self, one: _Listed) -> tuple[str, str]:
        """Two commits whose only common one is the parent of what is picked."""
        if one.commit.parents:
            return self._commit(self.tree, one.commit.parents[0]), one.commit.sha
        nothing = self._commit(self.git.text("mktree"))
        return self._commit(self.tree, nothing), self._commit(one.tree, nothing)

    def _commit(self, tree: str, *parents: str) -> str:
        options = [word for parent in parents for word in ("-p", parent)]
        return self.git.text("commit-tree", tree, *options, "-m", "trial pick")


def _picked(
    line: _Line, commits: list[_Listed], trial: RebaseTrial, deadline: Deadline
) -> RebaseTrial:
    for one in commits:
        if not deadline.remaining:
            return replace(trial, unfinished="timeout")
        try:
            longer, merge = line.with_(one, _left(deadline))
        except GitError as error:
            return _given_up(trial, error)
        if merge.impossible:
            return replace(trial, stopped_at=one.commit, impossible=merge.impossible)
        if not merge.clean:
            return replace(trial, stopped_at=one.commit, conflicts=merge.conflicts)
        emptied = trial.emptied + (longer.tree == line.tree)
        line, trial = longer, replace(trial, picked=trial.picked + 1, emptied=emptied)
    return replace(trial, tree=line.tree)
