from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from prjury.judges.workspace.coverage import CoverageJudge
from prjury.judges.workspace.program_judges import (
    CommandJudge,
    make_shell,
)
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Status
from prjury.jury.jury import Jury
from prjury.jury.voting import MajorityVoting


@pytest.fixture
def context(tmp_path: Path) -> JudgmentContext:
    return JudgmentContext("goal", workspace=tmp_path)


def test_a_command_really_runs_in_the_workspace(context: JudgmentContext, tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    judgment = CommandJudge("ls && pwd").judge(context)
    assert judgment.status is Status.PASS
    assert judgment.checks[0].evidence == f"README.md\n{tmp_path}"


@pytest.mark.parametrize("command", ["no-such-tool --all", ["no-such-tool"], "./no-such-script"])
def test_tools_that_do_not_exist(context: JudgmentContext, command: str | list[str]) -> None:
    judgment = CommandJudge(command).judge(context)
    assert judgment.status is Status.ERROR
    assert judgment.metadata == {"reason": "tool_missing"}


def test_a_command_line_that_is_too_long(context: JudgmentContext) -> None:
    judgment = CommandJudge("echo " + "x" * 200_000).judge(context)
    assert judgment.status is Status.ERROR
    assert judgment.metadata == {"reason": "not_started"}


def test_a_vote_ends_its_commands(context: JudgmentContext) -> None:
    jury = Jury.of(MajorityVoting(), CommandJudge("sleep 60"))
    (judgment,) = jury.vote(context, timeout=1).individual
    assert judgment.status is Status.ERROR
    assert judgment.metadata["reason"] == "timeout"


def test_nobody_answers_a_commands_questions(context: JudgmentContext) -> None:
    assert CommandJudge("read line", exit_code=1, timeout=10).judge(context).status is Status.PASS


def test_a_command_gets_no_secrets_and_the_path_as_it_is(context: JudgmentContext) -> None:
    environ = {"PATH": f"/opt/own/bin:{os.environ['PATH']}", "API_TOKEN": "x", "OTHER": "y"}
    judge = CommandJudge("env", shell=make_shell(environ))
    names = dict(
        line.partition("=")[::2]
        for line in str(judge.judge(context).checks[0].evidence).split("\n")
    )
    assert names["PATH"].split(":")[0] == "/opt/own/bin"
    assert "OTHER" not in names
    assert "API_TOKEN" not in names


def test_the_programs_of_our_own_environment_are_found(context: JudgmentContext) -> None:
    environ = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    judge = CommandJudge("command -v python", shell=make_shell(environ))
    found = judge.judge(context).checks[0].evidence
    assert found == f"{Path(sys.executable).parent}/python"


def test_coverage_without_a_report(context: JudgmentContext, tmp_path: Path) -> None:
    assert CoverageJudge(".", 80).judge(context).metadata == {"reason": "report_missing"}
    (tmp_path / "r.xml").write_text("<report>")
    assert CoverageJudge("r.xml", 80).judge(context).metadata == {"reason": "report_invalid"}
