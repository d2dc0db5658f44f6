"""What it costs to judge real pull requests in four jobs instead of one, without builds and models.

    PYTHONPATH=tests python tests/benchmarks/zones.py REPOSITORY refs/pull/1/head refs/pull/2/head

Whole processes: `prjury collect`, `decide` and `publish` one after the other, beside `prjury review
--no-build` of the same commits in the same run; and the size of what passes from job to job, beside
its limit. Last, what a publication asks of GitHub: requests and writes of a first run, of a second
one of the same head, and of one after a push.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from fakes.bare_report import report
from fakes.github import running
from prjury.github.client import Connection, GitHub
from prjury.publishers.factory import PublisherFactory, Target, Texts
from prjury.report.model import Report
from prjury.report.sanitise import BY_SHAPE

RUNS = 3
LIMIT = 32 * 1024 * 1024


def _seconds(directory: str, *args: str) -> float:
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-P", "-m", "prjury", *args],
            cwd=directory,
            capture_output=True,
            check=False,
        )
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def measure(repository: str, ref: str, branch: str) -> None:
    git = ["git", f"--git-dir={repository}", "merge-base", branch, ref]
    base = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    sides = ("--repo", str(Path(repository).absolute()), "--base", base, "--head", ref)
    with tempfile.TemporaryDirectory() as directory:
        whole = _seconds(directory, "review", *sides, "--no-build", "--format", "json")
        parts = [
            _seconds(directory, "collect", *sides, "--no-build"),
            _seconds(directory, "decide"),
            _seconds(directory, "publish", "--format", "json"),
        ]
        sizes = [
            (Path(directory) / name).stat().st_size for name in ("evidence.json", "verdict.json")
        ]
    told = " + ".join(f"{part:.2f}" for part in parts)
    print(
        f"{ref}: in one job {whole:.2f} s, apart {sum(parts):.2f} s ({told}); "
        f"evidence {sizes[0] / 1024:,.0f} KiB ({sizes[0] / LIMIT:.2%} of the limit), "
        f"verdict {sizes[1] / 1024:,.0f} KiB"
    )


def publications() -> None:
    """Requests of the runs that tests make; the fake is that of the tests."""

    with running() as fake:
        fake.add_pull("octo/shop", 7)
        for what, run in (("first run", 1), ("the same head again", 2)):
            fake.requests.clear()
            started = time.perf_counter()
            connection = Connection(
                fake.url, "ghs_actions", seconds_between_requests=0, seconds_between_writes=0
            )
            target = Target("octo/shop", 7, "b" * 40, by_status=True, run=f"{run}.1")
            words = Texts(_marked, lambda told: told.headline)
            with GitHub(connection) as hub:
                posts = PublisherFactory(target, hub, words, BY_SHAPE)
                posts.refuse_old_head()
                publishers = [publisher for _, publisher in posts.of_pull_request({})]
                for publisher in filter(None, [*publishers, posts.status(), posts.check({})]):
                    publisher.publish(report())
            seconds = time.perf_counter() - started
            print(
                f"{what}: {len(fake.requests)} requests, {len(fake.writes)} writes, {seconds:.2f} s"
            )


def _marked(told: Report, run: str | None) -> str:
    return f"<!-- prjury:v1 id=default run={run} -->\n{told.headline}"


def main(repository: str, *refs: str, branch: str = "main") -> None:
    for ref in refs:
        measure(repository, ref, branch)
    publications()


if __name__ == "__main__":
    arguments: Sequence[str] = sys.argv[1:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    main(*arguments)
