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
from prjury.git.command import PLAIN_DIFF, Git
from prjury.git.history import MOST_NAMED, cut_short, log, merge_bases
from prjury.git.merge import merged_tree, pick_each, try_merge
from prjury.git.store import RawChange, Store
from prjury.git.take_snapshot import take_snapshot
from prjury.ports.types import BranchTip, CommitMessage
from prjury.snapshot.kinds import SUBMODULE_MODE
from prjury.snapshot.merge_style import RebaseTrial, StyleCommit
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
class ReleaseBranches:
    """The branches of the repository under judgment (`prjury.ports.Releases`).

    Attributes:
        picks: the picks that were tried, by base, head and what they were tried on.
        trees: the trees of those of which nothing else was asked.
        breadths: how many files differ between two commits.
    """

    store: Store
    picks: dict[tuple[str, str, str], MergeTrial] = field(default_factory=dict, repr=False)
    trees: dict[tuple[str, str, str], str | None] = field(default_factory=dict, repr=False)
    breadths: dict[tuple[str, str], int] = field(default_factory=dict, repr=False)

    @property
    def git(self) -> Git:
        """Commands on the private store."""
        return self.store.git

    def tip(self, name: str) -> BranchTip:
        """The branch's tip; any ref or commit may stand for a branch.

        Raises:
            SourceError: when there is no such branch.
            UsageError: for something that cannot be the name of a ref.
        """
        sha = self._commit_of(name)
        self.store.follow()
        form = "--format=%ct%x09%T"
        output = self.git.text("log", "-1", "--no-show-signature", form, sha)
        date, _, tree = output.partition("\t")
        return BranchTip(name, sha, _seconds(date), tree)

    def _commit_of(self, name: str) -> str:
        operator = self.store.operator
        try:
            return operator.commit(name).sha
        except SourceError as error:
            if near := did_you_mean(name, [one.name for one in operator.branches()]):
                raise SourceError(error.what, remedy=near, reason=error.reason) from error
            raise

    def parted(self, one: str, other: str) -> str | None:
        """The nearest common commit; None where there is none, or where that is not known."""
        bases = merge_bases(self.git, one, other)
        return bases[0] if bases and not cut_short(self.git, one, other, bases) else None

    def holds(self, tip: str, commit: str) -> bool:
        """Whether the commit itself is part of the branch's history."""
        _, code, _ = self.git.try_run("merge-base", "--is-ancestor", commit, tip)
        return code == 0

    def pick(self, base: str, head: str, onto: str) -> MergeTrial:
        """Tries the change from ``base`` to ``head`` as one commit on a commit or a tree."""
        key = base, head, onto
        if key not in self.picks:
            as_if = self._as_if(base, onto)
            self.picks[key] = try_merge(self.git, as_if, head, _BRANCH_AND_CHANGE)
        return self.picks[key]

    def picked_tree(self, base: str, head: str, onto: str) -> str | None:
        """The tree that such a pick comes to; None where it conflicts, without saying how."""
        key = base, head, onto
        if key not in self.trees:
            self.trees[key] = merged_tree(self.git, self._as_if(base, onto), head)
        return self.trees[key]

    def _as_if(self, base: str, onto: str) -> str:
        """What a change from ``base`` is picked onto, as a commit that comes from there."""
        # A pick is a three-way merge whose base is the picked change's parent: a synthetic commit
        # with the tip's tree and that parent makes the merge see exactly this base. It is dated
        # now, for git looks for merge bases from the newest commit on.
        return self._commit(f"{onto}^{{tree}}", base)

    def pick_each(self, base: str, head: str, onto: str, deadline: Deadline) -> RebaseTrial:
        """Tries the commits of the change one after the other."""
        return pick_each(self.git, base, head, onto, deadline)

    def picked(self, pull: PullRequest, tip: BranchTip, tree: str) -> PullRequest:
        """The picked change as a pull request onto the branch, for judges of pull requests."""
        head = self._commit(tree, tip.sha)
        return take_snapshot(self.store, Side(tip.name, tip.sha), Side(pull.head.ref, head))

    def _commit(self, tree: str, parent: str) -> str:
        return self.git.text("commit-tree", tree, "-p", parent, "-m", "trial pick")

    def moved(self, since: str, until: str, paths: Collection[str]) -> Mapping[str, str]:
        """Return where these files of one commit are in another, as git detects renames."""
        args = ("-r", "-z", "-M", "--diff-filter=R", "--name-status", since, until)
        output = self.git("diff-tree", *args, timeout=_PATIENCE)
        fields = iter(output.decode("utf-8", "surrogateescape").split("\0"))
        pairs = zip(fields, fields, fields, strict=False)
        return {old: new for _, old, new in pairs if old in paths}

    def breadth(self, base: str, head: str) -> int:
        """How many files differ between two commits; one that moved is two."""
        if (base, head) not in self.breadths:
            args = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", base, head)
            self.breadths[base, head] = self.git(*args, timeout=_PATIENCE).count(b"\0")
        return self.breadths[base, head]

    def units(
        self, since: str, until: str, paths: Sequence[str], most: int
    ) -> Sequence[StyleCommit]:
        """What was brought to a branch and touches one of the paths, newest first.

        A merged pull request is one unit, its merge commit.
        """
        args = (*_BY_FIRST_PARENT, f"--max-count={most}", f"{since}..{until}")
        found = log(self.git, *args, "--", *paths[:MOST_NAMED], timeout=_PATIENCE)
        return [one.commit for one in found]

    def blamed(self, path: str, lines: Sequence[LineSpan], since: str, until: str) -> set[str]:
        """The units since then that the lines of a file, as it is at ``until``, come from."""
        ranges = [f"-L{span.first},{span.last}" for span in lines if span.count]
        if not ranges:
            return set()
        args = ("blame", "--first-parent", "--porcelain", *ranges, f"{since}..{until}")
        output, code, _ = self.git.try_run(*args, "--", path, timeout=_PATIENCE)
        return set(_blamed(output)) if code == 0 else set()

    def bringing(self, word: str, path: str, since: str, until: str) -> StyleCommit | None:
        """The first unit since then that brought a word to a file."""
        args = (*_BY_FIRST_PARENT, f"-S{word}", f"{since}..{until}")
        found = [one.commit for one in log(self.git, *args, "--", path, timeout=_PATIENCE)]
        return found[-1] if found else None

    def messages(self, since: str, until: str) -> Sequence[CommitMessage]:
        """The messages of all commits of a range, newest first."""
        return self._messages(f"{since}..{until}")

    def brought(self, since: str, until: str, most: int) -> Sequence[CommitMessage]:
        """The messages of the units that were brought to a branch, newest first."""
        return self._messages("--first-parent", f"--max-count={most}", f"{since}..{until}")

    def _messages(self, *args: str) -> list[CommitMessage]:
        fixed = (
            "log",
            "-z",
            "--no-show-signature",
            "--encoding=UTF-8",
            "--format=%H%x09%ct%x09%P%n%B",
        )
        output = self.git(*fixed, *args, timeout=_PATIENCE).decode("utf-8", "replace")
        return list(map(_message, filter(None, output.split("\0"))))

    def same_patches(
        self, changes: Sequence[tuple[str, str]], paths: Sequence[str], since: str, until: str
    ) -> Mapping[tuple[str, str], Sequence[str]]:
        """Which of the changes a branch holds with the very same patch, and in which commits.

        Args:
            changes: pairs of a commit and the one before which it is counted.
            paths: the files of all of them; what a commit does elsewhere is not compared.
        """
        if len(paths) > MOST_NAMED:
            return {}  # some of the files alone would say nothing
        named = list(paths)
        files = {self._files("diff-tree", "-r", *change, "--", *named)[""] for change in changes}
        range_ = (f"--max-count={_MOST_COMPARED}", f"{since}..{until}")
        touched = self._files("log", "--format=%x01%H", _FIRST, *range_, "--", *named)
        # Patches are long where files are, and the same patch is one of the same files.
        alike = [commit for commit, some in touched.items() if commit and some in files]
        if not alike:
            return {}
        args = ("log", "--format=commit %H", "--no-walk=unsorted", _FIRST, *_PATCH, *alike)
        there = self.git(*args, "--", *named, timeout=_PATIENCE)
        held: dict[str, list[str]] = {}
        for patch, commit in _patches(there) if there else ():
            held.setdefault(patch, []).append(commit)
        found = {}
        for base, head in changes if held else ():
            diff = self.git("diff-tree", *_PATCH, base, head, "--", *named)
            own, _ = next(_patches(diff))
            some = held.get(own, ())
            if same := [one for one in some if not self._moves(one, frozenset(named))]:
                found[base, head] = same
        return found

    def _files(self, command: str, *args: str) -> Mapping[str, frozenset[str]]:
        """The files that each commit touches, as git quotes them; without a commit under ``""``."""
        output = self.git(command, "--name-only", "--no-renames", *args, timeout=_PATIENCE)
        found: dict[str, set[str]] = {"": set()}
        commit = ""
        for line in filter(None, output.decode("utf-8", "surrogateescape").split("\n")):
            if line.startswith("\x01"):
                commit = line[1:]
                found[commit] = set()
            else:
                found[commit].add(line)
        return {commit: frozenset(some) for commit, some in found.items()}

    def _moves(self, commit: str, paths: frozenset[str]) -> bool:
        """Whether a commit moves one of the files elsewhere, which there looks like deleting it."""
        args = ("show", "--format=", "--no-show-signature", "--diff-merges=first-parent", "-M")
        output = self.git(*args, "--diff-filter=R", "--name-status", "-z", commit)
        names = output.decode("utf-8", "surrogateescape").split("\0")[:-1]
        moved = zip(names[1::3], names[2::3], strict=True)
        return any(old in paths and new not in paths for old, new in moved)

    def lines_between(self, before: str, after: str) -> tuple[int, int]:
        """How many lines one tree has that another has not, and the reverse; of text alone."""
        output = self.git.text("diff-tree", "-r", "--numstat", "--no-renames", before, after)
        rows = [line.split("\t")[:2] for line in output.split("\n") if line and line[0] != "-"]
        return sum(int(row[0]) for row in rows), sum(int(row[1]) for row in rows)

    def parent(self, commit: str) -> str:
        """The commit before, along first parents."""
        return self.git.text("rev-parse", "--verify", f"{commit}^1")

    def written(self, commit: str) -> tuple[str, Author]:
        """A commit's message, and who wrote it."""
        form = "--format=%an%x00%ae%x00%aI%x00%B"
        args = ("log", "-1", "--no-show-signature", "--encoding=UTF-8", form, commit)
        output = self.git(*args).decode("utf-8", "replace")
        name, email, date, message = output.split("\0", 3)
        return message.rstrip("\n") + "\n", Author(name, email, date)

    def differing(self, before: str, after: str) -> tuple[PickedFile, ...]:
        """Every path at which two trees differ, with the content that the later one has."""
        changes = self.store.raw_changes(before, after, renames=False)
        here = [c.new_blob for c in changes if c.new_mode not in {_NOTHING, SUBMODULE_MODE}]
        content = self.store.read(here)
        return tuple(_picked_file(change, content) for change in changes)


def _patches(diffs: bytes) -> Iterator[tuple[str, str]]:
    """A digest of each commit's diff, and the commit; empty for a diff without one.

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
            kept = index + line if line.startswith(b"Binary files ") else line
            digest.update(_HUNK.sub(b"@@", kept) + b"\n" if kept else b"")
    yield digest.hexdigest(), commit


def _picked_file(change: RawChange, content: Mapping[str, bytes | None]) -> PickedFile:
    if change.new_mode == _NOTHING:
        return PickedFile(change.path, None)
    found = content.get(change.new_blob)
    return PickedFile(change.path, change.new_mode, change.new_blob, found)


def _message(record: str) -> CommitMessage:
    head, _, text = record.partition("\n")
    sha, date, parents = head.split("\t")
    return CommitMessage(sha, _seconds(date), text, tuple(parents.split()))


def _seconds(date: str) -> int:
    """A date as git prints it; it prints none of a commit whose date it cannot read."""
    return int(date) if date.isdecimal() else 0


def _blamed(porcelain: bytes) -> Iterator[str]:
    """The commits of a blame in its porcelain form, without those at the range's edge."""
    sha = ""
    edge: set[str] = set()
    seen: dict[str, None] = {}
    for line in porcelain.split(b"\n"):
        first, _, rest = line.partition(b" ")
        if line.startswith(b"\t"):
            continue
        if len(first) in {40, 64} and rest[:1].isdigit():
            sha = first.decode()
            seen[sha] = None
        elif first == b"boundary":
            edge.add(sha)
    return (sha for sha in seen if sha not in edge)
