"""The plugin, used by a small project of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / ".github" / "docs" / "library.md"
PROJECT = """
import sys

from prjury import Judgment


def test_nothing_is_loaded_before_a_test_asks():
    assert "prjury.jury.jury" not in sys.modules


def red(context):
    return Judgment.failed("the tests are red")


def crashes(context):
    raise OSError("no disk")


def test_red(jury, assert_verdict):
    assert_verdict(jury(red))


def test_crash(jury, assert_verdict):
    assert_verdict(jury(crashes))


def test_expected(jury, assert_verdict):
    assert_verdict(jury(red), "fail")
    assert_verdict(red(None), "fail")


def test_own_place(jury, tmp_path):
    seen = []
    jury(lambda context: seen.append(context.workspace) or Judgment.passed("ok"))
    assert seen == [tmp_path]
"""


def run(place: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", place, place],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_project_uses_the_fixtures(tmp_path: Path) -> None:
    (tmp_path / "test_agent.py").write_text(PROJECT)
    (example,) = re.findall(r"```py\n(# test_work\.py\n.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "test_work.py").write_text(example)
    code, text = run(tmp_path)
    assert code == 1
    assert re.search(r"2 failed, \d+ passed", text), text
    assert "the verdict is FAIL, not PASS" in text
    assert "the tests are red" in text
    assert "OSError: no disk" in text
    assert "test_nothing_is_loaded" not in text
