"""The merged tree as a directory, for judges of directories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from prjury.errors import CannotJudgeError
from prjury.judges.context import PullRequestContext
from prjury.judges.workspace.files import answered
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import Judge, JudgeType, ask
from prjury.jury.judgment import Judgment
from prjury.policy.seats import ComparisonOptions
from prjury.ports import Ports, Repository
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import PullRequest, visible

#: Makes the judge of a directory; it may put files that it needs below the path.
MakeInside: TypeAlias = Callable[[Path], Judge[JudgmentContext]]


def no_tree(pull: PullRequest) -> Judgment:
    """The judgment where there is no merged tree; it is no reason to let the change through."""
    if pull.merge.impossible:
        return Judgment.abstained(f"there is no merged tree: {pull.merge.impossible}", "no_merge")
    return Judgment.abstained("there is no merged tree: the merge has conflicts", "conflicts")


@dataclass(frozen=True)
class MergedTreeJudge:
    """A judge of directories that looks at the merged tree.

    The tree is written out as plain files, and nothing of it is run.

    Attributes:
        make: makes the judge.
        within: the file or the directory that it looks at; empty for the whole tree.
    """

    ports: Ports
    make: MakeInside
    within: str
    name: str
    description: str
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Write the tree out and judge it."""
        tree = context.pull.merge.tree
        if tree is None:
            return no_tree(context.pull)
        return answered(lambda: self._judged(tree, context))

    def _judged(self, tree: str, context: PullRequestContext) -> Judgment:
        with self.ports.shell.scratch() as around:
            (workspace := around / "tree").mkdir()
            absent = self.ports.repository.export(tree, workspace)
            refuse_absent(absent, self.within)
            return ask(self.make(around), replace(context, workspace=workspace))


def refuse_absent(absent: Sequence[str], within: str) -> None:
    """Refuse a tree that lacks files which a judge looks at.

    Raises:
        CannotJudgeError: ``object_missing``.
    """
    wanted = [path for path in absent if not within or is_below(path, within)]
    if wanted:
        raise CannotJudgeError(
            f"{visible(wanted[0])} cannot be read",
            why="This partial clone lacks its content",
            remedy="Use a full clone, or fetch it all with: git fetch --refetch --no-filter",
            reason="object_missing",
        )


def is_below(path: str, place: str) -> bool:
    """Whether a path is the place itself, or lies below it."""
    return path == place or path.startswith(f"{place}/")


def expected_files(options: ComparisonOptions, repository: Repository, around: Path) -> Path:
    """Where the files that the policy expects lie: on this machine, or written out from the base.

    Raises:
        CannotJudgeError: ``no_expectation``, and ``object_missing`` in a partial clone.
    """
    if options.commit is None:
        return Path(options.expected)
    entries = [
        entry
        for entry in repository.files(options.commit)
        if entry.mode in REGULAR_MODES and is_below(entry.path, options.expected)
    ]
    if not entries:
        raise CannotJudgeError(
            f"there is nothing to compare with at {visible(options.expected)}",
            why="The base commit has no such file, nor directory",
            remedy="Add it to the base branch, or correct the path",
            reason="no_expectation",
        )
    contents = repository.read([entry.blob for entry in entries])
    refuse_absent([entry.path for entry in entries if contents[entry.blob] is None], "")
    for entry in entries:
        place = around / "expected" / entry.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(contents[entry.blob] or b"")
    return around / "expected" / options.expected
