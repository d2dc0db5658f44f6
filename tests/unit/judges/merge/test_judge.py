"""The merge judge: which way it takes, and what it makes of the trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from fakes.repository import FakeRepository
from fakes.shell import ScriptedShell
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.judges.context import PullRequestContext
from prjury.judges.merge.judge import decide, make
from prjury.jury.judgment import Judgment, Location, Status
from prjury.policy.load import read_options
from prjury.policy.tiers import MergeOptions
from prjury.ports import Ports, SilentProgress
from prjury.snapshot.merge_style import Habit, HistoryCommit, RebaseTrial, Way
from prjury.snapshot.model import (
    Conflict,
    ConflictRegion,
    ConflictType,
    LineSpan,
    MergeTrial,
    PullRequest,
    Side,
)

PULL = PullRequest(
    "o/r", Side("main", "b" * 40), Side("change", "c" * 40), "a" * 40, MergeTrial("d" * 40)
)
MERGING = Habit(Way.MERGE, "as usual")
REBASING = Habit(Way.REBASE, "as told")
REGION = ConflictRegion(head=LineSpan(3, 7), onto=LineSpan(3, 0))
SECOND = HistoryCommit("e" * 40, ("f" * 40,), "Add it")


def conflicts(*mechanical: bool) -> tuple[Conflict, ...]:
    return tuple(
        Conflict(f"f{n}.py", ConflictType.CONTENT, easy, "imports only", (3, 9), (REGION,))
        for n, easy in enumerate(mechanical)
    )


def conflicting(*mechanical: bool) -> PullRequest:
    return replace(PULL, merge=MergeTrial(None, conflicts(*mechanical)))


def names(judgment: Judgment, *, passed: bool) -> list[str]:
    return [check.name for check in judgment.checks if check.passed is passed]


# Merging and squashing


def test_mrg_02_conflicts_fail_and_are_listed() -> None:
    judgment = decide(conflicting(True, False), MERGING)

    assert judgment.status is Status.FAIL
    assert judgment.reasoning == "conflicts in 2 files, up to date"
    _, first, second = judgment.checks
    assert names(judgment, passed=False) == ["conflict", "conflict"]
    assert (first.severity, second.severity) == ("error", "error")
    assert first.message == "content conflict: imports only"
    assert first.location == Location("f0.py", 3, 9)
    assert first.evidence == "lines 3 to 9 at the head; before line 3 on the base"
    assert first.fix is None


def test_mechanical_conflicts_fail_as_well_and_say_so() -> None:
    judgment = decide(conflicting(True), MERGING)

    assert judgment.status is Status.FAIL
    assert judgment.reasoning == (
        "conflicts in 1 file, all easy to resolve: f0.py (imports only), up to date"
    )
    assert names(judgment, passed=True) == ["strategy"]


def test_many_places_are_told_in_few_words() -> None:
    many = tuple(ConflictRegion(LineSpan(n, 1), LineSpan(n, 2)) for n in range(1, 31))
    conflict = replace(conflicts(False)[0], regions=many)
    judgment = decide(replace(PULL, merge=MergeTrial(None, (conflict,))), MERGING)

    assert judgment.checks[-1].evidence == (
        "line 1 at the head; lines 1 to 2 on the base\n"
        "line 2 at the head; lines 2 to 3 on the base\n"
        "line 3 at the head; lines 3 to 4 on the base\n"
        "line 4 at the head; lines 4 to 5 on the base\n"
        "and 26 more places"
    )


def test_both_texts_of_a_place_are_shown() -> None:
    sides = (tuple(f"mine {n}" for n in range(10)), ("theirs",))
    region = ConflictRegion(head=LineSpan(3, 10), onto=LineSpan(3, 1), texts=sides)
    conflict = replace(conflicts(False)[0], regions=(region,))
    judgment = decide(replace(PULL, merge=MergeTrial(None, (conflict,))), MERGING)

    assert (judgment.checks[-1].evidence or "").splitlines() == [
        "<<<<<<< the base, line 3",
        "theirs",
        "=======",
        *(f"mine {n}" for n in range(8)),
        "… (2 more lines)",
        ">>>>>>> the head, lines 3 to 12",
    ]


# Rebasing


def test_a_rebase_of_commits_that_are_there_already() -> None:
    pull = replace(PULL, ahead=8)
    nothing = decide(pull, REBASING, RebaseTrial("d" * 40, 0, applied=7))
    assert nothing.reasoning == "nothing to rebase: the base has every commit already, up to date"


def test_a_rebase_that_conflicts_fails_though_a_merge_is_clean() -> None:
    trial = RebaseTrial(None, 5, 1, stopped_at=SECOND, conflicts=conflicts(False, True))
    judgment = decide(replace(PULL, behind=4), REBASING, trial)

    assert judgment.status is Status.FAIL
    words = "commit 2 of 5 (`eeeeeee` Add it): conflicts in 2 files"
    after = "3 commits after it not tried"
    assert judgment.reasoning == f"{words}; {after}, 4 commits behind"
    _, merge_clean, first, second = judgment.checks
    assert merge_clean.passed
    assert merge_clean.message == "no conflicts"
    fix = "Rebase the branch onto `main` and resolve the conflict at `eeeeeee`."
    assert names(judgment, passed=False) == ["conflict", "conflict"]
    assert (first.severity, second.severity) == ("error", "error")
    assert first.fix == fix
    assert first.location == Location("f0.py")
    assert first.evidence == "lines 3 to 9 at `eeeeeee`; before line 3 on the base"
    assert judgment.metadata["stopped_at"] == {
        "sha": "e" * 40,
        "subject": "Add it",
        "place": "commit 2 of 5",
    }
    assert len(judgment.metadata["conflicts"]) == 2


@pytest.mark.parametrize(
    ("subject", "shown"),
    [
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 60 + "…"),
        ("a\x1b[31m\u202e", r"a\x1b[31m\u202e"),
    ],
)
def test_subjects_are_shown_in_short_and_harmlessly(subject: str, shown: str) -> None:
    trial = RebaseTrial(None, 1, stopped_at=replace(SECOND, subject=subject))
    judgment = decide(PULL, REBASING, trial)

    assert judgment.metadata["stopped_at"]["subject"] == shown
    assert f"(`eeeeeee` {shown})" in judgment.reasoning


def test_a_rebase_may_be_clean_where_a_merge_is_not() -> None:
    judgment = decide(conflicting(False), REBASING, RebaseTrial("e" * 40, 1, 1))

    assert judgment.status is Status.PASS
    merge_clean = judgment.checks[-1]
    assert (merge_clean.name, merge_clean.passed, merge_clean.severity) == (
        "merge-clean",
        False,
        "warning",
    )
    assert merge_clean.message == "conflicts in 1 file"


def test_another_tree_than_the_one_that_is_built_is_said() -> None:
    judgment = decide(PULL, REBASING, RebaseTrial("e" * 40, 1, 1))

    assert judgment.status is Status.PASS
    check = judgment.checks[-1]
    assert (check.name, check.passed, check.severity) == ("same-tree", False, "warning")
    assert check.message == (
        "the rebased commits come to another tree than the merge, which is what is built"
    )


@pytest.mark.parametrize(
    ("trial", "words"),
    [
        (
            RebaseTrial(None, 300, 120, unfinished="timeout"),
            "the rebase was given up after 120 of 300 commits: the time was over",
        ),
        (RebaseTrial(None, 0, unfinished="timeout"), "the rebase was given up: the time was over"),
        (
            RebaseTrial(None, 1_200, unfinished="too_large"),
            "the rebase was given up: there are more commits than are picked one by one",
        ),
    ],
)
def test_a_rebase_that_was_not_tried_to_its_end(trial: RebaseTrial, words: str) -> None:
    judgment = decide(PULL, REBASING, trial)

    assert judgment.status is Status.ABSTAIN
    assert judgment.reasoning == f"{words}, up to date"
    assert judgment.label == judgment.metadata["reason"] == trial.unfinished
    assert judgment.checks[1].message == words
    assert judgment.checks[1].fix == (
        "Squash the commits, or set `merge: {strategy: squash}` if the project does not rebase."
    )
    assert names(judgment, passed=False) == ["rebase-clean"]


def test_a_merge_that_conflicts_is_known_without_the_rebase() -> None:
    trial = RebaseTrial(None, 30, 2, unfinished="timeout")
    judgment = decide(conflicting(False), REBASING, trial)

    assert judgment.status is Status.FAIL
    assert judgment.reasoning == (
        "conflicts in 1 file; the rebase was given up "
        "after 2 of 30 commits: the time was over, up to date"
    )


# Which way


@dataclass
class Landing(FakeRepository):
    """A repository with a history and the outcome of a rebase."""

    history: Sequence[HistoryCommit] = ()
    trial: RebaseTrial | None = None
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def recent(self, tip: str, count: int) -> Sequence[HistoryCommit]:
        self.asked.append(("recent", tip, str(count)))
        return self.history

    def rebase(self, base: str, head: str, deadline: Deadline) -> RebaseTrial:
        self.asked.append(("rebase", base, head, str(round(deadline.remaining))))
        if self.trial is None:
            raise SourceError("git broke", reason="git_failed")
        return self.trial


def judged(
    repository: Landing, pull: PullRequest = PULL, *, strategy: str = "auto", seconds: float = 60
) -> Judgment:
    ports = Ports(repository, ScriptedShell(), SilentProgress())
    options = read_options({"strategy": strategy}, MergeOptions)
    context = PullRequestContext("merge", pull=pull, deadline=Deadline.after(seconds))
    judgment = make(options, ports).judge(context)
    assert isinstance(judgment, Judgment)
    return judgment


def test_a_short_history_tells_nothing() -> None:
    repository = Landing({})

    assert judged(repository).checks[0].message == (
        "merge: the default, since the base has a short history (0 commits)"
    )
    assert repository.asked == [("recent", "b" * 40, "60")]


def test_a_rebase_gets_two_minutes_at_most() -> None:
    repository = Landing({}, trial=RebaseTrial("d" * 40, 0))
    judged(repository, strategy="rebase", seconds=10_000)

    assert repository.asked == [("rebase", "b" * 40, "c" * 40, "120")]


@pytest.mark.parametrize(
    "pull",
    [
        replace(PULL, merge=MergeTrial(None, impossible="no")),
        replace(PULL, merge_base=PULL.head.sha),
    ],
)
def test_nothing_is_asked_where_nothing_can_be_told(pull: PullRequest) -> None:
    repository = Landing({})
    judgment = judged(repository, pull, strategy="rebase")

    assert repository.asked == []
    assert judgment.metadata["strategy"]["reason"] == "no other way was tried"


def test_git_that_fails_is_no_answer() -> None:
    with pytest.raises(SourceError, match="git broke"):
        judged(Landing({}), strategy="rebase")
