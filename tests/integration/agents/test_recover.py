"""Recover: scripted agents repair, or try to cheat, in a real repository."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from integration.agents.places import BASE, BUILD, RENAMED, Events, git, repository, review
from prjury.jury.judgment import Status
from prjury.ports import Progress
from prjury.publishers.terminal import PlainProgress
from prjury.report.codec import report_to_json
from prjury.report.model import Recovery, RepairRound, Report
from prjury.report.render import Renderer

FIXED = BASE["tests/test_price.py"].replace("total", "sum_of")
JSON = '{"type": "result", "result": "done", "total_cost_usd": 0.25, "usage": {"input_tokens": 9}}'


def recover(
    tmp_path: Path,
    program: str,
    journal: Events | None = None,
    progress: Progress | None = None,
    **fix: Any,
) -> Report:
    """The report, where the agent is this Python program; ``goal`` is what it is told."""
    agent = tmp_path / "agent.py"
    head = f"import os, sys, pathlib\ngoal = sys.stdin.read()\nFIXED = {FIXED!r}\n"
    head += "tests = pathlib.Path('tests/test_price.py')\n"
    agent.write_text(f"{head}{program}\nprint({JSON!r})\n")
    wanted = {"enabled": True, "command": f"{sys.executable} {agent}", **fix}
    tier = {"name": "build", "policy": "final_tier", "judges": ["merge", BUILD]}
    return review(repository(tmp_path), {"tiers": [tier], "fix": wanted}, journal, progress)


def recovery_of(report: Report) -> Recovery:
    assert report.recovery
    assert report.verdict.status is Status.FAIL  # whatever the agent does
    return report.recovery


def refused(last: RepairRound) -> Mapping[str, str]:
    return {each.path: each.reason for each in last.refused}


@pytest.mark.slow
def test_tests_are_repaired_in_the_second_round(tmp_path: Path) -> None:
    journal = Events()
    report = recover(
        tmp_path,
        # The first attempt gets one of two places, the second what it was told.
        "assert 'sum_of' not in goal and 'cannot import name' in goal or 'NameError' in goal\n"
        "text = tests.read_text()\n"
        "tests.write_text(FIXED if 'NameError' in goal else"
        " text.replace('import total', 'import sum_of'))\n"
        "if 'NameError' not in goal: pathlib.Path('shop/price.py').write_text('total = sum')",
        journal,
    )
    recovery = recovery_of(report)
    assert recovery.outcome == "recovered"
    kept = [event for event in journal if event["event"] == "round"]
    assert [(each["status"], each["refused"]) for each in kept] == [("fail", 1), ("pass", 0)]
    assert [(each["input_tokens"], each["usd"]) for each in kept] == [(9, 0.25)] * 2
    first, second = recovery.rounds
    assert refused(first) == {"shop/price.py": "it is outside of the paths that may change"}
    assert (second.edited, second.refused) == (("tests/test_price.py",), ())
    assert (second.usd, second.input_tokens, recovery.usd) == (0.25, 9, 0.5)
    said = "recoverable: patch attached, recovered in round 2 (1 file, $0.50)"
    assert "2 agent runs, $0.50" in Renderer().summary(report).replace("\\", "")
    assert report.notes[0] == f"{said}; the verdict on this pull request stays"
    place = tmp_path / "shop"
    assert git(place, "status", "--porcelain") == ""
    subprocess.run(["git", "apply"], cwd=place, input=recovery.patch.encode(), check=True)
    assert (place / "tests/test_price.py").read_text() == FIXED
    assert report_to_json(report)["recovery"]["patch"] == recovery.patch


MANY = """
tests.write_text(FIXED)
pathlib.Path('shop/price.py').write_text('total = sum')
pathlib.Path('tests/conftest.py').write_text('collect_ignore_glob = ["*"]')
os.makedirs('.git/hooks')
pathlib.Path('.git/hooks/post-checkout').write_text('touch /tmp/hooked')
"""


@pytest.mark.slow
def test_what_an_agent_may_not_do_is_undone_and_the_rest_counts(tmp_path: Path) -> None:
    shown = io.StringIO()
    report = recover(tmp_path, MANY, progress=PlainProgress(shown))
    lines = shown.getvalue().splitlines()
    assert "fix / agent: started" in lines
    assert lines[-1].startswith("fix / agent: ✅ pass in ")
    recovery = recovery_of(report)
    assert recovery.outcome == "recovered"
    assert "total = sum" not in recovery.patch
    assert refused(recovery.rounds[0]) == {
        ".git/hooks/post-checkout": "git's own files are no part of a repair",
        "shop/price.py": "it is outside of the paths that may change",
        "tests/conftest.py": "it decides which tests run",
    }
    for page in (Renderer().comment(report), Renderer().summary(report)):
        assert "refused and undone: `shop/price.py`" in page
        assert "+from shop.price import sum_of" in page
    assert "refused and undone" in Renderer().html(report)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "fix", "reason"),
    [
        ("import time; time.sleep(60)", {"timeout": "1s"}, "was stopped: it took longer than 1 s"),
        ("while True: print('x' * 65536)", {"timeout": "30s"}, "it printed more than 64 MiB"),
        ("", {"usd": 0.2}, "the money is spent: $0.25 of $0.20 (`fix.usd`)"),
        ("tests.unlink()", {}, "the agent changed nothing that it may change"),
        ("tests.write_text(FIXED + '# ghp_' + 'a1B2' * 9)", {}, "looks like a secret"),
    ],
    ids=["never returns", "floods", "spends", "deletes the tests", "writes a secret"],
)
def test_how_it_is_stopped(tmp_path: Path, program: str, fix: dict[str, Any], reason: str) -> None:
    recovery = recovery_of(recover(tmp_path, program, **fix))
    assert (recovery.outcome, recovery.patch) == ("not_recovered", "")
    assert reason in recovery.reason


def test_a_build_that_passes_needs_no_agent(tmp_path: Path) -> None:
    place = repository(tmp_path, {**RENAMED, "tests/test_price.py": FIXED})
    tier = {"name": "build", "policy": "final_tier", "judges": ["merge", BUILD]}
    fix = {"enabled": True, "command": "false"}
    report = review(place, {"tiers": [tier], "fix": fix})
    assert (report.verdict.status, report.recovery) == (Status.PASS, None)


def test_a_key_that_is_missing_is_told(tmp_path: Path) -> None:
    recovery = recovery_of(recover(tmp_path, "", env=["AGENT_API_KEY"]))
    assert recovery.outcome == "not_tried"
    assert "AGENT_API_KEY is not set" in recovery.reason


def test_a_build_that_names_no_failure_is_not_repaired(tmp_path: Path) -> None:
    hangs = "grep -q sum_of shop/price.py && exec sleep 60 || true"
    judges = ["merge", {"build": {"command": hangs, "timeout": "1s"}}]
    tier = {"name": "build", "policy": "final_tier", "judges": judges}
    wanted = {"tiers": [tier], "fix": {"enabled": True, "command": "true"}}
    recovery = recovery_of(review(repository(tmp_path), wanted))
    assert (recovery.outcome, recovery.rounds) == ("not_tried", ())
    assert "names no failure" in recovery.outcome_sentence
