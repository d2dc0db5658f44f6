"""What is said of a command line that makes no sense: what is wrong, and where to read on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from e2e.conftest import Prjury


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("revew", "No such command 'revew'. Did you mean 'review'? See: prjury --help"),
        ("rules tst", "No such command 'tst'. Did you mean 'test'? See: prjury rules --help"),
        ("judge", "Missing argument 'name'. See: prjury judge --help"),
        ("demo --keep", "Option '--keep' requires an argument. See: prjury --help"),
        (
            "review --bse x",
            "No such option: --bse (Possible options: --base, --staged). See: prjury review --help",
        ),
        ("--nope", "No such option: --nope. See: prjury --help"),
        ("schema x", "Got unexpected extra argument(s) (x). See: prjury schema --help"),
        (
            "review --timeout 0",
            (
                "Invalid value for '--timeout': Input should be greater than or equal to 0.001. "
                "See: prjury review --help"
            ),
        ),
        (
            "judge biuld",
            (
                "there is no judge called 'biuld'. Did you mean build? Name one that is known, or "
                "your own as package.module:function or path/to/file.py:function."
            ),
        ),
    ],
)
def test_one_line_says_what_to_do(prjury: Prjury, line: str, told: str) -> None:
    run = prjury(*line.split())
    assert (run.code, run.out, run.err) == (2, "", f"prjury: {told}\n")


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version(prjury: Prjury, option: str) -> None:
    run = prjury(option)
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("prjury ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("revew", 2),
        ("judge command --option command=true", 0),
        ("judge command --option command=false", 1),
    ],
)
def test_a_device_that_is_full_changes_no_exit_code(tmp_path: Path, line: str, code: int) -> None:
    command = f"{sys.executable} -m prjury {line} > /dev/null 2> /dev/full"
    assert subprocess.run(["sh", "-c", command], cwd=tmp_path, check=False).returncode == code
