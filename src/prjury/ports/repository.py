"""Ports to the repository under judgment: its objects, and its release branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Protocol

from prjury.deadline import Deadline
from prjury.ports.types import BranchTip, CommitMessage, TreeEntry
from prjury.snapshot.merge_style import RebaseTrial, StyleCommit
from prjury.snapshot.model import LineSpan, MergeTrial, PullRequest


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
        """Whether the commit itself is part of a branch's history."""

    def pick(self, base: str, head: str, onto: str) -> MergeTrial:
        """Tries the change from ``base`` to ``head`` as one commit on a commit or a tree."""

    def picked_tree(self, base: str, head: str, onto: str) -> str | None:
        """The tree that such a pick comes to; None where it conflicts, without saying how."""

    def pick_each(self, base: str, head: str, onto: str, deadline: Deadline) -> RebaseTrial:
        """Tries the commits of the change one after the other, without merges."""

    def picked(self, pull: PullRequest, tip: BranchTip, tree: str) -> PullRequest:
        """The picked change as a pull request onto the branch, for judges of pull requests."""

    def breadth(self, base: str, head: str) -> int:
        """How many files differ between two commits."""

    def units(
        self, since: str, until: str, paths: Sequence[str], most: int
    ) -> Sequence[StyleCommit]:
        """What was brought to a branch and touches one of the paths, newest first.

        A merged pull request is one unit, its merge commit.
        """

    def blamed(
        self, path: str, lines: Sequence[LineSpan], since: str, until: str
    ) -> AbstractSet[str]:
        """The units since then that the lines of a file, as it is at ``until``, come from."""

    def bringing(self, word: str, path: str, since: str, until: str) -> StyleCommit | None:
        """The first unit since then that brought a word to a file."""

    def lines_between(self, before: str, after: str) -> tuple[int, int]:
        """How many lines one tree has that another has not, and the reverse; of text alone."""

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
