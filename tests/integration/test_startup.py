"""What a command imports, compiles and asks git before it answers: counts, never times."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.history import ENVIRONMENT, History

#: Runs a command of ours and prints what it took to standard error when it ends.
COUNTING = """
import atexit, dataclasses, json, re, re._compiler, sys
counts = {"classes": 0, "expressions": 0}

def count(name, function):
    def counted(*args, **kwargs):
        counts[name] += 1
        return function(*args, **kwargs)
    return counted

dataclasses._process_class = count("classes", dataclasses._process_class)
re._compiler.compile = count("expressions", re._compiler.compile)

def tell():
    ours = [name for name in sys.modules if name.partition(".")[0] == "prjury"]
    print(json.dumps({**counts, "modules": len(ours)}), file=sys.stderr)

atexit.register(tell)
from prjury.__main__ import main
main()
"""

#: At most: modules of ours; dataclasses, also those of libraries; regular expressions.
LIMITS = {"modules": 163, "classes": 80, "expressions": 297}


@pytest.fixture
def change(tmp_path: Path) -> History:
    """A repository with one commit on a branch."""
    history = History(tmp_path / "repo")
    history.commit({"a.py": "x = 1\n"}, "One")
    history.switch("change", create=True)
    history.commit({"a.py": "x = 2\n"}, "Two")
    return history


def run(*words: str, cwd: Path) -> tuple[str, dict[str, int]]:
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, *words],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, json.loads(done.stderr.splitlines()[-1])


def test_a_review_without_builds_and_models_imports_what_it_needs(change: History) -> None:
    out, counts = run("review", "--no-build", "--no-llm", "--format", "json", cwd=change.path)

    assert json.loads(out)["verdict"]["status"] == "pass"
    assert {name: counts[name] for name, most in LIMITS.items() if counts[name] > most} == {}


@pytest.mark.parametrize(("word", "begin"), [("--version", "prjury "), ("--help", "Usage: ")])
def test_what_needs_nothing_of_ours(word: str, begin: str, tmp_path: Path) -> None:
    out, counts = run(word, cwd=tmp_path)

    assert out.startswith(begin)
    assert counts["modules"] <= 4
