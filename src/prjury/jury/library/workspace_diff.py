"""The texts of a workspace, and what a call has made of them."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from posixpath import commonprefix

#: A workspace with more is not compared: files, and bytes of all of them.
_MOST_FILES, _MOST_BYTES = 5_000, 16 * 1024**2
#: Pairs of lines that are compared with one another; it takes a second or two.
_MOST_PAIRS = 4_000_000
_PASSED_OVER = frozenset({".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"})


def read_texts_unless_many(workspace: Path) -> Mapping[str, str] | None:
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


def diff_texts(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return a unified diff, which is empty if no text has changed."""
    rows: list[str] = []
    room = _MOST_PAIRS
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) == after.get(path):
            continue
        # Other line ends than "\n" are part of a line in a diff.
        texts = (before.get(path) or "", after.get(path) or "")
        old, new = (list(io.StringIO(text, newline="\n")) for text in texts)
        names = (
            f"a/{path}" if path in before else "/dev/null",
            f"b/{path}" if path in after else "/dev/null",
        )
        room -= len(old) * len(new)
        rows += unified_diff(old, new, *names) if room >= 0 else _make_single_hunk(old, new, names)
    notes = "\n\\ No newline at end of file\n"
    return "".join(row if row.endswith("\n") else f"{row}{notes}" for row in rows)


def _make_single_hunk(old: list[str], new: list[str], names: tuple[str, str]) -> Iterator[str]:
    """Yield one hunk from the first line that differs to the last one."""
    start = len(commonprefix([old, new]))
    end = len(commonprefix([old[start:][::-1], new[start:][::-1]]))
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    yield "--- {}\n+++ {}\n".format(*names)
    places = [f"{start + bool(lines)},{len(lines)}" for lines in (gone, come)]
    yield "@@ -{} +{} @@\n".format(*places)
    yield from (f"-{line}" for line in gone)
    yield from (f"+{line}" for line in come)
