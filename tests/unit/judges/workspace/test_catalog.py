from __future__ import annotations

import pytest

from fakes.repository import FakeRepository
from fakes.shell import ScriptedShell, SilentProgress
from prjury.errors import UsageError
from prjury.judges.files.judges import FileContentJudge, FileExistsJudge
from prjury.judges.workspace.catalog import make_named_judge
from prjury.judges.workspace.coverage import CoverageJudge
from prjury.judges.workspace.program_judges import BuildJudge, CommandJudge
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import Judge
from prjury.ports import Ports

PORTS = Ports(FakeRepository({}), ScriptedShell(), SilentProgress())


def made(name: str, **options: str) -> Judge[JudgmentContext]:
    return make_named_judge(name, options, PORTS, {})


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


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("file-exist", {}, "there is no judge called 'file-exist'. Did you mean file-exists?"),
        ("build", {"time": "1m"}, "time. Options are command, timeout, system: --option"),
        ("build", {"system": "ant"}, "build: systems[0]: 'maven', 'gradle', "),
        ("file-exists", {}, "file-exists needs the option path. Options are path: --option NAME="),
        ("file-exists", {"path": "a", "pth": "b"}, "file-exists has no option pth. Options are"),
        ("file-content", {"path": "a"}, "file-content: name exactly one of exact, contains and"),
        ("file-content", {"path": "a", "regex": "("}, "file-content: RE2 refuses '(': missing )"),
        ("command", {"command": ""}, "command: an empty command proves nothing: say what to run."),
        ("command", {"command": "x", "exit_code": "0x1"}, "exit_code=0x1: a whole number"),
        ("command", {"command": "x", "timeout": "soon"}, "timeout=soon: a duration is a number"),
        ("coverage", {"minimum": "80%"}, "minimum=80%: a number is expected here"),
        ("coverage", {"minimum": "3", "baseline": "null"}, "baseline=null: a number is expected"),
        ("coverage", {"minimum": "3", "mode": "null"}, "mode=null: 'floor'"),
        (
            "patterns",
            {"severity": "fatal"},
            "severity=fatal: 'error', 'warning' or 'hint' is expected here, not \"fatal\"",
        ),
        (
            "command",
            {"command": "true", "exit_code": "999"},
            "command: an exit code is 0..255, or minus a signal, not 999",
        ),
        ("correctness", {"threshold": "1.5"}, "threshold=1.5: a number of at most 1 is expected"),
        ("class-version", {"release": "x"}, "release=x: a whole number is expected here"),
        ("patterns", {"packs": "a,"}, "packs=a,: names with commas between them are needed."),
        ("patterns", {"baseline": "../b"}, "patterns: baseline: "),
        ("patterns", {"baseline": "b", "write_baseline": "b"}, "cannot be given together"),
        ("patterns", {"write_baseline": ""}, "write_baseline: a path inside the directory"),
    ],
)
def test_what_makes_no_sense(name: str, options: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError) as refused:
        made(name, **options)
    assert told in str(refused.value)
