"""The merged tree in git's objects answers as the same files in a directory do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.repository import MERGED, FakeRepository, blob_of
from prjury.errors import CannotJudgeError
from prjury.judges.merged_tree.tree import CommittedTree
from prjury.judges.workspace.files import FileTree, Workspace

FILES: dict[str, str | bytes] = {
    "README.md": "\ufeffHello\r\nworld\n",
    "src/a.py": "x = 1\n",
    "binary": b"\xff\xfe",
}
LINKS: dict[str, str | bytes] = {
    "inside": "src/a.py",
    "src/up": "../README.md",
    "directory": "src",
    "out-of-it": "../secret",
    "absolute": "/etc/passwd",
    "circle": "circle",
    "dangling": "nowhere",
    "climbs": "src/../../secret",
}


@pytest.fixture
def trees(tmp_path: Path) -> tuple[FileTree, FileTree]:
    root = tmp_path / "tree"
    for name, content in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content.encode() if isinstance(content, str) else content)
    for name, target in LINKS.items():
        (root / name).symlink_to(str(target))
    repository = FakeRepository({MERGED: {**FILES, **LINKS}}, modes=dict.fromkeys(LINKS, "120000"))
    return Workspace(root), CommittedTree.of(MERGED, repository)


def said(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except CannotJudgeError as error:
        return error.reason


@pytest.mark.parametrize(
    "path", [*FILES, *LINKS, "src", ".", "nothing", "directory/a.py", "src/a.py/x", "../x", "/x"]
)
def test_the_same_answers(trees: tuple[FileTree, FileTree], path: str) -> None:
    on_disk, in_git = trees
    kinds = [said(lambda tree=tree: tree.kind(path)) for tree in trees]  # type: ignore[misc]
    if path == "circle":  # the system says which one it is
        assert kinds[1] == "unreadable"
        return
    assert kinds[0] == kinds[1]
    assert said(lambda: on_disk.text(path)) == said(lambda: in_git.text(path))


def test_what_a_partial_clone_lacks() -> None:
    repository = FakeRepository({MERGED: FILES}, gone={blob_of("x = 1\n")})
    tree = CommittedTree.of(MERGED, repository)
    assert tree.kind("src/a.py") == "file"
    assert said(lambda: tree.text("src/a.py")) == "object_missing"
