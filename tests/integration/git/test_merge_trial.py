"""Trial merges: the same result as git's own merge, and what collides how."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.history import Files, History, snapshot
from prjury.snapshot.model import Conflict, ConflictRegion, ConflictType, LineSpan

TEXT = "".join(f"line {number}\n" for number in range(1, 31))


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "repo", bare=True)


def parted(history: History, before: Files, ours: Files, theirs: Files) -> None:
    """``main`` with our change and ``change`` with theirs."""
    history.commit(before)
    history.branch("change")
    history.commit(ours)
    history.switch("change")
    history.commit(theirs)


def conflicts(history: History, before: Files, ours: Files, theirs: Files) -> list[Conflict]:
    parted(history, before, ours, theirs)
    merge = snapshot(history).merge
    assert not merge.clean
    assert merge.impossible is None
    return list(merge.conflicts)


def only(history: History, before: Files, ours: Files, theirs: Files) -> Conflict:
    (conflict,) = conflicts(history, before, ours, theirs)
    return conflict


def test_a_clean_merge_is_git_s_own(history: History) -> None:
    parted(
        history,
        {"a.py": TEXT, "old.py": TEXT * 2},
        {"a.py": TEXT.replace("line 3\n", "three\n"), "old.py": None, "new.py": TEXT * 2},
        {"a.py": TEXT.replace("line 20\n", "twenty\n"), "old.py": TEXT * 2 + "more\n"},
    )
    pull = snapshot(history)

    assert pull.merge.tree == history.git("merge-tree", "--write-tree", "main", "change")


def test_mrg_01_a_head_that_holds_the_base_is_its_own_merge(history: History) -> None:
    history.commit({"a": "1"})
    history.switch("change", create=True)
    history.commit({"a": "2"})

    assert snapshot(history).merge.tree == history.sha("change^{tree}")


def test_mrg_02_lines_that_both_sides_change(history: History) -> None:
    conflict = only(
        history,
        {"a|`b\n.py": TEXT},
        {"a|`b\n.py": TEXT.replace("line 3\n", "ours\n")},
        {"a|`b\n.py": TEXT.replace("line 3\n", "theirs\n")},
    )

    assert (conflict.path, conflict.type) == ("a|`b\n.py", ConflictType.CONTENT)
    assert (conflict.mechanical, conflict.lines) == (False, (3, 3))
    assert conflict.reason == r"Merge conflict in a|`b\n.py"
    assert conflict.regions == (ConflictRegion(head=LineSpan(3, 1), onto=LineSpan(3, 1)),)


BINARY = b"\0" * 50


def test_git_04_merge_union_of_the_change_resolves_nothing(history: History) -> None:
    history.commit({"a.py": "x = 0\n"})
    history.switch("change", create=True)
    history.commit({".gitattributes": "* merge=union\n", "b.py": "b\n"})
    history.commit({"a.py": "x = 2\n"})
    history.switch("main")
    history.commit({"a.py": "x = 1\n"})
    pull = snapshot(history)

    assert [conflict.path for conflict in pull.merge.conflicts] == ["a.py"]


@pytest.mark.parametrize("line", ["* merge=ours-driver", "* conflict-marker-size=40", "* -merge"])
def test_attributes_and_drivers_of_the_repository_change_nothing(
    history: History, tmp_path: Path, line: str
) -> None:
    canary = tmp_path / "CANARY"
    history.git("config", "merge.ours-driver.driver", f"touch {canary}")
    (history.git_dir / "info").mkdir(exist_ok=True)
    (history.git_dir / "info" / "attributes").write_text(f"{line}\n")
    parted(history, {"a.py": "0\n", ".gitattributes": line}, {"a.py": "1\n"}, {"a.py": "2\n"})
    (conflict,) = snapshot(history).merge.conflicts

    assert (conflict.type, conflict.lines) == (ConflictType.CONTENT, (1, 1))
    assert not canary.exists()
