"""Reads test reports in JUnit's XML.

The files come from code that is not trusted: no DTD, caps on number, size and depth. The elements
count, not the totals that a report claims for itself; where these cannot be true something is
missing, and the report is not believed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from xml.etree.ElementTree import Element

from msgspec.structs import replace

from prjury.judges.builds.failure import Failure, Results
from prjury.judges.builds.results.junit_case import JunitCase, JunitReport, tag
from prjury.judges.builds.results.report_files import Found, ReportError, load_reports
from prjury.judges.builds.results.tree import TreeFiles

_MOST_FILES = 2_000
_DEEPEST = 100
_MOST_TESTS = 1_000_000
_MOST_FAILURES = 20_000

_FORBIDDEN = bytes(sorted({*range(0x20)} - {*b"\t\n\r"}))
_REFERENCE = re.compile(
    rb"&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bcef]|1[0-9a-f]));", re.IGNORECASE
)
#: One of several reports of the same tests, such as those of tox's environments.
_LABELLED = re.compile(r"/reports/pytest-(?P<label>[\w.+-]+)\.xml$")
#: Results of CTest and Meson, where a test is a program that may run tests of its own.
_PROGRAMS = re.compile(r"(?:^|/)(?:ctest|TEST-meson[^/]*)\.xml$")


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

    def reports(self, count: int) -> Results:
        """All that was read, of so many reports."""
        return Results(
            count,
            self.tests,
            tuple(self.failures),
            tuple(self.problems),
            tuple(self.ran),
            skipped=self.skipped,
            by_runner=dict(self.by_runner),
            within=self.within,
        )


def read_reports(found: Found, tree: TreeFiles, relative: Callable[[str], str]) -> Results:
    """Reads every report that was found.

    Args:
        found: the reports, and what the search for them left out.
        relative: takes the tree's own place out of a text.
    """
    problems = list(found.problems)
    return parse_reports(load_reports(found, problems, relative), problems, tree, relative)


def parse_reports(
    files: Iterable[tuple[str, bytes | None]],
    problems: list[str],
    tree: TreeFiles,
    relative: Callable[[str], str],
) -> Results:
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


def _tests(content: bytes, report: JunitReport) -> Iterator[JunitCase]:
    """The test cases; what has been read is let go."""
    from defusedxml import DefusedXmlException  # noqa: PLC0415 - only runs with reports need it
    from defusedxml.ElementTree import ParseError, iterparse  # noqa: PLC0415

    source = BytesIO(_without_forbidden(content))
    try:
        yield from _walk(iterparse(source, ("start", "end"), forbid_dtd=True), report)
    except DefusedXmlException as error:
        raise ReportError("holds a document type, which is refused") from error
    except (ParseError, LookupError, ValueError) as error:
        reason = error if isinstance(error, ReportError) else f"is not XML: {error}"
        raise ReportError(str(reason)) from error


def _without_forbidden(content: bytes) -> bytes:
    """The report without the control characters that XML forbids.

    Meson and others copy them from what tests print.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16
        return content
    plain = content.translate(None, _FORBIDDEN)
    return _REFERENCE.sub(b"", plain) if b"&#" in plain else plain


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
