"""Reads test reports in JUnit's XML, which may be hostile: no DTD, caps on number, size and depth.

The elements count, not a report's totals: each runner counts attempts or hooks in its own way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from pathlib import PurePosixPath
from typing import TypeAlias
from xml.etree.ElementTree import Element

from msgspec.structs import replace

from prjury.judges.builds.failure import Failure, Results, identity, make_failure
from prjury.judges.builds.results import wording
from prjury.judges.builds.results.junit_case import (
    FAILED,
    JunitCase,
    JunitReport,
    tag,
)
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
_ESCAPE, _BELL = b"#x1B", b"#x07"
_SUITES = frozenset({"testsuites", "testsuite"})
#: Reports of tests in another form than JUnit's, by their root.
_OTHER_TESTS = {
    "testrun": "TRX", **dict.fromkeys(("test-run", "test-results", "test-suite"), "NUnit"),
    **dict.fromkeys(("assemblies", "assembly"), "xUnit.net"), "testng-results": "TestNG",
    "robot": "Robot Framework", "testexecutions": "SonarQube", "site": "CTest (Dart)",
    "testresults": "JMeter", "testsuiteresult": "JUnit's legacy",
}  # fmt: skip
Test: TypeAlias = tuple[str, str]
Relative: TypeAlias = Callable[[str], str]


class ForeignReportError(ReportError):
    """A report in another form than JUnit's; `tests` is True if it holds results of tests."""

    def __init__(self, root: str) -> None:
        key = root.lower()
        self.tests = key in _OTHER_TESTS
        super().__init__(wording.foreign_report(_OTHER_TESTS.get(key, ""), root))


@dataclass
class _Reading:
    """The tests of one report, by suite and name; the last attempt of the `lucky` ones passed."""

    report: JunitReport
    tests: int = 0
    skipped: int = 0
    failures: list[Failure] = field(default_factory=list)
    flaky: list[Failure] = field(default_factory=list)
    ran: list[Test] = field(default_factory=list)
    lucky: set[Test] = field(default_factory=set)
    within: dict[Test, int] = field(default_factory=dict)
    failed: set[Test] = field(default_factory=set)

    def read(self, content: bytes, room: int) -> None:
        shows_failures = False
        for item in _list_cases(content, self.report):
            if isinstance(item, Failure):
                self.failures.append(item)
            else:
                self._take(item, room)
                shows_failures = shows_failures or item.shows_failure
        if self.report.claimed and not (shows_failures or self.failures):
            raise ReportError(wording.SHOWS_NO_FAILURE.format(self.report.claimed))

    def _take(self, case: JunitCase, room: int) -> None:
        test, failure = case.test, case.failure
        if attempt := case.find_attempt():
            self.flaky.append(attempt)
        if case.is_unique and test in self.failed:
            (self.lucky.discard if failure else self.lucky.add)(test)
            return
        self.tests += 1
        self.skipped += case.skipped
        if self.tests > room:
            raise ReportError(wording.TOO_MANY_TESTS.format(_MOST_TESTS))
        if len(self.failures) >= _MOST_FAILURES:
            raise ReportError(wording.TOO_MANY_FAILURES.format(_MOST_FAILURES))
        if failure:
            self.failed.add(test)
            self.lucky.discard(test)
            self.failures += [failure, *islice(case.list_inside(), _MOST_FAILURES)]
        elif test in self.failed and case.ran:
            self.lucky.add(test)
        if case.ran:
            self.ran.append(test)
            if count := case.inside.counted + len(case.inside.ran):
                self.within[test] = count

    def label(self, label: str) -> None:
        self.ran = [(f"{suite} ({label})", name) for suite, name in self.ran]
        self.lucky = {(f"{suite} ({label})", name) for suite, name in self.lucky}
        self.within = {(f"{s} ({label})", name): n for (s, name), n in self.within.items()}
        for failures in (self.failures, self.flaky):
            for at, failure in enumerate(failures):
                if failure.kind == "test":
                    failures[at] = replace(failure, suite=f"{failure.suite} ({label})")


def read_reports(found: Found, tree: TreeFiles, relative: Relative) -> Results:
    """Read every report that was found."""
    problems = list(found.problems)
    files = load_reports(found, problems, relative)
    return parse_reports(files, problems, tree, relative, asked=False)


def parse_reports(
    files: Iterable[tuple[str, bytes | None]],
    problems: list[str],
    tree: TreeFiles,
    relative: Relative,
    *,
    asked: bool = True,
) -> Results:
    """Read what reports say."""
    readings, count, room = list[_Reading](), 0, _MOST_TESTS
    for number, (name, content) in enumerate(files, 1):
        if number > _MOST_FILES:
            problems.append(wording.TOO_MANY_REPORTS.format(_MOST_FILES))
            break
        if content is None:
            count += 1
            continue
        reading = _Reading(JunitReport(name, tree, relative))
        readings.append(reading)
        try:
            reading.read(content, room)
        except ForeignReportError as error:
            readings.pop()
            if asked or error.tests:
                problems.append(wording.REPORT_PROBLEM.format(name, str(error)))
            continue
        except ReportError as error:
            problems.append(wording.REPORT_PROBLEM.format(name, str(error)))
        count += 1
        room -= reading.tests
    _label_alike(readings)
    return _add_up(readings, count, problems)


def _label_alike(readings: Sequence[_Reading]) -> None:
    """Label the reports that hold the same tests, such as the rows of a matrix, by their places."""
    owners, sharing = dict[Test, int](), set[int]()
    for number, reading in enumerate(readings):
        for test in set(reading.ran):
            if (owner := owners.setdefault(test, number)) != number:
                sharing |= {owner, number}
    alike = [readings[number] for number in sorted(sharing)]
    groups: dict[str, list[_Reading]] = {}
    for reading in sorted(alike, key=lambda one: len(one.report.path)):
        name = reading.report.path.removesuffix(".xml")
        first, _, count = name.rpartition("~")  # of a later report of that name
        groups.setdefault(first if count.isdecimal() else name, []).append(reading)
    labels = _list_labels([f"{name}.xml" for name in groups]) if len(groups) > 1 else [""]
    for label, (name, group) in zip(labels, groups.items(), strict=False):
        passed = dict[Test, bool]()
        for reading in reversed(group):
            reading.lucky |= {test for test in reading.failed if passed.get(test)}
            bad = reading.failed - reading.lucky
            passed = {test: test not in bad for test in reading.ran} | passed
            count = reading.report.path.removesuffix(".xml").removeprefix(name).lstrip("~")
            if words := f"{label} {count}".strip():
                reading.label(words)


def _list_labels(paths: Sequence[str]) -> list[str]:
    parts = [
        str(PurePosixPath(path).with_suffix("")).replace("/", "-").split("-") for path in paths
    ]
    for end in (0, -1):
        while all(len(one) > 1 for one in parts) and len({one[end] for one in parts}) == 1:
            for one in parts:
                del one[end]
    return ["-".join(one) for one in parts]


def _add_up(readings: Sequence[_Reading], count: int, problems: Sequence[str]) -> Results:
    failures = [failure for reading in readings for failure in reading.failures]
    if len(failures) > _MOST_FAILURES:
        problems = [*problems, f"more than {_MOST_FAILURES} tests failed"]
    by_runner = Counter[str]()
    for reading in readings:
        by_runner[reading.report.runner] += len(reading.ran)
    return Results(
        count,
        sum(reading.tests for reading in readings),
        tuple(failures[:_MOST_FAILURES]),
        tuple(problems),
        tuple(identity(*test) for reading in readings for test in reading.ran),
        by_runner=dict(+by_runner),
        skipped=sum(reading.skipped for reading in readings),
        within={identity(*test): n for reading in readings for test, n in reading.within.items()},
        flaky=tuple(failure for reading in readings for failure in reading.flaky),
        retried=tuple(identity(*test) for reading in readings for test in sorted(reading.lucky)),
    )


def _list_cases(content: bytes, report: JunitReport) -> Iterator[JunitCase | Failure]:
    """Yield the test cases, and what failed outside of them; what has been read is let go."""
    from defusedxml import DefusedXmlException  # noqa: PLC0415 - only runs with reports need it
    from defusedxml.ElementTree import ParseError, iterparse  # noqa: PLC0415

    source = BytesIO(_make_readable(content))
    try:
        yield from _walk(iterparse(source, ("start", "end"), forbid_dtd=True), report)
    except DefusedXmlException as error:
        raise ReportError(wording.HAS_DTD) from error
    except (ParseError, LookupError, ValueError) as error:
        if isinstance(error, ReportError):
            raise
        raise ReportError(wording.NO_XML.format(error)) from error


def _make_readable(content: bytes) -> bytes:
    """Return the report without the control characters that XML forbids."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16
        return content
    if b"&#" in content:
        content = _REFERENCE.sub(_keep_escape, content)
    content = content.replace(b"\x1b", _ESCAPE).replace(b"\x07", _BELL)
    return content.translate(None, _FORBIDDEN)


def _keep_escape(reference: re.Match[bytes]) -> bytes:
    digits = reference[0][2:-1].lower()
    number = int(digits[1:], 16) if digits.startswith(b"x") else int(digits)
    return {0x1B: _ESCAPE, 0x07: _BELL}.get(number, b"")


def _walk(
    events: Iterator[tuple[str, Element]], report: JunitReport
) -> Iterator[JunitCase | Failure]:
    above, case = list[Element](), None
    for event, element in events:
        name = tag(element)
        if event == "start":
            if not above and name not in _SUITES:
                raise ForeignReportError(str(element.tag).rpartition("}")[2])
            above.append(element)
            if len(above) > _DEEPEST:
                raise ReportError(wording.TOO_DEEP.format(_DEEPEST))
            if name in _SUITES:
                report.open_suite(element)
            elif name == "testcase" and case is None:
                case = element
            continue
        above.pop()
        if element is case:
            yield JunitCase(element, report)
            case = None
        elif name in FAILED and case is None and above and tag(above[-1]) in _SUITES:
            yield _read_suite_failure(element, report)
        report.close(element)
        if above and case is None:
            above[-1].remove(element)


def _read_suite_failure(element: Element, report: JunitReport) -> Failure:
    suite = report.suites[-1].get("name", "") if report.suites else ""
    case = Element("testcase", {"classname": suite})
    case.append(element)
    failure = JunitCase(case, report).failure or make_failure("error", wording.FAILED)
    return replace(failure, kind="error", name=report.clean(suite) or report.path, suite=None)
