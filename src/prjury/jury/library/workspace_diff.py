"""The texts of a workspace, and what a call has made of them."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path

#: A workspace with more is not compared: files, and bytes of all of them.
_MOST_FILES, _MOST_BYTES = 5_000, 16 * 1024**2
_PASSED_OVER = frozenset({".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"})


def read_texts(workspace: Path) -> Mapping[str, str] | None:
    """Return the texts by their paths; None if there are too many. No link is followed."""
    texts: dict[str, str] = {}
    room = _MOST_BYTES
    for place, directories, names in os.walk(workspace):
        directories[:] = [name for name in directories if name not in _PASSED_OVER]
        for path in (Path(place, name) for name in names):
            try:
                if path.is_symlink() or not path.is_file():
                    continue
                room -= path.stat().st_size
                if room < 0 or len(texts) == _MOST_FILES:
                    return None
                texts[path.relative_to(workspace).as_posix()] = path.read_bytes().decode("utf-8")
            except (OSError, UnicodeDecodeError):
                continue
    return texts


def compare_texts(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return a unified diff, which is empty if no text has changed."""
    return "".join(
        line
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
        for line in _compare_file(path, before.get(path), after.get(path))
    )


def _compare_file(path: str, before: str | None, after: str | None) -> Iterator[str]:
    old_name = "/dev/null" if before is None else f"a/{path}"
    new_name = "/dev/null" if after is None else f"b/{path}"
    # Other line ends than "\n" are part of a line in a diff.
    old, new = (list(io.StringIO(text or "", newline="\n")) for text in (before, after))
    for line in unified_diff(old, new, old_name, new_name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
