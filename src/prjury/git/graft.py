"""Trees with other files in them, and what differs between two trees; all in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prjury.git.command import PLAIN_DIFF
from prjury.git.store import RawChange, Store
from prjury.scratch import scratch

#: A file's mode and content.
NewFiles = Mapping[str, tuple[str, bytes]]


def graft(store: Store, tree: str, files: NewFiles) -> str:
    """Make a tree that has these files in the place of its own, and else is the same."""
    blobs = {
        path: store.git("hash-object", "-w", "--stdin", "--no-filters", stdin=content)
        .decode()
        .strip()
        for path, (_, content) in files.items()
    }
    entries = "".join(f"{files[path][0]} {blob}\t{path}\0" for path, blob in blobs.items())
    with scratch("prjury-index-") as place:
        env = {"GIT_INDEX_FILE": f"{place}/index"}
        store.git("read-tree", tree, env=env)
        listing = entries.encode("utf-8", "surrogateescape")
        store.git("update-index", "-z", "--index-info", stdin=listing, env=env)
        return store.git("write-tree", env=env).decode().strip()


def changes_between(store: Store, old: str, new: str) -> Sequence[RawChange]:
    """List the files that differ, without renames."""
    return store.raw_changes(old, new, renames=False)


def patch_between(store: Store, old: str, new: str) -> str:
    """Write what differs in the form that ``git apply`` reads."""
    arguments = ("diff-tree", *PLAIN_DIFF, "-r", "--no-renames", "-p", old, new)
    return store.git(*arguments).decode("utf-8", "replace")
