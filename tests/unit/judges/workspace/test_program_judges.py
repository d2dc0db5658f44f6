from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fakes.shell import Scripted, ScriptedShell, SilentProgress
from prjury.errors import CannotJudgeError
from prjury.judges.workspace.content import FileExistsJudge
from prjury.judges.workspace.coverage import CoverageJudge
from prjury.judges.workspace.program_judges import (
    CommandJudge,
    contained_shell,
    run_maven_tests,
)
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import Judge
from prjury.jury.judgment import Status
from prjury.jury.jury import Jury
from prjury.jury.voting import ConsensusVoting, MajorityVoting

REPORT = '<report><counter type="LINE" missed="2" covered="8"/></report>'


@pytest.fixture
def context(tmp_path: Path) -> JudgmentContext:
    return JudgmentContext("goal", workspace=tmp_path)


def test_a_command_really_runs_in_the_workspace(context: JudgmentContext, tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    judgment = CommandJudge("ls && pwd").judge(context)
    assert judgment.status is Status.PASS
    assert judgment.checks[0].evidence == f"README.md\n{tmp_path}"


def test_a_program_with_its_arguments(context: JudgmentContext) -> None:
    judgment = CommandJudge(["/bin/echo", "$HOME *"]).judge(context)
    assert judgment.checks[0].evidence == "$HOME *"
    assert judgment.reasoning == "`/bin/echo $HOME *` ended with exit code 0"


@pytest.mark.parametrize(
    ("command", "exit_code", "status", "reasoning"),
    [
        ("exit 3", 0, Status.FAIL, "`exit 3` ended with exit code 3; exit code 0 is expected"),
        ("exit 3", 3, Status.PASS, "`exit 3` ended with exit code 3, as expected"),
        (
            "kill -9 $$",
            0,
            Status.FAIL,
            "`kill -9 $$` was ended by SIGKILL; exit code 0 is expected",
        ),
    ],
)
def test_exit_codes(
    context: JudgmentContext, command: str, exit_code: int, status: Status, reasoning: str
) -> None:
    judgment = CommandJudge(command, exit_code).judge(context)
    assert (judgment.status, judgment.reasoning) == (status, reasoning)


@pytest.mark.parametrize("command", ["no-such-tool --all", ["no-such-tool"], "./no-such-script"])
def test_tools_that_do_not_exist(context: JudgmentContext, command: str | list[str]) -> None:
    judgment = CommandJudge(command).judge(context)
    assert judgment.status is Status.ERROR
    assert judgment.metadata == {"reason": "tool_missing"}


def test_a_command_line_that_is_too_long(context: JudgmentContext) -> None:
    judgment = CommandJudge("echo " + "x" * 200_000).judge(context)
    assert judgment.status is Status.ERROR
    assert judgment.metadata == {"reason": "not_started"}


def test_a_command_that_takes_too_long(context: JudgmentContext, tmp_path: Path) -> None:
    judgment = CommandJudge("echo begun; sleep 60; touch late", timeout=2).judge(context)
    assert judgment.status is Status.FAIL
    assert judgment.reasoning == (
        "`echo begun; sleep 60; touch late` took longer than 2 s and was stopped"
    )
    assert judgment.metadata["reason"] == "timeout"
    assert judgment.checks[0].evidence == "begun"
    assert not (tmp_path / "late").exists()


def test_a_vote_ends_its_commands(context: JudgmentContext) -> None:
    jury = Jury.of(MajorityVoting(), CommandJudge("sleep 60"))
    (judgment,) = jury.vote(context, timeout=1).individual
    assert judgment.status is Status.ERROR
    assert judgment.metadata["reason"] == "timeout"


def test_nobody_answers_a_commands_questions(context: JudgmentContext) -> None:
    assert CommandJudge("read line", exit_code=1, timeout=10).judge(context).status is Status.PASS


def test_a_command_gets_no_secrets_and_the_path_as_it_is(context: JudgmentContext) -> None:
    environ = {"PATH": f"/opt/own/bin:{os.environ['PATH']}", "API_TOKEN": "x", "OTHER": "y"}
    judge = CommandJudge("env", shell=contained_shell(environ))
    names = dict(
        line.partition("=")[::2]
        for line in str(judge.judge(context).checks[0].evidence).split("\n")
    )
    assert names["PATH"].split(":")[0] == "/opt/own/bin"
    assert "OTHER" not in names
    assert "API_TOKEN" not in names


def test_the_programs_of_our_own_environment_are_found(context: JudgmentContext) -> None:
    environ = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    judge = CommandJudge("command -v python", shell=contained_shell(environ))
    found = judge.judge(context).checks[0].evidence
    assert found == f"{Path(sys.executable).parent}/python"


@pytest.mark.needs("make")
def test_a_deployment_gate(context: JudgmentContext, tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    (tmp_path / "Makefile").write_text("all:\n\techo done > built\n")
    jury = Jury.of(MajorityVoting(), CommandJudge("make"), FileExistsJudge("README.md"))
    verdict = jury.vote(context)
    assert verdict.aggregated.status is Status.PASS
    assert list(verdict.by_name) == ["command", "file-exists"]
    assert (tmp_path / "built").read_text() == "done\n"


def test_commands_in_turn_see_what_earlier_ones_did(context: JudgmentContext) -> None:
    judges: list[Judge[JudgmentContext]] = [
        CommandJudge("echo a > f"),
        CommandJudge("grep a f"),
        FileExistsJudge("f"),
    ]
    verdict = Jury(judges, ConsensusVoting(), parallel=False).vote(context)
    assert verdict.aggregated.status is Status.PASS


def test_coverage_of_a_jacoco_report(context: JudgmentContext, tmp_path: Path) -> None:
    (tmp_path / "target/site/jacoco").mkdir(parents=True)
    (tmp_path / "target/site/jacoco/jacoco.xml").write_text(REPORT)
    for report in ("target/site/jacoco/jacoco.xml", "."):
        judgment = CoverageJudge(report, minimum=80).judge(context)
        assert judgment.status is Status.PASS
        assert judgment.metadata["covered"] == 8
    assert CoverageJudge(".", minimum=81).judge(context).status is Status.FAIL


def test_coverage_without_a_report(context: JudgmentContext, tmp_path: Path) -> None:
    assert CoverageJudge(".", 80).judge(context).metadata == {"reason": "report_missing"}
    (tmp_path / "r.xml").write_text("<report>")
    assert CoverageJudge("r.xml", 80).judge(context).metadata == {"reason": "report_invalid"}


def test_the_tests_of_a_maven_project(tmp_path: Path) -> None:
    (tmp_path / "pom.xml").touch()
    shell, progress = ScriptedShell((Scripted(1),)), SilentProgress()
    found = run_maven_tests(str(tmp_path), 60, goals=("verify",), shell=shell, progress=progress)
    assert not found.passed
    assert found.command[-1] == "verify"
    assert shell.commands[0].directory == tmp_path


def test_a_maven_project_without_maven(tmp_path: Path) -> None:
    (tmp_path / "pom.xml").touch()
    shell = contained_shell({"PATH": str(tmp_path)})
    with pytest.raises(CannotJudgeError) as refused:
        run_maven_tests(tmp_path, shell=shell)
    assert refused.value.reason == "tool_missing"
    assert refused.value.what == "`mvn` is not installed"
