"""The history of a branch, and which earlier changes were backported to it.

Projects differ more than changes do, so the score reads the branch's own record: the share of
recent changes that reached it, and whether changes with the same words did so more often.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from prjury.errors import SourceError
from prjury.git.releases import Releases
from prjury.judges.backport.origins import read_origins
from prjury.judges.backport.titles import strip_branch, strip_title_number, tokenise_title
from prjury.ports.types import BranchTip, CommitMessage
from prjury.snapshot.model import PullRequest

#: So many of the newest changes on the base are read.
MOST_UNITS = 1_500
#: So many of the newest changes count as lately.
LATELY = 50
#: The weight of other branches.
_OTHERS = 0.5
#: Prior counts for smoothing: changes seen, and changes that reached the branch.
_LATELY_SEEN, _LATELY_REACHED = 10.0, 2.0
#: Prior weight of a word, and its largest effect in log-odds.
_PRIOR = 6.0
_MOST = 1.5
#: Compared digits of an object name.
_SHORT = 7
#: Shorter titles may belong to many changes.
_DISTINCT = 16
_PULL = re.compile(
    r"(?:Merge (?:pull request|PR) #(\d{1,9}) |.*\((?:#|gh-)(\d{1,9})\)\s*$)", re.IGNORECASE
)


class EarlierChange(Struct, frozen=True):
    """A change on the base since a branch forked, and whether the branch has it."""

    words: frozenset[str]
    reached: bool


class History(Struct, frozen=True):
    """The history of a branch since its fork point, newest first; ``unchecked`` says why not."""

    fork_point: str | None = None
    messages: tuple[CommitMessage, ...] = ()
    earlier: tuple[EarlierChange, ...] = ()
    unchecked: str = ""


def read_history(pull: PullRequest, tip: BranchTip, releases: Releases) -> History:
    """Read the history of a branch; an unreadable one is no error, as the trial needs none."""
    try:
        fork_point = releases.find_fork(tip.sha, pull.merge_base)
        if fork_point is None:
            return History(unchecked="no commit that it shares with the base is known here")
        messages = tuple(releases.messages(fork_point, tip.sha))
        changes = releases.list_brought(fork_point, pull.merge_base, MOST_UNITS)
    except SourceError as error:
        return History(unchecked=str(error))
    return History(fork_point, messages, list_earlier_changes(changes, messages))


class Habits(Struct, frozen=True):
    """Shares of the newest and of all changes that came, and the lift of a title in log-odds."""

    lately: float
    lift: float
    share: float = 0.2


def list_earlier_changes(
    base_commits: Iterable[CommitMessage], branch_commits: Iterable[CommitMessage]
) -> tuple[EarlierChange, ...]:
    """Find which changes on the base reached a branch, by the messages of its commits."""
    shas: set[str] = set()
    pulls: set[int] = set()
    titles: set[str] = set()
    for message in branch_commits:
        origin = read_origins(message.text)
        shas.update(sha[:_SHORT] for sha in origin.shas)
        pulls.update(origin.pulls)
        title = _title_of(message.text)
        titles |= {title, strip_branch(title)}
    changes: list[EarlierChange] = []
    for unit in base_commits:
        title = _title_of(unit.text)
        match = _PULL.match(unit.text.lstrip().partition("\n")[0])
        by_number = match is not None and int(match[1] or match[2]) in pulls
        by_title = len(title) >= _DISTINCT and title in titles
        # Who picks a merge's only commit names that commit.
        by_name = any(sha[:_SHORT] in shas for sha in (unit.sha, *unit.parents[1:]))
        changes.append(EarlierChange(tokenise_title(title), by_name or by_number or by_title))
    return tuple(changes)


def _title_of(message: str) -> str:
    subject, _, body = message.strip().partition("\n")
    return strip_title_number(subject, body)


def measure_habits(
    title: frozenset[str],
    own: Sequence[EarlierChange],
    others: Sequence[Sequence[EarlierChange]] = (),
) -> Habits:
    """Return what the changes of a branch, and those of others, say about a title's words."""
    lift = _sum_word_lifts(title, [(1.0, own), *((_OTHERS, other) for other in others)])
    return Habits(_smooth(own[:LATELY]), lift, _smooth(own))


def _smooth(changes: Sequence[EarlierChange]) -> float:
    reached = sum(change.reached for change in changes)
    return (reached + _LATELY_REACHED) / (len(changes) + _LATELY_SEEN)


def _sum_word_lifts(
    title: frozenset[str], weighted_branches: Sequence[tuple[float, Sequence[EarlierChange]]]
) -> float:
    """Sum up how much more often changes with each word reached their branches."""
    seen = dict.fromkeys(title, 0.0)
    usual, reached = seen.copy(), seen.copy()
    for weight, changes in weighted_branches:
        share = sum(change.reached for change in changes) / max(len(changes), 1)
        for change in changes:
            for word in title & change.words:
                seen[word] += weight
                usual[word] += weight * share
                reached[word] += weight * change.reached
    lift = 0.0
    for word in sorted(title):
        if seen[word]:
            expected = usual[word] / seen[word]
            share = (reached[word] + _PRIOR * expected) / (seen[word] + _PRIOR)
            lift += max(-_MOST, min(_MOST, log_odds(share) - log_odds(expected)))
    return lift


def log_odds(share: float) -> float:
    """Return the log-odds of a share, which stay finite."""
    inside = min(max(share, 0.005), 0.995)
    return math.log(inside / (1.0 - inside))
