"""Trials in object space come to what git itself comes to in a work tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fakes.history import History
from fakes.wild import WildHistory
from prjury.deadline import Deadline
from prjury.git.merge import try_merge
from prjury.git.operator import open_repository
from prjury.git.store import open_store
from prjury.snapshot.merge_style import RebaseTrial
from prjury.snapshot.model import ConflictType, MergeTrial

SEEDS = [
    *range(20),
    *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(20, 400)),
]
#: What the store says of every path, too.
ATTRIBUTES = "* !merge !text !eol !filter !diff !crlf !ident !working-tree-encoding\n"
#: What git adds to a path where two things cannot stand at it.
MADE_UP = re.compile(r"~(HEAD|main|change|[0-9a-f]{7,}.*)$")


def wild(path: Path, seed: int) -> History:
    history = WildHistory(path / "repo", seed).history
    info = history.git_dir / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text(ATTRIBUTES)
    history.git("config", "merge.renameLimit", "2000")
    return history


def unmerged(history: History) -> set[str]:
    listing = history.git("ls-files", "-u", "-z").split("\0")[:-1]
    return {MADE_UP.sub("", entry.partition("\t")[2]) for entry in listing}


def merged(history: History) -> MergeTrial:
    with open_store(open_repository(history.path)) as store:
        return try_merge(store.git, history.sha("main"), history.sha("change"))


def rebased(history: History) -> RebaseTrial:
    with open_store(open_repository(history.path)) as store:
        return store.rebase(history.sha("main"), history.sha("change"), Deadline.after(60))


def in_work_tree(history: History, *command: str) -> bool:
    """Whether git succeeds; it stops where it does not."""
    quiet = ("-c", "core.hooksPath=/dev/null", "-c", "advice.mergeConflict=false")
    history.git(*quiet, *command, ok=(0, 1))
    return not history.git("status", "--porcelain=v2", "--untracked-files=no").strip()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_merge(tmp_path: Path, seed: int) -> None:
    history = wild(tmp_path, seed)
    history.switch("main")
    trial = merged(history)
    lines_are_those_of_the_sides(history, trial)
    clean = in_work_tree(history, "merge", "--no-edit", "--no-ff", "change")

    assert trial.impossible is None
    assert trial.clean is clean
    if clean:
        assert trial.tree == history.sha("HEAD^{tree}")
    else:
        assert {conflict.path for conflict in trial.conflicts} == unmerged(history)


def lines_are_those_of_the_sides(history: History, trial: MergeTrial) -> None:
    sides = "main", "change"
    for conflict in trial.conflicts:
        listed = [history.git("ls-tree", "-z", side, "--", conflict.path) for side in sides]
        if conflict.type is not ConflictType.CONTENT or not all(listed):
            continue  # it was renamed
        assert conflict.regions
        ours, theirs = (history.git("show", f"{side}:{conflict.path}") for side in sides)
        for region in conflict.regions:
            mine = ours.split("\n")[region.onto.first - 1 :][: region.onto.count]
            yours = theirs.split("\n")[region.head.first - 1 :][: region.head.count]
            assert mine != yours
            assert not (mine and yours and mine[0] == yours[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_rebase(tmp_path: Path, seed: int) -> None:
    history = wild(tmp_path, seed)
    history.switch("change")
    trial = rebased(history)
    clean = in_work_tree(history, "rebase", "--no-ff", "main")

    assert trial.unfinished is None
    assert trial.impossible is None
    assert trial.clean is clean
    if clean:
        assert trial.tree == history.sha("HEAD^{tree}")
    else:
        assert trial.stopped_at
        assert trial.stopped_at.sha == history.sha("REBASE_HEAD")
        assert trial.stopped_at.subject == history.git("log", "-1", "--format=%s", "REBASE_HEAD")
        assert {conflict.path for conflict in trial.conflicts} == unmerged(history)


def test_chance_has_brought_both(tmp_path: Path) -> None:
    """The tests above would prove little if all histories came to the same."""
    merges, rebases, types = set(), set(), set()
    for seed in range(15):
        history = wild(tmp_path / str(seed), seed)
        merge, rebase = merged(history), rebased(history)
        merges.add(merge.clean)
        rebases.add((rebase.clean, rebase.picked > 0, rebase.applied > 0))
        types |= {conflict.type for conflict in merge.conflicts}

    assert merges == {True, False}
    assert len(rebases) >= 4
    assert {ConflictType.CONTENT, ConflictType.MODIFY_DELETE} <= types
