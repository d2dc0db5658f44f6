"""A directory as a repository of one tree, and as the pull request that adds all of it.

Nothing is read before it is asked for, symbolic links are not followed, and no git is needed: in a
work tree what git ignores is left out, elsewhere the usual directories of other people's code and
of output.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Never

from msgspec import Struct

from prjury.errors import SourceError
from prjury.git.command import Git, decode_path
from prjury.git.operator import OperatorRepository, open_repository
from prjury.git.store import make_bare_repository
from prjury.ports.types import TreeEntry
from prjury.scratch import scratch
from prjury.snapshot.kinds import SYMLINK_MODE, kind_of
from prjury.snapshot.model import (
    FileChange,
    FileKind,
    FileStatus,
    Line,
    MergeTrial,
    PullRequest,
    Side,
    printable,
)


@contextmanager
def open_work_tree_git(repository: OperatorRepository, root: Path) -> Iterator[Git]:
    """Open git on the files and the index of a work tree, with a configuration of our own."""
    with scratch("prjury-index-") as directory:
        make_bare_repository(directory, repository)
        for shared in repository.git.git_dir.glob("sharedindex.*"):
            (directory / shared.name).symlink_to(shared)
        # The repository's own list comes last, and so before the operator's.
        lists = (repository.excludes_file, repository.common_dir / "info" / "exclude")
        readable = [file for file in lists if file.is_file() and os.access(file, os.R_OK)]
        ignored = b"\n".join(file.read_bytes() for file in readable)
        (directory / "info" / "exclude").write_bytes(ignored)
        modes = repository.git.text("config", "--bool", "--default=true", "core.fileMode")
        index = str(repository.git.git_dir / "index")
        env = {"GIT_INDEX_FILE": index, "GIT_WORK_TREE": str(root)}
        yield Git(directory, (f"core.fileMode={modes}",), env)


def list_uncommitted_paths(repository: OperatorRepository) -> list[str]:
    """List paths whose mode or content in the work tree or the index is not the committed one."""
    if repository.work_tree is None:
        return []
    options = ("--no-renames", "--untracked-files=all", "--ignore-submodules=dirty")
    with open_work_tree_git(repository, repository.work_tree) as git:
        (git.git_dir / "HEAD").write_text(f"{repository.read_head().sha}\n")
        listing = git("status", "--porcelain=v1", "-z", *options)
    return sorted({path[3:] for path in _read_paths(listing)})


def _list_files_and_ignored(
    repository: OperatorRepository, root: Path, below: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List what is in the work tree, and what of it is neither tracked nor looked at.

    Paths are relative to the root, as git stores them. A submodule or another repository is one;
    ignored directories end with ``/``.
    """
    place = ["--", below] if below else []
    args = ("ls-files", "-z", "--exclude-standard", "--others")
    with open_work_tree_git(repository, root) as git:
        files = git(*args, "--cached", *place)
        ignored = git(*args, "--ignored", "--directory", *place)
    return _read_paths(files), _read_paths(ignored)


def _read_paths(output: bytes) -> tuple[str, ...]:
    return tuple(sorted({decode_path(part) for part in output.split(b"\0") if part}))


#: Names in place of commits: the directory, and the nothing that it is added to.
TREE, NOTHING = "directory", "nothing"

#: A larger file is not looked into, and of one that is read nothing is read beyond.
LARGEST_FILE = 1024 * 1024
_LARGEST_READ = 32 * 1024 * 1024

#: Kinds of which nothing is asked in a directory as a whole.
_LEFT_OUT = frozenset({FileKind.GENERATED, FileKind.VENDORED, FileKind.BINARY, FileKind.SUBMODULE})
_SKIPPED = frozenset({".git", "node_modules", ".venv"})
#: Below a directory `src` these are packages of the project's own.
_SKIPPED_OUTSIDE_SRC = frozenset({"target", "build", "dist", "vendor"})


class WholeFile(FileChange, frozen=True):
    """A file of which every line is added; they are read from the directory each time."""

    directory: Directory | None = None

    @property
    def added_lines(self) -> Iterator[Line]:
        """All lines, decoded as the diff reader does it."""
        content = self.directory.content(self.path) if self.directory and not self.unread else None
        lines = (content or b"").split(b"\n")
        last = len(lines)
        for number, raw in enumerate(lines, start=1):
            if number < last or raw:
                end = "\n" if number < last else ""
                text = raw.removesuffix(b"\r") if end else raw
                yield Line("+", None, number, text.decode("utf-8", "surrogateescape"), end)


class Directory(Struct, frozen=True):
    """The files below a directory; implements `prjury.ports.Repository` without any history."""

    root: Path
    #: Regular files and symbolic links, their object names being their paths.
    entries: tuple[TreeEntry, ...]
    #: What is not looked at, by printable path, and why.
    left_out: Mapping[str, str]

    def nearest_tag(self, commit: str) -> str:  # noqa: ARG002 - there is none
        """Return nothing: a directory has no history."""
        return ""

    def files(self, commit: str) -> Sequence[TreeEntry]:
        """List every file of the directory, or none of the nothing before it."""
        return self.entries if commit == TREE else ()

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        """Return the files' bytes by path; None for one that cannot be read."""
        return {blob: self.content(blob) for blob in blobs}

    def content(self, path: str) -> bytes | None:
        """Return a file's bytes, None if it cannot be read, or is no regular file by now."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(self.root / path, flags)
        except OSError:
            return None
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, so that it is no link
            regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
            return file.read(_LARGEST_READ) if regular else None

    def _no_history(self, *_: object, **__: object) -> Never:
        raise SourceError("a directory has no history", reason="no_repository")

    export_and_list_missing = recent = rebase = _no_history

    @property
    def pull(self) -> PullRequest:
        """The pull request that adds every file; lock files only serve to know versions."""
        changes = (self._make_file(entry) for entry in self.entries)
        return PullRequest(
            repo=self.root.name,
            base=Side(NOTHING, NOTHING),
            head=Side(TREE, TREE),
            merge_base=NOTHING,
            merge=MergeTrial(TREE),
            files=tuple(each for each in changes if each.kind not in _LEFT_OUT),
        )

    def _make_file(self, entry: TreeEntry) -> WholeFile:
        return WholeFile(
            path=entry.path,
            status=FileStatus.ADDED,
            kind=kind_of(printable(entry.path), entry.mode),
            new_blob=entry.blob,
            new_mode=entry.mode,
            unread=self._explain_unread(entry),
            directory=self,
        )

    def _explain_unread(self, entry: TreeEntry) -> str | None:
        place = self.root / entry.path
        if entry.mode == SYMLINK_MODE:
            return None
        if not os.access(place, os.R_OK):
            return "it cannot be read: check its permissions"
        if place.stat(follow_symlinks=False).st_size > LARGEST_FILE:
            return f"larger than {LARGEST_FILE // 1024} KiB"
        return None


def list_directory(root: Path) -> Directory:
    """List a directory without reading it."""
    left_out: dict[str, str] = {}
    repository = _find_repository(root)
    paths = (
        _list_by_git_noting_ignored(root, repository, left_out)
        if repository
        else list(_walk_files_noting_skipped(root, left_out))
    )
    entries = tuple(_stat_entries_noting_left_out(root, sorted(paths), left_out))
    for entry in entries:
        kind = kind_of(printable(entry.path), entry.mode)
        if kind in _LEFT_OUT:
            left_out[printable(entry.path)] = kind.value
    return Directory(root, entries, dict(sorted(left_out.items())))


def _find_repository(root: Path) -> OperatorRepository | None:
    """Find the repository in whose work tree the directory lies.

    Git is not even started where no ``.git`` is in sight. One whose work tree is configured to be
    elsewhere does not count.
    """
    places = (root.resolve(), *root.resolve().parents)
    top = next((place for place in places if (place / ".git").exists()), None)
    if top is None:
        return None
    try:
        repository = open_repository(root)
    except SourceError as error:
        if error.reason in {"no_repository", "tool_missing"}:
            return None
        raise
    place = repository.work_tree
    return repository if place and place.resolve() == top else None


def _list_by_git_noting_ignored(
    root: Path, repository: OperatorRepository, left_out: dict[str, str]
) -> list[str]:
    top = repository.work_tree or root
    below = os.path.relpath(root.resolve(), top.resolve()).replace(os.sep, "/")
    prefix = "" if below == "." else f"{below}/"
    files, ignored = _list_files_and_ignored(repository, top, prefix)
    others = (path.removeprefix(prefix) for path in ignored)
    left_out |= {printable(path): "ignored by git" for path in others if path}
    return [path.removeprefix(prefix) for path in files]


def _walk_files_noting_skipped(root: Path, left_out: dict[str, str]) -> Iterator[str]:
    """Yield every path that is no directory, without directories that are never judged."""
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        parts = directory.split("/")
        try:
            with os.scandir(os.fsencode(root / directory)) as rows:
                entries = [(os.fsdecode(e.name), e.is_dir(follow_symlinks=False)) for e in rows]
        except OSError as error:
            left_out[f"{printable(directory)}/"] = f"it cannot be listed: {error.strerror}"
            continue
        for name, is_directory in entries:
            path = posixpath.join(directory, name)
            if not is_directory:
                yield path
            elif name in _SKIPPED or (name in _SKIPPED_OUTSIDE_SRC and "src" not in parts):
                left_out[f"{printable(path)}/"] = "a directory of output or of other people's code"
            else:
                waiting.append(path)


def _stat_entries_noting_left_out(
    root: Path, paths: Iterable[str], left_out: dict[str, str]
) -> Iterator[TreeEntry]:
    """Yield files and links; what is neither is left out, what is gone is passed over."""
    places: dict[str, bool] = {}
    for path in paths:
        parent = posixpath.dirname(path)
        if parent not in places:
            places[parent] = (root / parent).resolve() == root.resolve() / parent
        if not places[parent]:
            left_out[printable(path)] = "behind a symbolic link"
            continue
        try:
            mode = os.lstat(root / path).st_mode
        except OSError:
            continue
        if stat.S_ISLNK(mode):
            yield TreeEntry(path, SYMLINK_MODE, path)
        elif stat.S_ISREG(mode):
            yield TreeEntry(path, "100755" if mode & stat.S_IXUSR else "100644", path)
        elif stat.S_ISDIR(mode):
            left_out[printable(path).rstrip("/") + "/"] = "a repository of its own"
        else:
            left_out[printable(path)] = "not a regular file"
