"""The score: how likely the people of a project are to bring a change to a branch."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from prjury.judges.backport.checks.asked_for import CHANGELOG
from prjury.judges.backport.history import Habits, log_odds
from prjury.judges.backport.titles import classify_title, strip_title_number, tokenise_title
from prjury.snapshot.kinds import edits_only_docs
from prjury.snapshot.model import FileChange, FileStatus, PullRequest

Band = Literal["likely", "grey", "unlikely"]

#: A backport is likely from this value on, and possible where the change stands out by so many
#: log-odds from what the branch takes on the whole.
LIKELY, OUTSTANDING = 0.7, 0.25
#: Nothing is likely on a branch that takes a smaller share of the newest changes.
STEADY = 0.25

#: The kind of a changelog fragment by its name (`12.bugfix.rst`) or a heading.
_FIX_FRAGMENT = re.compile(r"\.(bugfix(es)?|fix(ed)?|security|bug)(\.\d+)?(\.\w+)?$", re.IGNORECASE)
_FIX_HEADING = re.compile(
    r"^\W*((\w+_)?(kind|type): ?\W?|release-note:)?"
    r"(bug ?-?_?fix(es)?|security_fixes|fixed|fixes|(?<=[:\s])bug)\W*$",
    re.IGNORECASE,
)
_FIX_LABEL = re.compile(
    r"(?:.*[:/ ])?(?:bug|bug-?fix(?:es)?|regression|security|defect)(?:[:/ ].*)?", re.IGNORECASE
)
#: A title whose author says its type: the words behind it are about the fix.
_TYPED_FIX = re.compile(r"\s*(?:(?:bug|hot)-?)?fix(?:\(([^)]{0,40})\))?!?:", re.IGNORECASE)
#: Classes of titles beside which a fix is not one of the program itself.
_ASIDE = frozenset({"feature", "docs", "tests", "build", "dependency", "tidying", "removal"})


class ChangeTraits(Struct, frozen=True):
    """The traits of a change; its title calls it plainly a fix, or a label or changelog does."""

    words: frozenset[str] = frozenset()
    fix: bool = False
    plain: bool = False
    recorded: bool = False
    lines: int = 0
    new_files: int = 0


def find_traits(pull: PullRequest) -> ChangeTraits:
    """Return the traits of a pull request."""
    title = strip_title_number(pull.title, pull.body)
    classes = classify_title(title)
    fix = not classes.isdisjoint({"fix", "security"})
    typed = _TYPED_FIX.match(title)
    others = classify_title(typed[1] or "") | (classes & {"dependency"}) if typed else classes
    labels = any(_FIX_LABEL.fullmatch(label.strip()) for label in pull.labels)
    return ChangeTraits(
        words=tokenise_title(title),
        fix=fix,
        recorded=labels or any(map(_records_a_fix, pull.files)),
        plain=fix and others.isdisjoint(_ASIDE) and not edits_only_docs(pull),
        lines=pull.additions + pull.deletions,
        new_files=sum(file.status is FileStatus.ADDED for file in pull.files),
    )


def _records_a_fix(file: FileChange) -> bool:
    if not CHANGELOG.search(file.path) or file.status is FileStatus.DELETED:
        return False
    fragment = _FIX_FRAGMENT.search(file.path) is not None
    return fragment or any(_FIX_HEADING.match(line.text) for line in file.added_lines)


class BranchTraits(Struct, frozen=True):
    """The traits of a change on one branch; ``removed`` is the share of its lines there, 0..1."""

    habits: Habits
    conflicts: int = 0
    removed: float | None = None
    newest: bool = True


def encode_traits(change: ChangeTraits, branch: BranchTraits) -> tuple[float, ...]:
    """Return the numbers of the traits, in the order of the model."""
    removed = 0.85 if branch.removed is None else branch.removed  # no lines: the usual share
    return (
        log_odds(branch.habits.lately),
        branch.habits.lift,
        float(branch.newest),
        float(branch.conflicts > 0),
        1 - removed,
        math.log1p(change.lines),
        math.log1p(change.new_files),
        float(change.fix or change.recorded),
        float(change.recorded),
    )


#: Fitted by tests/fitting/backport_score.py: the weight of each trait, its number in the usual
#: change, and words for more and for less.
_INTERCEPT = -0.08
_TRAITS: Sequence[tuple[float, float, str, str]] = (
    (0.59, -1.55, "many recent changes were backported to it", "few recent changes were"),
    (0.36, 0, "changes with similar titles often were", "changes with similar titles rarely were"),
    (0.66, 0.73, "the newest branch", "not the newest branch"),
    (-0.81, 0.4, "it conflicts", "it picks cleanly"),
    (-0.88, 0.15, "removed lines are missing", "it has all removed lines"),
    (-0.14, 3.26, "a large change", "a small change"),
    (-0.5, 0.29, "new files", ""),
    (0.16, 0.33, "a fix", "not called a fix"),
    (1.23, 0.16, "a fix by its label or changelog entry", ""),
)
#: A reason moves the log-odds by so much at least.
_LEAST = 0.22


class Score(Struct, frozen=True):
    """How likely people are to backport the change; evidence, never a gate."""

    value: float
    possible_from: float = 0.4
    lately: float = 1.0
    reasons_for: tuple[str, ...] = ()
    reasons_against: tuple[str, ...] = ()

    @property
    def band(self) -> Band:
        """The band of the value."""
        if self.value >= LIKELY and self.lately >= STEADY:
            return "likely"
        return "grey" if self.value >= self.possible_from else "unlikely"


def score_change(change: ChangeTraits, branch: BranchTraits) -> Score:
    """Return the score of a change on a branch, with the strongest reasons first."""
    total = _INTERCEPT
    moves: list[tuple[float, str]] = []
    for trait, number in zip(_TRAITS, encode_traits(change, branch), strict=True):
        weight, usual, more, less = trait
        total += weight * number
        words, move = more if number > usual else less, weight * (number - usual)
        if words and abs(move) >= _LEAST:
            moves.append((move, words))
    moves.sort(key=lambda move: -abs(move[0]))
    taken = (log_odds(branch.habits.lately) + log_odds(branch.habits.share)) / 2
    return Score(
        _likelihood(total),
        min(LIKELY, _likelihood(taken + OUTSTANDING)),
        branch.habits.lately,
        tuple(words for move, words in moves if move > 0),
        tuple(words for move, words in moves if move < 0),
    )


def _likelihood(odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-odds))


def describe_score(score: Score) -> str:
    """Return the score and its reasons as one phrase."""
    words = f"by what other projects do, {score.value:.0%} of such changes are backported"
    if score.reasons_for:
        words += f"; for: {', '.join(score.reasons_for)}"
    if score.reasons_against:
        words += f"; against: {', '.join(score.reasons_against)}"
    return words
