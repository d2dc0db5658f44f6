"""`prjury backport` as a whole process: a change of 300 files onto 10 branches.

    python tests/benchmarks/backport_branches.py [--runs 5]

The repository is made first: 600 modules of 20 functions, ten release branches that parted one
after the other with 20 changes between each, and a change of two lines in each of 300 modules. The
limits are 2 s and 200 MB.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODULES, CHANGED, BRANCHES, BETWEEN = 600, 300, 10, 20
WHO = {
    f"GIT_{role}_{what}": "bench" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        repository = Path(scratch)
        make(repository)
        runs = [timed(repository) for _ in range(asked.runs)]
    seconds = [taken for taken, _ in runs]
    memory = max(peak for _, peak in runs)
    middle = statistics.median(seconds)
    print(f"{CHANGED} files onto {BRANCHES} branches, {asked.runs} runs")
    print(f"whole process: median {middle:.2f} s, at most {max(seconds):.2f} s; limit 2 s")
    print(f"memory: {memory / 1024:.0f} MB at most; limit 200 MB")
    return int(middle > 2 or memory > 200 * 1024)


def git(repository: Path, *args: str) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **WHO}
    subprocess.run(["git", *args], cwd=repository, env=env, check=True, capture_output=True)


def module(repository: Path, number: int) -> Path:
    return repository / "src" / f"pkg{number % 20}" / f"mod{number}.py"


def make(repository: Path) -> None:
    git(repository, "init", "--quiet", "--initial-branch=main")
    for number in range(MODULES):
        functions = (
            f'def f{number}_{k}(a, b):\n    """Doc."""\n    return a + b * {k}\n' for k in range(20)
        )
        module(repository, number).parent.mkdir(parents=True, exist_ok=True)
        module(repository, number).write_text("\n\n".join(functions))
    project = '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.9"\n'
    (repository / "pyproject.toml").write_text(project)
    committed(repository, "Start")
    for branch in range(1, BRANCHES + 1):
        for change in range(BETWEEN):
            name = f"extra{branch}_{change}"
            with module(repository, branch * BETWEEN + change).open("a") as file:
                file.write(f"\n\ndef {name}(a):\n    return a\n")
            committed(repository, f"Add {name} (#{branch * 100 + change})")
        git(repository, "branch", f"{branch}.0.x")
    git(repository, "switch", "--quiet", "--create", "fix")
    for number in range(CHANGED):
        text = module(repository, number).read_text()
        more = text.replace("a + b * 7\n", "a + (b * 7)\n")
        module(repository, number).write_text(
            more.replace("a + b * 12\n", f"a + (b * 12) + f{number}_1(a, b)\n")
        )
    committed(repository, "Fix the precedence in all modules")
    git(repository, "switch", "--quiet", "main")


def committed(repository: Path, message: str) -> None:
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", message)


def timed(repository: Path) -> tuple[float, int]:
    """Seconds, and the peak memory of any process of the run so far, in KiB."""
    onto = [word for number in range(BRANCHES) for word in ("--onto", f"{number + 1}.0.x")]
    argv = [sys.executable, "-m", "prjury", "backport", "--head", "fix", "--no-llm", *onto]
    started = time.perf_counter()
    subprocess.run(argv, cwd=repository, check=True, capture_output=True)
    taken = time.perf_counter() - started
    return taken, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


if __name__ == "__main__":
    sys.exit(main())
