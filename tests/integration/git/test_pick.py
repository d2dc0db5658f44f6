"""Trial picks: the same verdict and the same tree as a real cherry-pick."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.history import ENVIRONMENT, Files, History
from prjury.errors import SourceError, UsageError
from prjury.git.operator import open_repository
from prjury.git.releases import Releases
from prjury.git.store import open_store
from prjury.ports.types import BranchTip
from prjury.snapshot.model import MergeTrial

TEXT = "".join(f"line {number}\n" for number in range(1, 41))


@dataclass(frozen=True)
class Case:
    """What stands on both branches at first, what the branch did since, and what is picked."""

    branch: Files
    change: Files
    clean: bool
    empty: bool = False


CASES = {
    "clean": Case(
        {"a.py": TEXT.replace("line 30\n", "thirty\n")},
        {"a.py": TEXT.replace("line 3\n", "three\n"), "new.py": "n\n"},
        clean=True,
    ),
    "conflict": Case(
        {"a.py": TEXT.replace("line 3\n", "branch\n")},
        {"a.py": TEXT.replace("line 3\n", "three\n")},
        clean=False,
    ),
    "already there": Case(
        {"a.py": TEXT.replace("line 3\n", "three\n"), "more.py": "m\n"},
        {"a.py": TEXT.replace("line 3\n", "three\n")},
        clean=True,
        empty=True,
    ),
    "renamed on the branch": Case(
        {"a.py": None, "moved/a.py": TEXT},
        {"a.py": TEXT.replace("line 3\n", "three\n")},
        clean=True,
    ),
    "renamed by the change": Case(
        {"a.py": TEXT.replace("line 30\n", "thirty\n")},
        {"a.py": None, "moved.py": TEXT.replace("line 3\n", "three\n")},
        clean=True,
    ),
    "gone on the branch": Case(
        {"a.py": None}, {"a.py": TEXT.replace("line 3\n", "three\n")}, clean=False
    ),
    "added on both": Case({"n.py": "branch\n"}, {"n.py": "change\n"}, clean=False),
    "deleted by the change": Case({"x.py": "x\n"}, {"a.py": None}, clean=True),
    "union in the attributes": Case(
        {"a.py": TEXT.replace("line 3\n", "branch\n"), ".gitattributes": "* merge=union\n"},
        {"a.py": TEXT.replace("line 3\n", "three\n")},
        clean=False,
    ),
}


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "repo")


@dataclass(frozen=True)
class Tried:
    """A trial pick, and the tip that it was made on."""

    merge: MergeTrial
    tip: BranchTip

    @property
    def empty(self) -> bool:
        return self.merge.tree == self.tip.tree


def trial(history: History, onto: str = "1.x", head: str = "change") -> Tried:
    base = history.git("merge-base", "main", head)
    with open_store(open_repository(history.path)) as store:
        releases = Releases(store)
        tip = releases.tip(onto)
        merge = releases.pick(base, history.sha(head), tip.sha)
        assert releases.pick_tree(base, history.sha(head), tip.sha) == merge.tree
        return Tried(merge, tip)


def without_attributes(history: History) -> None:
    """A real cherry-pick shall see the attributes that the trial sees: none."""
    (history.git_dir / "info").mkdir(exist_ok=True)
    (history.git_dir / "info" / "attributes").write_text("* !merge !text !eol !filter !diff\n")


def type_in(history: History, command: str) -> int:
    return subprocess.run(
        ["sh", "-c", command], cwd=history.path, env=ENVIRONMENT, capture_output=True, check=False
    ).returncode


@pytest.mark.parametrize("name", CASES)
def test_a_trial_equals_a_real_cherry_pick(history: History, name: str) -> None:
    case = CASES[name]
    history.commit({"a.py": TEXT})
    history.branch("1.x")
    history.commit({"only-main.py": "m\n"})
    history.switch("change", create=True)
    picked = history.commit(case.change)
    history.switch("1.x")
    history.commit(case.branch)
    tried = trial(history)

    without_attributes(history)
    code = type_in(history, f"git cherry-pick --allow-empty --keep-redundant-commits {picked}")
    assert (code == 0) is tried.merge.clean is case.clean
    assert tried.empty is case.empty
    if case.clean:
        assert tried.merge.tree == history.sha("HEAD^{tree}")
    else:
        unmerged = history.git("diff", "--name-only", "--diff-filter=U", "-z").split("\0")[:-1]
        assert [conflict.path for conflict in tried.merge.conflicts] == unmerged


def with_merges(history: History) -> None:
    """A change of three commits, one of them a merge of ``main``."""
    history.commit({"a.py": TEXT, "b.py": "b\n"})
    history.branch("1.x")
    history.switch("change", create=True)
    history.commit({"a.py": TEXT.replace("line 3\n", "three\n")})
    history.switch("main")
    history.commit({"only-main.py": "m\n"})
    history.switch("change")
    history.merge("main")
    history.commit({"b.py": "bb\n"}, "Say 'bb'")
    history.switch("1.x")
    history.commit({"old.py": "o\n"})


@pytest.mark.parametrize("onto", ["1.x", "refs/heads/1.x", "origin/2.x", "2.x", "v1"])
def test_a_target_may_be_any_branch_ref_or_commit(history: History, onto: str) -> None:
    with_merges(history)
    history.git("update-ref", "refs/remotes/origin/2.x", "1.x")
    history.tag("v1", "1.x")

    assert trial(history, onto).tip.sha == history.sha("1.x")
    assert trial(history, history.sha("1.x")).merge.clean


def test_a_target_that_does_not_exist(history: History) -> None:
    with_merges(history)

    with pytest.raises(SourceError) as caught:
        trial(history, "9.x")
    assert caught.value.reason == "no_such_ref"
    with pytest.raises(UsageError):
        trial(history, "--output=x")


def test_the_operator_s_repository_gets_no_objects(history: History) -> None:
    with_merges(history)
    before = sorted(history.git_dir.rglob("*"))
    trial(history)

    assert sorted(history.git_dir.rglob("*")) == before


@pytest.mark.parametrize("date", ["-100 +0000", "nonsense", "99999999999999999999 +0000"])
def test_a_date_that_git_cannot_read_keeps_nobody_from_a_verdict(
    history: History, date: str
) -> None:
    history.commit({"a.py": TEXT})
    history.branch("1.x")
    base = history.head
    picked = history.commit({"a.py": TEXT.replace("line 3\n", "three\n")})
    tree = history.sha("1.x^{tree}")
    who = f"Ada <a@b> {date}"
    raw = f"tree {tree}\nparent {base}\nauthor {who}\ncommitter {who}\n\nRelease\n"
    args = ("hash-object", "-t", "commit", "-w", "--literally", "--stdin")
    tip = history.git(*args, stdin=raw.encode())
    history.git("update-ref", "refs/heads/1.x", tip)
    with open_store(open_repository(history.path)) as store:
        releases = Releases(store)
        assert releases.tip("1.x").tree == tree
        assert [one.sha for one in releases.messages(base, tip)] == [tip]
        assert releases.pick(base, picked, tip).clean
