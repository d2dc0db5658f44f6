from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fakes.shell import Scripted, ScriptedShell, SilentProgress
from prjury.deadline import Deadline
from prjury.judges.workspace.coverage import CoverageJudge
from prjury.judges.workspace.program_judges import CommandJudge, make_shell
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Status
from prjury.jury.jury import Jury
from prjury.jury.voting import MajorityVoting
from prjury.ports import Progress
from prjury.ports.types import Completed, ShellCommand


@pytest.fixture
def context(tmp_path: Path) -> JudgmentContext:
    return JudgmentContext("goal", workspace=tmp_path)


def shell_judge(
    command: str | Sequence[str] = "make", script: Scripted | None = None, **options: Any
) -> CommandJudge:
    shell = ScriptedShell((script or Scripted(),))
    return CommandJudge(command, shell=shell, progress=SilentProgress(), **options)


def test_logs_are_kept_for_failures_only(context: JudgmentContext) -> None:
    for script, kept in ((Scripted(0), 0), (Scripted(127, "x: not found\n"), 0), (Scripted(1), 1)):
        shell = ScriptedShell((script,))
        CommandJudge("x", shell=shell, progress=SilentProgress()).judge(context)
        logs = list(shell.directory.glob("*")) if shell.directory.exists() else []
        assert len(logs) == kept


@pytest.mark.parametrize(
    ("expected", "found", "status", "told"),
    [
        (3, 3, Status.PASS, "ended with exit code 3, as expected"),
        (3, 0, Status.FAIL, "ended with exit code 0; exit code 3 is expected"),
        (0, -9, Status.FAIL, "was ended by SIGKILL; exit code 0 is expected"),
        (0, -63, Status.FAIL, "was ended by signal 63; exit code 0 is expected"),
        (-15, -15, Status.PASS, "ended with exit code -15, as expected"),
        (127, 127, Status.PASS, "ended with exit code 127, as expected"),
    ],
)
def test_exit_codes(
    context: JudgmentContext, expected: int, found: int, status: Status, told: str
) -> None:
    judgment = shell_judge("x", Scripted(found, "sh: x: not found"), exit_code=expected).judge(
        context
    )
    assert (judgment.status, judgment.reasoning) == (status, f"`x` {told}")


@pytest.mark.parametrize(
    ("stopped", "told"),
    [
        ("timeout", "took longer than 90 s"),
        ("output_limit", "printed more than 200 MiB"),
        ("memory_limit", "used more memory than it may have"),
        ("process_limit", "started more processes than it may have"),
    ],
)
def test_limits_fail(context: JudgmentContext, stopped: str, told: str) -> None:
    script = Scripted(0, "so far\n", stopped)
    judgment = shell_judge("x", script, timeout=90).judge(context)
    assert (judgment.status, judgment.reasoning) == (Status.FAIL, f"`x` {told} and was stopped")
    assert judgment.metadata["reason"] == stopped
    assert judgment.checks[0].evidence == "so far"


class PatientShell(ScriptedShell):
    """Uses up its time."""

    def run(self, command: ShellCommand, deadline: Deadline, progress: Progress) -> Completed:
        while deadline.remaining:
            time.sleep(0.01)
        return super().run(command, deadline, progress)


def test_a_vote_that_ends_earlier_is_no_fault_of_the_command(context: JudgmentContext) -> None:
    shell = PatientShell((Scripted(-15, stopped="timeout"),))
    judge = CommandJudge("x", shell=shell, progress=SilentProgress())
    (judgment,) = Jury.of(MajorityVoting(), judge).vote(context, timeout=0.4).individual
    assert judgment.status is Status.ERROR
    assert re.fullmatch(
        r"`x` was stopped after [\d.]+ s, because the vote was over\.", judgment.reasoning
    )
    assert judgment.metadata == {"reason": "timeout"}


def test_within_a_longer_vote_its_own_time_counts(context: JudgmentContext) -> None:
    shell = PatientShell((Scripted(-15, stopped="timeout"),))
    judge = CommandJudge("x", timeout=0.1, shell=shell, progress=SilentProgress())
    (judgment,) = Jury.of(MajorityVoting(), judge).vote(context, timeout=60).individual
    assert judgment.status is Status.FAIL
    assert judgment.reasoning == "`x` took longer than 0.1 s and was stopped"


@pytest.mark.parametrize("command", ["", "  \n", [], [""], [" ", "x"], ["x", "a\0b"]])
def test_commands_that_make_no_sense(command: str | list[str]) -> None:
    with pytest.raises(ValueError, match=r"proves nothing: say what to run|holds no NUL character"):
        shell_judge(command)


@pytest.mark.parametrize("code", ["0", True, 300, -65])
def test_an_exit_code_that_no_program_ends_with(code: Any) -> None:
    with pytest.raises(ValueError, match=r"an exit code is 0\.\.255, or minus a signal, not "):
        CommandJudge("x", exit_code=code)


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
