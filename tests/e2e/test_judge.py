"""`prjury judge` as a process: each judge by name, own judges, each exit code, each clear line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Prjury, Run, started, wait_until
from prjury.judges.workspace.catalog import KINDS
from prjury.jury.codec import judgment_from_json
from prjury.jury.judgment import Status

SECRET = "prjury-canary-secret-value"
REPORT = '<report><counter type="LINE" missed="2" covered="8"/></report>'


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    (place / "a.txt").write_bytes(b"hello\r\nworld\r\n")
    (place / "r.xml").write_text(REPORT)
    (tmp_path / "other.py").touch()
    return place


def judgment(run: Run) -> dict[str, Any]:
    """The one JSON value on standard output."""
    loaded: dict[str, Any] = json.loads(run.out)
    return loaded


def ask(prjury: Prjury, workspace: Path, name: str, options: list[str], *words: str) -> Run:
    given = [word for option in options for word in ("--option", option)]
    return prjury("judge", name, "--workspace", workspace, *given, *words)


@pytest.mark.parametrize(
    ("name", "options", "code", "first"),
    [
        ("file-exists", ["path=a.txt"], 0, "✅ pass: file-exists: a.txt is there"),
        ("file-exists", ["path=b.txt"], 1, "❌ fail: file-exists: there is no file b.txt"),
        (
            "file-exists",
            ["path=../other.py"],
            3,
            (
                "⚪ could not judge: file-exists: ../other.py leaves the workspace. It climbs out "
                "with `..`. Name a path inside the workspace, relative to it."
            ),
        ),
        (
            "command",
            ["command=echo out; echo err >&2; sleep 60", "timeout=0.5s"],
            1,
            (
                "❌ fail: command: `echo out; echo err >&2; sleep 60` took longer than 0.5 s "
                "and was stopped"
            ),
        ),
        (
            "coverage",
            ["report=r.xml", "max_drop=5"],
            3,
            "⚪ no answer: coverage: there is no baseline to compare with",
        ),
    ],
)
def test_every_judge(
    workspace: Path, prjury: Prjury, name: str, options: list[str], code: int, first: str
) -> None:
    run = ask(prjury, workspace, name, options, "--goal", "do it")
    assert run.code == code, run.err
    assert run.out.splitlines()[0] == first
    words = first.partition(": ")[2].partition(": ")[2].rstrip(".")
    assert words in run.complaint if code else "prjury:" not in run.err
    run = ask(prjury, workspace, name, options, "--format", "json")
    assert run.code == code, run.err
    statuses = {"✅": Status.PASS, "❌": Status.FAIL, "⚪ c": Status.ERROR, "⚪ n": Status.ABSTAIN}
    expected = next(status for mark, status in statuses.items() if first.startswith(mark))
    assert judgment_from_json(judgment(run)).status is expected
    assert ("prjury:" in run.err) is bool(code)


def test_the_machine_readable_reason(workspace: Path, prjury: Prjury) -> None:
    os.mkfifo(workspace / "fifo")
    (workspace / "out").symlink_to("..")
    cases = {
        "outside_workspace": ["file-content", "path=out/other.py", "contains=x"],
        "unreadable": ["file-content", "path=fifo", "contains=x"],
        "tool_missing": ["command", "command=no-such-tool"],
        "report_missing": ["coverage", "report=none.xml", "minimum=1"],
        "report_invalid": ["coverage", "report=a.txt", "minimum=1"],
        "no_such_counter": ["coverage", "report=r.xml", "minimum=1", "metric=branch"],
    }
    for reason, (name, *options) in cases.items():
        run = ask(prjury, workspace, name, options, "--format", "json")
        assert (run.code, judgment(run)["metadata"]["reason"]) == (3, reason)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["nonesuch"],
            (
                "prjury: there is no judge called 'nonesuch'. Known are file-exists, file-content, "
                "command, build, coverage, semantic, superset-diff, class-version, patterns, "
                "quality, tests-exercise-behaviour, correctness, faithfulness, hallucination, "
                "contextual-relevance. Name one that is known; judges of your own are installed, "
                "or used in Python."
            ),
        ),
        (
            ["file-exists", "--option", "file=a.txt"],
            "prjury: file-exists has no option file. Options are path: --option NAME=VALUE.",
        ),
        (
            ["file-exists", "--option", "path"],
            "prjury: --option 'path' is not NAME=VALUE. For example --option path=README.md.",
        ),
        (
            ["file-exists", "--option", "path=a", "--option", "path=b"],
            "prjury: --option path is given twice. Leave one of them out.",
        ),
    ],
)
def test_wrong_calls_end_in_one_clear_line(
    workspace: Path, prjury: Prjury, words: list[str], told: str
) -> None:
    run = prjury("judge", *words, "--workspace", workspace)
    assert (run.code, run.out, run.err) == (2, "", f"{told}\n")


def test_no_output_controls_the_terminal_or_holds_a_secret(workspace: Path, prjury: Prjury) -> None:
    token = "ghp_" + "a1B2" * 9
    (workspace / "evil").write_bytes(
        b"\x1b[2J\x1b]0;title\x07\r::error::x\n" + f"{token}\n{SECRET}\n".encode()
    )
    for kind in ("terminal", "json"):
        run = prjury(
            *("judge", "command", "--workspace", workspace, "--format", kind),
            *("--option", "command=cat evil; false"),
            env={"OPENAI_API_KEY": SECRET},
        )
        assert run.code == 1
        for text in (run.out, run.err):
            assert token not in text
            assert SECRET not in text
            assert "\x1b" not in text
            assert "\x07" not in text
        assert "[redacted: GitHub token]" in run.out


def test_a_command_cannot_see_the_operators_keys(workspace: Path, prjury: Prjury) -> None:
    run = prjury(
        *("judge", "command", "--workspace", workspace),
        *("--option", "command=env | grep -c OPENAI; cat /proc/$PPID/environ | grep -c canary"),
        *("--option", "exit_code=1"),
        env={"OPENAI_API_KEY": SECRET},
    )
    assert run.code == 0, run.out
    assert SECRET not in run.out + run.err


def test_an_interrupted_judge_leaves_nothing(workspace: Path) -> None:
    begun = workspace / "begun"
    options = ("--option", "command=touch begun; sleep 120; touch late")
    temporary = workspace.parent / "tmp"
    temporary.mkdir()
    words = ("judge", "command", "--workspace", str(workspace), *options)
    with started(*words, cwd=workspace.parent, env={"TMPDIR": str(temporary)}) as process:
        wait_until(lambda: begun.exists() or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "prjury: interrupted; nothing was published"
    assert list(temporary.iterdir()) == []


def test_an_interrupt_that_the_caller_ignores_is_ignored(workspace: Path) -> None:
    options = ("--option", "command=touch begun; sleep 120")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as '&' in a script
    try:
        with started("judge", "command", "--workspace", str(workspace), *options) as process:
            wait_until(lambda: (workspace / "begun").exists() or process.poll() is not None)
            process.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            process.terminate()
            assert process.wait(60) == 130
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """An environment in which a package brings two judges."""
    place = tmp_path / "site"
    (place / "acme-1.0.dist-info").mkdir(parents=True)
    (place / "acme-1.0.dist-info" / "METADATA").write_text("Name: acme\nVersion: 1.0\n")
    (place / "acme-1.0.dist-info" / "entry_points.txt").write_text(
        "[prjury.judges]\nno-todo = acme:no_todo\nbroken = acme:broken\n"
    )
    (place / "acme.py").write_text(
        "from prjury import Judgment, judge\n"
        "def no_todo(options, doors):\n"
        "    @judge(name='no-todo')\n"
        "    def look(context):\n"
        "        words = (context.workspace / options['path']).read_text()\n"
        "        return Judgment.failed('a TODO') if 'TODO' in words else Judgment.passed('none')\n"
        "    return look\n"
        "def broken(options, doors):\n"
        "    @judge(name='broken')\n"
        "    def look(context):\n"
        f"        raise TypeError('it broke, {SECRET}')\n"
        "    return look\n"
    )
    return {"PYTHONPATH": str(place), "OPENAI_API_KEY": SECRET}


def test_a_judge_of_an_installed_package(
    workspace: Path, prjury: Prjury, installed: dict[str, str]
) -> None:
    (workspace / "a.txt").write_text("TODO\n")
    words = ("judge", "no-todo", "--option", "path=a.txt")
    run = prjury(*words, cwd=workspace, env=installed)
    assert (run.code, run.out.splitlines()[0]) == (1, "❌ fail: no-todo: a TODO")
    unknown = prjury("judge", "no-tod", cwd=workspace, env=installed)
    assert (unknown.code, "Did you mean no-todo?" in unknown.complaint) == (2, True)
    assert "no-todo" in prjury("judge", "?", cwd=workspace, env=installed).complaint


CODE = "src/main/java/x/A.java"
POM = (
    "<project><parent><groupId>org.springframework.boot</groupId>"
    "<artifactId>spring-boot-starter-parent</artifactId><version>4.0.0</version></parent>"
    "<artifactId>app</artifactId></project>"
)
ENTITY = "package x;\nimport javax.persistence.Entity;\nclass A {}\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    place = tmp_path / "shop"
    code = place / CODE
    code.parent.mkdir(parents=True)
    code.write_text(ENTITY)
    (place / "pom.xml").write_text(POM)
    return place


def test_a_finding_fails_with_one_clear_line(shop: Path, prjury: Prjury) -> None:
    run = prjury("judge", "patterns", "--workspace", shop)
    assert run.code == 1
    moved = "`javax.persistence` moved to jakarta.persistence"
    first, second, *_ = run.out.splitlines()
    assert first == f"❌ fail: patterns: 1 finding: {moved} ({CODE}:2)"
    assert second == (
        f"  ❌ {CODE}:2 jakarta/persistence: {moved}; pom.xml:1 declares "
        "org.springframework.boot:spring-boot-starter-parent 4.0.0. "
        "Write `jakarta.persistence.Entity`."
    )
    assert run.complaint.startswith(f"prjury: patterns failed: 1 finding: {moved}")


@pytest.mark.parametrize(
    ("options", "change", "code", "status"),
    [
        ([], "", 1, Status.FAIL),
        (["packs=jakarta,jackson-3", "severity=hint"], "", 1, Status.FAIL),
        (["packs=jackson-3"], "", 0, Status.PASS),
        ([], "pom", 0, Status.ABSTAIN),
        ([], "nul", 3, Status.ABSTAIN),
        (["baseline=none.json"], "", 3, Status.ERROR),
    ],
)
def test_json_and_exit_codes(
    shop: Path,
    prjury: Prjury,
    options: list[str],
    change: str,
    code: int,
    status: Status,
) -> None:
    if change == "pom":
        (shop / "pom.xml").write_text("<project><artifactId>app</artifactId></project>")
    elif change == "nul":
        (shop / CODE).write_bytes(b"\0")
    run = ask(prjury, shop, "patterns", options, "--format", "json")
    assert run.code == code, run.err
    assert judgment_from_json(judgment(run)).status is status
    if status is Status.ERROR:
        assert judgment(run)["metadata"]["reason"] == "baseline_invalid"
        assert "there is no file none.json" in run.complaint


def test_a_baseline_is_written_and_obeyed(shop: Path, prjury: Prjury) -> None:
    file = ".github/prjury-baseline.json"
    here = ("judge", "patterns", "--workspace", shop)
    written = prjury(*here, "--option", f"write_baseline={file}")
    assert (written.code, written.out) == (
        0,
        f"✅ pass: patterns: 1 known finding written to {file}\n",
    )
    obeyed = prjury(*here, "--option", f"baseline={file}")
    assert obeyed.code == 0
    assert "nothing else found; 1 known from the baseline" in obeyed.out.splitlines()[0]


PAGE = Path(__file__).resolve().parents[2] / ".github" / "docs" / "judges" / "workspace.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COUNTERS = (
    '<counter type="LINE" missed="2" covered="8"/><counter type="BRANCH" missed="1" covered="1"/>'
)


@pytest.fixture
def of_the_page(tmp_path: Path) -> Path:
    """What the examples of the page are about."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "README.md").write_text("# Till\n\nversion: 3\n")
    (work / "VERSION").write_text("3\n")
    (work / "jacoco.xml").write_text(f"<report name='till'>{COUNTERS}</report>")
    return tmp_path


def blocks(language: str) -> list[str]:
    return [body for name, body in FENCE.findall(PAGE.read_text()) if name == language]


def test_the_commands_of_the_page_print_what_it_says(of_the_page: Path) -> None:
    (block,) = blocks("console")
    examples = [example.partition("\n") for example in block.split("$ ")[1:]]
    assert len(examples) == 6
    for command, _, printed in examples:
        run = subprocess.run(
            ["bash", "-c", f'prjury() {{ "$0" -m prjury "$@"; }}; {command}', sys.executable],
            cwd=of_the_page,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.stdout == printed


def test_the_python_of_the_page_runs(of_the_page: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks("python"))],
        cwd=of_the_page,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.splitlines() == [
        "pass 3 of 3 passed",
        "80.0 50.0 2",
        "line coverage is 80 %, at least 85 % is asked for",
    ]


def test_the_names_and_options_of_the_page_are_those_of_the_program() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*?) \|", PAGE.read_text(), re.MULTILINE)
    told = {name: set(re.findall(r"`(\w+)`", options)) for name, options in rows}
    assert told == {name: set(kind.options) for name, kind in KINDS.items()}
