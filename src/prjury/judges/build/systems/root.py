"""The tree as the recognition of build systems sees it, and what a change touches of it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from prjury.ports import TreeEntry
from prjury.pull.kinds import kind_of
from prjury.pull.model import FileKind

EXECUTABLE = "100755"
_REGULAR = frozenset({"100644", EXECUTABLE})


@dataclass(frozen=True)
class Root:
    """A tree: paths, modes, and the text of files that are asked for."""

    entries: Sequence[TreeEntry]
    read: Callable[[TreeEntry], str]

    @cached_property
    def files(self) -> dict[str, TreeEntry]:
        """The regular files by path; links are not followed and count as absent."""
        return {entry.path: entry for entry in self.entries if entry.mode in _REGULAR}

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        named: dict[str, list[str]] = {}
        for path in self.files:
            named.setdefault(path.rpartition("/")[2], []).append(path)
        return named

    def has(self, *paths: str) -> str | None:
        """The first of the paths that is a file."""
        return next((path for path in paths if path in self.files), None)

    def named(self, name: str) -> Sequence[str]:
        """Every path whose last part is this name, in the tree's order."""
        return self._by_name.get(name, ())

    def text(self, path: str) -> str:
        """The file's text, empty where there is no such file."""
        entry = self.files.get(path)
        return self.read(entry) if entry else ""


@dataclass(frozen=True)
class Changes:
    """The paths that a change adds, edits, deletes or moves; both ends of a move are in it."""

    paths: frozenset[str]

    @classmethod
    def of(cls, paths: Iterable[str]) -> Changes:
        """The changes that may matter to a build: documentation does not."""
        return cls(frozenset(path for path in paths if kind_of(path) is not FileKind.DOCS))

    def below(self, directory: str) -> frozenset[str]:
        """The changed paths in a directory of the tree; all of them for the root, ``""``."""
        if not directory:
            return self.paths
        return frozenset(path for path in self.paths if path.startswith(f"{directory}/"))


def nearest(path: str, directories: frozenset[str]) -> str | None:
    """The innermost of these directories that holds the path; ``""`` is the root."""
    for parent in PurePosixPath(path).parents:
        name = "" if str(parent) == "." else str(parent)
        if name in directories:
            return name
    return None
