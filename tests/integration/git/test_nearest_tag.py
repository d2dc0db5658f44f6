"""The tag that says which version a commit is at."""

from __future__ import annotations

import subprocess
from pathlib import Path

from fakes.history import History
from prjury.git.operator import open_repository
from prjury.git.store import open_store


def nearest(path: Path, commit: str) -> str:
    with open_store(open_repository(path)) as store:
        return store.nearest_tag(commit)


def test_the_nearest_tag_with_a_number(tmp_path: Path) -> None:
    history = History(tmp_path / "repo")
    first = history.commit({"a": "1"})
    assert nearest(history.path, first) == ""
    for name in ("v1.2.0", "stable"):
        subprocess.run(["git", "-C", history.path, "tag", name, first], check=True)
    second = history.commit({"a": "2"})
    assert nearest(history.path, second) == "v1.2.0"


def test_no_such_commit_has_no_tag(tmp_path: Path) -> None:
    history = History(tmp_path / "repo")
    history.commit({"a": "1"})
    assert nearest(history.path, "0" * 40) == ""
