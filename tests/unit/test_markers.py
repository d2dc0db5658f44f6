"""Which tests are quick, and what becomes of one whose program is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDY = """
import pytest

@pytest.mark.needs("sh", "no-such-program")
def test_it(): raise AssertionError
"""


@pytest.mark.slow
def test_a_test_without_its_program_says_which_one(tmp_path: Path) -> None:
    file = tmp_path / "test_needy.py"
    file.write_text(NEEDY)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", ROOT]
    options = ["-c", ROOT / "pyproject.toml", "--confcutdir", ROOT, "-n", "0", "-p", "conftest"]
    run = subprocess.run(
        [*map(str, [*command, *options, file])],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert "not installed: no-such-program" in run.stdout
