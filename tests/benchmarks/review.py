"""Whole-process time of `prjury review --no-build` on real pull requests.

    python tests/benchmarks/review.py path/to/repository.git refs/pull/1/head refs/pull/2/head

Beside each: git alone computing the same diff and the same trial merge, in the same run.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

RUNS = 5
LIMIT = 3.0


def _seconds(*argv: str) -> tuple[float, str]:
    times, out = [], ""
    for _ in range(RUNS):
        started = time.perf_counter()
        done = subprocess.run(argv, capture_output=True, text=True, check=False, errors="replace")
        times.append(time.perf_counter() - started)
        out = done.stdout
    return statistics.median(times), out


def _git(repository: str, *args: str) -> tuple[float, str]:
    return _seconds("git", f"--git-dir={repository}", *args)


def measure(repository: str, ref: str, branch: str) -> None:
    base = _git(repository, "merge-base", branch, ref)[1].strip()
    sides = ("--repo", repository, "--base", base, "--head", ref)
    args = ("review", *sides, "--no-build", "--format", "markdown")
    ours, out = _seconds(sys.executable, "-m", "prjury", *args)
    alone = (
        _git(repository, "diff", base, ref)[0]
        + _git(repository, "merge-tree", "--write-tree", base, ref)[0]
    )
    first = out.partition("\n")[0].removeprefix("## ")
    print(f"{ref}: {ours:.2f} s (limit {LIMIT:.0f} s; git alone {alone:.2f} s)  {first}")


def main(repository: str, *refs: str, branch: str = "main") -> None:
    for ref in refs:
        measure(repository, ref, branch)


if __name__ == "__main__":
    arguments: Sequence[str] = sys.argv[1:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    main(*arguments)
