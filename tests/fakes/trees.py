"""A repository whose trees are dictionaries, and pull requests between two of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prjury.deadline import Deadline
from prjury.judges.context import PullRequestContext
from prjury.ports.types import TreeEntry
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.merge_style import HistoryCommit, RebaseTrial
from prjury.snapshot.model import Conflict, FileChange, FileStatus, MergeTrial, PullRequest, Side

Tree = Mapping[str, str]


@dataclass(frozen=True)
class TreeRepository:
    """Trees by name: path to text; a path in ``executable`` has that mode in all of them."""

    trees: Mapping[str, Tree]
    executable: frozenset[str] = frozenset()

    def files(self, commit: str) -> Sequence[TreeEntry]:
        return [
            TreeEntry(path, self._mode(path), _blob(text))
            for path, text in sorted(self.trees[commit].items())
        ]

    def _mode(self, path: str) -> str:
        return "100755" if path in self.executable else "100644"

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        there = {
            _blob(text): text.encode() for tree in self.trees.values() for text in tree.values()
        }
        return {blob: there.get(blob) for blob in blobs}

    def nearest_tag(self, commit: str) -> str:
        """There is none."""
        return ""

    def export_and_list_missing(self, tree: str, directory: Path) -> Sequence[str]:
        for path, text in self.trees[tree].items():
            file = directory / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(0o755 if path in self.executable else 0o644)
        return ()

    def recent(self, tip: str, count: int) -> Sequence[HistoryCommit]:
        return ()

    def rebase(self, base: str, head: str, deadline: Deadline) -> RebaseTrial:
        raise NotImplementedError


def _blob(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def pull_context(
    *,
    changed: Sequence[str] = ("src/a.py",),
    tree: str | None = "merged",
    conflicts: Sequence[Conflict] = (),
    impossible: str | None = None,
    seconds: float = 300,
) -> PullRequestContext:
    """A pull request whose merge is the tree ``merged`` and whose base is the tree ``base``."""
    files = tuple(
        FileChange(path, FileStatus.MODIFIED, kind_of(path), additions=1) for path in changed
    )
    pull = PullRequest(
        repo="o/r",
        base=Side("main", "base"),
        head=Side("topic", "head"),
        merge_base="base",
        merge=MergeTrial(tree, tuple(conflicts), impossible),
        files=files,
    )
    return PullRequestContext("judge it", pull=pull, deadline=Deadline.after(seconds))
