from __future__ import annotations

import pytest

from fakes.repository import FakeRepository
from fakes.shell import ScriptedShell, SilentProgress
from prjury.errors import UsageError
from prjury.judges.workspace.build import BuildJudge
from prjury.judges.workspace.catalog import judge_by_name
from prjury.judges.workspace.content import FileContentJudge, FileExistsJudge
from prjury.judges.workspace.coverage import CoverageJudge
from prjury.judges.workspace.program_judges import CommandJudge
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import Judge
from prjury.ports import Ports

PORTS = Ports(FakeRepository({}), ScriptedShell(), SilentProgress())
FILE_CONTENT = "Options are path, and optionally exact, contains, regex: --option NAME=VALUE."
COMMAND = "Options are command, and optionally exit_code, timeout: --option NAME=VALUE."
COVERAGE = (
    "Options are report, minimum, metric, baseline, max_drop, mode, diff, each optional: "
    "--option NAME=VALUE."
)
PATTERNS = (
    "Options are packs, severity, paths, baseline, write_baseline, each optional: "
    "--option NAME=VALUE."
)


def made(name: str, **options: str) -> Judge[JudgmentContext]:
    return judge_by_name(name, options, PORTS, {})


@pytest.mark.parametrize(
    ("name", "options", "judge"),
    [
        ("file-exists", {"path": "a"}, FileExistsJudge("a")),
        ("file-content", {"path": "a", "exact": ""}, FileContentJudge("a", exact="")),
        ("file-content", {"path": "a", "contains": "b=c"}, FileContentJudge("a", contains="b=c")),
        ("file-content", {"path": "a", "regex": "b+"}, FileContentJudge("a", regex="b+")),
        ("command", {"command": "make"}, CommandJudge("make")),
        (
            "command",
            {"command": "make", "exit_code": "-15", "timeout": "1.5"},
            CommandJudge("make", -15, 1.5),
        ),
        ("command", {"command": "make", "timeout": "90s"}, CommandJudge("make", timeout=90)),
        ("command", {"command": "make", "timeout": "5m"}, CommandJudge("make", timeout=300)),
        ("command", {"command": "make", "timeout": " 2 "}, CommandJudge("make", timeout=2)),
        ("build", {}, BuildJudge.detect()),
        ("build", {"command": "make", "timeout": "5m"}, BuildJudge("make", 300)),
        ("build", {"system": "maven"}, BuildJudge.maven()),
        ("coverage", {"report": "r", "minimum": "80"}, CoverageJudge("r", 80)),
        (
            "coverage",
            {"report": "r", "baseline": "80.5", "max_drop": "5", "metric": "branch"},
            CoverageJudge("r", metric="branch", baseline=80.5, max_drop=5),
        ),
    ],
)
def test_judges_by_name(name: str, options: dict[str, str], judge: Judge[JudgmentContext]) -> None:
    assert made(name, **options) == judge


def test_what_runs_is_run_in_the_shell_that_is_handed_in() -> None:
    judge = made("command", command="make")
    assert isinstance(judge, CommandJudge)
    assert judge.shell is PORTS.shell
    assert judge.progress is PORTS.progress


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        (
            "file-exist",
            {},
            (
                "there is no judge called 'file-exist'. Did you mean file-exists? Name one that is "
                "known, or your own as package.module:function or path/to/file.py:function."
            ),
        ),
        (
            "build",
            {"system": "ant"},
            (
                "build: systems: Input should be 'maven', 'gradle', 'node', 'python', 'cargo', "
                "'go', 'cmake', 'meson', 'autotools', 'dotnet', 'composer', 'bundler', 'mix', "
                "'swiftpm', 'sbt', 'deno', 'perl', 'busted', 'make', 'just', 'task' or 'bazel'. "
                "Options are command, timeout, system, each optional: --option NAME=VALUE."
            ),
        ),
        (
            "file-exists",
            {},
            "file-exists needs the option path. Options are path: --option NAME=VALUE.",
        ),
        (
            "file-exists",
            {"path": "a", "pth": "b"},
            "file-exists has no option pth. Options are path: --option NAME=VALUE.",
        ),
        (
            "file-content",
            {"path": "a"},
            (
                "file-content: name exactly one of exact, contains and regex, not none. "
                f"{FILE_CONTENT}"
            ),
        ),
        (
            "file-content",
            {"path": "a", "regex": "("},
            f"file-content: RE2 refuses '(': missing ): (. {FILE_CONTENT}",
        ),
        (
            "command",
            {"command": ""},
            f"command: an empty command proves nothing: say what to run. {COMMAND}",
        ),
        (
            "command",
            {"command": "x", "exit_code": "0x1"},
            f"command: exit_code=0x1: a whole number is needed. {COMMAND}",
        ),
        (
            "command",
            {"command": "x", "timeout": "soon"},
            (
                "command: timeout=soon: a duration is a number with a unit, such as 90s, 30m, 2h. "
                f"{COMMAND}"
            ),
        ),
        (
            "command",
            {"command": "x", "timeout": "0"},
            (f"command: the timeout is above 0 seconds, not 0.0. {COMMAND}"),
        ),
        (
            "coverage",
            {"report": "r", "minimum": "80%"},
            f"coverage: minimum=80%: a number is needed. {COVERAGE}",
        ),
        (
            "coverage",
            {"report": "r", "minimum": "180"},
            f"coverage: minimum is in 0..100, not 180.0. {COVERAGE}",
        ),
        (
            "patterns",
            {"severity": "fatal"},
            f"patterns: severity=fatal: error, warning or hint is needed. {PATTERNS}",
        ),
        (
            "patterns",
            {"packs": "jakarta,"},
            f"patterns: packs=jakarta,: names with commas between them are needed. {PATTERNS}",
        ),
        (
            "patterns",
            {"baseline": "../b"},
            (
                "patterns: baseline=../b: a path inside the directory is needed, relative to it. "
                f"{PATTERNS}"
            ),
        ),
        ("patterns", {"goal": "x"}, f"patterns has no option goal. {PATTERNS}"),
        (
            "patterns",
            {"baseline": "b", "write_baseline": "b"},
            (
                "baseline and write_baseline cannot be given together. A new baseline is written "
                "of everything that is found. Leave one of them out."
            ),
        ),
        (
            "coverage",
            {"report": "r", "mode": "added_lines", "diff": "no-such-file"},
            (
                "coverage: diff=no-such-file: it cannot be read: No such file or directory. "
                f"{COVERAGE}"
            ),
        ),
        (
            "coverage",
            {"report": "r"},
            f"coverage: nothing is asked: name a minimum, a baseline or a max_drop. {COVERAGE}",
        ),
    ],
)
def test_what_makes_no_sense(name: str, options: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError) as refused:
        made(name, **options)
    assert str(refused.value) == told
