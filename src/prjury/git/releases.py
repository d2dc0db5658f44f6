"""The release branches of a repository: their tips, what they hold, and picks onto them.

Everything happens in the private store: no checkout, no index, and nothing of the operator's
repository is written to.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prjury.deadline import Deadline
from prjury.errors import SourceError, did_you_mean
from prjury.git.command import PLAIN_DIFF, Git, decode_path
from prjury.git.history import MOST_NAMED, is_base_uncertain, merge_bases, read_log
from prjury.git.merge import merge_trees, pick_each, try_merge
from prjury.git.store import Store
from prjury.git.take_snapshot import take_snapshot
from prjury.ports.types import BranchTip, CommitMessage
from prjury.snapshot.kinds import SUBMODULE_MODE
from prjury.snapshot.merge_style import HistoryCommit, RebaseTrial
from prjury.snapshot.model import LineSpan, MergeTrial, PullRequest, Side
from prjury.snapshot.picked import Author, PickedFile
from prjury.snapshot.threeway import SideNames

_BRANCH_AND_CHANGE = SideNames("the branch", "the change")
#: Along the first parents, a merge is one change: what it brings to the branch. How diffs of merges
#: are made would print them as well.
_FIRST = "--diff-merges=first-parent"
_BY_FIRST_PARENT = ("--first-parent", _FIRST, "--no-patch")
_PATCH = (*PLAIN_DIFF, "--no-renames", "-p")
_NOTHING = "000000"
_HUNK = re.compile(rb"^@@ [^@]*@@.*")
#: Commits of a branch that are compared with the change, the newest ones.
_MOST_COMPARED = 300
#: Seconds for each question about history, which answers nothing that is essential.
_PATIENCE = 10.0


@dataclass(frozen=True)
class Releases:
    """The branches of the repository under judgment."""

    store: Store
    picks: dict[tuple[str, str, str], MergeTrial] = field(default_factory=dict, repr=False)
    trees: dict[tuple[str, str, str], str | None] = field(default_factory=dict, repr=False)
    breadths: dict[tuple[str, str], int] = field(default_factory=dict, repr=False)

    @property
    def git(self) -> Git:
        """Commands on the private store."""
        return self.store.git

    def tip(self, name: str) -> BranchTip:
        """Return the branch's tip; any ref or commit may stand for a branch."""
        operator = self.store.operator
        try:
            sha = operator.resolve(name).sha
        except SourceError as error:
            if near := did_you_mean(name, [branch.name for branch in operator.branches()]):
                raise SourceError(error.what, remedy=near, reason=error.reason) from error
            raise
        self.store.follow()
        form = "--format=%ct%x09%T"
        output = self.git.text("log", "-1", "--no-show-signature", form, sha)
        date, _, tree = output.partition("\t")
        return BranchTip(name, sha, _read_date(date), tree)

    def find_fork(self, one: str, other: str) -> str | None:
        """Return the nearest common commit; None if there is none, or it is not known."""
        bases = merge_bases(self.git, one, other)
        return bases[0] if bases and not is_base_uncertain(self.git, one, other, bases) else None

    def holds(self, tip: str, commit: str) -> bool:
        """Return true if the commit itself is part of the branch's history."""
        _, code, _ = self.git.try_run("merge-base", "--is-ancestor", commit, tip)
        return code == 0

    def pick(self, base: str, head: str, onto: str) -> MergeTrial:
        """Try the change from ``base`` to ``head`` as one commit on a commit or a tree."""
        key = base, head, onto
        if key not in self.picks:
            target = self._make_target(base, onto)
            self.picks[key] = try_merge(self.git, target, head, _BRANCH_AND_CHANGE)
        return self.picks[key]

    def pick_tree(self, base: str, head: str, onto: str) -> str | None:
        """Return the tree of such a pick; None if it conflicts, without saying how."""
        key = base, head, onto
        if key not in self.trees:
            self.trees[key] = merge_trees(self.git, self._make_target(base, onto), head)
        return self.trees[key]

    def _make_target(self, base: str, onto: str) -> str:
        # A pick is a three-way merge whose base is the picked change's parent: a synthetic commit
        # with the tip's tree and that parent makes the merge see exactly this base. It is dated
        # now, for git looks for merge bases from the newest commit on.
        return self._commit(f"{onto}^{{tree}}", base)

    def pick_each(self, base: str, head: str, onto: str, deadline: Deadline) -> RebaseTrial:
        """Try the commits of the change one after the other."""
        return pick_each(self.git, base, head, onto, deadline)

    def open_pick(self, pull: PullRequest, tip: BranchTip, tree: str) -> PullRequest:
        """Return the picked change as a pull request onto the branch."""
        head = self._commit(tree, tip.sha)
        return take_snapshot(self.store, Side(tip.name, tip.sha), Side(pull.head.ref, head))

    def _commit(self, tree: str, parent: str) -> str:
        return self.git.text("commit-tree", tree, "-p", parent, "-m", "trial pick")

    def find_moves(self, since: str, until: str, paths: Collection[str]) -> Mapping[str, str]:
        """Return where these files of one commit are in another, as git detects renames."""
        args = ("-r", "-z", "-M", "--diff-filter=R", "--name-status", since, until)
        output = self.git("diff-tree", *args, timeout=_PATIENCE)
        fields = iter(decode_path(output).split("\0"))
        pairs = zip(fields, fields, fields, strict=False)
        return {old: new for _, old, new in pairs if old in paths}

    def breadth(self, base: str, head: str) -> int:
        """Count the files that differ between two commits; one that moved is two."""
        if (base, head) not in self.breadths:
            args = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", base, head)
            self.breadths[base, head] = self.git(*args, timeout=_PATIENCE).count(b"\0")
        return self.breadths[base, head]

    def units(
        self, since: str, until: str, paths: Sequence[str], most: int
    ) -> Sequence[HistoryCommit]:
        """List what was brought to a branch and touches one of the paths, newest first."""
        args = (*_BY_FIRST_PARENT, f"--max-count={most}", f"{since}..{until}")
        entries = read_log(self.git, *args, "--", *paths[:MOST_NAMED], timeout=_PATIENCE)
        return [entry.commit for entry in entries]

    def blame_lines(self, path: str, lines: Sequence[LineSpan], since: str, until: str) -> set[str]:
        """Return the units since then that lines of a file, as it is at ``until``, come from."""
        ranges = [f"-L{span.first},{span.last}" for span in lines if span.count]
        if not ranges:
            return set()
        args = ("blame", "--first-parent", "--porcelain", *ranges, f"{since}..{until}")
        output, code, _ = self.git.try_run(*args, "--", path, timeout=_PATIENCE)
        return _parse_blamed_commits_in_range(output) if code == 0 else set()

    def bringing(self, word: str, path: str, since: str, until: str) -> HistoryCommit | None:
        """Return the first unit since then that brought a word to a file."""
        args = (*_BY_FIRST_PARENT, f"-S{word}", f"{since}..{until}")
        entries = list(read_log(self.git, *args, "--", path, timeout=_PATIENCE))
        return entries[-1].commit if entries else None

    def messages(self, since: str, until: str) -> Sequence[CommitMessage]:
        """List the messages of all commits of a range, newest first."""
        return self._read_log_messages(f"{since}..{until}")

    def list_brought(self, since: str, until: str, most: int) -> Sequence[CommitMessage]:
        """List the messages of the units that were brought to a branch, newest first."""
        return self._read_log_messages("--first-parent", f"--max-count={most}", f"{since}..{until}")

    def _read_log_messages(self, *args: str) -> list[CommitMessage]:
        form = "--format=%H%x09%ct%x09%P%n%B"
        fixed = ("log", "-z", "--no-show-signature", "--encoding=UTF-8", form)
        output = self.git(*fixed, *args, timeout=_PATIENCE).decode("utf-8", "replace")
        messages = []
        for record in filter(None, output.split("\0")):
            head, _, text = record.partition("\n")
            sha, date, parents = head.split("\t")
            messages.append(CommitMessage(sha, _read_date(date), text, tuple(parents.split())))
        return messages

    def find_same_patches(
        self, changes: Sequence[tuple[str, str]], paths: Sequence[str], since: str, until: str
    ) -> Mapping[tuple[str, str], Sequence[str]]:
        """List the changes that a branch holds with the very same patch, with the commits."""
        if len(paths) > MOST_NAMED:
            return {}  # some of the files alone would say nothing
        files = {
            self._map_commit_files("diff-tree", "-r", *pair, "--", *paths)[""] for pair in changes
        }
        range_ = (f"--max-count={_MOST_COMPARED}", f"{since}..{until}")
        touched = self._map_commit_files("log", "--format=%x01%H", _FIRST, *range_, "--", *paths)
        # Patches are long where files are, and the same patch is one of the same files.
        alike = [commit for commit, some in touched.items() if commit and some in files]
        if not alike:
            return {}
        args = ("log", "--format=commit %H", "--no-walk=unsorted", _FIRST, *_PATCH, *alike)
        output = self.git(*args, "--", *paths, timeout=_PATIENCE)
        by_patch: dict[str, list[str]] = {}
        for patch, commit in _list_digests_and_commits(output) if output else ():
            by_patch.setdefault(patch, []).append(commit)
        same = {}
        for base, head in changes if by_patch else ():
            diff = self.git("diff-tree", *_PATCH, base, head, "--", *paths)
            own, _ = next(_list_digests_and_commits(diff))
            commits = [sha for sha in by_patch.get(own, ()) if not self._moves(sha, paths)]
            if commits:
                same[base, head] = commits
        return same

    def _map_commit_files(self, command: str, *args: str) -> Mapping[str, frozenset[str]]:
        """List the files that each commit touches; without a commit under ``""``."""
        output = self.git(command, "--name-only", "--no-renames", *args, timeout=_PATIENCE)
        paths: dict[str, set[str]] = {"": set()}
        commit = ""
        for line in filter(None, decode_path(output).split("\n")):
            if line.startswith("\x01"):
                commit = line[1:]
                paths[commit] = set()
            else:
                paths[commit].add(line)
        return {commit: frozenset(some) for commit, some in paths.items()}

    def _moves(self, commit: str, paths: Sequence[str]) -> bool:
        """Return true if a commit moves a file elsewhere, which there looks like deleting it."""
        args = ("show", "--format=", "--no-show-signature", "--diff-merges=first-parent", "-M")
        output = self.git(*args, "--diff-filter=R", "--name-status", "-z", commit)
        names = decode_path(output).split("\0")[:-1]
        moved = zip(names[1::3], names[2::3], strict=True)
        return any(old in paths and new not in paths for old, new in moved)

    def lines_between(self, before: str, after: str) -> tuple[int, int]:
        """Count the lines of text that one tree has and another has not, and the reverse."""
        output = self.git.text("diff-tree", "-r", "--numstat", "--no-renames", before, after)
        rows = [line.split("\t")[:2] for line in output.split("\n") if line and line[0] != "-"]
        return sum(int(row[0]) for row in rows), sum(int(row[1]) for row in rows)

    def parent(self, commit: str) -> str:
        """Return the commit before, along first parents."""
        return self.git.text("rev-parse", "--verify", f"{commit}^1")

    def read_commit(self, commit: str) -> tuple[str, Author]:
        """Return a commit's message and author."""
        form = "--format=%an%x00%ae%x00%aI%x00%B"
        args = ("log", "-1", "--no-show-signature", "--encoding=UTF-8", form, commit)
        output = self.git(*args).decode("utf-8", "replace")
        name, email, date, message = output.split("\0", 3)
        return message.rstrip("\n") + "\n", Author(name, email, date)

    def diff_trees(self, before: str, after: str) -> tuple[PickedFile, ...]:
        """List the paths at which two trees differ, with the content of the later one."""
        changes = self.store.raw_changes(before, after, renames=False)
        blobs = [c.new_blob for c in changes if c.new_mode not in {_NOTHING, SUBMODULE_MODE}]
        content = self.store.read(blobs)
        return tuple(
            PickedFile(change.path, None)
            if change.new_mode == _NOTHING
            else PickedFile(
                change.path, change.new_mode, change.new_blob, content.get(change.new_blob)
            )
            for change in changes
        )


def _list_digests_and_commits(diffs: bytes) -> Iterator[tuple[str, str]]:
    """Yield a digest of each commit's diff, and the commit; empty for a diff without one.

    Where lines stand does not count, but every blank of them does: `git patch-id` leaves blanks
    out, and in some languages they are the change.
    """
    commit, digest = "", hashlib.sha256()
    index = b""
    for line in diffs.split(b"\n"):
        if line.startswith(b"commit "):
            if commit:
                yield digest.hexdigest(), commit
            commit, digest = line[7:].decode(), hashlib.sha256()
        elif line.startswith(b"index "):
            index = line
        else:
            text = index + line if line.startswith(b"Binary files ") else line
            digest.update(_HUNK.sub(b"@@", text) + b"\n" if text else b"")
    yield digest.hexdigest(), commit


def _read_date(date: str) -> int:
    """Read a date as git prints it; it prints none of a commit whose date it cannot read."""
    return int(date) if date.isdecimal() else 0


def _parse_blamed_commits_in_range(porcelain: bytes) -> set[str]:
    """Return the commits of a blame, without those at the range's edge."""
    sha = ""
    edge, commits = set[str](), set[str]()
    for line in porcelain.split(b"\n"):
        first, _, rest = line.partition(b" ")
        if line.startswith(b"\t"):
            continue
        if len(first) in {40, 64} and rest[:1].isdigit():
            sha = first.decode()
            commits.add(sha)
        elif first == b"boundary":
            edge.add(sha)
    return commits - edge
