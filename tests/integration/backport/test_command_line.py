"""``prjury backport`` in a process of its own: what it prints, and its exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fakes.history import ENVIRONMENT
from integration.backport.bench import Bench, Story, lines

THREE = {"a.py": lines({3: "three"})}
STORY = Story(change=[THREE], branch=[{"a.py": lines({3: "drei"})}])


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A change that conflicts on ``1.x``, is clean on ``2.x``, and is on ``3.x`` already."""
    bench = Bench(tmp_path_factory.mktemp("line"), STORY)
    bench.history.branch("2.x", "main")
    bench.history.branch("3.x", "change")
    bench.history.pull_ref(7, "change")
    return bench


def prjury(bench: Bench, *args: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "prjury", "backport", "--no-llm", *args]
    done = subprocess.run(
        argv, cwd=bench.history.path, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


def labels(*branches: str) -> list[str]:
    return [word for branch in branches for word in ("--label", f"Backport {branch}")]


EXITS = {
    "all have a verdict": (["--onto=1.x", "--onto=2.x", "--onto=3.x"], 0, ""),
    "not all suitable": (
        ["--onto=1.x", "--onto=2.x", *labels("1.x", "2.x"), "--require-suitable"],
        1,
        "prjury: --require-suitable: not suitable as it is for 1.x (needs_human). See the reasons.",
    ),
    "one is not there": (
        ["--onto=2.x", "--onto=9.x", "--require-suitable"],
        3,
        "prjury: no verdict for 9.x: there is no branch, ref or commit '9.x' in repo.",
    ),
    "no such change": (["--onto=2.x", "--head=nowhere"], 4, "prjury: "),
    "no such format": (["--onto=2.x", "--output=yaml=x"], 2, "prjury: --output 'yaml=x' is not"),
    "no change": (["--onto=2.x", "--head=main"], 0, ""),
}


@pytest.mark.parametrize("name", EXITS)
def test_the_exit_code_and_its_line(bench: Bench, name: str) -> None:
    args, code, line = EXITS[name]
    sides = ["--base=main"] + ["--head=change"] * (not any("--head" in word for word in args))
    done = prjury(bench, *sides, *args)
    assert (done.returncode, done.stderr.startswith(line)) == (code, True), done.stderr
    if line:
        assert done.stderr.count("\n") == 1


def test_the_terminal_and_the_json_tell_the_same(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "told.json"
    onto = ["--onto=1.x", "--onto=2.x", "--onto=3.x"]
    done = prjury(bench, "7", *onto, *labels("1.x", "2.x"), f"--output=json={file}")
    value: dict[str, Any] = json.loads(file.read_text())
    assert done.returncode == 0
    assert value["schema"] == "prjury/backports/v1"
    assert [one["branch"] for one in value["backports"]] == ["1.x", "2.x", "3.x"]
    assert [one["verdict"] for one in value["backports"]] == [
        "needs_human",
        "suitable",
        "already_present",
    ]
    assert [one["applies"] for one in value["backports"]] == [False, True, True]
    assert done.stdout.splitlines()[0] == value["headline"]
    for one in value["backports"]:
        told: Sequence[str] = [*one["reasons"][:1], *one["commands"]]
        assert all(text in done.stdout for text in told)
    assert "   conflict in a.py: Merge conflict in a.py" in done.stdout


def test_what_is_printed_can_be_typed_in(bench: Bench, tmp_path: Path) -> None:
    done = prjury(bench, "7", "--onto=2.x", *labels("2.x"))
    commands = [line[5:] for line in done.stdout.splitlines() if line.startswith("   $ ")]
    clone = bench.history.clone(tmp_path / "clone")
    clone.git("fetch", "--quiet", "origin", "refs/pull/7/head")
    for command in commands:
        subprocess.run(["sh", "-c", command], cwd=clone.path, env=ENVIRONMENT, check=True)
    assert clone.git("symbolic-ref", "--short", "HEAD") == "backport-7-to-2.x"
    assert clone.sha("HEAD^{tree}") == bench.history.sha("change^{tree}")
    assert clone.sha("origin/2.x") == bench.history.sha("2.x")


def test_what_cannot_be_printed_is_still_in_the_file(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "told.json"
    argv = [sys.executable, "-m", "prjury", "backport", "--no-llm", "--head=change", "--onto=2.x"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*argv, f"--output=json={file}"],
            cwd=bench.history.path,
            env=ENVIRONMENT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 5
    assert "could not be printed" in done.stderr
    assert [one["branch"] for one in json.loads(file.read_text())["backports"]] == ["2.x"]
