"""`prjury evidence from-junit` and the review that reads what it wrote, as a user types them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.history import History

SUITE = (
    '<testsuite name="s" tests="1" failures="{count}">'
    '<testcase classname="s" name="t">{said}</testcase></testsuite>'
)
POLICY = json.dumps(
    {
        "version": 1,
        "tiers": [
            {"name": "build", "policy": "final_tier", "judges": [{"build": {"from": "evidence"}}]}
        ],
    }
)


def prjury(repo: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "prjury", *words]
    return subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("said", "code", "line"),
    [("", 0, "Ready to merge"), ('<failure message="1 != 2"/>', 1, "Do not merge")],
    ids=["a test passes", "a test fails"],
)
def test_reports_become_a_verdict(tmp_path: Path, said: str, code: int, line: str) -> None:
    repo = tmp_path / "shop"
    history = History(repo)
    history.commit({".github/prjury.yml": POLICY, "shop.py": "price = 1\n"})
    history.switch("change", create=True)
    history.commit({"shop.py": "price = 2\n"})
    (tmp_path / "junit.xml").write_text(SUITE.format(count=int(bool(said)), said=said))
    evidence = str(tmp_path / "evidence.json")
    sides = ("--base", "main", "--head", "change")
    ended = ("--result", "failure" if said else "success", "--output", evidence)
    made = prjury(repo, "evidence", "from-junit", "../junit.xml", *sides, *ended)
    assert made.returncode == code, made.stderr
    told = prjury(repo, "review", *sides, "--evidence", evidence)
    assert (told.returncode, line in told.stdout) == (code, True), told.stdout + told.stderr
