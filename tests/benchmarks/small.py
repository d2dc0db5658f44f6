"""What a whole `prjury review` costs over the bare command of the build.

    python -P tests/benchmarks/small.py [--runs 7]

The repository has two files, and `true` is its build. The limit is 1 s of the processors' own
seconds, which other work on the machine disturbs least, of this process and all that it starts.
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

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fakes.history import History

LIMIT = 1.0
POLICY = 'version: 1\nbuild: {command: {test: "true"}}\n'
REVIEW = (sys.executable, "-P", "-m", "prjury", "review", "--base", "main", "--head", "change")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as scratch:
        history = History(Path(scratch) / "repo")
        history.commit({"a.py": "A = 1\n", "b.py": "B = 1\n", ".github/prjury.yml": POLICY})
        history.switch("change", create=True)
        history.commit({"a.py": "A = 2\n"})
        taken = [timed(history.path) for _ in range(runs)]
    worked, waited = (statistics.median(column) for column in zip(*taken, strict=True))
    least = min(worked for worked, _ in taken)
    print(f"`prjury review` of two files, `true` as the build, {runs} runs:")
    print(f"processors {worked:.2f} s (least {least:.2f} s), clock {waited:.2f} s; limit {LIMIT} s")
    return int(worked > LIMIT)


def timed(repository: Path) -> tuple[float, float]:
    """The processors' seconds and those of the clock."""
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(REVIEW, cwd=repository, env=kept, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return worked, time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
