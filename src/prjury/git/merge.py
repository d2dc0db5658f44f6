"""Trial merges and rebases in object space: no checkout, no index, no work tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from prjury.deadline import Deadline
from prjury.git.command import TIMEOUT, Git, GitError, decode_path
from prjury.git.conflicts import (
    ConflictReader,
    ConflictStage,
    FailedMerge,
    MergeMessage,
    make_conflicts,
)
from prjury.git.history import MOST_NAMED, LogEntry, read_log
from prjury.snapshot.merge_style import HistoryCommit, RebaseTrial
from prjury.snapshot.model import MergeTrial, visible
from prjury.snapshot.threeway import BASE_AND_HEAD, SideNames

#: So many commits of the base that touch the same files are compared with a squashed change.
_MOST_SQUASHES = 50


def try_merge(
    git: Git, onto: str, head: str, names: SideNames = BASE_AND_HEAD, *, timeout: float = TIMEOUT
) -> MergeTrial:
    """Merge two commits; the result's tree exists in ``git``'s object store."""
    args = ("merge-tree", "--write-tree", "-z", "--messages", onto, head)
    output, code, stderr = git.try_run(*args, timeout=timeout)
    if code not in {0, 1}:
        return MergeTrial(None, impossible=_explain_failure(stderr, code))
    tree, *rest = decode_path(output).split("\0")
    if code == 0:
        return MergeTrial(tree)
    trial = FailedMerge(git, onto, head, names)
    return MergeTrial(None, make_conflicts(trial, _read_clashes(rest, (onto, head))))


def merge_trees(git: Git, onto: str, head: str, *, timeout: float = TIMEOUT) -> str | None:
    """Return the tree of a trial merge; None if it conflicts or cannot be tried."""
    args = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", onto, head)
    output, code, _ = git.try_run(*args, timeout=timeout)
    return output.partition(b"\0")[0].decode() if code == 0 else None


def _explain_failure(stderr: str, code: int) -> str:
    if "usage: git merge-tree" in stderr:
        return "git 2.38 or newer is needed for a trial merge"
    last = stderr.splitlines()[-1] if stderr else f"exit code {code}"
    return f"git could not try the merge: {visible(last)}"


def _read_clashes(fields: list[str], labels: tuple[str, str]) -> list[ConflictReader]:
    """Read the conflicted paths with their stages in the index, and the messages behind them.

    A conflict that leaves no path in conflict, such as a directory whose files went two ways, is
    known by its message alone.
    """
    split = fields.index("")
    messages = [
        message
        for message in _read_messages(iter(fields[split + 1 :]))
        if message.type.startswith(("CONFLICT", "ERROR"))
    ]
    moves = _map_made_up_names(messages, labels)
    stages: dict[str, dict[int, ConflictStage]] = {}
    for entry in fields[:split]:
        head, _, path = entry.partition("\t")
        mode, blob, stage = head.split(" ")
        stages.setdefault(moves.get(path, path), {})[int(stage)] = ConflictStage(mode, blob)
    by_path: dict[str, list[MergeMessage]] = {path: [] for path in stages}
    for message in messages:
        paths = dict.fromkeys(moves.get(path, path) for path in message.paths)
        for path in [path for path in paths if path in stages] or paths:
            by_path.setdefault(path, []).append(message)
    return [
        ConflictReader(path, stages.get(path, {}), tuple(messages))
        for path, messages in by_path.items()
    ]


def _read_messages(fields: Iterator[str]) -> Iterator[MergeMessage]:
    for count in fields:
        if not count.isdecimal():
            return  # the end, or advice on submodules that git prints there
        paths = tuple(next(fields) for _ in range(int(count)))
        yield MergeMessage(paths, next(fields), next(fields))


def _map_made_up_names(messages: list[MergeMessage], labels: tuple[str, str]) -> dict[str, str]:
    """Find names that git makes up where two things cannot stand at one path, with that path.

    Such a name is the path with ``~``, the name of a side, and a number if that is taken as well.
    """
    return {
        name: path
        for message in messages
        for path in message.paths
        for name in message.paths
        if name.startswith(tuple(f"{path}~{label}" for label in labels))
    }


#: More commits than this are not picked one by one.
MOST_COMMITS = 1_000
_NAMES = SideNames("the base", "the commit")
_PICK = SideNames("the branch", "the commit")


def recent_commits(git: Git, tip: str, count: int) -> list[HistoryCommit]:
    """List the newest commits along first parents, newest first; fewer where history ends."""
    return [entry.commit for entry in read_log(git, "--first-parent", f"--max-count={count}", tip)]


def find_landing(git: Git, head: str, base: str) -> HistoryCommit | None:
    """Find the commit along the base's first parents by which the head came in; None if none."""
    args = ("--first-parent", "--ancestry-path", "--reverse", f"{head}..{base}")
    above = [entry.commit for entry in read_log(git, *args)]
    by_merge = above[0] if above and head not in above[0].parents[:1] else None
    commit = by_merge or recent_commits(git, head, 1)[0]
    return commit if commit.parents else None


def find_squash_commit(
    git: Git, head: str, since: str, until: str, paths: Sequence[str]
) -> HistoryCommit | None:
    """Find the commit along a branch's first parents that brought all of a head as one commit.

    The head, merged onto what stood before it, has to come to the very tree.
    """
    selected = ("--first-parent", f"--max-count={_MOST_SQUASHES}", f"{since}..{until}")
    for entry in read_log(git, *selected, "--", *paths[:MOST_NAMED]):
        parents = entry.commit.parents
        if len(parents) == 1 and merge_trees(git, parents[0], head) == entry.commit.tree:
            return entry.commit
    return None


def try_rebase(git: Git, base: str, head: str, deadline: Deadline) -> RebaseTrial:
    """Pick the head's commits onto the tip of the base as `git rebase` does, up to a conflict."""
    line = _PickedLine(git, base, _tree_of(git, base))
    sides = ("--cherry-mark", "--right-only", f"{base}...{head}")
    return _pick_selected(line, sides, deadline)


def pick_each(git: Git, since: str, head: str, onto: str, deadline: Deadline) -> RebaseTrial:
    """Pick the commits from ``since`` to the head onto a commit or tree, up to a conflict.

    Merges are left out, as by `git cherry-pick` of a range of commits.
    """
    line = _PickedLine(git, None, _tree_of(git, onto), _PICK)
    return _pick_selected(line, (f"{since}..{head}",), deadline)


def _pick_selected(line: _PickedLine, log_args: Sequence[str], deadline: Deadline) -> RebaseTrial:
    """Pick the commits that these arguments of `git log` select, without merges."""
    order = ("--topo-order", "--reverse", "--no-merges")
    try:
        entries = list(read_log(line.git, *order, *log_args, timeout=_limit(deadline)))
    except GitError as error:
        return _give_up(RebaseTrial(None, 0), error)
    commits = [entry for entry in entries if not entry.applied]
    trial = RebaseTrial(None, len(commits), applied=len(entries) - len(commits))
    if len(entries) > MOST_COMMITS:
        return replace(trial, unfinished="too_large")
    return _pick_until_conflict(line, commits, trial, deadline)


def _limit(deadline: Deadline) -> float:
    return min(TIMEOUT, deadline.remaining)


def _give_up(trial: RebaseTrial, error: GitError) -> RebaseTrial:
    if error.reason != "timeout":
        raise error
    return replace(trial, unfinished="timeout")


def _tree_of(git: Git, commit: str) -> str:
    return git.text("rev-parse", "--verify", f"{commit}^{{tree}}")


class _PickedLine(Struct, frozen=True):
    """A line of rebased commits."""

    git: Git
    #: The commit of the head's own history at which the line ends, None once it has left it.
    tip: str | None
    tree: str
    names: SideNames = _NAMES

    def pick(self, entry: LogEntry, timeout: float) -> tuple[_PickedLine, MergeTrial]:
        """Return the line with one commit more; the same line if that conflicts."""
        if entry.commit.parents == (self.tip,):
            tree = entry.commit.tree
            return replace(self, tip=entry.commit.sha, tree=tree), MergeTrial(tree)
        sides = self._make_sides(entry)
        merge = try_merge(self.git, *sides, self.names, timeout=timeout)
        return (replace(self, tip=None, tree=merge.tree) if merge.tree else self), merge

    def _make_sides(self, entry: LogEntry) -> tuple[str, str]:
        """Return two commits whose only common one is the parent of what is picked."""
        if entry.commit.parents:
            return self._write_commit(self.tree, entry.commit.parents[0]), entry.commit.sha
        nothing = self._write_commit(self.git.text("mktree"))
        line = self._write_commit(self.tree, nothing)
        return line, self._write_commit(entry.commit.tree, nothing)

    def _write_commit(self, tree: str, *parents: str) -> str:
        options = [word for parent in parents for word in ("-p", parent)]
        return self.git.text("commit-tree", tree, *options, "-m", "trial pick")


def _pick_until_conflict(
    line: _PickedLine, commits: list[LogEntry], trial: RebaseTrial, deadline: Deadline
) -> RebaseTrial:
    for place, entry in enumerate(commits, 1):
        if not deadline.remaining:
            return replace(trial, unfinished="timeout")
        try:
            longer, merge = line.pick(entry, _limit(deadline))
        except GitError as error:
            return _give_up(trial, error)
        if merge.impossible:
            return replace(trial, stopped_at=entry.commit, impossible=merge.impossible)
        if not merge.clean:
            rest = tuple(later.commit.sha for later in commits[place:])
            return replace(trial, stopped_at=entry.commit, conflicts=merge.conflicts, rest=rest)
        changes = longer.tree != line.tree
        if changes:
            trial = replace(trial, made=(*trial.made, entry.commit.sha))
        else:
            trial = replace(trial, emptied=trial.emptied + 1)
        line, trial = longer, replace(trial, picked=trial.picked + 1)
    return replace(trial, tree=line.tree)
