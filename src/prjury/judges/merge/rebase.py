"""What a rebase, tried commit by commit, proves beside the trial merge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from prjury.judges.merge.conflicts import (
    check_of,
    conflict_messages,
    counted,
    described,
    no_complex,
    together,
)
from prjury.jury.judgment import Check, Judgment
from prjury.snapshot.merge_style import RebaseTrial, StyleCommit
from prjury.snapshot.model import PullRequest, printable, visible

_LONGEST_SUBJECT = 60
_GIVEN_UP = {
    "timeout": "the time was over",
    "too_large": "there are more commits than are picked one by one",
}


def rebase_checks(pull: PullRequest, trial: RebaseTrial, merged: Judgment) -> Judgment:
    """The judgment where the project rebases.

    Args:
        merged: what the trial merge alone proves.
    """
    if trial.unfinished:
        return _unfinished(trial, merged)
    if trial.stopped_at:
        return _stopped(pull, trial, trial.stopped_at)
    picked = Check("rebase-clean", passed=True, message=_told(pull, trial))
    return Judgment.passed(
        _clean(trial), checks=(picked, *no_complex(()), *_differences(pull, trial))
    )


def _unfinished(trial: RebaseTrial, merged: Judgment) -> Judgment:
    """A conflict that a plain merge has is one all the same; without it nothing is known."""
    why = _GIVEN_UP[trial.unfinished or "timeout"]
    where = f" after {trial.picked} of {counted(trial.total, 'commit')}" if trial.picked else ""
    words = f"the rebase was given up{where}: {why}"
    if merged.failed_checks:
        return replace(merged, reasoning=f"{merged.reasoning}; {words}")
    fix = "Squash the commits, or set `merge: {strategy: squash}` if the project does not rebase."
    given_up = Check("rebase-clean", passed=False, message=words, fix=fix)
    return Judgment.abstained(words, trial.unfinished, checks=(given_up, *merged.checks))


def _stopped(pull: PullRequest, trial: RebaseTrial, commit: StyleCommit) -> Judgment:
    conflicts = trial.conflicts
    place = f"commit {trial.picked + 1} of {trial.total}"
    sha = commit.sha[:7]
    words = f"{place} (`{sha}` {_subject(commit)}): {conflict_messages(conflicts)}"
    left = trial.total - trial.picked - 1
    after = f"; {counted(left, 'commit')} after it not tried" if left else ""
    base = printable(pull.base.ref)
    fix = f"Rebase the branch onto `{base}` and resolve the conflict at `{sha}`."
    at = None if commit.sha == pull.head.sha else sha
    return Judgment.failed(
        f"{words}{after}; {_plain_merge(pull)}",
        checks=(
            *([_merge_check(pull)] if pull.merge.clean else ()),
            *no_complex(conflicts),
            *(check_of(conflict, at=at, fix=fix) for conflict in together(conflicts)),
        ),
        metadata={
            "stopped_at": {"sha": commit.sha, "subject": _subject(commit), "place": place},
            "conflicts": list(map(described, conflicts)),
        },
    )


def _subject(commit: StyleCommit) -> str:
    subject = visible(commit.subject)
    return subject if len(subject) <= _LONGEST_SUBJECT else f"{subject[:_LONGEST_SUBJECT]}…"


def _plain_merge(pull: PullRequest) -> str:
    return "a plain merge is clean" if pull.merge.clean else "a plain merge conflicts as well"


def _merge_check(pull: PullRequest) -> Check:
    message = "no conflicts" if pull.merge.clean else conflict_messages(pull.merge.conflicts)
    return Check("merge-clean", pull.merge.clean, message, severity="warning")


def _clean(trial: RebaseTrial) -> str:
    if not trial.total:
        return "nothing to rebase: the base has every commit already"
    return f"{counted(trial.total, 'commit')} {'rebases' if trial.total == 1 else 'rebase'} cleanly"


def _told(pull: PullRequest, trial: RebaseTrial) -> str:
    merges = pull.ahead - trial.total - trial.applied
    parts = [
        f"{counted(trial.picked, 'commit')} picked",
        f"{trial.applied} left out that the base has already" if trial.applied else "",
        f"{counted(merges, 'merge')} left out" if merges > 0 else "",
        f"{trial.emptied} without any change" if trial.emptied else "",
    ]
    return ", ".join(filter(None, parts))


def _differences(pull: PullRequest, trial: RebaseTrial) -> Iterator[Check]:
    """Where rebased commits come to something else than the merge that is built."""
    yield _merge_check(pull)
    if pull.merge.clean and trial.tree != pull.merge.tree:
        message = "the rebased commits come to another tree than the merge, which is what is built"
        yield Check("same-tree", passed=False, message=message, severity="warning")
