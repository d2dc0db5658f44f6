from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from fakes.shell import Scripted, ScriptedShell, SilentProgress
from prjury.errors import CannotJudgeError
from prjury.judges.workspace.program_judges import MavenTests, run_maven_tests

SUREFIRE = "target/surefire-reports/TEST-shop.TillTest.xml"
REPORT = """<testsuite tests="99" failures="99">
  <properties><property name="x" value="y"/></properties>
  <testcase name="totals" classname="shop.TillTest"/>
  <testcase name="small" classname="shop.TillTest"><system-out>skipped</system-out></testcase>
  <testcase name="large" classname="shop.TillTest"><skipped message="later"/></testcase>
  <testcase name="wrong" classname="shop.TillTest"><failure message="no">at</failure></testcase>
  <testcase name="broken" classname="shop.TillTest"><error message="no">at</error></testcase>
  <testcase name="flaky" classname="shop.TillTest"><flakyFailure message="no"/></testcase>
</testsuite>
"""
GREEN = '<testsuite><testcase name="totals" classname="shop.TillTest"/></testsuite>'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pom.xml").write_text("<project/>")
    return tmp_path


def run(
    project: Path, script: Scripted | None = None, shell: ScriptedShell | None = None
) -> MavenTests:
    shell = shell or ScriptedShell((script or Scripted(),))
    return run_maven_tests(project, 60, shell=shell, progress=SilentProgress())


def red(files: Mapping[str, str]) -> Scripted:
    return Scripted(1, "BUILD FAILURE\n", files=files)


def test_tests_are_counted_one_by_one(project: Path) -> None:
    found = run(project, red({SUREFIRE: REPORT}))
    assert not found.passed
    assert (found.tests, found.failed, found.errored, found.skipped) == (6, 1, 1, 1)
    assert found.exit_code == 1
    assert found.log.read_text() == "BUILD FAILURE\n"


def test_reports_of_earlier_runs_do_not_count(project: Path) -> None:
    for name in ("old", "again"):
        file = project / f"target/surefire-reports/TEST-{name}.xml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(REPORT)
    found = run(project, Scripted(files={"target/surefire-reports/TEST-again.xml": GREEN}))
    assert (found.tests, found.failed) == (1, 0)
    assert found.passed


def test_reports_among_the_resources_of_tests_do_not_count(project: Path) -> None:
    copied = {"target/test-classes/TEST-a.xml": REPORT, "target/classes/test-results/b.xml": "<"}
    found = run(project, Scripted(files={SUREFIRE: GREEN, **copied}))
    assert (found.tests, found.passed) == (1, True)


def test_half_a_report_of_a_failed_run_is_left_out(project: Path) -> None:
    found = run(project, red({SUREFIRE: GREEN[:30], f"a/{SUREFIRE}": GREEN}))
    assert found.tests == 1


def test_half_a_report_of_a_green_run_is_an_error(project: Path) -> None:
    with pytest.raises(CannotJudgeError) as refused:
        run(project, Scripted(files={SUREFIRE: GREEN[:30]}))
    assert refused.value.reason == "report_invalid"


def test_no_project(tmp_path: Path) -> None:
    with pytest.raises(CannotJudgeError) as refused:
        run(tmp_path)
    assert refused.value.reason == "no_pom"
    assert str(refused.value) == (
        f"{tmp_path} is no Maven project: it has no pom.xml. "
        "Name the directory that holds the pom.xml."
    )


def test_no_maven(project: Path) -> None:
    missing = CannotJudgeError("`mvn` is not installed", remedy="x", reason="tool_missing")
    with pytest.raises(CannotJudgeError) as refused:
        run(project, Scripted(error=missing))
    assert refused.value.reason == "tool_missing"


@pytest.mark.parametrize("timeout", [0, -1])
def test_timeouts_that_are_over_at_once(project: Path, timeout: float) -> None:
    with pytest.raises(ValueError, match=f"the timeout is above 0 seconds, not {timeout}"):
        run_maven_tests(project, timeout, shell=ScriptedShell())
