"""How changes come onto a branch: the project's way, and a rebase tried commit by commit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from msgspec import Struct

from prjury.snapshot.model import Conflict

#: So many of the newest commits show how a project works; fewer than `_FEWEST` show nothing.
RECENT = 60
_FEWEST = 10
#: Of fewer commits that show how a pull request came in, one may be an accident.
_FEWEST_TELLING = 2

_PULL_NUMBER = re.compile(r"\((#|!|gh-)\d+\)$", re.IGNORECASE)
#: Merges that carry a maintained line forward; they say nothing about pull requests.
_FORWARD = re.compile(
    r"Merge (remote-tracking )?(branch|tag|commit) '?(\w+/)*(v|release[-_]|maint(enance)?[-_])?"
    r"\d+([._](\d+|x))*(-?(M|RC|rc|beta|alpha)\.?\d+)?(\.RELEASE)?([~^]\d*)*'?( |$)"
)


class Way(StrEnum):
    """How a project brings changes onto a branch."""

    MERGE = "merge"
    REBASE = "rebase"
    SQUASH = "squash"


class HistoryCommit(Struct, frozen=True):
    """A commit, as far as its place in history goes."""

    sha: str
    parents: tuple[str, ...]
    subject: str
    tree: str = ""

    @property
    def is_merge(self) -> bool:
        return len(self.parents) > 1


class Habit(Struct, frozen=True):
    """The way that a project goes, and how that is known, in one phrase."""

    way: Way
    reason: str


def guess_habit(recent: Sequence[HistoryCommit]) -> Habit:
    """The way that the newest commits of a branch show, read along first parents.

    Merges or numbers of pull requests, whichever are more; a line without either is rebased.
    """
    commits = [each for each in recent if not (each.is_merge and _FORWARD.match(each.subject))]
    count = len(commits)
    if count < _FEWEST:
        return Habit(Way.MERGE, "the default, since the base has a short history")
    merges = sum(commit.is_merge for commit in commits)
    numbered = sum(
        not commit.is_merge and _PULL_NUMBER.search(commit.subject) is not None
        for commit in commits
    )
    reason = (
        f"of the last {count} commits on the base {merges} are merges "
        f"and {numbered} end in a pull request's number"
    )
    if merges + numbered < _FEWEST_TELLING:
        return Habit(Way.REBASE, reason)
    return Habit(Way.MERGE if merges >= numbered else Way.SQUASH, reason)


class RebaseTrial(Struct, frozen=True):
    """The head's commits, picked one after the other onto the tip of the base.

    Attributes:
        emptied: how many of those picked change nothing any more and are dropped.
        applied: how many commits the base has already, which are left out.
        stopped_at: the first commit that conflicts; ``rest`` comes after it.
        made: the commits that were picked and change something, in order.
    """

    tree: str | None
    total: int
    picked: int = 0
    emptied: int = 0
    applied: int = 0
    stopped_at: HistoryCommit | None = None
    conflicts: tuple[Conflict, ...] = ()
    made: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    unfinished: Literal["timeout", "too_large"] | None = None
    impossible: str | None = None

    @property
    def clean(self) -> bool:
        """Return whether every commit was picked."""
        return self.tree is not None
