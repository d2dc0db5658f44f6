"""Test reports in JUnit's XML: finding and reading them.

The files come from code that is not trusted: no DTD, no links, nothing but regular files, caps on
number, size and depth. The elements count, not the totals that a report claims for itself; where
these cannot be true something is missing, and the report is not believed.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import TypeAlias
from xml.etree.ElementTree import Element

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.junit_case import JunitCase, JunitReport, tag
from prjury.judges.builds.results.tree import TreeFiles
from prjury.judges.builds.test_sets import Reports
from prjury.snapshot.exempt import matches
from prjury.snapshot.model import printable

_DEEPEST_DIRECTORY = 200
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


def stamps(tree: Path, reports: Path, globs: Sequence[str] = ()) -> Mapping[Path, Stamp]:
    """The files that look like reports before something is run; they are not its results."""
    ignored = Found()  # what cannot be searched is noted when the results are looked for
    return {path: _stamp(path) for path in _reports(tree, reports, ignored, globs)}


def find_reports(
    tree: Path,
    reports: Path,
    earlier: Mapping[Path, Stamp],
    since: float = 0.0,
    globs: Sequence[str] = (),
) -> Found:
    """The reports of a build.

    Args:
        tree: where it was built; reports are looked for where build tools put them.
        reports: a directory for nothing but reports.
        earlier: what was there before; where the build did not touch it, it is no result.
        since: when the build began, in seconds.
        globs: further places in the tree.
    """
    found = Found(since=since)
    for path in _reports(tree, reports, found, globs):
        if earlier.get(path) != _stamp(path):
            found.files.append(path)
    return found


def _reports(tree: Path, reports: Path, found: Found, globs: Sequence[str]) -> Iterator[Path]:
    for path in files_below(tree, found):
        if is_report(path) or any(matches(path, glob) for glob in globs):
            yield tree / path
    for path in files_below(reports, found):
        if path.endswith(".xml") and not _ATTEMPTS.search(path):
            yield reports / path


def _stamp(path: Path) -> Stamp:
    status = path.lstat()
    return status.st_ino, status.st_ctime_ns


def files_below(top: Path, found: Found) -> Iterator[str]:
    """What is no directory below a directory, by its path from there; nothing here recurses."""
    if not os.path.lexists(top) or not stat.S_ISDIR(top.lstat().st_mode):
        found.problems.append(f"the directory `{top.name}` was replaced during the build")
        return
    waiting, seen = [("", 0)], 0
    while waiting:
        below, depth = waiting.pop()
        seen += 1
        if depth > _DEEPEST_DIRECTORY or seen > _MOST_DIRECTORIES:
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


_MOST_FILES = 2_000
_MOST_BYTES = 64 * 1024**2
_LARGEST_FILE = 20 * 1024**2
_DEEPEST = 100
_MOST_TESTS = 1_000_000
_MOST_FAILURES = 20_000
#: Seconds by which the clock of a file system may differ from ours.
_CLOCKS_DIFFER = 5.0

#: One of several reports of the same tests, such as those of tox's environments.
_LABELLED = re.compile(r"/reports/pytest-(?P<label>[\w.+-]+)\.xml$")
#: Reports of CTest and Meson, where a test is a program that may run tests of its own.
_PROGRAMS = re.compile(r"(?:^|/)(?:ctest|TEST-meson[^/]*)\.xml$")


class ReportError(ValueError):
    """A report that is there and cannot be read; the text says why."""


@dataclass
class _Reading:
    """What was read so far."""

    tests: int = 0
    skipped: int = 0
    failures: list[Failure] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    by_runner: Counter[str] = field(default_factory=Counter)
    within: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def take(self, test: JunitCase) -> None:
        """One test case."""
        self.tests += 1
        if self.tests > _MOST_TESTS:
            raise ReportError(f"was not read to its end: there are more than {_MOST_TESTS} tests")
        self.skipped += test.skipped
        self.failures.extend(test.failures())
        if len(self.failures) > _MOST_FAILURES:
            raise ReportError(f"was not read to its end: more than {_MOST_FAILURES} tests failed")
        if test.ran:
            self.ran.append(test.id)
            self.by_runner[test.report.runner] += 1
        if _PROGRAMS.search(test.report.path):
            self._take_program(test)

    def _take_program(self, test: JunitCase) -> None:
        """The tests of a test that is a program, as far as its output tells of them."""
        inside, (suite, name) = test.inside, test.known_as
        if test.ran and (count := inside.counted + len(inside.ran)):
            self.within[test.id] = count
        if test.broken:
            failing = (one for _, one in inside.failures[:_MOST_FAILURES])
            self.failures += (
                replace(one, suite=suite, name=f"{name}: {one.name}") for one in failing
            )

    def read(self, content: bytes, report: JunitReport) -> None:
        """One report, up to where it cannot be read."""
        try:
            for test in _tests(content, report):
                self.take(test)
        except ReportError as error:
            self.problems.append(f"the report {report.path} {error}")
            return
        self.problems += (
            f"the report {report.path} contradicts itself: {wrong}"
            for wrong in report.claims.contradictions[:1]
        )

    def reports(self, count: int) -> Reports:
        """All that was read, of so many reports."""
        return Reports(
            count,
            self.tests,
            tuple(self.failures),
            tuple(self.problems),
            tuple(self.ran),
            skipped=self.skipped,
            by_runner=dict(self.by_runner),
            within=self.within,
        )


def read_reports(found: Found, tree: TreeFiles, relative: Callable[[str], str]) -> Reports:
    """Reads every report that was found.

    Args:
        found: the reports, and what the search for them left out.
        relative: takes the tree's own place out of a text.
    """
    problems = list(found.problems)
    return parse_reports(load_reports(found, problems, relative), problems, tree, relative)


def load_reports(
    found: Found, problems: list[str], relative: Callable[[str], str]
) -> Iterator[tuple[str, bytes | None]]:
    """The reports' names and bytes; why there are none of one becomes a problem."""
    room = _MOST_BYTES
    for path in found.files:
        name = printable(relative(str(path)))
        try:
            content = _content(path, room, found.since)
        except ReportError as error:
            problems.append(f"the report {name} {error}")
            yield name, None
            continue
        room -= len(content)
        yield name, content


def parse_reports(
    files: Iterable[tuple[str, bytes | None]],
    problems: list[str],
    tree: TreeFiles,
    relative: Callable[[str], str],
) -> Reports:
    """What reports say.

    Args:
        files: their names, from the root of the tree as far as possible, and their bytes.
        problems: why there may be more of them; those of the reports are added.
        relative: takes the place of the tree, where the tests ran, out of a text.
    """
    reading, count = _Reading(problems=problems), 0
    for name, content in files:
        count += 1
        if count > _MOST_FILES:
            problems.append(f"only the first {_MOST_FILES} test reports were read")
            break
        if content is not None:
            reading.read(content, _report(name, tree, relative))
    return reading.reports(count)


def _report(name: str, tree: TreeFiles, relative: Callable[[str], str]) -> JunitReport:
    match = _LABELLED.search(name)
    return JunitReport(name, tree, relative, match["label"] if match else "")


def _content(path: Path, room: int, since: float) -> bytes:
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
    if len(content) > room:
        raise ReportError(f"was not read: all reports exceed {_MOST_BYTES // 1024**2} MiB")
    return content


def _tests(content: bytes, report: JunitReport) -> Iterator[JunitCase]:
    """The test cases; what has been read is let go."""
    from defusedxml import DefusedXmlException  # noqa: PLC0415 - only runs with reports need it
    from defusedxml.ElementTree import ParseError, iterparse  # noqa: PLC0415

    try:
        yield from _walk(iterparse(BytesIO(content), ("start", "end"), forbid_dtd=True), report)
    except DefusedXmlException as error:
        raise ReportError("holds a document type, which is refused") from error
    except (ParseError, LookupError, ValueError) as error:
        reason = error if isinstance(error, ReportError) else f"is not XML: {error}"
        raise ReportError(str(reason)) from error


def _walk(events: Iterator[tuple[str, Element]], report: JunitReport) -> Iterator[JunitCase]:
    above, case = list[Element](), None
    for event, element in events:
        if event == "start":
            above.append(element)
            if len(above) > _DEEPEST:
                raise ReportError(f"is nested deeper than {_DEEPEST} levels")
            if tag(element) in {"testsuites", "testsuite"}:
                report.opened(element)
            elif tag(element) == "testcase" and case is None:
                case = element
                report.named(case)
            continue
        above.pop()
        if element is case:
            test = JunitCase(element, report)
            report.claims.case(test.broken)
            yield test
            case = None
        report.closed(element)
        if above and case is None:
            above[-1].remove(element)
