"""What a report claims of itself: contradictions are refused, habits of honest tools are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prjury.judges.builds.failure import Results
from prjury.judges.builds.results.junit import read_reports
from prjury.judges.builds.results.report_files import find_reports
from prjury.judges.builds.results.tree import TreeFiles

CASE = '<testcase name="a" classname="c"/>'
FAILED = '<testcase name="a" classname="c"><failure message="no"/></testcase>'


def read(tmp_path: Path, text: str, age: float = 0.0) -> Results:
    began = time.time()
    for name in ("tree", "reports"):
        (tmp_path / name).mkdir(exist_ok=True)
    report = tmp_path / "tree/junit.xml"
    report.write_text(text)
    os.utime(report, (began - age, began - age))
    found = find_reports(tmp_path / "tree", tmp_path / "reports", {}, began)
    return read_reports(found, TreeFiles(frozenset()), str)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f'<testsuite tests="5">{CASE}</testsuite>', "counts 5 tests and lists 1"),
        (f'<testsuite failures="3">{CASE}</testsuite>', "counts 3 failures and shows 0"),
        (f'<testsuite errors="1">{CASE}</testsuite>', "counts 1 failures and shows 0"),
        (f'<testsuite tests="-5">{CASE}</testsuite>', 'tests="-5" is no number'),
        (f'<testsuite tests="NaN">{CASE}</testsuite>', 'tests="NaN" is no number'),
        (f'<testsuite failures="1e309">{CASE}</testsuite>', 'failures="1e309" is no number'),
        (f'<testsuite errors="٩">{CASE}</testsuite>', 'errors="٩" is no number'),
        (f'<testsuite skipped="none">{CASE}</testsuite>', 'skipped="none" is no number'),
        (
            f'<testsuites tests="9"><testsuite tests="1">{CASE}</testsuite></testsuites>',
            "counts 9 tests and lists 1",
        ),
    ],
)
def test_a_report_that_contradicts_itself(tmp_path: Path, text: str, words: str) -> None:
    (problem,) = read(tmp_path, text).problems
    assert "contradicts itself: " in problem
    assert words in problem


def test_a_report_that_is_older_than_the_build(tmp_path: Path) -> None:
    text = f'<testsuite tests="1">{CASE}</testsuite>'
    assert read(tmp_path, text).problems == ()
    (problem,) = read(tmp_path, text, age=3600).problems
    assert "is older than the build" in problem


@pytest.mark.parametrize(
    "text",
    [
        f"<testsuite>{CASE}</testsuite>",
        f'<testsuite tests="" failures="">{CASE}</testsuite>',
        f'<testsuite tests="1" failures="1">{FAILED}</testsuite>',
        # Jest leaves out what is still to be done
        f'<testsuite name="jest tests" tests="1">{CASE}{CASE}</testsuite>',
        # surefire with rerunFailingTestsCount: a test that failed once and then passed
        (
            '<testsuite name="ATest" tests="1" errors="1" failures="0" skipped="0">'
            '<testcase name="flaky"><flakyError message="x"/></testcase></testsuite>'
        ),
        # gotestsum counts builds that failed as errors
        (
            f'<testsuites tests="1" failures="1" errors="1">'
            f'<testsuite tests="1" failures="1">{FAILED}</testsuite></testsuites>'
        ),
        # PHPUnit counts what nested suites hold, Node counts the suites
        (
            f'<testsuite tests="2"><testsuite tests="1">{CASE}</testsuite>'
            f'<testsuite tests="1">{CASE}</testsuite></testsuite>'
        ),
        '<testsuite tests="2"><testsuite tests="0"/><testsuite tests="0"/></testsuite>',
        # Mocha after a hook that failed
        (
            '<testsuite name="Mocha Tests" tests="1" errors="1" skipped="-1">'
            '<testcase name="hook"><failure/></testcase></testsuite>'
        ),
    ],
)
def test_the_habits_of_honest_tools(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).problems == ()


PYTEST = """
import unittest, pytest
class T(unittest.TestCase):
    def test_parts(self):
        for i in range(4):
            with self.subTest(i=i):
                assert i != {wrong}
@pytest.fixture
def late():
    yield
    assert {wrong} == 9
def test_late(late): assert {wrong} == 9
@pytest.mark.xfail
def test_x(): assert 0
@pytest.mark.skip
def test_s(): pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [2, 9])
@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_pytest_itself(tmp_path: Path, wrong: int, family: str) -> None:
    (tmp_path / "test_a.py").write_text(PYTEST.replace("{wrong}", str(wrong)))
    command = [sys.executable, "-m", "pytest", "-q", "--junitxml=out.xml", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-o", f"junit_family={family}", "--rootdir=."],
        cwd=tmp_path,
        check=False,
        capture_output=True,
    )
    assert done.returncode in {0, 1}, done.stdout
    assert read(tmp_path, (tmp_path / "out.xml").read_text()).problems == ()


NODE = """
const {test, describe, it} = require('node:test'); const assert = require('assert');
describe('outer', () => {
  describe('inner', () => {
    it('a', () => {}); it('b', {skip: true}, () => {});
    it('c', {todo: true}, () => { assert(0) }); it('d', () => { assert(WRONG) });
  });
  describe('empty', () => {}); it('e', () => {});
});
test('top', async (t) => { await t.test('sub', () => {}); });
"""


@pytest.mark.parametrize("right", ["0", "1"])
def test_node_itself(tmp_path: Path, right: str) -> None:
    node = shutil.which("node")
    if not node:
        pytest.skip("not installed: node")
    (tmp_path / "a.test.js").write_text(NODE.replace("WRONG", right))
    done = subprocess.run(
        [node, "--test", "--test-reporter=junit", "a.test.js"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
    )
    if not done.stdout.startswith(b"<?xml"):
        pytest.skip("this Node writes no JUnit")
    assert read(tmp_path, done.stdout.decode()).problems == ()
