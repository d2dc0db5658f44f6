"""Uncommitted work as a subject, and a repository in which nothing changes by that."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.history import History
from prjury.errors import UsageError
from prjury.git.open_snapshot import NothingToReview, SnapshotRequest, open_snapshot
from prjury.git.uncommitted import Uncommitted


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "repo")
    files = {"a.py": "x = 1\n", "gone.py": "y\n", ".gitignore": "*.log\n", "sub/b.py": "b\n"}
    made.commit({**files, ".gitattributes": "* text eol=crlf\n"}, "start")
    return made


def everything(root: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
    }


def changes(history: History, which: Uncommitted, base: str | None = None) -> dict[str, str] | str:
    before = everything(history.path)
    wanted = SnapshotRequest(history.path / "sub", base=base, uncommitted=which)
    try:
        with open_snapshot(wanted) as taken:
            texts = {file.path: file.status.value for file in taken.pull.files}
            assert taken.pull.merge.tree
    except NothingToReview as nothing:
        return nothing.what
    assert everything(history.path) == before
    return texts


def work(history: History) -> None:
    (history.path / "a.py").write_text("x = 2\n")
    (history.path / "gone.py").unlink()
    (history.path / "new [1].py").write_text("n\n")
    (history.path / "sub" / "run.sh").write_text("echo\n")
    (history.path / "noise.log").write_text("l\n")


def test_the_work_tree_holds_all_that_is_not_ignored(history: History) -> None:
    work(history)
    assert changes(history, "worktree") == {
        "a.py": "modified",
        "gone.py": "deleted",
        "new [1].py": "added",
        "sub/run.sh": "added",
    }


def test_staged_is_what_a_commit_would_take(history: History) -> None:
    work(history)
    history.git("add", "a.py")
    (history.path / "a.py").write_text("x = 3\n")
    assert changes(history, "staged") == {"a.py": "modified"}


def test_a_base_has_the_branch_as_well(history: History) -> None:
    history.switch("change", create=True)
    history.commit({"c.py": "c\n"}, "Add c")
    (history.path / "a.py").write_text("x = 2\n")
    assert changes(history, "worktree", "main") == {"a.py": "modified", "c.py": "added"}
    assert changes(history, "staged", "main") == {"c.py": "added"}


@pytest.mark.parametrize("which", ["worktree", "staged"])
def test_no_work_is_nothing_to_review(history: History, which: Uncommitted) -> None:
    (history.path / "noise.log").write_text("l\n")
    reason = changes(history, which)
    assert isinstance(reason, str)
    assert reason.startswith("Nothing to review: the ")


def test_the_middle_of_a_merge_and_a_bare_repository_are_refused(
    history: History, tmp_path: Path
) -> None:
    history.switch("other", create=True)
    history.commit({"a.py": "x = 3\n"})
    history.switch("main")
    history.commit({"a.py": "x = 4\n"})
    history.git("-c", "merge.conflictStyle=merge", "merge", "--quiet", "other", ok=(1,))
    with pytest.raises(UsageError, match=r"a\.py is not merged yet"):
        changes(history, "staged")
    bare = History(tmp_path / "bare", bare=True)
    bare.commit({"a": "1\n"})
    wanted = SnapshotRequest(bare.path, uncommitted="worktree")
    with pytest.raises(UsageError, match="no work tree"), open_snapshot(wanted):
        pass
