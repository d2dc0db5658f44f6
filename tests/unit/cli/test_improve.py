from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

AGENT = """
import pathlib, sys
goal = sys.stdin.read()
text = "# Shop" if "What was found" not in goal else "# Shop\\n\\n## Licence"
pathlib.Path("README.md").write_text(text)
print('{"type": "result", "result": "done", "total_cost_usd": 0.5}')
"""


def improve(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (place.parent / "agent.py").write_text(AGENT)
    agent = f"{sys.executable} {place.parent / 'agent.py'}"
    command = [sys.executable, "-m", "prjury", "improve", "--goal", "write a README"]
    command += ["--agent", agent, "--workspace", str(place), *words]
    env = {"PATH": os.environ["PATH"], "HOME": str(place)}
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


README = ("--judge", "file-content", "--option", "path=README.md")


@pytest.mark.slow
def test_feedback_takes_an_agent_from_fail_to_pass(place: Path) -> None:
    done = improve(place, *README, "--option", "contains=Licence", "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["status"], told["stopped"]) == ("pass", "passed")
    assert [each["status"] for each in told["rounds"]] == ["fail", "pass"]
    assert told["rounds"][0]["agent"]["usd"] == 0.5
    assert "README.md" in told["rounds"][0]["feedback"]
    (journal,) = (place / ".local" / "state" / "prjury").glob("*.jsonl")
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    kept = [(e["number"], e["status"]) for e in events if e["event"] == "round"]
    assert kept == [(1, "fail"), (2, "pass")]


@pytest.mark.slow
def test_it_stops_where_it_does_not_help(place: Path) -> None:
    more = ("--judge", "file-exists", "--option", "file-exists.path=README.md")
    wanted = ("--judge", "command", "--option", "command.command=false")
    done = improve(place, *wanted, *more)
    assert done.returncode == 1
    assert (
        done.stdout.splitlines()[-1] == "two rounds in a row got the same feedback after 2 rounds"
    )
    assert "not accepted" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--judge", "nonesuch"), "nonesuch"),
        ((*README, "--judge", "command"), "does not say whose it is"),
        ((*README, "--env", "GITHUB_TOKEN"), "GITHUB_TOKEN is not set"),
        ((*README, *README), "twice"),
    ],
)
def test_wrong_words_are_refused(place: Path, words: tuple[str, ...], told: str) -> None:
    done = improve(place, *words)
    assert done.returncode == 2
    assert told in done.stderr
