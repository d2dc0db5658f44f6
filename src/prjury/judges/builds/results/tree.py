"""The files of a tree, found by the names that tools give them, and where the tree lies. Pure."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from posixpath import commonprefix
from urllib.parse import unquote

from msgspec import Struct

from prjury.judges.builds.failure import inside_tree

#: More files of one name than this are not distinguished by the end of their path.
_MOST_NAMESAKES = 1_000
_LONGEST_DOTTED = 300


class TreeFiles(Struct, frozen=True, dict=True):
    """The paths of a tree, and the directory below its root where the steps of a build run."""

    paths: frozenset[str]
    directory: str = ""

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        by_name: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            by_name.setdefault(posixpath.basename(path), []).append(path)
        return by_name

    def find(self, wanted: str, directory: str | None = None) -> str | None:
        """The file that a tool means from where it runs, or from the root; None if ambiguous."""
        start = self.directory if directory is None else directory
        below = wanted
        while below.startswith("../"):
            below = below.removeprefix("../")
        for path in (posixpath.join(start, wanted), wanted, posixpath.join(start, below)):
            plain = inside_tree(path)
            if plain in self.paths:
                return plain
        if "/" in (installed := wanted.partition("/site-packages/")[2]):
            return self._find_only_path(installed, start)
        return None if wanted.startswith(("/", "~", "…")) else self._find_only_path(wanted, start)

    def find_in_package(self, package: str, file: str) -> str | None:
        """A file of a Go package: some end of the package's name is a directory of the tree."""
        parts = f"{package}/{file}".split("/")
        for start in range(len(parts)):
            end = "/".join(parts[start:])
            for path in (posixpath.join(self.directory, end), end):
                if path in self.paths:
                    return path
        return None

    def _find_only_path(self, end: str, near: str) -> str | None:
        """The only file whose path ends so, in the directory or else anywhere."""
        longer = self._list_ending(end)
        below = [path for path in longer if path.startswith(f"{near}/")] if near else []
        for matching in (below, longer):
            if len(matching) == 1:
                return matching[0]
        return None

    def _list_ending(self, end: str) -> list[str]:
        """The files whose paths end so, sorted; none where very many have this name."""
        paths = self._by_name.get(posixpath.basename(end), [])
        few = paths if len(paths) <= _MOST_NAMESAKES else []
        return [path for path in few if f"/{path}".endswith(f"/{end}")]

    def resolve(self, wanted: str, directory: str | None = None) -> str:
        """The file that is meant, or the path as it stands, from the root as far as possible."""
        start = self.directory if directory is None else directory
        return self.find(wanted, directory) or inside_tree(posixpath.join(start, wanted)) or wanted

    def find_nearest(self, end: str, near: str = "") -> str | None:
        """The file whose path ends so, the one nearest to a path if several."""
        paths = self._list_ending(end)
        return max(paths, key=lambda path: len(commonprefix([path, near])), default=None)

    def package(self, name: str) -> str | None:
        """The directory of a JavaScript package by its name, where there is but one such."""
        path = self._find_only_path(f"{name.rpartition('/')[2]}/package.json", "")
        return posixpath.dirname(path) if path else None

    def find_module(self, dotted: str) -> str | None:
        """The file of the Python module with which a dotted name begins."""
        if len(dotted) > _LONGEST_DOTTED:
            return None
        stem = f"{self.directory}/" * bool(self.directory) + dotted.replace(".", "/")
        while stem:
            for path in (f"{stem}.py", f"{stem}/__init__.py"):
                if path in self.paths:
                    return path
            stem = stem.rpartition("/")[0]
        return None


class TemporaryPaths(Struct, frozen=True, dict=True):
    """The root of a run's tree, and `around` it all else; both are taken out of what it says."""

    tree: Path
    around: Path

    @property
    def reports(self) -> Path:
        return self.around / "reports"

    @cached_property
    def _pattern_arounds_and_marks(self) -> tuple[re.Pattern[str], Sequence[str], frozenset[str]]:
        trees, arounds = (
            sorted({str(place), os.path.realpath(place)}) for place in (self.tree, self.around)
        )
        before = "" if self.tree.is_relative_to(self.around) else r"(?<![\w.-])"
        path = r"(?P<path>(?(file)[^\s:\"]*))"
        place = "|".join(map(re.escape, trees))
        expression = rf"{before}(?P<file>file://)?(?:{place})(?:/{path}|(?![\w.-]))"
        marks = frozenset(posixpath.basename(place) for place in (*trees, *arounds))
        return re.compile(expression), arounds, marks

    def make_paths_relative(self, text: str) -> str:
        """Return the text with paths below the tree made relative to it."""
        expression, arounds, marks = self._pattern_arounds_and_marks
        if not any(mark in text for mark in marks):
            return text
        text = expression.sub(_shorten_path, text)
        for around in arounds:
            text = text.replace(around, "…")
        return text


def _shorten_path(match: re.Match[str]) -> str:
    if match["path"] is None:
        return "."
    path = unquote(match["path"], errors="surrogateescape")
    return path if path.isprintable() else match["path"]
