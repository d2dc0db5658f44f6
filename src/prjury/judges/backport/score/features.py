"""What the score adds up: each feature's number, and how it is told as a reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from prjury.judges.backport.score.change_features import ChangeFeatures
from prjury.judges.backport.score.history_features import HistoryFeatures

#: A share of this much is told as the whole.
_WHOLE = 0.995


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What of a branch counts for whether a change is brought to it.

    Attributes:
        conflicts: files that conflict when the change is picked onto the branch; 0 for a clean
            pick, None where no trial could be made.
        lacks: touched files that the branch has not.
        removed: the share of removed lines that stand on the branch, 0..1; None without any.
        context: the same of the lines around them.
        newest: whether no release branch parted later from the base.
        habits: what became of earlier changes; None where nobody has looked.
    """

    conflicts: int | None
    lacks: int = 0
    removed: float | None = None
    context: float | None = None
    newest: bool = True
    habits: HistoryFeatures | None = None


Value = Callable[[ChangeFeatures, Circumstances], float | None]
Says = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing that counts.

    Attributes:
        value: its number; None where it is not known, which counts as the usual.
        says: the number as a reason; empty where it is not worth telling.
    """

    value: Value
    says: Says


def _flag(value: Callable[[ChangeFeatures], bool], present: str) -> Feature:
    return Feature(lambda traits, _: float(value(traits)), lambda number: present if number else "")


def _kind(name: str, present: str) -> Feature:
    return _flag(lambda traits: name in traits.kinds, present)


def _notes(name: str, present: str) -> Feature:
    return _flag(lambda traits: name in traits.notes, present)


def _only(name: str, present: str) -> Feature:
    return _flag(lambda traits: traits.only == name, present)


def _counted(number: float, noun: str) -> str:
    return f"{int(number)} {noun}{'s' * (int(number) != 1)}"


def _adds_files(number: float) -> str:
    return f"adds {'a file' if number == 1 else _counted(number, 'file')}" if number else ""


def _picks(number: float) -> str:
    return f"conflicts in {_counted(number, 'file')}" if number else "picks cleanly"


def _lacks(number: float) -> str:
    return f"the branch lacks {_counted(number, 'touched file')}" if number else ""


def _stands(what: str) -> Says:
    def says(share: float) -> str:
        if share >= _WHOLE:
            return f"all {what} stand on the branch"
        return f"{share:.0%} of {what} stand on the branch"

    return says


def _lately(share: float) -> str:
    return f"the branch lately gets {'much' if share > 0.25 else 'little'} of what is merged"  # noqa: PLR2004


def _lift(lift: float) -> str:
    if not lift:
        return ""
    return f"changes with such titles {'often' if lift > 0 else 'seldom'} reached the branch"


def _of_habits(value: Callable[[HistoryFeatures], float]) -> Value:
    return lambda _, branch: value(branch.habits) if branch.habits else None


def _conflicts(_: ChangeFeatures, branch: Circumstances) -> float | None:
    return branch.conflicts


FEATURES: Mapping[str, Feature] = {
    "conflicts": Feature(_conflicts, _picks),
    "lacks": Feature(lambda _, branch: branch.lacks, _lacks),
    "removed": Feature(lambda _, branch: branch.removed, _stands("removed lines")),
    "context": Feature(lambda _, branch: branch.context, _stands("lines around the change")),
    "newest": Feature(
        lambda _, branch: branch.newest,
        lambda newest: "the newest branch" if newest else "not the newest branch",
    ),
    "earlier": Feature(
        _of_habits(lambda habits: habits.earlier),
        lambda number: f"{_counted(number, 'change')} on the base since the branch parted",
    ),
    "lately": Feature(_of_habits(lambda habits: habits.lately), _lately),
    "lift": Feature(_of_habits(lambda habits: habits.lift), _lift),
    "files": Feature(
        lambda traits, _: traits.files, lambda number: f"touches {_counted(number, 'file')}"
    ),
    "lines": Feature(
        lambda traits, _: traits.lines, lambda number: f"changes {_counted(number, 'line')}"
    ),
    "new_files": Feature(lambda traits, _: traits.new_files, _adds_files),
    "declared": Feature(
        lambda traits, _: traits.declared,
        lambda number: f"declares {_counted(number, 'public name')}" if number else "",
    ),
    "title_fix": _kind("fix", "a fix by its title"),
    "title_feature": _kind("feature", "a feature by its title"),
    "title_docs": _kind("docs", "documentation by its title"),
    "title_tests": _kind("tests", "tests by its title"),
    "title_build": _kind("build", "build or CI by its title"),
    "title_dependency": _kind("dependency", "a dependency by its title"),
    "title_tidying": _kind("tidying", "tidying by its title"),
    "title_removal": _kind("removal", "a removal or deprecation by its title"),
    "title_typing": _kind("typing", "typing by its title"),
    "title_security": _kind("security", "security by its title"),
    "title_revert": _kind("revert", "takes something back"),
    "notes_fix": _notes("fix", "its changelog entry is a fix"),
    "notes_feature": _notes("feature", "its changelog entry is a feature"),
    "notes_breaking": _notes("breaking", "its changelog entry breaks or deprecates"),
    "only_docs": _only("docs", "documentation only"),
    "only_tests": _only("tests", "tests only"),
    "only_ci": _only("ci", "CI only"),
    "only_build": _only("build", "build files only"),
    "bot": _flag(lambda traits: traits.bot, "proposed by a program"),
}
