"""What became of the changes before this one: which of them reached a release branch.

Projects differ in what they backport far more than their changes do. So the score looks at what
the project itself did lately: how many of the changes since the branch parted reached it, and
whether those with the same words in their titles did so more often or more seldom.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from prjury.errors import SourceError
from prjury.judges.backport.origins import origins
from prjury.judges.backport.score.features import title_of, words
from prjury.ports import Releases
from prjury.ports.types import BranchTip, CommitMessage
from prjury.snapshot.model import PullRequest

#: So many of the newest changes tell how much a branch gets these days.
LATELY = 50
#: What other branches got counts less than what this one did.
_OTHERS = 0.5
#: As if so many changes had been seen before, and so many of them had reached the branch.
_LATELY_SEEN, _LATELY_REACHED = 10.0, 2.0
#: A word that was seen a few times only says little; one alone never decides.
_PATIENCE = 6.0
_MOST = 1.5
#: So many digits of a commit's name are compared.
_SHORT = 7
#: A title of fewer characters may be that of many changes.
_TELLING = 16
_PULL = re.compile(
    r"(?:Merge (?:pull request|PR) #(\d{1,9}) |.*\((?:#|gh-)(\d{1,9})\)\s*$)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class EarlierChange:
    """A change that came onto the base since a branch fork_point, and whether the branch has it."""

    words: frozenset[str]
    reached: bool


@dataclass(frozen=True, slots=True)
class HistoryFeatures:
    """What became of earlier changes, as far as it matters for one change and one branch.

    Attributes:
        earlier: how many changes came onto the base since the branch parted.
        lately: the share of the newest of them that reached the branch, smoothed, 0..1.
        lift: by how much the words of the title speak for a backport, in log-odds; 0 where earlier
            changes tell nothing.
    """

    earlier: int
    lately: float
    lift: float


def earlier_changes(
    units: Iterable[CommitMessage], branch: Iterable[CommitMessage]
) -> tuple[EarlierChange, ...]:
    """Which changes reached a branch, by what the commits of the branch say of themselves.

    Args:
        units: the changes on the base since the branch fork_point, along first parents, newest first;
            without the change that is judged.
        branch: all commits of the branch since then.
    """
    found = _Brought.by(branch)
    return tuple(_earlier(unit, found) for unit in units)


@dataclass(frozen=True)
class _Brought:
    """What the commits of a branch say that they bring."""

    shas: frozenset[str]
    pulls: frozenset[int]
    titles: frozenset[str]

    @classmethod
    def by(cls, branch: Iterable[CommitMessage]) -> _Brought:
        shas: set[str] = set()
        pulls: set[int] = set()
        titles: set[str] = set()
        for message in branch:
            said = origins(message.text)
            shas.update(sha[:_SHORT] for sha in said.shas)
            pulls.update(said.pulls)
            titles.add(_title(message.text))
        return cls(frozenset(shas), frozenset(pulls), frozenset(titles))


def _earlier(unit: CommitMessage, found: _Brought) -> EarlierChange:
    title = _title(unit.text)
    number = _PULL.match(unit.text.lstrip().partition("\n")[0])
    reached = (
        unit.sha[:_SHORT] in found.shas
        or (number is not None and int(number[1] or number[2]) in found.pulls)
        or (len(title) >= _TELLING and title in found.titles)
    )
    return EarlierChange(words(title), reached)


def _title(message: str) -> str:
    subject, _, body = message.strip().partition("\n")
    return title_of(subject, body)


def history_features(
    title: frozenset[str],
    own: Sequence[EarlierChange],
    others: Sequence[Sequence[EarlierChange]] = (),
) -> HistoryFeatures:
    """What earlier changes tell of one whose title has these words.

    Args:
        own: of the branch, newest first.
        others: of further release branches of the same base.
    """
    lately = own[:LATELY]
    reached = sum(change.reached for change in lately)
    return HistoryFeatures(
        earlier=len(own),
        lately=(reached + _LATELY_REACHED) / (len(lately) + _LATELY_SEEN),
        lift=_lift(title, [(1.0, own), *((_OTHERS, other) for other in others)]),
    )


def _lift(
    title: frozenset[str], branches: Sequence[tuple[float, Sequence[EarlierChange]]]
) -> float:
    """The sum of what each word adds, each against what its branches get on the whole."""
    seen = dict.fromkeys(title, 0.0)
    usual = dict.fromkeys(title, 0.0)
    reached = dict.fromkeys(title, 0.0)
    for weight, changes in branches:
        share = _share(changes)
        for change in changes:
            if title.isdisjoint(change.words):
                continue
            for word in title & change.words:
                seen[word] += weight
                usual[word] += weight * share
                reached[word] += weight * change.reached
    return sum(_adds(seen[word], usual[word], reached[word]) for word in sorted(title))


def _share(changes: Sequence[EarlierChange]) -> float:
    return sum(change.reached for change in changes) / len(changes) if changes else 0.0


def _adds(seen: float, usual: float, reached: float) -> float:
    if not seen:
        return 0.0
    expected = usual / seen
    found = (reached + _PATIENCE * expected) / (seen + _PATIENCE)
    return max(-_MOST, min(_MOST, _log_odds(found) - _log_odds(expected)))


def _log_odds(share: float) -> float:
    inside = min(max(share, 0.005), 0.995)
    return math.log(inside / (1.0 - inside))


#: So many of the newest changes on the base are looked at.
MOST_UNITS = 1_500


@dataclass(frozen=True, slots=True)
class History:
    """What history tells of a branch.

    Attributes:
        fork_point: the commit that the branch and the base have in common; None where there is none,
            or where it is not known.
        messages: of the branch's commits since then, newest first.
        earlier: the changes that came to the base since then, and whether the branch has them.
        unchecked: why nothing is known; empty where it is.
    """

    fork_point: str | None = None
    messages: tuple[CommitMessage, ...] = ()
    earlier: tuple[EarlierChange, ...] = ()
    unchecked: str = ""


def history_of(pull: PullRequest, tip: BranchTip, releases: Releases) -> History:
    """What history tells of a branch; that it cannot be read is told, for the trial needs none."""
    try:
        fork_point = releases.parted(tip.sha, pull.merge_base)
        if fork_point is None:
            return History(unchecked="no commit that it shares with the base is known here")
        messages = tuple(releases.messages(fork_point, tip.sha))
        units = releases.brought(fork_point, pull.merge_base, MOST_UNITS)
    except SourceError as error:
        return History(unchecked=str(error))
    return History(fork_point, messages, earlier_changes(units, messages))
