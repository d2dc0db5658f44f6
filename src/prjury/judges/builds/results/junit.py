"""Reads test reports in JUnit's XML, which may be hostile: no DTD, caps on number, size and depth.

The elements count, not a report's totals: each runner counts attempts or hooks in its own way.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import TypeAlias
from xml.etree.ElementTree import Element

from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.failure import (
    Failure,
    Kind,
    Results,
    identity,
    make_failure,
    with_details,
)
from prjury.judges.builds.results.lines import (
    TABLE,
    LogSection,
    RunnerOutput,
    add_values,
    find_error_message,
    is_hook,
    strip_escapes,
)
from prjury.judges.builds.results.report_files import (
    REPORT_PROBLEM,
    Listing,
    ReportError,
    load_reports,
)
from prjury.judges.builds.results.runners import read_inside
from prjury.judges.builds.results.streams import make_go_failure
from prjury.judges.builds.results.tree import TreeFiles

#: The runner by the name that it gives to the whole of a report or of a suite.
_BY_NAME = TABLE["report_names"]
_JVM_PLACES = ("/surefire-reports/", "/failsafe-reports/", "/test-results/", "/TEST-")
#: Reports of CTest and Meson, whose tests are programs that may run tests of their own.
_PROGRAMS = ("/ctest", "/TEST-meson", "/testlog.junit.xml")
#: Runners that give no two tests the same name: a name that comes again is another attempt.
_UNIQUE = frozenset({"pytest", "go", "nextest"})

_FAILED = ("failure", "error")
#: What pytest and Jest say of a file that cannot be loaded; none of its tests has run.
_UNLOADED = frozenset({"collection failure", "Test suite failed to run"})
#: Messages that say nothing more than that something failed.
_EMPTY = frozenset({"", "Failed", "failed", *_UNLOADED})
#: How writers without children for it put the end of a test, in ``status`` or ``result``.
_BAD = frozenset({"failed", "failure", "fail", "error", "errored", "broken"})
_NOT_RUN = frozenset({"notrun", "disabled", "skipped", "ignored", "pending", "suppressed"})
_ATTEMPTS = ("flakyfailure", "flakyerror", "rerunfailure", "rerunerror")
_STACK = ("at ", "... ")
_UNFINISHED = "was not read to its end: {}"
_LONGEST_LINE = 2_000
_MOST_LINES = 2_000


_Test: TypeAlias = tuple[str, str]


def _tag(element: Element) -> str:
    return str(element.tag).rpartition("}")[2].lower()


class _Report(Struct):
    """A report as far as it was read; the last attempt of the `lucky` tests passed."""

    path: str
    tree: TreeFiles
    relative: Callable[[str], str]
    label: str = ""
    runner: str = ""
    suites: list[Mapping[str, str]] = []
    claimed: int = 0
    tests: int = 0
    skipped: int = 0
    failures: list[Failure] = []
    flaky: list[Failure] = []
    ran: list[_Test] = []
    lucky: set[_Test] = set()
    within: dict[_Test, int] = {}
    failed: set[_Test] = set()

    def note_suite_claims_and_runner(self, element: Element) -> None:
        if _tag(element) == "testsuite":
            self.suites.append(dict(element.attrib))
        for count in (element.get("failures", ""), element.get("errors", "")):
            if count.isascii() and count.isdigit():
                self.claimed = max(self.claimed, int(count[:9]))
        name = element.get("name", "").lower()
        in_place = any(place in f"/{self.path}" for place in _JVM_PLACES)
        by_name = (runner for start, runner in _BY_NAME.items() if name.startswith(start))
        self.runner = self.runner or next(by_name, "jvm" if in_place else "")

    def close(self, element: Element) -> None:
        if _tag(element) == "testsuite":
            self.suites.pop()
        elif _tag(element) == "property" and element.get("name") == "go.version":
            self.runner = "go"

    @property
    def directory(self) -> str:
        return posixpath.dirname(self.path)

    def clean(self, text: str) -> str:
        return self.relative(strip_escapes(text))

    def read_cases(self, content: bytes, most_tests: int) -> None:
        shows_failures = False
        for item in _list_cases(content, self):
            if isinstance(item, Failure):
                self.failures.append(item)
            else:
                self._add_case(item, most_tests)
                shows_failures = shows_failures or item.shows_failure
        if self.claimed and not (shows_failures or self.failures):
            raise ReportError(f"counts {self.claimed:,} failures and shows none")

    def _add_case(self, case: _Case, most_tests: int) -> None:
        test, failure = case.test, case.failure
        if case.attempt:
            self.flaky.append(case.attempt)
        if case.is_unique and test in self.failed:
            (self.lucky.discard if failure else self.lucky.add)(test)
            return
        self.tests += 1
        self.skipped += case.skipped
        if self.tests > most_tests:
            raise ReportError(_UNFINISHED.format(f"there are more than {_MOST_TESTS} tests"))
        if len(self.failures) >= _MOST_FAILURES:
            raise ReportError(_UNFINISHED.format(f"more than {_MOST_FAILURES} tests failed"))
        if failure:
            self.failed.add(test)
            self.lucky.discard(test)
            self.failures.append(failure)
            for _, inner in case.inside.failures[:_MOST_FAILURES]:
                name = f"{test[1]}: {inner.name}"
                self.failures.append(replace(inner, suite=test[0], name=name))
        elif test in self.failed and case.ran:
            self.lucky.add(test)
        if case.ran:
            self.ran.append(test)
            if count := case.inside.counted + len(case.inside.ran):
                self.within[test] = count

    def list_ids(self, tests: Iterable[_Test]) -> list[str]:
        label = f" ({self.label})" if self.label else ""
        return [identity(f"{suite}{label}", name) for suite, name in tests]

    def label_failures(self, failures: Iterable[Failure]) -> list[Failure]:
        return [
            replace(failure, suite=f"{failure.suite} ({self.label})")
            if self.label and failure.kind == "test"
            else failure
            for failure in failures
        ]


class _Case:
    """A test case of a report: whose `test` it is (suite and name), how it ended, and why.

    Its failure may be of no test (`kind`), or of an attempt that does not count (`shows_failure`).
    A test that is a program prints tests of its own (`inside`).
    """

    def __init__(self, case: Element, report: _Report) -> None:
        self._case, self._report = case, report
        if not report.runner and case.get("classname") == "test":
            report.runner = "node"  # its own runner calls every class so, and itself nothing
        self._owner = strip_escapes(case.get("classname", ""))
        self._name = strip_escapes(case.get("name", ""))
        words = [case.get(name, "").lower() for name in ("status", "result")]
        ending = next((word for word in words if word in _BAD | _NOT_RUN), "")
        failures = self._list_children(*_FAILED)
        kinds = [child.get("type") for child in self._list_children("skipped")]
        self.skipped = kinds == ["todo"] or (not failures and bool(kinds or ending in _NOT_RUN))
        self._failures = failures or [Element("failure")] * (ending in _BAD)
        attempts = [child for child in case if _tag(child).endswith(_FAILED)]
        self.shows_failure = bool(self._failures or attempts)
        self.kind: Kind = self._classify_case()
        self.test = self._find_suite_and_name()
        self.ran = self.kind == "test" and bool(self.test[1].strip()) and not self.skipped
        self.is_unique = report.runner in _UNIQUE and bool(self._name)
        bad = [] if self.skipped else self._failures
        self.failure = self._read_failure(bad[0]) if bad else None
        self.attempt: Failure | None = None
        if not self.failure and (attempts := self._list_children(*_ATTEMPTS)):
            self.attempt = replace(self._read_failure(attempts[0]), state="flaky")
        self.inside = RunnerOutput()
        if any(place in f"/{report.path}" for place in _PROGRAMS):
            texts = [child.text or "" for child in self._list_children("system-out")]
            lines = [line for text in texts for line in text.splitlines()]
            self.inside = read_inside(LogSection(lines, range(len(lines)), report.tree))

    def _list_children(self, *names: str) -> list[Element]:
        return [child for child in self._case if _tag(child) in names]

    def _classify_case(self) -> Kind:
        report, name, owner = self._report, self._name, self._owner
        words = {name, owner, *(child.get("message") for child in self._failures)}
        if _UNLOADED & words or (report.runner == "vitest" and name == owner):
            return "compile"
        if report.runner == "go" and not owner:
            built = not any("[build failed]" in (child.text or "") for child in self._failures)
            return "error" if built else "goal"
        of_several = {
            "mocha": is_hook(name),
            "node": report.relative(name) in report.tree.paths,
            "jvm": not name,
        }
        return "error" if of_several.get(report.runner) else "test"

    def _find_suite_and_name(self) -> tuple[str, str]:
        report, owner, name = self._report, self._owner, self._name
        if report.runner == "go":
            return owner or (report.suites[-1].get("name", "") if report.suites else ""), name
        if report.runner == "nextest":
            return owner, name
        repeated = report.runner in {"jest", "mocha"} and name.endswith(owner)
        full = name if repeated or not owner else f"{owner}#{name}"
        if file := self._case.get("file"):
            return report.tree.resolve(report.relative(file)), full
        if report.runner == "node":
            suites = (suite.get("name", "") for suite in report.suites)
            return report.directory, " > ".join([*suites, report.relative(name)])
        place, suite = report.relative(owner), None
        if report.runner == "vitest":  # its classes are files
            return report.tree.resolve(place) or report.directory, name
        if report.runner in {"", "pytest"}:
            if "/" in owner and (file := report.tree.find(place)):
                return file, name
            suite = report.tree.find_module(owner)
        return suite or report.directory, full

    def _read_failure(self, child: Element) -> Failure:
        text = child.text or ""
        if not text.strip():  # Surefire keeps the stack of an attempt in an element of its own
            text = next((below.text or "" for below in child if _tag(below) == "stacktrace"), text)
        text = self._report.clean(text[: _LONGEST_LINE * _MOST_LINES])
        lines = [line[:_LONGEST_LINE] for line in text.splitlines()[:_MOST_LINES]]
        message = self._report.clean(child.get("message") or "")
        if "\n" not in message and ":\\" not in message:
            message = message.replace("\\n", "\n")  # which some writers put for the ends of lines
        failure = self._make_case_failure(_read_first(message.splitlines()), lines)
        shown = [one for one in lines if one.strip() and not one.lstrip().startswith(_STACK)]
        marked = [line for line in shown if line.startswith((">", "E "))]  # by pytest
        is_marked = any(line.startswith("E ") for line in marked)
        return with_details(failure, marked if is_marked else shown)

    def _make_case_failure(self, headline: str, lines: Sequence[str]) -> Failure:
        (suite, name), tree, runner = self.test, self._report.tree, self._report.runner
        section = LogSection((), (), tree, tree.directory)
        if runner == "go" and self.kind == "test":
            return make_go_failure(section, suite, name, lines)
        near, last = self._report.path, runner in {"", "pytest"}
        path, line = section.find_place(lines, owner=self._owner, near=near, last=last)
        message = "" if headline in _EMPTY else headline
        if runner == "nextest":
            message = find_error_message(lines)
        if self.kind == "compile" and not message:  # what pytest marks is the error itself
            marked = [text[1:].strip() for text in lines if text.startswith("E ")]
            message = next(filter(None, reversed(marked)), "")
        message = message or _read_first(lines) or "failed"
        elsewhere = self.kind == "compile" and path not in {None, tree.find_module(self._name)}
        if path is None:
            path, line = self._find_case_place()
        if self.kind == "test":
            return make_failure("test", message, path, line, name, suite)
        whole = {"go": suite, "jvm": self._owner, "mocha": name}.get(runner)
        whole = whole or self._report.relative(self._name)
        # what many modules import is broken once
        return make_failure(self.kind, message, path, line, None if elsewhere else whole)

    def _find_case_place(self) -> tuple[str | None, str | None]:
        tree, relative = self._report.tree, self._report.relative
        if file := self._case.get("file"):
            path, at = tree.find(relative(file)), self._case.get("line", "")
            if self._report.runner == "pytest" and at.isdecimal() and len(at) < 9:  # noqa: PLR2004
                at = str(int(at) + 1)  # it counts from 0
            return path, at
        names = (*self.test, relative(self._name))
        return next((name for name in names if name in tree.paths), None), None


def _read_first(lines: Sequence[str]) -> str:
    """Return the first line that says something, with the values that it announces."""
    for at, line in enumerate(lines):
        if line.strip():
            return add_values(line, lines[at + 1 :])
    return ""


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
_OTHER_TESTS = TABLE["other_reports"]


class _ForeignReportError(ReportError):
    """A report in another form than JUnit's; `tests` is True if it holds results of tests."""

    def __init__(self, root: str) -> None:
        form = _OTHER_TESTS.get(root.lower(), "")
        self.tests = bool(form)
        article = "an" if form[:1] in {*"AEINOx"} else "a"
        begins = f"begins with <{root[:40]}>, not with <testsuites> or <testsuite>"
        super().__init__(f"{f'is {article} {form} file' if form else begins}; JUnit is wanted")


def read_reports(listing: Listing, tree: TreeFiles, relative: Callable[[str], str]) -> Results:
    files = load_reports(listing, relative)
    return parse_reports(files, listing.problems, tree, relative, foreign_is_problem=False)


def parse_reports(
    files: Iterable[tuple[str, bytes | None]],
    problems: list[str],
    tree: TreeFiles,
    relative: Callable[[str], str],
    *,
    foreign_is_problem: bool = True,
) -> Results:
    reports, count, room = list[_Report](), 0, _MOST_TESTS
    for number, (name, content) in enumerate(files, 1):
        if number > _MOST_FILES:
            problems.append(f"only the first {_MOST_FILES} test reports were read")
            break
        if content is None:
            count += 1
            continue
        report = _Report(name, tree, relative)
        reports.append(report)
        try:
            report.read_cases(content, room)
        except _ForeignReportError as error:
            reports.pop()
            if foreign_is_problem or error.tests:
                problems.append(REPORT_PROBLEM.format(name, str(error)))
            continue
        except ReportError as error:
            problems.append(REPORT_PROBLEM.format(name, str(error)))
        count += 1
        room -= report.tests
    _label_repeats_and_mark_retried(reports)
    failures = [one for report in reports for one in report.label_failures(report.failures)]
    if len(failures) > _MOST_FAILURES:
        problems = [*problems, f"more than {_MOST_FAILURES} tests failed"]
    by_runner, within = Counter[str](), dict[str, int]()
    for report in reports:
        by_runner[report.runner] += len(report.ran)
        within |= zip(report.list_ids(report.within), report.within.values(), strict=True)
    return Results(
        count,
        sum(report.tests for report in reports),
        tuple(failures[:_MOST_FAILURES]),
        tuple(problems),
        tuple(test for report in reports for test in report.list_ids(report.ran)),
        by_runner=dict(+by_runner),
        skipped=sum(report.skipped for report in reports),
        within=within,
        flaky=tuple(one for report in reports for one in report.label_failures(report.flaky)),
        retried=tuple(test for report in reports for test in report.list_ids(sorted(report.lucky))),
    )


def _label_repeats_and_mark_retried(reports: Sequence[_Report]) -> None:
    """Label the reports that hold the same tests, such as the rows of a matrix, by their places."""
    owners, sharing = dict[_Test, int](), set[int]()
    for number, report in enumerate(reports):
        for test in set(report.ran):
            if (owner := owners.setdefault(test, number)) != number:
                sharing |= {owner, number}
    alike = [reports[number] for number in sorted(sharing)]
    groups: dict[str, list[_Report]] = {}
    for report in sorted(alike, key=lambda one: len(one.path)):
        name = report.path.removesuffix(".xml")
        first, _, count = name.rpartition("~")  # of a later report of that name
        groups.setdefault(first if count.isdecimal() else name, []).append(report)
    words = [name.replace("/", "-").split("-") for name in groups]
    for end in (0, -1):
        while all(len(one) > 1 for one in words) and len({one[end] for one in words}) == 1:
            for one in words:
                del one[end]
    labels = ["-".join(one) for one in words] if len(groups) > 1 else [""]
    for label, (name, group) in zip(labels, groups.items(), strict=False):
        passed = dict[_Test, bool]()
        for report in reversed(group):
            report.lucky |= {test for test in report.failed if passed.get(test)}
            bad = report.failed - report.lucky
            passed = {test: test not in bad for test in report.ran} | passed
            count = report.path.removesuffix(".xml").removeprefix(name).removeprefix("~")
            report.label = f"{label} {'' if count == '1' else count}".strip()


def _list_cases(content: bytes, report: _Report) -> Iterator[_Case | Failure]:
    """Yield the test cases, and what failed outside of them; what has been read is let go."""
    from defusedxml import DefusedXmlException  # noqa: PLC0415 - only runs with reports need it
    from defusedxml.ElementTree import ParseError, iterparse  # noqa: PLC0415

    source = BytesIO(_clean_xml(content))
    try:
        yield from _read_xml(iterparse(source, ("start", "end"), forbid_dtd=True), report)
    except DefusedXmlException as error:
        raise ReportError("holds a document type, which is refused") from error
    except (ParseError, LookupError, ValueError) as error:
        if isinstance(error, ReportError):
            raise
        raise ReportError(f"is not XML: {error}") from error


def _clean_xml(content: bytes) -> bytes:
    """Return the report without the control characters that XML forbids, escapes put in words."""

    def replace_reference(reference: re.Match[bytes]) -> bytes:
        digits = reference[0][2:-1].lower()
        number = int(digits[1:], 16) if digits.startswith(b"x") else int(digits)
        return {0x1B: _ESCAPE, 0x07: _BELL}.get(number, b"")

    if content.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16
        return content
    if b"&#" in content:
        content = _REFERENCE.sub(replace_reference, content)
    content = content.replace(b"\x1b", _ESCAPE).replace(b"\x07", _BELL)
    return content.translate(None, _FORBIDDEN)


def _read_xml(events: Iterator[tuple[str, Element]], report: _Report) -> Iterator[_Case | Failure]:
    above, case = list[Element](), None
    for event, element in events:
        name = _tag(element)
        if event == "start":
            if not above and name not in _SUITES:
                raise _ForeignReportError(str(element.tag).rpartition("}")[2])
            above.append(element)
            if len(above) > _DEEPEST:
                raise ReportError(f"is nested deeper than {_DEEPEST} levels")
            if name in _SUITES:
                report.note_suite_claims_and_runner(element)
            elif name == "testcase" and case is None:
                case = element
            continue
        above.pop()
        if element is case:
            yield _Case(element, report)
            case = None
        elif name in _FAILED and case is None and above and _tag(above[-1]) in _SUITES:
            suite = report.suites[-1].get("name", "") if report.suites else ""
            outside = Element("testcase", {"classname": suite})
            outside.append(element)
            failure = _Case(outside, report).failure or make_failure("error", "failed")
            whole = report.clean(suite) or report.path
            yield replace(failure, kind="error", name=whole, suite=None)
        report.close(element)
        if above and case is None:
            above[-1].remove(element)
