"""The change picked onto the branch, tried in the object store: as one, or commit by commit."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from prjury.deadline import Deadline
from prjury.git.releases import Releases
from prjury.judges.merge.judge import conflict_messages
from prjury.jury.judgment import Check
from prjury.ports.types import BranchTip
from prjury.report.wording import pluralize
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
    """The change picked onto a branch; ``each`` of its commits if the project rebases."""

    merge: MergeTrial
    empty: bool = False
    each: RebaseTrial | None = None

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
    if merging == "rebase" and pull.ahead != 1:
        each = releases.pick_each(pull.merge_base, pull.head.sha, tip.sha, deadline)
        if each.made or not each.clean:  # otherwise all of the change is in merge commits
            merge = _mark_changelog_clashes(MergeTrial(each.tree, each.conflicts, each.impossible))
            return CherryPickTrial(merge, merge.tree == tip.tree, each)
    merge = _mark_changelog_clashes(releases.pick(pull.merge_base, pull.head.sha, tip.sha))
    return CherryPickTrial(merge, merge.tree == tip.tree)


def _mark_changelog_clashes(merge: MergeTrial) -> MergeTrial:
    conflicts = tuple(
        replace(one, mechanical=True, reason="a changelog: keep both entries")
        if one.type is ConflictType.CONTENT and is_changelog(one.path) and not one.mechanical
        else one
        for one in merge.conflicts
    )
    return replace(merge, conflicts=conflicts)


def check_picks_cleanly(trial: CherryPickTrial, tip: BranchTip) -> Check:
    where, merge, each = f"{printable(tip.name)} @{tip.sha[:7]}", trial.merge, trial.each
    if merge.clean:
        message = f"picks cleanly onto {where}"
        if each:
            pick = "picks" if each.total == 1 else "pick"
            message = f"{pluralize(each.total, 'commit')} {pick} cleanly onto {where}"
            message += f", {each.emptied} of them without effect" if each.emptied else ""
        return Check("picks-cleanly", passed=True, message=message)
    message = f"{conflict_messages(merge.conflicts)} on {where}"
    if each and each.stopped_at:
        commit = f"(`{each.stopped_at.sha[:7]}` {visible(each.stopped_at.subject)[:80]})"
        message = f"commit {each.picked + 1} of {each.total} {commit}: {message}"
    lines = [
        f"{printable(one.path)}: {one.type.value.replace('_', '/')}, {one.reason}"
        for one in merge.conflicts[:_FEW]
    ]
    more = len(merge.conflicts) - _FEW
    return Check(
        "picks-cleanly",
        passed=False,
        message=message,
        severity="warning" if all(one.mechanical for one in merge.conflicts) else "error",
        evidence="\n".join([*lines, f"… and {more} more"] if more > 0 else lines),
    )
