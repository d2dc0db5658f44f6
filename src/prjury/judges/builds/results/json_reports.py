"""Reads the reports that Jest and RSpec write as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from prjury.judges.builds.failure import Failure, make_failure, with_details
from prjury.judges.builds.results import wording
from prjury.judges.builds.results.error_text import find_syntax_error, read_message
from prjury.judges.builds.results.junit_case import JunitReport
from prjury.judges.builds.results.places import find_place
from prjury.judges.builds.results.report_files import ReportError

_MOST_LINES = 2_000


class JestTest(Struct, rename="camel"):
    """One test of a file."""

    title: str = ""
    status: str = ""
    ancestor_titles: list[str] = []
    failure_messages: list[str | None] = []
    retry_reasons: list[str | None] = []


class JestFile(Struct, rename="camel"):
    """A test file; one that could not be loaded has a message and no tests."""

    name: str = ""
    status: str = ""
    message: str = ""
    assertion_results: list[JestTest] = []


class RspecException(Struct):
    """Why an example failed."""

    message: str = ""
    backtrace: list[str] | None = None


class RspecExample(Struct):
    """One example."""

    full_description: str = ""
    status: str = ""
    file_path: str = ""
    line_number: int | None = None
    exception: RspecException | None = None


class RspecSummary(Struct):
    """The totals."""

    errors_outside_of_examples_count: int = 0


class JsonReport(Struct, rename={"files": "testResults"}):
    """A report of either of them."""

    files: list[JestFile] | None = None
    examples: list[RspecExample] | None = None
    summary: RspecSummary = field(default_factory=RspecSummary)
    messages: list[str] = []


@dataclass(frozen=True)
class JsonCase:
    """One test, in the form in which JUnit's are taken in.

    Attributes:
        known_as: its suite and name.
        text: why it failed, None if it did not.
    """

    report: JunitReport
    known_as: tuple[str, str]
    skipped: bool = False
    text: str | None = None
    attempt: str | None = None
    line: int | None = None
    is_unique: bool = False

    @property
    def ran(self) -> bool:
        """A test of this name ran."""
        return not self.skipped

    @property
    def shows_failure(self) -> bool:
        """It shows a failure."""
        return self.text is not None

    def count_inside(self) -> int:
        """Count no tests: it is no program."""
        return 0

    def list_inside(self) -> list[Failure]:
        """List no tests: it is no program."""
        return []

    def failure(self) -> Failure | None:
        """Return why it failed, None if it did not."""
        return None if self.text is None else self._read(self.text)

    def attempts(self) -> list[Failure]:
        """List an attempt that failed before one passed."""
        if self.attempt is None or self.text is not None:
            return []
        return [replace(self._read(self.attempt), state="flaky")]

    def _read(self, text: str) -> Failure:
        suite, name = self.known_as
        lines = self.report.clean(text).splitlines()[:_MOST_LINES]
        path, line = find_place(lines, self.report.tree)
        message = read_message(lines)
        failure = make_failure("test", message, path or suite, line or self.line, name, suite)
        return with_details(failure, [one for one in lines if one.strip()])


def list_json_cases(content: bytes, report: JunitReport) -> Iterator[JsonCase | Failure]:
    """Yield the tests of a report, and what failed outside of them.

    Raises:
        ReportError: for anything else.
    """
    try:
        parsed = msgspec.json.decode(content, type=JsonReport)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ReportError(wording.no_json(error)) from error
    if parsed.files is None and parsed.examples is None:
        raise ReportError(wording.foreign_json())
    for file in parsed.files or ():
        report.runner = "jest"
        yield from _list_jest(file, report)
    for example in parsed.examples or ():
        report.runner = "RSpec"
        suite = report.tree.resolved(report.relative(example.file_path))
        exception, text = example.exception, None
        if example.status == "failed":
            trace = (exception.backtrace if exception else None) or []
            text = "\n".join([exception.message if exception else wording.FAILED, *trace])
        skipped = example.status not in {"passed", "failed"}
        name = report.clean(example.full_description)
        yield JsonCase(report, (suite, name), skipped, text, line=example.line_number)
    if parsed.summary.errors_outside_of_examples_count:
        lines = report.clean("\n".join(parsed.messages)).splitlines()
        path, line = find_place(lines, report.tree)
        message = find_syntax_error(lines) or read_message(lines)
        yield with_details(make_failure("compile", message, path, line), lines)


def _list_jest(file: JestFile, report: JunitReport) -> Iterator[JsonCase | Failure]:
    path = report.tree.resolved(report.relative(file.name))
    if file.status == "failed" and not file.assertion_results:
        lines = report.clean(file.message).splitlines()
        lines = [line for line in lines if not line.strip().startswith("●")]
        place, line = find_place(lines, report.tree)
        message = find_syntax_error(lines) or read_message(lines)
        yield with_details(make_failure("compile", message, place or path, line, path), lines)
    for test in file.assertion_results:
        name = report.clean(" › ".join([*test.ancestor_titles, test.title]))
        text = attempt = None
        if test.status == "failed":
            text = "\n".join(filter(None, test.failure_messages)) or wording.FAILED
        elif test.retry_reasons:
            attempt = "\n".join(filter(None, test.retry_reasons)) or wording.FAILED
        skipped = test.status not in {"passed", "failed"}
        yield JsonCase(report, (path, name), skipped, text, attempt)
