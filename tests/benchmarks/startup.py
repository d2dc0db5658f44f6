"""`prjury --version` and `--help` beside an empty Python process and a bare typer program.

python tests/benchmarks/startup.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 15
BARE = "import typer; app = typer.Typer(rich_markup_mode=None); app.command()(lambda: None); app()"


def _median(*argv: str) -> float:
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run([sys.executable, *argv], capture_output=True, check=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> None:
    empty, bare = _median("-c", ""), _median("-c", BARE, "--help")
    for flag in ("--version", "--help"):
        ours = _median("-m", "prjury", flag)
        print(
            f"prjury {flag}: {ours * 1000:.0f} ms"
            f" (python {empty * 1000:.0f} ms, a bare typer program {bare * 1000:.0f} ms)"
        )


if __name__ == "__main__":
    main()
