"""Uncommitted work as a commit that only the private store holds.

The operator's index is copied, so that git still knows by its times which files are as they were.
What is new is hashed as a commit would hold it, with line ends and encodings as attributes say;
only the programs that attributes name as filters are not run. Index, files, objects and refs of the
operator's repository stay as they are.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

from prjury.errors import UsageError
from prjury.git.command import Git, decode_path
from prjury.git.directory import open_work_tree_git
from prjury.git.store import Store
from prjury.scratch import scratch
from prjury.snapshot.model import Side, visible

#: Everything that is not ignored, or what is in the index.
Uncommitted: TypeAlias = Literal["worktree", "staged"]
REFS = {"worktree": "the work tree", "staged": "the index"}


def commit_uncommitted(store: Store, which: Uncommitted) -> Side | None:
    """Commit the uncommitted work onto the current commit; None if there is none."""
    parent = store.operator.read_head()
    with _open_index_copy(store) as git:
        if which == "worktree":
            git("add", "--all", "--", ".", env={"GIT_LITERAL_PATHSPECS": "0"})
        tree = _write_index_tree(git)
    committed, date = store.git.text("log", "-1", "--format=%T %ct", parent.sha).split()
    if tree == committed:
        return None
    dates = {"GIT_AUTHOR_DATE": f"{date} +0000", "GIT_COMMITTER_DATE": f"{date} +0000"}
    commit = store.git("commit-tree", tree, "-p", parent.sha, env=dates)
    return Side(REFS[which], commit.decode().strip())


@contextmanager
def _open_index_copy(store: Store) -> Iterator[Git]:
    """Open git on the work tree with a copy of the index; objects go to the store."""
    operator = store.operator
    if operator.work_tree is None:
        raise UsageError(
            f"{operator.name} has no work tree, and so no uncommitted work",
            remedy="Name both sides with --base REF --head REF",
        )
    with open_work_tree_git(operator, operator.work_tree) as git, scratch("prjury-index-") as place:
        (git.git_dir / "info" / "attributes").write_text("* !filter\n")
        index = operator.git.git_dir / "index"
        if index.is_file():
            shutil.copy2(index, place / "index")
        for shared in operator.git.git_dir.glob("sharedindex.*"):
            shutil.copy2(shared, place)
        env = {
            **git.extra_env,
            "GIT_INDEX_FILE": f"{place}/index",
            "GIT_OBJECT_DIRECTORY": str(store.git.git_dir.absolute() / "objects"),
        }
        yield Git(git.git_dir, (*git.settings, "advice.addEmbeddedRepo=false"), env)


def _write_index_tree(git: Git) -> str:
    unmerged = git("ls-files", "--unmerged", "-z").split(b"\0")[0]
    if unmerged:
        path = visible(decode_path(unmerged.partition(b"\t")[2]))
        raise UsageError(
            f"{path} is not merged yet", remedy="Resolve the conflicts, and git add the files"
        )
    return git.text("write-tree")
