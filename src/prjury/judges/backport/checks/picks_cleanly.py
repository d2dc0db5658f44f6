"""The change picked onto the branch, tried in the object store.

A project that squashes or merges backports a pull request as one commit; a project that rebases
backports its commits one by one.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from prjury.deadline import Deadline
from prjury.judges.merge.conflicts import conflict_messages
from prjury.jury.judgment import Check
from prjury.ports import Releases
from prjury.ports.types import BranchTip
from prjury.report.wording import counted
from prjury.snapshot.kinds import is_changelog, kind_of
from prjury.snapshot.merge_style import RebaseTrial
from prjury.snapshot.model import (
    ConflictType,
    FileKind,
    MergeTrial,
    PullRequest,
    printable,
    visible,
)

#: How a project merges changes.
Merging = Literal["squash", "merge", "rebase"]
#: So many conflicting files are listed.
_FEW = 3


class CherryPickTrial(Struct, frozen=True):
    """The change picked onto the tip of a branch.

    Attributes:
        merge: the outcome with the branch's tree after the pick.
        empty: whether the branch would not change.
        each: the commits one by one, if the project rebases.
        whole: the outcome as one commit, if it differs from the commits one by one.
    """

    merge: MergeTrial
    empty: bool = False
    each: RebaseTrial | None = None
    whole: MergeTrial | None = None

    @property
    def unfinished(self) -> str | None:
        """Why there is no outcome."""
        if self.each and self.each.unfinished:
            words = {"timeout": "the time ran out", "too_large": "it has too many commits"}
            return f"its commits could not be picked one by one: {words[self.each.unfinished]}"
        return self.merge.impossible


def is_by_hand(path: str) -> bool:
    """Return true if conflicts in the file are resolved by hand: changelogs, lock files."""
    return is_changelog(path) or kind_of(path) is FileKind.LOCK


def try_pick(
    pull: PullRequest, tip: BranchTip, merging: Merging, releases: Releases, deadline: Deadline
) -> CherryPickTrial:
    """Pick the change in the way in which the project merges."""
    whole = _with_changelogs(releases.pick(pull.merge_base, pull.head.sha, tip.sha))
    if merging != "rebase" or pull.ahead == 1:
        return CherryPickTrial(whole, empty=whole.tree == tip.tree)
    each = releases.pick_each(pull.merge_base, pull.head.sha, tip.sha, deadline)
    if each.clean and not each.kept:
        # All of the change is in merge commits.
        return CherryPickTrial(whole, empty=whole.tree == tip.tree)
    merge = _with_changelogs(MergeTrial(each.tree, each.conflicts, each.impossible))
    same = merge.clean == whole.clean and merge.tree == whole.tree
    return CherryPickTrial(merge, merge.tree == tip.tree, each, None if same else whole)


def _with_changelogs(merge: MergeTrial) -> MergeTrial:
    """Mark conflicts in changelogs as easy to resolve, with what to do."""
    entry = "a changelog: keep both entries"
    conflicts = tuple(
        replace(one, mechanical=True, reason=one.reason if one.mechanical else entry)
        if one.type is ConflictType.CONTENT and is_changelog(one.path)
        else one
        for one in merge.conflicts
    )
    return replace(merge, conflicts=conflicts)


def picks_cleanly_check(trial: CherryPickTrial, tip: BranchTip) -> Check:
    """Return the check ``picks-cleanly``."""
    where = f"{printable(tip.name)} @{tip.sha[:7]}"
    merge = trial.merge
    if merge.clean:
        return Check("picks-cleanly", passed=True, message=_clean_words(trial, where))
    message = f"{conflict_messages(merge.conflicts)} on {where}"
    if trial.each and trial.each.stopped_at:
        stopped = trial.each.stopped_at
        place = f"commit {trial.each.picked + 1} of {trial.each.total}"
        message = f"{place} (`{stopped.sha[:7]}` {visible(stopped.subject)[:80]}): {message}"
    if trial.whole and trial.whole.clean:
        message += "; as one commit it picks cleanly"
    mechanical = all(conflict.mechanical for conflict in merge.conflicts)
    lines = [
        f"{printable(one.path)}: {one.type.value.replace('_', '/')}, {one.reason}"
        for one in merge.conflicts[:_FEW]
    ]
    more = len(merge.conflicts) - _FEW
    return Check(
        "picks-cleanly",
        passed=False,
        message=message,
        severity="warning" if mechanical else "error",
        evidence="\n".join([*lines, f"… and {more} more"] if more > 0 else lines),
    )


def _clean_words(trial: CherryPickTrial, where: str) -> str:
    if trial.each is None:
        return f"picks cleanly onto {where}"
    dropped = f", {trial.each.emptied} of them without effect" if trial.each.emptied else ""
    pick = "picks" if trial.each.total == 1 else "pick"
    words = f"{counted(trial.each.total, 'commit')} {pick} cleanly onto {where}{dropped}"
    if trial.whole is None:
        return words
    other = "gives another tree" if trial.whole.clean else "conflicts"
    return f"{words}; as one commit the change {other}"
