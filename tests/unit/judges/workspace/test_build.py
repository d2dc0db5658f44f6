from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import prjury
from fakes.shell import Scripted, ScriptedShell, SilentProgress
from prjury.errors import CannotJudgeError
from prjury.judges.workspace.program_judges import BuildJudge, MavenTests, run_maven_tests
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Jury
from prjury.jury.voting import MajorityVoting

VERIFY = "mvn -q -B --fail-at-end -Dmaven.test.failure.ignore=true verify"
POM = "<project><modelVersion>4.0.0</modelVersion><artifactId>a</artifactId></project>"
FAILED = """<testsuite tests="1"><testcase name="adds" classname="till.TillTest">
<failure message="expected: 2 but was: 3">at till.TillTest.adds(TillTest.java:7)</failure>
</testcase></testsuite>"""
REPORT = "target/surefire-reports/TEST-till.TillTest.xml"
TEST = "src/test/java/till/TillTest.java"


def laid(place: Path, files: dict[str, str]) -> JudgmentContext:
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    return JudgmentContext("goal", workspace=place)


def judged(judge: BuildJudge, context: JudgmentContext, *scripts: Scripted) -> Judgment:
    shell = ScriptedShell(scripts or (Scripted(),))
    judgment = BuildJudge(
        judge.command, judge.timeout, system=judge.system, goals=judge.goals, shell=shell
    ).judge(context)
    lines = [command.text for command in shell.commands]
    return judgment.with_metadata(ran=lines)


@pytest.mark.parametrize(
    ("judge", "files", "ran"),
    [
        (BuildJudge("make test"), {}, "make test"),
        (BuildJudge(["make", "a b"]), {}, "make 'a b'"),
        (
            BuildJudge.maven("clean", "test"),
            {"pom.xml": POM},
            "mvn -q -B --fail-at-end clean test",
        ),
        (
            BuildJudge.maven(),
            {"pom.xml": POM},
            "mvn -q -B --fail-at-end -Dmaven.test.failure.ignore=true verify",
        ),
        (
            BuildJudge.maven("test"),
            {"pom.xml": POM, "mvnw": "", ".mvn/wrapper/maven-wrapper.properties": ""},
            "sh mvnw -q -B --fail-at-end test",
        ),
        (
            BuildJudge.gradle("test"),
            {"build.gradle": ""},
            "gradle --no-daemon -q --continue test",
        ),
        (BuildJudge.detect(), {"go.mod": "module a\n", "a.go": "package a\n"}, "go build"),
    ],
)
def test_what_is_run(judge: BuildJudge, files: dict[str, str], ran: str, tmp_path: Path) -> None:
    judgment = judged(judge, laid(tmp_path, files))
    assert judgment.status is Status.PASS, judgment.reasoning
    assert judgment.metadata["ran"][0].startswith(ran)


def test_failures_have_a_file_and_a_line(tmp_path: Path) -> None:
    context = laid(tmp_path, {"pom.xml": POM, TEST: "class TillTest {}\n"})
    failing = Scripted(exit_code=1, files={REPORT: FAILED})
    judgment = judged(BuildJudge.maven("test"), context, failing)
    assert judgment.status is Status.FAIL
    (failure,) = judgment.metadata["failures"]
    assert (failure["path"], failure["line"], failure["message"]) == (
        TEST, 7, "expected: 2 but was: 3",
    )  # fmt: skip
    assert [str(check.location) for check in judgment.failed_checks if check.location] == [
        f"{TEST}:7"
    ]
    assert (tmp_path / REPORT).is_file()


def test_reports_of_an_earlier_run_do_not_count(tmp_path: Path) -> None:
    context = laid(tmp_path, {"pom.xml": POM, REPORT: FAILED})
    assert judged(BuildJudge.maven(), context).status is Status.PASS


@pytest.mark.parametrize(
    ("judge", "files", "status", "label"),
    [
        (BuildJudge.detect(), {"notes.md": "a"}, Status.ABSTAIN, "not_applicable"),
        (BuildJudge.detect(), {"a.rb": "1\n"}, Status.ABSTAIN, "no_build_system"),
        (BuildJudge.maven(), {"a.java": "class A {}\n"}, Status.ERROR, None),
    ],
)
def test_nothing_is_built(
    judge: BuildJudge, files: dict[str, str], status: Status, label: str | None, tmp_path: Path
) -> None:
    judgment = judged(judge, laid(tmp_path, files))
    assert (judgment.status, judgment.label) == (status, label)
    assert judgment.metadata["ran"] == ()


def test_its_own_time_is_a_failure_and_that_of_the_vote_is_not(tmp_path: Path) -> None:
    context = laid(tmp_path, {})
    assert BuildJudge("sleep 9", timeout=0.5).judge(context).status is Status.FAIL
    vote = Jury.of(MajorityVoting(), BuildJudge("sleep 9")).vote(context, timeout=2)
    assert vote.individual[0].status is Status.ERROR
    assert vote.individual[0].metadata["reason"] == "timeout"


@pytest.mark.parametrize(
    ("command", "options", "told"),
    [
        (" ", {}, "a command is needed"),
        ("make", {"timeout": 0}, "above 0 seconds"),
        ("make", {"system": "maven"}, "not both"),
        ("auto", {"system": "ant"}, "'task' or 'bazel' is expected here, not \"ant\""),
        ("auto", {"system": "go", "goals": ("test",)}, "for Maven and Gradle"),
    ],
)
def test_what_makes_no_sense(command: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        BuildJudge(command, **options)


def test_it_has_two_names() -> None:
    assert prjury.BuildSuccessJudge is prjury.BuildJudge


SUREFIRE = "target/surefire-reports/TEST-shop.TillTest.xml"
RESULTS = """<testsuite tests="99" failures="99">
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
    found = run(project, red({SUREFIRE: RESULTS}))
    assert not found.passed
    assert (found.tests, found.failed, found.errored, found.skipped) == (6, 1, 1, 1)
    assert found.exit_code == 1
    assert found.log.read_text() == "BUILD FAILURE\n"


def test_reports_of_earlier_runs_do_not_count(project: Path) -> None:
    for name in ("old", "again"):
        file = project / f"target/surefire-reports/TEST-{name}.xml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(RESULTS)
    found = run(project, Scripted(files={"target/surefire-reports/TEST-again.xml": GREEN}))
    assert (found.tests, found.failed) == (1, 0)
    assert found.passed


def test_reports_among_the_resources_of_tests_do_not_count(project: Path) -> None:
    copied = {"target/test-classes/TEST-a.xml": RESULTS, "target/classes/test-results/b.xml": "<"}
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
