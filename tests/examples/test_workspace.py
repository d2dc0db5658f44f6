"""Judging a directory: its files, commands that run in it, and the coverage of its tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from prjury import (
    CommandJudge,
    ConsensusVoting,
    CoverageJudge,
    CoverageMetrics,
    FileContentJudge,
    FileExistsJudge,
    Judgment,
    JudgmentContext,
    Jury,
    MajorityVoting,
    Status,
    judge,
    parse_jacoco,
    run_maven_tests,
)

PASS, FAIL, ABSTAIN, ERROR = Status


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A small project: a module, its test, a page."""
    (tmp_path / "shop.py").write_text("def price(net):\n    return net * 1.19\n")
    (tmp_path / "test_shop.py").write_text(
        "import shop, unittest\n\n\n"
        "class Price(unittest.TestCase):\n"
        "    def test_tax(self):\n"
        "        self.assertEqual(shop.price(100), 119)\n"
    )
    (tmp_path / "README.md").write_text("# Shop\n\nVersion 2.0\n")
    return tmp_path


# A deployment gate: three commands and the majority of their exit codes.

GATE = Jury.of(
    MajorityVoting(),
    CommandJudge("python3 -m compileall -q .", name="build"),
    CommandJudge("python3 -m unittest -q", name="tests", timeout=60),
    CommandJudge(["grep", "-rnE", "password *=", "."], exit_code=1, name="security"),
    name="deployment gate",
)


def statuses(workspace: Path) -> tuple[Status, dict[str, Status]]:
    verdict = GATE.vote(JudgmentContext("deploy", workspace))
    return verdict.status, {name: said.status for name, said in verdict.by_name.items()}


def test_a_deployment_gate_of_three_commands(workspace: Path) -> None:
    assert statuses(workspace) == (PASS, {"build": PASS, "tests": PASS, "security": PASS})


def test_one_command_that_fails_is_outvoted(workspace: Path) -> None:
    (workspace / "settings.py").write_text('password = "hunter2"\n')
    assert statuses(workspace) == (PASS, {"build": PASS, "tests": PASS, "security": FAIL})


def test_two_commands_that_fail_close_the_gate(workspace: Path) -> None:
    (workspace / "shop.py").write_text("def price(net:\n")
    assert statuses(workspace) == (FAIL, {"build": FAIL, "tests": FAIL, "security": PASS})


def test_a_command_may_be_too_slow(workspace: Path) -> None:
    said = CommandJudge("sleep 30", timeout=0.2).judge(JudgmentContext("be quick", workspace))
    assert said.reasoning == "`sleep 30` took longer than 0.2 s and was stopped"


# Files.


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (FileExistsJudge("README.md"), PASS),
        (FileExistsJudge("CHANGELOG.md"), FAIL),
        (FileExistsJudge("../elsewhere"), ERROR),  # outside of the workspace
        (FileContentJudge("README.md", exact="# Shop\n\nVersion 2.0\n"), PASS),
        (FileContentJudge("README.md", contains="Version 2.0"), PASS),
        (FileContentJudge("README.md", regex=r"^Version \d+\.\d+$"), PASS),
        (FileContentJudge("README.md", contains="Version 3.0"), FAIL),
    ],
)
def test_files(
    workspace: Path, asked: FileExistsJudge | FileContentJudge, expected: Status
) -> None:
    assert asked.judge(JudgmentContext("write a README", workspace)).status is expected


# A deterministic judge of your own.


def test_a_judge_of_your_own(workspace: Path) -> None:
    @judge(name="tests beside modules")
    def every_module_has_a_test(context: JudgmentContext) -> Judgment:
        assert context.workspace
        modules = {path.name for path in context.workspace.glob("*.py")}
        alone = [name for name in sorted(modules) if not name.startswith("test_")]
        alone = [name for name in alone if f"test_{name}" not in modules]
        if alone:
            return Judgment.failed(f"no test for {', '.join(alone)}")
        return Judgment.passed("every module has a test")

    jury = Jury.of(ConsensusVoting(), FileExistsJudge("README.md"), every_module_has_a_test)
    assert jury.vote(JudgmentContext("build a shop", workspace)).status is PASS
    (workspace / "basket.py").touch()
    verdict = jury.vote(JudgmentContext("build a shop", workspace))
    assert verdict.status is FAIL
    assert verdict.by_name["tests beside modules"].reasoning == "no test for basket.py"


# Coverage.


def jacoco(covered: int) -> str:
    """A JaCoCo report of a hundred lines."""
    return (
        '<report name="shop">'
        f'<counter type="LINE" missed="{100 - covered}" covered="{covered}"/>'
        '<counter type="BRANCH" missed="4" covered="6"/>'
        '<counter type="METHOD" missed="1" covered="9"/>'
        "</report>"
    )


@pytest.mark.parametrize(("covered", "expected"), [(84, FAIL), (85, PASS), (100, PASS)])
def test_coverage_of_at_least_85_percent(tmp_path: Path, covered: int, expected: Status) -> None:
    (tmp_path / "jacoco.xml").write_text(jacoco(covered))
    asked = CoverageJudge("jacoco.xml", minimum=85)
    assert asked.judge(JudgmentContext("cover it", tmp_path)).status is expected


def test_a_jacoco_report_is_read(tmp_path: Path) -> None:
    report = tmp_path / "jacoco.xml"
    report.write_text(jacoco(87))
    metrics = parse_jacoco(report)
    assert isinstance(metrics, CoverageMetrics)
    assert (metrics.line, metrics.branch, metrics.method) == (87.0, 60.0, 90.0)


# Maven's tests, run and counted.


def test_the_tests_of_a_maven_project_are_run_and_counted(tmp_path: Path) -> None:
    (tmp_path / "pom.xml").write_text("<project/>")
    wrapper = tmp_path / "mvnw"  # stands for Maven: it leaves a report, as Surefire would
    wrapper.write_text(
        "#!/bin/sh\n"
        "mkdir -p target/surefire-reports\n"
        "cat > target/surefire-reports/TEST-shop.PriceTest.xml <<END\n"
        '<testsuite name="shop.PriceTest" tests="2">'
        '<testcase name="tax" classname="shop.PriceTest"/>'
        '<testcase name="rounding" classname="shop.PriceTest"><failure message="off by a cent"/>'
        "</testcase></testsuite>\n"
        "END\n"
        "exit 1\n"
    )
    wrapper.chmod(0o755)
    done = run_maven_tests(tmp_path, timeout=60)
    assert (done.passed, done.exit_code, done.tests, done.failed) == (False, 1, 2, 1)
