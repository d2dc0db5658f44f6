"""The merged tree for judges of files: read from git's objects, and written nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol, TypeAlias

from prjury.errors import CannotJudgeError
from prjury.judges.context import PullRequestContext
from prjury.judges.workspace.file_tree import FileTree, Kind
from prjury.judges.workspace.files import answered, decoded, outside, unreadable
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.ports import Ports, Repository
from prjury.ports.types import TreeEntry
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import PullRequest, visible

#: More links than this one after the other lead nowhere.
_MOST_LINKS = 40
_LINK, _SUBMODULE = "120000", "160000"
#: Blobs that are read at a time.
_AT_ONCE = 500


class LooksAtFiles(Protocol):
    """A judge of files, wherever they are."""

    def look(self, tree: FileTree) -> Judgment:
        """The judgment of these files."""


#: Makes such a judge; it may put files that it needs below the path.
MakeInside: TypeAlias = Callable[[Path], LooksAtFiles]


def no_tree(pull: PullRequest) -> Judgment:
    """The judgment where there is no merged tree; it is no reason to let the change through."""
    if pull.merge.impossible:
        return Judgment.abstained(f"there is no merged tree: {pull.merge.impossible}", "no_merge")
    return Judgment.abstained("there is no merged tree: the merge has conflicts", "conflicts")


@dataclass(frozen=True)
class MergedTreeJudge:
    """A judge of files that looks at the merged tree, in git's objects: nothing is written out.

    Attributes:
        make: makes the judge.
    """

    ports: Ports
    make: MakeInside
    name: str
    description: str
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Look at the tree."""
        tree = context.pull.merge.tree
        if tree is None:
            return no_tree(context.pull)
        return answered(lambda: self._judged(tree))

    def _judged(self, tree: str) -> Judgment:
        with self.ports.shell.scratch() as around:
            return self.make(around).look(CommittedTree.of(tree, self.ports.repository))


@dataclass(frozen=True)
class CommittedTree:
    """The files of a commit or tree (`prjury.judges.workspace.files.FileTree`).

    Links are followed as far as they stay in the tree.
    """

    entries: Mapping[str, TreeEntry]
    directories: frozenset[str]
    repository: Repository

    @classmethod
    def of(cls, tree: str, repository: Repository) -> CommittedTree:
        """The files of a tree."""
        entries = {entry.path: entry for entry in repository.files(tree)}
        above = {str(place) for path in entries for place in PurePosixPath(path).parents}
        return cls(entries, frozenset(above), repository)

    def kind(self, path: str) -> Kind:
        """What stands at a path."""
        real = self._resolved(path)
        entry = self.entries.get(real)
        if entry is None:
            return "directory" if real in self.directories else "missing"
        return "directory" if entry.mode == _SUBMODULE else "file"

    def text(self, path: str) -> str:
        """A file's text."""
        if self.kind(path) != "file":
            raise unreadable(visible(path), "It is no file")
        entry = self.entries[self._resolved(path)]
        return decoded(self._content(entry), path)

    def heads(self, path: str, suffix: str, size: int) -> Iterator[tuple[str, bytes]]:
        """The first bytes of each file below a directory whose name ends so."""
        place = self._resolved(path)
        found = [
            entry
            for entry in self.entries.values()
            if entry.mode in REGULAR_MODES and entry.path.endswith(suffix)
            if place == "." or is_below(entry.path, place)
        ]
        for at in range(0, len(found), _AT_ONCE):
            part = found[at : at + _AT_ONCE]
            contents = self.repository.read([entry.blob for entry in part])
            for entry in part:
                yield entry.path, present(contents[entry.blob], entry.path)[:size]

    def _content(self, entry: TreeEntry) -> bytes:
        return present(self.repository.read([entry.blob])[entry.blob], entry.path)

    def _resolved(self, path: str) -> str:
        """Where a path leads in the tree.

        Raises:
            CannotJudgeError: ``outside_workspace``, or ``unreadable`` for links in a circle.
        """
        if path.startswith("/"):
            raise outside(path, "It is absolute")
        waiting, real, links = path.split("/")[::-1], list[str](), 0
        while waiting:
            part = waiting.pop()
            if part in {"", "."}:
                continue
            if part == "..":
                if not real:
                    raise outside(path, "It, or a link, climbs out with `..`")
                real.pop()
                continue
            entry = self.entries.get("/".join([*real, part]))
            if entry is None or entry.mode != _LINK:
                real.append(part)
                continue
            links += 1
            target = self._content(entry).decode("utf-8", "surrogateescape")
            if target.startswith("/"):
                raise outside(path, f"A symbolic link leads to {visible(target)}")
            if links > _MOST_LINKS:
                raise unreadable(visible(path), "Its links lead in a circle")
            waiting += target.split("/")[::-1]
        return "/".join(real) or "."


def present(content: bytes | None, path: str) -> bytes:
    """The content of a file.

    Raises:
        CannotJudgeError: ``object_missing``.
    """
    if content is None:
        raise CannotJudgeError(
            f"{visible(path)} cannot be read",
            why="This partial clone lacks its content",
            remedy="Use a full clone, or fetch it all with: git fetch --refetch --no-filter",
            reason="object_missing",
        )
    return content


def is_below(path: str, place: str) -> bool:
    """Whether a path is the place itself, or lies below it."""
    return path == place or path.startswith(f"{place}/")
