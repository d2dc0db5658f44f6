"""Rebases in object space: what is picked, what is left out, where it stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.history import History, snapshot
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.git.merge import MOST_COMMITS, try_rebase
from prjury.git.operator import open_repository
from prjury.git.store import open_store
from prjury.snapshot.merge_style import HistoryCommit, RebaseTrial

TEXT = "".join(f"line {number}\n" for number in range(1, 31))


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "repo", bare=True)


def trial(
    history: History, base: str = "main", head: str = "change", *, seconds: float = 60
) -> RebaseTrial:
    with open_store(open_repository(history.path)) as store:
        return store.rebase(history.sha(base), history.sha(head), Deadline.after(seconds))


def edited(number: int, text: str = TEXT, line: str = "changed") -> str:
    return text.replace(f"line {number}\n", f"{line}\n")


def parted(history: History) -> None:
    """``main`` has changed line 3; ``change`` is checked out where they parted."""
    history.commit({"f": TEXT})
    history.branch("change")
    history.commit({"f": edited(3)})
    history.switch("change")


def test_every_commit_is_picked(history: History) -> None:
    parted(history)
    history.commit({"f": edited(20)})
    history.commit({"g": "new\n"})

    found = trial(history)
    assert (found.total, found.picked, found.applied, found.emptied) == (2, 2, 0, 0)
    assert found.tree == snapshot(history).merge.tree
    assert found.stopped_at is None


def test_the_first_commit_that_conflicts_is_named(history: History) -> None:
    parted(history)
    parent = history.commit({"g": "new\n"})
    second = history.commit({"f": edited(3, line="theirs"), "h": "h\n"}, "Break \x1b[31mit\n\nWhy.")
    history.commit({"f": TEXT, "g": None}, "Never tried")

    found = trial(history)
    assert not found.clean
    assert (found.total, found.picked) == (3, 1)
    tree = history.git("rev-parse", f"{second}^{{tree}}").strip()
    assert found.stopped_at == HistoryCommit(second, (parent,), "Break \x1b[31mit", tree)
    (conflict,) = found.conflicts
    assert (conflict.path, conflict.lines) == ("f", (3, 3))
    assert snapshot(history).merge.clean


def test_commits_that_the_base_has_already_are_left_out(history: History) -> None:
    history.commit({"f": TEXT})
    history.branch("change")
    history.commit({"g": "other\n"})
    history.commit({"f": edited(3)}, "Taken over")
    history.commit({"f": edited(3, line="and changed again")})
    history.switch("change")
    history.commit({"f": edited(3)}, "In other words")
    history.commit({"h": "h\n"})

    found = trial(history)
    assert (found.total, found.picked, found.applied) == (1, 1, 1)
    assert found.clean


def test_a_commit_that_changes_nothing_any_more_is_dropped(history: History) -> None:
    history.commit({"f": TEXT})
    history.branch("change")
    history.commit({"f": edited(20, edited(3))})
    history.switch("change")
    history.commit({"f": edited(3)})
    history.commit({"g": "g\n"})
    history.commit({})

    found = trial(history)
    assert (found.total, found.picked, found.emptied) == (3, 3, 2)
    assert found.clean


def test_a_line_that_stands_on_the_base_is_taken_as_it_is(history: History) -> None:
    history.commit({"f": TEXT})
    history.switch("change", create=True)
    history.commit({"f": edited(3)})
    history.commit({"f": TEXT})

    found = trial(history)
    assert (found.picked, found.tree) == (2, history.sha("change^{tree}"))


def test_merges_are_left_out_and_what_they_resolved_is_not(history: History) -> None:
    parted(history)
    history.commit({"f": edited(3, line="theirs")})
    history.merge("main", files={"f": edited(3, line="both")})

    found = trial(history)
    assert snapshot(history).behind == 0
    assert snapshot(history).merge.clean
    assert (found.total, found.picked, found.clean) == (1, 0, False)
    assert found.stopped_at
    assert found.stopped_at.subject == "change"


def test_a_commit_without_parents_is_picked_from_nothing(history: History) -> None:
    history.commit({"f": TEXT})
    history.branch("change")
    history.commit({"f": edited(3)})
    history.orphan("other")
    history.commit({"lib/x": "x\n"}, parents=())
    history.switch("change")
    history.merge("change", files={"lib/x": "x\n"})
    tree = history.sha("change^{tree}")
    sha = history.git(
        "commit-tree", tree, "-p", "change~1", "-p", "other", "-m", "Take in a library"
    )
    history.git("update-ref", "refs/heads/change", sha)

    found = trial(history)
    assert (found.total, found.picked, found.clean) == (1, 1, True)


def test_attributes_of_the_change_resolve_nothing(history: History) -> None:
    history.commit({"f": "0\n"})
    history.branch("change")
    history.commit({"f": "1\n"})
    history.switch("change")
    history.commit({".gitattributes": "* merge=union\n"})
    history.commit({"f": "2\n"})

    assert (trial(history).picked, trial(history).clean) == (1, False)


# Limits


def long_line(history: History, count: int) -> None:
    parted(history)
    for number in range(count):
        history.commit({"g": f"{number}\n"})


def test_the_time_is_over_before_it_begins(history: History) -> None:
    long_line(history, 3)

    found = trial(history, seconds=0)
    assert (found.unfinished, found.picked, found.clean) == ("timeout", 0, False)
    assert found.stopped_at is None


def test_the_time_ends_between_two_picks(history: History) -> None:
    long_line(history, 8)
    deadline = _Ticking(until=5)
    with open_store(open_repository(history.path)) as store:
        found = try_rebase(store.git, history.sha("main"), history.sha("change"), deadline)

    assert (found.unfinished, found.total) == ("timeout", 8)
    assert 0 < found.picked < 8


class _Ticking(Deadline):
    """A deadline at which every look at the clock costs a second."""

    def __init__(self, until: float) -> None:
        super().__init__(0.0)
        object.__setattr__(self, "left", until)

    @property
    def remaining(self) -> float:
        left: float = self.__dict__["left"]
        object.__setattr__(self, "left", max(0.0, left - 1))
        return left


def test_more_commits_than_are_picked_one_by_one(history: History) -> None:
    history.commit({"f": TEXT})
    history.switch("change", create=True)
    history.pad(MOST_COMMITS)
    assert trial(history).picked == 1_000

    history.pad(1)
    found = trial(history)
    assert (found.unfinished, found.total, found.clean) == ("too_large", 1_001, False)


def test_missing_objects_are_told_and_not_taken_for_conflicts(
    history: History, tmp_path: Path
) -> None:
    parted(history)
    history.commit({"f": edited(20)})
    clone = history.clone(tmp_path / "clone", "--bare", "--filter=blob:none")

    with pytest.raises(SourceError):
        trial(clone)


# What is read of the base's history


def recent(history: History, count: int, tip: str = "main") -> list[HistoryCommit]:
    with open_store(open_repository(history.path)) as store:
        return list(store.recent(history.sha(tip), count))
