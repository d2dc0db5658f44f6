"""Find the places in the tree that the lines of an error name. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from prjury.judges.builds.results.tree import TreeFiles

Place: TypeAlias = tuple[str | None, str | None]

#: The file and line of a frame of a stack, or of a message, in most languages.
_PLACE = re.compile(r"(?<![\w:.])(?P<path>[^\s:()\[\]\"'`,<>]{1,300}\.\w{1,8}):(?P<line>\d{1,9})")
_PYTHON = re.compile(r'File "(?P<path>[^"]{1,300})", line (?P<line>\d{1,9})')
_JAVA = re.compile(
    r"at (?:\S+/)?(?P<type>[\w.$]+)\.[^.(\s]+\((?P<file>\w+\.\w+):(?P<line>\d{1,9})\)"
)


def find_place(
    lines: Sequence[str],
    tree: TreeFiles,
    directory: str | None = None,
    *,
    owner: str = "",
    near: str = "",
    last: bool = False,
) -> Place:
    """Return path and line of the frame nearest to the error that is in the tree, if any."""
    fallback: Place = (None, None)
    for line in reversed(lines) if last else lines:
        if java := _JAVA.search(line):
            path = tree.of_type(java["type"], java["file"], near)
            if path and owner and java["type"].startswith(owner.partition("$")[0]):
                return path, java["line"]
            if path and fallback[0] is None:
                fallback = (path, java["line"])
            continue
        for path, number in list_places(line):
            top = path.removeprefix("/")  # Vitest's, from the root of the tree
            if inside := tree.find(path, directory) or (top if top in tree.paths else None):
                return inside, number
    return fallback


def list_places(line: str) -> Iterator[tuple[str, str]]:
    """Yield each path that a line names with a number behind it."""
    if python := _PYTHON.search(line):
        yield python["path"], python["line"]
    elif ":" in line:
        head, _, rest = line.partition(":")
        if rest[:1].isdecimal():  # with blanks in its name
            yield head.strip(), rest.partition(":")[0].rstrip()
        for match in _PLACE.finditer(line):
            path = match["path"].removeprefix("file://")
            if "node_modules/" not in path:
                yield path, match["line"]
