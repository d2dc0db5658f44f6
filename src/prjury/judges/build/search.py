"""Where test reports lie after a build.

What is searched was filled by code that is not trusted: no link is followed, the directories
themselves included, and whatever is left out is told, for a failing test may be there.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

_DEEPEST = 200
_MOST_DIRECTORIES = 200_000
_SKIPPED = frozenset({".git", "node_modules", ".venv", ".gradle", ".tox"})
_DIRECTORIES = re.compile(r"(^|/)(surefire-reports|failsafe-reports|test-results)/")

#: What changes whenever a file is written, replaced or moved, and cannot be set back.
Stamp: TypeAlias = tuple[int, int]


@dataclass
class Found:
    """The files that should be reports, in order, and why there may be more of them."""

    files: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def is_report(path: str) -> bool:
    """Whether a path of the tree is where build tools put their reports."""
    return path.endswith(".xml") and _DIRECTORIES.search(path) is not None


def untouched(tree: Path, known: frozenset[str]) -> Mapping[str, Stamp]:
    """The files of the tree that look like reports before anything was built."""
    there = filter(is_report, known)
    return {path: _stamp(tree / path) for path in there if os.path.lexists(tree / path)}


def _stamp(path: Path) -> Stamp:
    status = path.lstat()
    return status.st_ino, status.st_ctime_ns


def find_reports(tree: Path, reports: Path, committed: Mapping[str, Stamp]) -> Found:
    """The reports of a build.

    Args:
        tree: where it was built; reports are looked for where build tools put them.
        reports: a directory for nothing but reports.
        committed: what the tree held before; where the build did not touch it, it is no result.
    """
    found = Found()
    for path in _files(tree, found):
        if is_report(path) and committed.get(path) != _stamp(tree / path):
            found.files.append(tree / path)
    found.files.extend(reports / path for path in _files(reports, found) if path.endswith(".xml"))
    return found


def _files(top: Path, found: Found) -> Iterator[str]:
    """What is no directory below a directory, by its path from there; nothing here recurses."""
    if not os.path.lexists(top) or not stat.S_ISDIR(top.lstat().st_mode):
        found.problems.append(f"the directory `{top.name}` was replaced during the build")
        return
    waiting, seen = [("", 0)], 0
    while waiting:
        below, depth = waiting.pop()
        seen += 1
        if depth > _DEEPEST or seen > _MOST_DIRECTORIES:
            found.problems.append("not every directory was searched: too many, or too deep")
            return
        try:
            with os.scandir(top / below) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            found.problems.append(f"a directory could not be searched: {error.strerror}")
            continue
        for entry in entries:
            path = f"{below}{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                yield path
            elif entry.name not in _SKIPPED:
                waiting.append((f"{path}/", depth + 1))
