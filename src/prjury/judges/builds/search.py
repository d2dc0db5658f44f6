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
#: Maven's plugins write one file for each class, and TestNG others beside them; Gradle, sbt and
#: others keep whole directories of reports; other tools name the file.
_REPORT = re.compile(
    r"(^|/)(surefire-reports|failsafe-reports)/TEST-[^/]*\.xml$"
    r"|(^|/)(test-results|test-reports)/.*\.xml$"
    r"|(^|/)(junit|junit-[^/]*|[^/]*-junit|TEST-[^/]*)\.xml$"
)
_OF_MAVEN = re.compile(r"(^|/)(surefire-reports|failsafe-reports)/.*/")
#: Bazel keeps the reports of attempts that failed before one passed.
_ATTEMPTS = re.compile(r"(^|/)test_attempts/")

#: What changes whenever a file is written, replaced or moved, and cannot be set back.
Stamp: TypeAlias = tuple[int, int]


@dataclass
class Found:
    """The files that should be reports, in order, and why there may be more of them.

    Attributes:
        since: when the build began, in seconds; what was written before is no result of it.
    """

    files: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    since: float = 0.0


def is_report(path: str) -> bool:
    """Whether a path of the tree is where build tools put their reports."""
    return (
        path.endswith(".xml")
        and _REPORT.search(path) is not None
        and _OF_MAVEN.search(path) is None
    )


def stamps(tree: Path, reports: Path) -> Mapping[Path, Stamp]:
    """The files that look like reports before something is run; they are not its results."""
    ignored = Found()  # what cannot be searched now is told when the results are looked for
    return {path: _stamp(path) for path in _reports(tree, reports, ignored)}


def find_reports(
    tree: Path, reports: Path, earlier: Mapping[Path, Stamp], since: float = 0.0
) -> Found:
    """The reports of a build.

    Args:
        tree: where it was built; reports are looked for where build tools put them.
        reports: a directory for nothing but reports.
        earlier: what was there before; where the build did not touch it, it is no result.
        since: when the build began, in seconds.
    """
    found = Found(since=since)
    for path in _reports(tree, reports, found):
        if earlier.get(path) != _stamp(path):
            found.files.append(path)
    return found


def _reports(tree: Path, reports: Path, found: Found) -> Iterator[Path]:
    yield from (tree / path for path in _files(tree, found) if is_report(path))
    for path in _files(reports, found):
        if path.endswith(".xml") and not _ATTEMPTS.search(path):
            yield reports / path


def _stamp(path: Path) -> Stamp:
    status = path.lstat()
    return status.st_ino, status.st_ctime_ns


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
