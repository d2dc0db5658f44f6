"""Where a release branch parted from the base, and what has come to both of them since."""

from __future__ import annotations

from dataclasses import dataclass

from prjury.errors import SourceError
from prjury.judges.backport.score.history_features import EarlierChange, earlier_changes
from prjury.ports import Releases
from prjury.ports.types import BranchTip, CommitMessage
from prjury.snapshot.model import PullRequest

#: So many of the newest changes on the base are looked at.
MOST_UNITS = 1_500


@dataclass(frozen=True, slots=True)
class History:
    """What history tells of a branch.

    Attributes:
        parted: the commit that the branch and the base have in common; None where there is none,
            or where it is not known.
        messages: of the branch's commits since then, newest first.
        earlier: the changes that came to the base since then, and whether the branch has them.
        unseen: why nothing is known; empty where it is.
    """

    parted: str | None = None
    messages: tuple[CommitMessage, ...] = ()
    earlier: tuple[EarlierChange, ...] = ()
    unseen: str = ""


def history_of(pull: PullRequest, tip: BranchTip, releases: Releases) -> History:
    """What history tells of a branch; that it cannot be read is told, for the trial needs none."""
    try:
        parted = releases.parted(tip.sha, pull.merge_base)
        if parted is None:
            return History(unseen="no commit that it shares with the base is known here")
        messages = tuple(releases.messages(parted, tip.sha))
        units = releases.brought(parted, pull.merge_base, MOST_UNITS)
    except SourceError as error:
        return History(unseen=str(error))
    return History(parted, messages, earlier_changes(units, messages))
