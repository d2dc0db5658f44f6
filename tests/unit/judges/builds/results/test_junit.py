"""The forms of JUnit's XML that writers have, and what is no JUnit. Small files, of our own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from prjury.judges.builds.failure import Results
from prjury.judges.builds.results.junit import parse_reports
from prjury.judges.builds.results.lines import LogSection
from prjury.judges.builds.results.tree import TreeFiles

TREE = TreeFiles(frozenset({"tests/test_a.py", "src/test/java/p/ATest.java"}))
CASE = '<testcase classname="p.ATest" name="{}">{}</testcase>'
GOOD, BAD = CASE.format("good", ""), CASE.format("bad", '<failure message="no"/>')


def read(files: str | Mapping[str, str | bytes], *, asked: bool = True) -> Results:
    """Read reports; a single one lies in a place of no meaning."""
    files = {"out/junit.xml": files} if isinstance(files, str) else files
    contents = {
        name: text.encode() if isinstance(text, str) else text for name, text in files.items()
    }
    return parse_reports(contents.items(), [], TREE, str, foreign_is_problem=asked)


def names(results: Results) -> list[str]:
    return [failure.name or "" for failure in results.failures]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"/>', "a TRX"),
        ('<test-run result="Failed" failed="1"/>', "an NUnit"),
        ('<test-results failures="1"/>', "an NUnit"),
        ('<test-suite type="Assembly" result="Failed"/>', "an NUnit"),
        ('<assemblies><assembly failed="1"/></assemblies>', "an xUnit.net"),
        ('<assembly failed="1"/>', "an xUnit.net"),
        ('<testng-results failed="1"/>', "a TestNG"),
        ('<robot generator="Robot 7"/>', "a Robot Framework"),
        ('<Site BuildName="x"/>', "a CTest (Dart)"),
        ('<testExecutions version="1"/>', "a SonarQube"),
    ],
)
@pytest.mark.parametrize("asked", [True, False])
def test_results_in_another_form_are_no_report(text: str, form: str, *, asked: bool) -> None:
    beside = read({"a.xml": f"<testsuite>{GOOD}</testsuite>", "b.xml": text}, asked=asked)
    assert (beside.files, beside.tests) == (1, 1)
    assert beside.problems == (f"the report b.xml is {form} file; JUnit is wanted",)


@pytest.mark.parametrize(
    "text",
    [
        "<checkstyle/>", "<coverage line-rate='1'/>", "<report name='x'/>", "<pmd/>", "<issues/>",
        "<BugCollection/>", "<html/>", "<suites/>", "<anything/>", "<CoverageSession/>",
    ],
)  # fmt: skip
def test_what_holds_no_tests_is_named_only_where_it_was_asked_for(text: str) -> None:
    (problem,) = read(text).problems
    assert problem.startswith("the report out/junit.xml ")
    assert problem.endswith("JUnit is wanted")
    assert read(text, asked=False) == Results()


@pytest.mark.parametrize("root", ["testsuite", "testsuites><testsuite", "TestSuite"])
@pytest.mark.parametrize("counts", ["", ' errors="1" failures="0" tests="0"'])
@pytest.mark.parametrize("child", ["error", "failure", "Error"])
def test_a_class_that_did_not_load_fails(root: str, counts: str, child: str) -> None:
    close = "".join(f"</{one}>" for one in reversed(root.split("><")))
    results = read(f'<{root} name="p.ATest"{counts}><{child} message="no class"/>{close}')
    (failure,) = results.failures
    assert (failure.kind, failure.name, failure.message) == ("error", "p.ATest", "no class")
    assert results.problems == ()


@pytest.mark.parametrize(
    ("case", "ended"),
    [
        ('<testcase name="a" status="failed"/>', "failed"),
        ('<testcase name="a" status="Failure"/>', "failed"),
        ('<testcase name="a" result="error"/>', "failed"),
        ('<testcase name="a"><Failure>no</Failure></testcase>', "failed"),
        ('<testcase name="a"><FAILURE message="no"/></testcase>', "failed"),
        ('<testCase name="a"><error/></testCase>', "failed"),
        ('<testcase name="a" status="run" result="completed"/>', "passed"),
        ('<testcase name="a" status="passed"/>', "passed"),
        ('<testcase name="a" status="skipped"/>', "skipped"),
        ('<testcase name="a" status="notrun" result="suppressed"/>', "skipped"),
        ('<testcase name="a"><Skipped/></testcase>', "skipped"),
        ('<testcase name="a"><skipped/><failure/></testcase>', "failed"),
        ('<testcase name="a"><skipped type="todo"/><failure/></testcase>', "skipped"),
        ('<testcase name="a"><failure message="1"/><failure message="2"/></testcase>', "failed"),
    ],
)
def test_how_a_case_ended(case: str, ended: str) -> None:
    results = read(f"<testsuite>{case}</testsuite>")
    assert len(results.failures) == (ended == "failed")
    assert results.skipped == (ended == "skipped")
    assert (results.tests, len(results.ran)) == (1, int(ended != "skipped"))


SUREFIRE_ATTEMPTS = {
    "JUnit 4, passed": (
        '<testsuite tests="4" errors="0" failures="0">'
        f"{CASE.format('a', '<flakyFailure><stackTrace>no</stackTrace></flakyFailure>')}"
        f"{GOOD}</testsuite>"
    ),
    "JUnit 5, passed": (
        '<testsuite tests="2" errors="0" failures="0" flakes="1">'
        f"{CASE.format('a', '<flakyError message=`no` type=`X`>X: no</flakyError>')}{GOOD}"
        "</testsuite>"
    ),
    "counted as failures": (
        '<testsuite tests="4" failures="2">'
        f"{CASE.format('a', '<rerunFailure message=`no`/><rerunFailure message=`no`/>')}{GOOD}"
        "</testsuite>"
    ),
}


@pytest.mark.parametrize("name", SUREFIRE_ATTEMPTS)
def test_a_test_that_passed_in_the_end_is_flaky(name: str) -> None:
    results = read(SUREFIRE_ATTEMPTS[name].replace("`", '"'))
    assert (results.failures, results.problems, results.tests) == ((), (), 2)
    assert [(one.name, one.state) for one in results.flaky] == [("p.ATest#a", "flaky")]


GO = '<property name="go.version" value="go1.22"/>'
FAILED, PASSED = CASE.format("a", '<failure message="Failed"/>'), CASE.format("a", "")


@pytest.mark.parametrize("suite", [f"<properties>{GO}</properties>", ""])
@pytest.mark.parametrize("attempts", [[FAILED, PASSED], [FAILED, FAILED, PASSED]])
def test_attempts_that_are_cases_count_once_in_a_job_that_ended_well(
    suite: str, attempts: list[str]
) -> None:
    results = read(f"<testsuite>{suite}{''.join(attempts)}{GOOD}</testsuite>")
    good = results.resolve_retries(passed=True)
    assert (
        (good.failures, sorted(good.ran)) == ((), ["test:out:p.ATest#a", "test:out:p.ATest#good"])
        if not suite
        else (good.failures == ())
    )
    assert {one.state for one in good.flaky} == {"flaky"}
    assert results.resolve_retries(passed=False).failures == results.failures


def test_a_test_that_passed_first_and_failed_then_fails() -> None:
    results = read(f"<testsuite>{PASSED}{FAILED}</testsuite>").resolve_retries(passed=True)
    assert names(results) == ["p.ATest#a"]


PYTEST = (
    '<testsuite name="pytest"><testcase classname="tests.test_a" name="t">{}</testcase></testsuite>'
)


@pytest.mark.parametrize(
    ("places", "labels"),
    [
        (["junit-py39/report.xml", "junit-py312/report.xml"], ["py39", "py312"]),
        (["out/py39.xml", "out/py312.xml"], ["py39", "py312"]),
        (["a/linux/junit/x.xml", "a/macos/junit/x.xml"], ["linux", "macos"]),
        (["reports/pytest-1-py39.xml", "reports/pytest-1-py312.xml"], ["py39", "py312"]),
        (["reports/pytest-py39.xml", "reports/pytest-py312.xml"], ["py39", "py312"]),
    ],
)
def test_the_rows_of_a_matrix_are_kept_apart(places: list[str], labels: list[str]) -> None:
    first, second = PYTEST.format(""), PYTEST.format('<failure message="no"/>')
    results = read(dict(zip(places, (first, second), strict=True)))
    assert list(results.ran) == [f"test:tests/test_a.py ({one}):tests.test_a#t" for one in labels]
    assert [failure.id for failure in results.failures] == [results.ran[1]]


@pytest.mark.parametrize(
    "message",
    [
        "expected \x1b[32m1\x1b[39m", "expected &#27;[32m1&#x1B;[39m", "expected #x1B[32m1#x1B[39m",
        "expected ␛[32m1␛[0m", r"expected \u001b[32m1\u001b[39m", r"expected \x1b[1;32m1\x1b[m",
        "\x1b]8;;file:///x\x07expected\x1b]8;;\x07 1",
        "&#x1b;]8;;http://x/y&#27;\\expected&#x1b;]8;;&#27;\\ 1", "expected \x1b[38;5;1m1\x08\x00",
    ],
)  # fmt: skip
def test_no_colour_is_left_over(message: str) -> None:
    inside = f'<failure message="{message}">{message}\n{message}</failure>'
    (failure,) = read(f"<testsuite>{CASE.format(message, inside)}</testsuite>").failures
    assert failure.message == "expected 1"
    assert failure.details == "expected 1\nexpected 1"
    assert failure.name == "p.ATest#expected 1"


@pytest.mark.parametrize(
    "counts", ['tests="9"', 'tests="x" skipped="-1"', 'tests="2" failures="0"']
)
def test_totals_that_do_not_add_up_are_no_reason_to_doubt(counts: str) -> None:
    assert read(f"<testsuite {counts}>{GOOD}</testsuite>").problems == ()


def test_a_report_that_counts_failures_and_shows_none_is_doubted() -> None:
    (problem,) = read(f'<testsuite failures="2">{GOOD}</testsuite>').problems
    assert problem == "the report out/junit.xml counts 2 failures and shows none"


def test_a_truncated_report_is_doubted_and_says_what_it_holds() -> None:
    results = read(f"<testsuite>{BAD}<testcase")
    assert names(results) == ["p.ATest#bad"]
    assert "is not XML" in results.problems[0]


TESTS = """
import unittest, pytest
class T(unittest.TestCase):
    def test_parts(self):
        for i in range(4):
            with self.subTest(i=i):
                assert i != 2
@pytest.fixture
def late():
    yield
    assert 2 == 9
def test_late(late): assert 2 == 9
@pytest.mark.xfail
def test_x(): assert 0
@pytest.mark.skip
def test_s(): pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_pytest_itself(tmp_path: Path, family: str) -> None:
    (tmp_path / "test_a.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "--junitxml=out.xml", "-p", "no:cacheprovider"]
    subprocess.run(
        [*command, "-o", f"junit_family={family}", "--rootdir=."],
        cwd=tmp_path,
        check=False,
        capture_output=True,
    )
    results = read((tmp_path / "out.xml").read_text())
    assert sorted(set(names(results))) == ["test_a#test_late", "test_a.T#test_parts"]
    assert (results.problems, results.skipped) == ((), 2)


def test_the_innermost_frame_in_the_tree() -> None:
    lines = ['  File "tests/test_a.py", line 3, in f', '  File "/usr/lib/x.py", line 9, in g']
    section = LogSection((), (), TREE)
    assert section.find_place(lines, last=True) == ("tests/test_a.py", "3")
    java = ["\tat p.Code.run(Code.java:5)", "\tat app//p.ATest.a(ATest.java:7)"]
    assert section.find_place(java, owner="p.ATest") == ("src/test/java/p/ATest.java", "7")
