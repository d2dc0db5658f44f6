"""Copies of directories for agents to work in, and what they changed there."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from prjury.errors import CannotJudgeError
from prjury.scratch import scratch

#: A larger workspace is not copied.
MOST_ENTRIES = 200_000
#: What git writes whenever it looks at a repository.
_NOISE = frozenset({".git/index"})

#: A file's kind and mode, size, times and inode: another tuple, another file.
_Signature: TypeAlias = tuple[int, int, int, int, int]


class FileEdit(Struct, frozen=True, order=True):
    """A file, link or special file that appeared, changed or went away below the root."""

    path: str
    kind: Literal["added", "changed", "deleted"]


class DirectoryState(Struct, frozen=True):
    """What a directory held at one moment."""

    signatures: Mapping[str, _Signature]

    @classmethod
    def of(cls, root: Path) -> DirectoryState:
        """Return the state now; what cannot be looked at is not part of it."""
        return cls({path: _signature(entry) for path, entry in _walk(root)})

    def list_edits(self, later: DirectoryState) -> tuple[FileEdit, ...]:
        """Return what is different later, by path."""
        old, new = self.signatures, later.signatures
        edits = [FileEdit(path, "deleted") for path in old.keys() - new.keys()]
        edits += [FileEdit(path, "added") for path in new.keys() - old.keys()]
        common = old.keys() & new.keys()
        edits += [FileEdit(path, "changed") for path in common if old[path] != new[path]]
        return tuple(sorted(edit for edit in edits if edit.path not in _NOISE))


@contextlib.contextmanager
def private_copy(root: Path, most: int = MOST_ENTRIES) -> Iterator[Path]:
    """Make a copy of a directory, under the same name, that is removed at the end.

    A ``.git`` file of a linked work tree is left out: it leads to the original's repository.
    """
    root = root.resolve()
    with scratch("prjury-agent-") as around:
        target = around / (root.name or "workspace")
        target.mkdir()
        for count, (path, entry) in enumerate(_walk(root, directories=True), 1):
            if count > most:
                raise CannotJudgeError(
                    f"the workspace has more than {most} entries and is not copied",
                    why="an agent that judges works in a copy",
                    remedy="pass read_only=False, or a smaller workspace",
                    reason="workspace_too_large",
                )
            with contextlib.suppress(FileNotFoundError):  # others may work there
                _copy_entry(Path(entry.path), target / path, root, target)
        yield target


def _copy_entry(source: Path, target: Path, root: Path, new_root: Path) -> None:
    kind = source.lstat().st_mode
    if stat.S_ISDIR(kind):
        target.mkdir()
    elif stat.S_ISLNK(kind):
        to = source.readlink()
        inside = to.is_absolute() and to.is_relative_to(root)
        target.symlink_to(new_root / to.relative_to(root) if inside else to)
    elif stat.S_ISREG(kind) and not (source.name == ".git" and source.parent == root):
        shutil.copy2(source, target)


def _walk(root: Path, *, directories: bool = False) -> Iterator[tuple[str, os.DirEntry[str]]]:
    waiting = [str(root)]
    while waiting:
        entries = []
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as listing:
            entries = list(listing)
        for entry in entries:
            is_directory = entry.is_dir(follow_symlinks=False)
            if is_directory:
                waiting.append(entry.path)
            if directories or not is_directory:
                yield os.path.relpath(entry.path, root), entry


def _signature(entry: os.DirEntry[str]) -> _Signature:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return (0, 0, 0, 0, 0)
    return (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
