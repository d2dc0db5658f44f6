"""Check 4: the change is picked onto the branch, in object space.

A project that squashes or merges brings a pull request as one change, so it is picked as one. A
project that rebases brings its commits, so they are picked one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from prjury.deadline import Deadline
from prjury.judges.merge.conflict_class import is_changelog
from prjury.judges.merge.conflicts import conflict_messages, counted
from prjury.jury.judgment import Check
from prjury.ports import Releases
from prjury.ports.types import BranchTip
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.merge_style import RebaseTrial
from prjury.snapshot.model import (
    Conflict,
    ConflictType,
    FileKind,
    MergeTrial,
    PullRequest,
    printable,
    visible,
)

#: How a project brings changes onto a branch.
Merging = Literal["squash", "merge", "rebase"]
#: So many files in conflict are named in the check's own sentence.
_FEW = 3


@dataclass(frozen=True, slots=True)
class CherryPickTrial:
    """The change picked onto the tip of a branch.

    Attributes:
        merge: the outcome; its tree is what the branch would hold afterwards.
        empty: whether the branch would not change, because it holds the change already.
        each: the commits one by one, where the project brings them so.
        whole: the outcome as one commit, where the commits one by one come to something else.
    """

    merge: MergeTrial
    empty: bool = False
    each: RebaseTrial | None = None
    whole: MergeTrial | None = None

    @property
    def unfinished(self) -> str | None:
        """Why there is no outcome."""
        if self.each and self.each.unfinished:
            words = {"timeout": "the time was up", "too_large": "it has too many commits"}
            return f"its commits could not be picked one by one: {words[self.each.unfinished]}"
        return self.merge.impossible


def is_by_hand(path: str) -> bool:
    """Whether a conflict in the file is resolved by hand, whatever else is on the branch.

    A changelog gets the change's entry, a lock file is written anew.
    """
    return is_changelog(path) or kind_of(path) is FileKind.LOCK


def try_pick(
    pull: PullRequest, tip: BranchTip, merging: Merging, releases: Releases, deadline: Deadline
) -> CherryPickTrial:
    """Picks the change as the project would bring it."""
    whole = _with_changelogs(releases.pick(pull.merge_base, pull.head.sha, tip.sha))
    if merging != "rebase" or pull.ahead == 1:
        return CherryPickTrial(whole, empty=whole.tree == tip.tree)
    each = releases.pick_each(pull.merge_base, pull.head.sha, tip.sha, deadline)
    if each.clean and not each.kept:
        return CherryPickTrial(
            whole, empty=whole.tree == tip.tree
        )  # all that it brings is in its merges
    merge = _with_changelogs(MergeTrial(each.tree, each.conflicts, each.impossible))
    same = merge.clean == whole.clean and merge.tree == whole.tree
    return CherryPickTrial(merge, merge.tree == tip.tree, each, None if same else whole)


def _with_changelogs(merge: MergeTrial) -> MergeTrial:
    """Return the same, with conflicts in a changelog's text told as what they ask for."""
    entry = "a changelog: resolve by hand, add your entry"
    conflicts = tuple(
        replace(one, mechanical=True, reason=one.reason if one.mechanical else entry)
        if one.type is ConflictType.CONTENT and is_changelog(one.path)
        else one
        for one in merge.conflicts
    )
    return replace(merge, conflicts=conflicts)


def picks_cleanly(trial: CherryPickTrial, tip: BranchTip) -> Check:
    """The check that the trial passes or fails."""
    where = f"{printable(tip.name)} @{tip.sha[:7]}"
    merge = trial.merge
    if merge.clean:
        return Check("picks-cleanly", passed=True, message=_clean(trial, where))
    message = f"{conflict_messages(merge.conflicts)} on {where}"
    if trial.each and trial.each.stopped_at:
        stopped = trial.each.stopped_at
        place = f"commit {trial.each.picked + 1} of {trial.each.total}"
        message = f"{place} (`{stopped.sha[:7]}` {visible(stopped.subject)[:80]}): {message}"
    if trial.whole and trial.whole.clean:
        message += "; as one commit it picks cleanly"
    mechanical = all(conflict.mechanical for conflict in merge.conflicts)
    return Check(
        "picks-cleanly",
        passed=False,
        message=message,
        severity="warning" if mechanical else "error",
        evidence=conflict_lines(merge.conflicts[:_FEW], len(merge.conflicts)),
    )


def _clean(trial: CherryPickTrial, where: str) -> str:
    if trial.each is None:
        return f"picks cleanly onto {where}"
    dropped = f", {trial.each.emptied} of them without effect there" if trial.each.emptied else ""
    pick = "picks" if trial.each.total == 1 else "pick"
    words = f"{counted(trial.each.total, 'commit')} {pick} cleanly onto {where}{dropped}"
    if trial.whole is None:
        return words
    other = "comes to another tree" if trial.whole.clean else "conflicts"
    return f"{words}; as one commit the change {other}"


def conflict_lines(conflicts: Sequence[Conflict], total: int) -> str:
    """A line for each file: its path, how it collides and why."""
    lines = [
        f"{printable(one.path)}: {one.type.value.replace('_', '/')}, {one.reason}"
        for one in conflicts
    ]
    more = [f"… and {total - len(conflicts)} more"] if total > len(conflicts) else []
    return "\n".join([*lines, *more])
