"""Reads the reports that Jest and RSpec write as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement

import msgspec
from msgspec import Struct, field

from prjury.judges.builds.failure import Failure, make_failure, with_details
from prjury.judges.builds.results import wording
from prjury.judges.builds.results.error_text import find_syntax_error, read_message
from prjury.judges.builds.results.junit_case import JunitCase, JunitReport
from prjury.judges.builds.results.places import find_place
from prjury.judges.builds.results.report_files import ReportError


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


def list_json_cases(content: bytes, report: JunitReport) -> Iterator[JunitCase | Failure]:
    """Yield the tests of a report, and what failed outside of them.

    Raises:
        ReportError: for anything else.
    """
    try:
        parsed = msgspec.json.decode(content, type=JsonReport)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ReportError(wording.NO_JSON.format(error)) from error
    if parsed.files is None and parsed.examples is None:
        raise ReportError(wording.FOREIGN_JSON)
    for file in parsed.files or ():
        report.runner = "jest"
        yield from _list_jest(file, report)
    for example in parsed.examples or ():
        report.runner = "RSpec"
        above = str((example.line_number or 1) - 1)  # JUnit's lines begin with 0
        names = {"name": example.full_description, "file": example.file_path, "line": above}
        exception, text = example.exception, ""
        if example.status == "failed":
            trace = (exception.backtrace if exception else None) or []
            text = "\n".join([exception.message if exception else wording.FAILED, *trace])
        yield _make_case(report, names, example.status, text)
    if parsed.summary.errors_outside_of_examples_count:
        lines = report.clean("\n".join(parsed.messages)).splitlines()
        path, line = find_place(lines, report.tree)
        message = find_syntax_error(lines) or read_message(lines)
        yield with_details(make_failure("compile", message, path, line), lines)


def _list_jest(file: JestFile, report: JunitReport) -> Iterator[JunitCase | Failure]:
    path = report.tree.resolved(report.relative(file.name))
    if file.status == "failed" and not file.assertion_results:
        lines = report.clean(file.message).splitlines()
        lines = [line for line in lines if not line.strip().startswith("●")]
        place, line = find_place(lines, report.tree)
        message = find_syntax_error(lines) or read_message(lines)
        yield with_details(make_failure("compile", message, place or path, line, path), lines)
    for test in file.assertion_results:
        names = {"name": " › ".join([*test.ancestor_titles, test.title]), "file": file.name}
        reasons = test.failure_messages if test.status == "failed" else test.retry_reasons
        yield _make_case(report, names, test.status, "\n".join(filter(None, reasons)))


def _make_case(report: JunitReport, names: dict[str, str], status: str, reason: str) -> JunitCase:
    """Make a case as JUnit has it; a reason of one that passed is an attempt's."""
    case = Element("testcase", names)
    if status == "failed":
        SubElement(case, "failure").text = reason or wording.FAILED
    elif status != "passed":
        SubElement(case, "skipped")
    elif reason:
        SubElement(case, "flakyFailure").text = reason
    return JunitCase(case, report)
