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
    assert (first.message, first.fix) == ("content conflict: imports only", None)
    assert first.location == Location("f0.py", 3, 9)
    assert judgment.metadata["conflicts"][0] == {
        "path": "f0.py",
        "type": "content",
        "reason": "imports only",
    }


def test_mechanical_conflicts_fail_as_well_and_say_so() -> None:
    judgment = decide(conflicting(True), MERGING)

    assert judgment.status is Status.FAIL
    assert judgment.reasoning == (
        "conflicts in 1 file, all easy to resolve: f0.py (imports only), up to date"
    )
    assert names(judgment, passed=True) == ["strategy"]


def test_both_texts_of_the_first_places_are_shown() -> None:
    sides = (tuple(f"mine {n}" for n in range(10)), ("theirs",))
    region = ConflictRegion(head=LineSpan(3, 10), onto=LineSpan(3, 1), texts=sides)
    conflict = replace(conflicts(False)[0], regions=(region,) * 30)
    judgment = decide(replace(PULL, merge=MergeTrial(None, (conflict,))), MERGING)

    place = [
        "<<<<<<< the base, line 3",
        "theirs",
        "=======",
        *(f"mine {n}" for n in range(8)),
        "… (2 more lines)",
        ">>>>>>> the head, lines 3 to 12",
    ]
    assert str(judgment.checks[-1].evidence).splitlines() == [*place * 4, "and 26 more places"]


# Rebasing


def test_a_rebase_that_conflicts_fails_though_a_merge_is_clean() -> None:
    trial = RebaseTrial(None, 5, 1, stopped_at=SECOND, conflicts=conflicts(False, True))
    judgment = decide(replace(PULL, behind=4), REBASING, trial)

    assert judgment.status is Status.FAIL
    words = "commit 2 of 5 (`eeeeeee` Add it): conflicts in 2 files"
    assert judgment.reasoning == f"{words}, 4 commits behind"
    _, merge_clean, first, second = judgment.checks
    assert (merge_clean.passed, merge_clean.message) == (True, "no conflicts")
    assert names(judgment, passed=False) == ["conflict", "conflict"]
    assert (first.severity, second.severity) == ("error", "error")
    assert first.fix == "Rebase onto `main`, and resolve the conflict at `eeeeeee`."
    assert first.location == Location("f0.py")
    assert ">>>>>>> `eeeeeee`, lines 3 to 9" in str(first.evidence)
    place = {"sha": "e" * 40, "subject": "Add it", "place": "commit 2 of 5"}
    assert judgment.metadata["stopped_at"] == place
    assert len(judgment.metadata["conflicts"]) == 2


@pytest.mark.parametrize(
    ("subject", "shown"), [("x" * 61, "x" * 60), ("a\x1b[31m\u202e", r"a\x1b[31m\u202e")]
)
def test_subjects_are_shown_in_short_and_harmlessly(subject: str, shown: str) -> None:
    trial = RebaseTrial(None, 1, stopped_at=replace(SECOND, subject=subject))
    judgment = decide(PULL, REBASING, trial)

    assert judgment.metadata["stopped_at"]["subject"] == shown
    assert f"(`eeeeeee` {shown})" in judgment.reasoning


UNTRIED = "the rebase was given up"
MANY = "there are too many commits"


@pytest.mark.parametrize(
    ("pull", "trial", "status", "failed", "words"),
    [
        (PULL, RebaseTrial("d" * 40, 0, applied=7), Status.PASS, [], "nothing to rebase: the base"),
        (PULL, RebaseTrial("d" * 40, 1, 1), Status.PASS, [], "1 commit rebases cleanly"),
        (PULL, RebaseTrial("e" * 40, 2, 2), Status.PASS, ["same-tree"], "2 commits rebase cleanly"),
        (
            conflicting(False),
            RebaseTrial("e" * 40, 1, 1),
            Status.PASS,
            ["merge-clean"],
            "1 commit rebases cleanly",
        ),
        (
            PULL,
            RebaseTrial(None, 300, 120, unfinished="timeout"),
            Status.ABSTAIN,
            ["rebase-clean"],
            f"{UNTRIED} after 120 of 300 commits: the time was over",
        ),
        (
            PULL,
            RebaseTrial(None, 0, unfinished="timeout"),
            Status.ABSTAIN,
            ["rebase-clean"],
            f"{UNTRIED}: the time was over",
        ),
        (
            PULL,
            RebaseTrial(None, 1_200, unfinished="too_large"),
            Status.ABSTAIN,
            ["rebase-clean"],
            f"{UNTRIED}: {MANY}",
        ),
        (
            conflicting(False),
            RebaseTrial(None, 30, 2, unfinished="timeout"),
            Status.FAIL,
            ["conflict"],
            f"conflicts in 1 file; {UNTRIED} after 2 of 30 commits: the time was over",
        ),
        (PULL, RebaseTrial(None, 3, impossible="git broke"), Status.ERROR, [], "git broke"),
    ],
)
def test_what_becomes_of_a_rebase(
    pull: PullRequest, trial: RebaseTrial, status: Status, failed: list[str], words: str
) -> None:
    judgment = decide(pull, REBASING, trial)

    assert judgment.status is status
    assert judgment.reasoning.startswith(words)
    assert names(judgment, passed=False) == failed
    if status is Status.PASS:
        assert all(check.severity == "warning" for check in judgment.failed_checks)
    if trial.unfinished and status is Status.ABSTAIN:
        assert judgment.label == judgment.metadata["reason"] == trial.unfinished
        assert "merge: {strategy: squash}" in str(judgment.failed_checks[0].fix)


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
        "tried as a merge: the default, since the base has a short history"
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

    assert judged(repository, pull, strategy="rebase").checks == ()
    assert repository.asked == []


def test_git_that_fails_is_no_answer() -> None:
    with pytest.raises(SourceError, match="git broke"):
        judged(Landing({}), strategy="rebase")
