"""Histories and objects that are not all here: shallow, partial and damaged clones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from fakes.history import History, snapshot, submodule
from prjury.errors import SourceError
from prjury.git.operator import open_repository
from prjury.git.store import open_store
from prjury.snapshot.model import FileStatus

SHA = "1" * 40


@pytest.fixture
def history(tmp_path: Path) -> History:
    """Ten commits on ``main``; ``change`` leaves after the eighth."""
    history = History(tmp_path / "origin", bare=True)
    for number in range(8):
        history.commit({"a.py": f"x = {number}\n", "b.py": "b\n" * 40})
    history.branch("change")
    history.commit({"c.py": "8\n"})
    history.commit({"c.py": "9\n"})
    history.switch("change")
    history.commit({"b.py": "b\n" * 40 + "more\n", "d.py": "d\n"})
    history.commit({"d.py": "dd\n"})
    history.switch("main")
    return history


def cut(history: History, path: Path, depth: int) -> History:
    return history.clone(path, f"--depth={depth}", "--no-single-branch")


def refusal(history: History) -> SourceError:
    with pytest.raises(SourceError) as caught:
        snapshot(history, "origin/main", "origin/change")
    return caught.value


@pytest.mark.parametrize("depth", [1, 2])
def test_git_24_a_shallow_clone_without_the_merge_base(
    history: History, tmp_path: Path, depth: int
) -> None:
    error = refusal(cut(history, tmp_path / "clone", depth))

    assert error.reason == "shallow_history"
    assert "git fetch --unshallow" in str(error)


def test_git_24_a_merge_base_that_may_not_be_the_nearest_is_not_used(tmp_path: Path) -> None:
    """Cut so that the true merge base is hidden and an older common commit is not."""
    history = History(tmp_path / "repo", bare=True)
    old = history.commit({"a.py": "0\n"})
    true_base = history.commit({"a.py": "1\n", "reviewed.py": "r\n"})
    history.branch("change")
    middle = history.commit({"m.py": "m\n"})
    tip = history.commit({"n.py": "n\n"}, parents=(middle, old))
    history.git("update-ref", "refs/heads/main", tip)
    history.switch("change")
    history.commit({"c.py": "c\n"})
    assert snapshot(history).merge_base == true_base

    (history.git_dir / "shallow").write_text(f"{middle}\n")
    assert history.git("merge-base", "main", "change") == old
    with pytest.raises(SourceError) as caught:
        snapshot(history)

    assert caught.value.reason == "shallow_history"


def test_git_24_grafts_are_ignored(history: History) -> None:
    expected = snapshot(history)
    grafts = history.git_dir / "info" / "grafts"
    grafts.parent.mkdir(exist_ok=True)
    grafts.write_text(f"{history.sha('change')} {history.sha('main')}\n")

    assert snapshot(history) == expected


def test_git_23_replacements_are_ignored(history: History) -> None:
    expected = snapshot(history)
    good, bad = history.git("rev-parse", "change:d.py", "main:a.py").split()
    history.git("replace", good, bad)
    history.git("replace", history.sha("change~1"), history.sha("main~3"))
    history.git("replace", history.sha("main"), history.sha("main~9"))

    assert snapshot(history) == expected


def test_a_partial_clone_without_content(history: History, tmp_path: Path) -> None:
    clone = history.clone(tmp_path / "clone", "--filter=blob:none", "--no-checkout")
    pull = snapshot(clone, "origin/main", "origin/change")

    assert {file.path: file.status for file in pull.files} == {
        "b.py": FileStatus.MODIFIED,
        "d.py": FileStatus.ADDED,
    }
    assert {file.unread for file in pull.files} == {
        "its content is missing from this clone (partial or damaged)"
    }
    # Not one line is known; each file counts as one that nobody has read.
    assert pull.additions == 2


def test_a_partial_clone_without_large_files(history: History, tmp_path: Path) -> None:
    history.switch("change")
    history.commit({"large.py": "x" * 5_000, "a.py": None, b"\xff\n*": "y" * 5_000})
    history.switch("main")
    clone = history.clone(tmp_path / "clone", "--filter=blob:limit=1k", "--no-checkout")
    pull = snapshot(clone, "origin/main", "origin/change")
    unread = {file.path for file in pull.files if file.unread}

    assert unread == {"large.py", "\udcff\n*"}
    assert {file.path: file.additions for file in pull.files} == {
        "a.py": 0,
        "b.py": 1,
        "d.py": 1,
        "large.py": 1,
        "\udcff\n*": 1,
    }


def test_nothing_is_fetched_behind_the_operator_s_back(history: History, tmp_path: Path) -> None:
    clone = history.clone(tmp_path / "clone", "--filter=blob:none", "--no-checkout")
    before = sorted((clone.git_dir / "objects").rglob("*"))
    snapshot(clone, "origin/main", "origin/change")

    assert sorted((clone.git_dir / "objects").rglob("*")) == before


def exported(clone: History, ref: str, target: Path) -> Sequence[str]:
    target.mkdir()
    with open_store(open_repository(clone.path)) as store:
        return store.export_and_list_missing(clone.sha(ref), target)


def written(target: Path) -> list[str]:
    return sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file())


def test_a_tree_without_any_content_is_exported_as_nothing(
    history: History, tmp_path: Path
) -> None:
    clone = history.clone(tmp_path / "clone", "--filter=blob:none", "--no-checkout")

    assert exported(clone, "origin/change", tmp_path / "out") == ("a.py", "b.py", "d.py")
    assert written(tmp_path / "out") == []


def test_a_tree_without_its_large_files_is_exported_but_for_those(
    history: History, tmp_path: Path
) -> None:
    history.switch("change")
    history.commit({"data/large.bin": "x" * 5_000, b"\xff\n*": "y" * 5_000, "sub": submodule(SHA)})
    clone = history.clone(tmp_path / "clone", "--filter=blob:limit=1k", "--no-checkout")

    absent = exported(clone, "origin/change", tmp_path / "out")
    assert absent == ("data/large.bin", "\udcff\n*")
    assert written(tmp_path / "out") == ["a.py", "b.py", "d.py"]


def loose(history: History, name: str) -> Path:
    sha = history.git("rev-parse", name)
    return history.git_dir / "objects" / sha[:2] / sha[2:]


def damage(history: History, name: str, how: str) -> None:
    file = loose(history, name)
    file.chmod(0o644)
    content = file.read_bytes()
    spoiled = {"empty": b"", "short": content[:9], "other": b"\0" * len(content)}
    file.write_bytes(spoiled[how])


@pytest.mark.parametrize("how", ["empty", "short", "other"])
@pytest.mark.parametrize("name", ["change:d.py", "change^{tree}", "change", "main:b.py", "main"])
def test_git_34_a_damaged_object_is_an_error(history: History, name: str, how: str) -> None:
    base, head = history.sha("main"), history.sha("change")
    damage(history, name, how)
    with pytest.raises(SourceError) as caught:
        snapshot(history, base, head)

    assert caught.value.reason in {"git_failed", "no_such_ref"}
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ["change^{tree}", "change~1", "main"])
def test_a_missing_tree_or_commit_is_an_error(history: History, name: str) -> None:
    base, head = history.sha("main"), history.sha("change")
    loose(history, name).unlink()
    with pytest.raises(SourceError):
        snapshot(history, base, head)


def test_a_missing_file_of_a_whole_clone_is_named(history: History) -> None:
    loose(history, "change:d.py").unlink()
    pull = snapshot(history)

    assert {file.path for file in pull.files if file.unread} == {"d.py"}
