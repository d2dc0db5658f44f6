"""Finds reports that a build has written, and reads their bytes: no links, nothing endless."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import TypeAlias

from msgspec import Struct

from prjury.snapshot.exempt import matches
from prjury.snapshot.model import printable

_MOST_BYTES = 64 * 1024**2
_LARGEST_FILE = 20 * 1024**2
#: Seconds by which the clock of a file system may differ from ours.
_CLOCKS_DIFFER = 5.0
_DEEPEST_DIRECTORY = 200
_MOST_DIRECTORIES = 200_000
DOWNLOADED = frozenset({".git", "node_modules", ".venv", ".gradle", ".tox"})
#: Directories for nothing but reports, of Gradle, sbt and others.
_DIRECTORIES = frozenset({"test-results", "test-reports"})
#: How reports of pytest end that a test has called: they are named after it.
_NESTED = (" (setup).xml", " (call).xml", " (teardown).xml")
#: How a finished report ends, and seconds between two looks for one.
_ENDS, _LOOK_EVERY = (b"</testsuites>", b"</testsuite>"), 0.05
_MOST_RENAMED = 4_000
OF_MAVEN = frozenset({"surefire-reports", "failsafe-reports"})

LEFT_OUT = "{} left tests out: {}"
REPORT_PROBLEM = "the report {} {}"

#: What changes whenever a file is written, replaced or moved, and cannot be set back.
Stamp: TypeAlias = tuple[int, int]


class Listing(Struct):
    """The files that should be reports, written `since` then, and why there may be more of them."""

    files: list[Path] = []
    problems: list[str] = []
    since: float = 0.0


def is_report(path: str) -> bool:
    """True for a report where build tools put it; TestNG writes others below Maven's."""
    *above, name = path.split("/")
    stem = name.removesuffix(".xml")
    if stem == name or OF_MAVEN.intersection(above[-2:-1]):
        return False
    usual = stem.startswith(("TEST-", "junit-")) or stem.endswith("-junit") or stem == "junit"
    return usual or not _DIRECTORIES.isdisjoint(above)


def stamps(tree: Path, reports: Path, globs: Sequence[str] = ()) -> Mapping[Path, Stamp]:
    """The files that look like reports before something is run; they are not its results."""
    return {path: _stamp(path) for path in find_reports(tree, reports, {}, globs=globs).files}


def find_reports(
    tree: Path,
    report_directory: Path,
    earlier: Mapping[Path, Stamp],
    since: float = 0.0,
    globs: Sequence[str] = (),
) -> Listing:
    listing, paths = Listing(since=since), list[Path]()
    for path in walk_files(tree, listing):
        if is_report(path) or any(matches(path, glob) for glob in globs):
            paths.append(tree / path)
    for path in walk_files(report_directory, listing):
        if path.endswith(".xml") and not (path.endswith(_NESTED) or "test_attempts/" in path):
            paths.append(report_directory / path)
    listing.files = [path for path in paths if earlier.get(path) != _stamp(path)]
    return listing


@contextmanager
def keep_every_report(directory: Path) -> Iterator[None]:
    """Rename reports as they are finished, so that the next of a name replaces none of them.

    ``pytest.xml`` becomes ``pytest~1.xml``, the next one ``pytest~2.xml`` and so on.
    """
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # the build has replaced it, which is noted when its reports are looked for
        yield
        return
    ended = Event()

    def watch() -> None:
        while not ended.wait(_LOOK_EVERY):
            _rename_finished_reports(descriptor)

    watcher = Thread(target=watch, name="reports", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        _rename_finished_reports(descriptor)
        os.close(descriptor)


def _rename_finished_reports(directory_fd: int) -> None:
    names = os.listdir(directory_fd)
    for name in sorted(names) if len(names) < _MOST_RENAMED else ():
        stem = name.removesuffix(".xml")
        with suppress(OSError):  # a link, or one that changes meanwhile
            plain = stem != name and "~" not in stem and not name.endswith(_NESTED)
            if plain and _is_finished(directory_fd, name):
                free = (f"{stem}~{number}.xml" for number in range(1, _MOST_RENAMED))
                after = next(other for other in free if other not in names)
                os.rename(name, after, src_dir_fd=directory_fd, dst_dir_fd=directory_fd)


def _is_finished(directory_fd: int, name: str) -> bool:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory_fd)
    try:
        status = os.fstat(descriptor)
        end = os.pread(descriptor, 100, max(0, status.st_size - 100))
        return stat.S_ISREG(status.st_mode) and end.rstrip().endswith(_ENDS)
    finally:
        os.close(descriptor)


def _stamp(path: Path) -> Stamp:
    status = path.lstat()
    return status.st_ino, status.st_ctime_ns


def walk_files(top: Path, listing: Listing, skipped: Collection[str] = DOWNLOADED) -> Iterator[str]:
    """The files below a directory, by their paths from there; nothing here recurses."""
    if not os.path.lexists(top) or not stat.S_ISDIR(top.lstat().st_mode):
        listing.problems.append(f"the directory `{top.name}` was replaced during the build")
        return
    waiting, seen = [("", 0)], 0
    while waiting:
        below, depth = waiting.pop()
        seen += 1
        if depth > _DEEPEST_DIRECTORY or seen > _MOST_DIRECTORIES:
            listing.problems.append("not every directory was searched: too many, or too deep")
            return
        try:
            with os.scandir(top / below) as rows:
                entries = sorted(rows, key=lambda entry: entry.name)
        except OSError as error:
            listing.problems.append(f"a directory could not be searched: {error.strerror}")
            continue
        for entry in entries:
            path = f"{below}{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                yield path
            elif entry.name not in skipped:
                waiting.append((f"{path}/", depth + 1))


class ReportError(ValueError):
    """A report that is there and cannot be read; the text says why."""


def load_reports(
    listing: Listing, relative: Callable[[str], str]
) -> Iterator[tuple[str, bytes | None]]:
    """The reports' names and bytes; why there are none of one becomes a problem."""
    room = _MOST_BYTES
    for path in listing.files:
        name = printable(relative(str(path)))
        try:
            content = _read_fresh_content(path, room, listing.since)
        except ReportError as error:
            listing.problems.append(REPORT_PROBLEM.format(name, error))
            yield name, None
            continue
        room -= len(content)
        yield name, content


def _read_fresh_content(path: Path, most_bytes: int, since: float) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ReportError(f"cannot be opened: {error.strerror}") from error
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, so that it is no link
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ReportError("is not a regular file")
        if status.st_mtime < since - _CLOCKS_DIFFER:
            raise ReportError("is older than the build, so it is of another one")
        content = file.read(_LARGEST_FILE + 1)
    if len(content) > _LARGEST_FILE:
        raise ReportError(f"is larger than {_LARGEST_FILE // 1024**2} MiB")
    if len(content) > most_bytes:
        raise ReportError(f"was not read: all reports exceed {_MOST_BYTES // 1024**2} MiB")
    return content
