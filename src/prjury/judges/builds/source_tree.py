"""The files of a tree as the build systems see them, and the paths that change. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.calls import WORDS
from prjury.manifests.manifest import ManifestError
from prjury.manifests.syntax import check_size, load_toml, text_of
from prjury.ports.types import TreeEntry
from prjury.snapshot.kinds import REGULAR_MODES, kind_of
from prjury.snapshot.model import FileKind, visible

_Read = TypeVar("_Read")

EXECUTABLE = "100755"
#: The number of files that are read at a time.
_BATCH = 500
#: Projects are looked for this many directories below the root.
_DEEPEST = 3
#: Patterns with more choices or steps of any depth than this fit nothing.
_MOST_OPEN = 4


class SourceTree(Struct, frozen=True, dict=True):
    """A tree, or a part of it (its place) as if it were one; texts are read by object names.

    Allowed directories may hold a project in spite of their names.
    """

    entries: Sequence[TreeEntry]
    read: Callable[[Sequence[TreeEntry]], Mapping[str, str]]
    place: str = ""
    changed: frozenset[str] | None = None
    allowed: frozenset[str] = frozenset()

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {}

    @cached_property
    def _parts(self) -> dict[str, SourceTree]:
        return {}

    @cached_property
    def files(self) -> dict[str, TreeEntry]:
        """The regular files by path; links count as absent."""
        return {entry.path: entry for entry in self.entries if entry.mode in REGULAR_MODES}

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        by_name: dict[str, list[str]] = {}
        for path in self.files:
            by_name.setdefault(path.rpartition("/")[2], []).append(path)
        return by_name

    @cached_property
    def directories(self) -> frozenset[str]:
        return frozenset(parent for path in self.files for parent in parents_of(path))

    @cached_property
    def changed_docs(self) -> frozenset[str]:
        paths = self.changed or frozenset[str]()
        return frozenset(p for p in paths if kind_of(path_in(self.place, p)) is FileKind.DOCS)

    @cached_property
    def changed_sources(self) -> frozenset[str]:
        """The paths that change, but documentation."""
        return (self.changed or frozenset[str]()) - self.changed_docs

    def may_hold_project(self, directory: str) -> bool:
        """Tell whether a project there is built: near the root, or around a change."""
        paths = self.changed or ()
        near = directory.count("/") < _DEEPEST or any(is_within(path, directory) for path in paths)
        return near and (find_excluded_part(directory) is None or directory in self.allowed)

    def has(self, *paths: str) -> str | None:
        """The first of the paths that is a file of the tree."""
        return next((path for path in paths if path in self.files), None)

    def named(self, name: str) -> Sequence[str]:
        return self._by_name.get(name, ())

    def directories_with(self, *names: str) -> frozenset[str]:
        return frozenset(parent_of(path) for name in names for path in self.named(name))

    def text(self, path: str) -> str:
        """The file's text without a byte order mark; empty if there is no such file."""
        if path in self.files and path not in self._texts:
            entry = self.files[path]
            self._texts[path] = self.read([entry])[entry.blob].removeprefix("\ufeff")
        return self._texts.get(path, "")

    def texts(self, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The texts of many files; they are not kept, as they may be large."""
        for start in range(0, len(paths), _BATCH):
            entries = [self.files[path] for path in paths[start : start + _BATCH]]
            texts = self.read(entries)
            yield from ((entry.path, texts[entry.blob]) for entry in entries)

    def readable(self, path: str, reader: Callable[[bytes], _Read]) -> _Read | None:
        """A build file, by its reader in `prjury.manifests`; None for one that cannot be read."""
        with suppress(ManifestError):
            return reader(check_size(self.text(path).encode(errors="surrogateescape")))
        return None

    def settings(self, path: str) -> dict[str, Any]:
        """A file of settings in TOML; nothing for one that cannot be read."""
        return self.readable(path, lambda content: load_toml(text_of(content))) or {}

    def below(self, directory: str) -> SourceTree:
        """The part of the tree in a directory, with paths relative to it."""
        if directory and directory not in self._parts:
            prefix, start = f"{directory}/", len(directory) + 1
            inside = (entry for entry in self.entries if entry.path.startswith(prefix))
            self._parts[directory] = SourceTree(
                [replace(entry, path=entry.path[start:]) for entry in inside],
                self.read,
                path_in(self.place, directory),
                self.changed and frozenset(p[start:] for p in self.changed if p.startswith(prefix)),
            )
        return self._parts[directory] if directory else self


def nearest(path: str, directories: frozenset[str]) -> str | None:
    """The innermost of these directories that holds the path; ``""`` is the root."""
    return next((parent for parent in parents_of(path) if parent in directories), None)


def parent_of(path: str) -> str:
    return path.rpartition("/")[0]


def parents_of(path: str) -> Iterator[str]:
    """The directories above a path, the nearest first and the root last."""
    while path:
        path = parent_of(path)
        yield path


def path_in(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name


def is_within(path: str, directory: str) -> bool:
    """Tell whether a path is the directory itself or lies below it."""
    return not directory or path == directory or path.startswith(f"{directory}/")


def is_below(directory: str, other: str) -> bool:
    return directory != other and is_within(directory, other)


def join_path(directory: str, relative: str) -> str | None:
    """A path in a manifest of a directory, from the root, ``""``; None if it leaves the tree."""
    path = posixpath.normpath(posixpath.join(directory, relative.replace("\\", "/")))
    if path.startswith("/") or is_within(path, ".."):
        return None
    return "" if path == "." else path


def find_excluded_part(directory: str) -> str | None:
    """The part of a path, such as ``fixtures``, for which projects there are not built, or None."""
    for part in directory.split("/") if directory else ():
        lower = part.lower()
        material = not WORDS["no_projects"].isdisjoint({lower, lower.lstrip("_-")})
        if material or part.startswith(".") or visible(part) != part:
            return part
    return None


def match_workspace_members(patterns: Sequence[str], directories: Iterable[str]) -> frozenset[str]:
    """The directories that a workspace's patterns name; a later pattern with ``!`` excludes."""
    chosen = set[str]()
    for directory in directories:
        for pattern in patterns:
            for choice in expand_braces(pattern.lstrip("!")):
                steps = [step for step in choice.split("/") if step not in {"", "."}]
                few = steps.count("**") < _MOST_OPEN
                if few and _fits(directory.split("/"), steps):
                    (chosen.discard if pattern.startswith("!") else chosen.add)(directory)
    return frozenset(chosen)


def expand_braces(pattern: str) -> list[str]:
    """The pattern for each of its choices such as ``{a,b}``."""
    before, opened, rest = pattern.partition("{")
    choices, closed, after = rest.partition("}")
    if not (opened and closed) or pattern.count("{") > _MOST_OPEN:
        return [pattern]
    each = (f"{before}{choice.strip()}{after}" for choice in choices.split(","))
    return [text for choice in each for text in expand_braces(choice)]


def _fits(path: Sequence[str], steps: Sequence[str]) -> bool:
    if not steps:
        return path in ([], [""])
    if steps[0] == "**":
        return any(_fits(path[start:], steps[1:]) for start in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], steps[0]) and _fits(path[1:], steps[1:])
