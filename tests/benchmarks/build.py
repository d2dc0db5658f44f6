"""What the build judge costs over the build itself, for changes that pass.

    nice python -P tests/benchmarks/build.py [NAME...]

Each fixture project of the tests is judged, and the same commands are run by hand on the same tree
and in the same environment, one after the other, several times. The judge's time beyond that is
what it takes to write the tree out, to recognise the build, and to read what came of it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fakes.history import History
from integration.builds.court import Court
from integration.builds.sample import Sample
from integration.builds.samples import SAMPLES
from integration.builds.toolbox import NETWORK_ENV, Toolbox
from prjury.deadline import Deadline
from prjury.git.operator import open_repository
from prjury.git.store import Store, open_store
from prjury.git.take_snapshot import take_snapshot
from prjury.judges.builds import make
from prjury.judges.context import PullRequestContext
from prjury.jury.judge import ask
from prjury.jury.judgment import Judgment, Status
from prjury.policy.tiers import BuildOptions
from prjury.ports import Ports, SilentProgress
from prjury.sandbox import ContainedShell
from prjury.snapshot.model import PullRequest

RUNS = 5
SHARE, SECONDS = 0.03, 0.5


@dataclass(frozen=True)
class Bench:
    """One project, photographed once."""

    store: Store
    pull: PullRequest
    shell: ContainedShell

    def judged(self) -> tuple[Judgment, float]:
        ports = Ports(self.store, self.shell, SilentProgress())
        context = PullRequestContext("merge", pull=self.pull, deadline=Deadline.after(900))
        started = time.perf_counter()
        judgment = ask(make(BuildOptions(), ports), context)
        return judgment, time.perf_counter() - started

    def by_hand(self, commands: str) -> tuple[float, float]:
        """The seconds of writing the tree out, and those of the commands."""
        with self.shell.scratch() as place:
            for name in ("tree", "home", "tmp"):
                (place / name).mkdir()
            started = time.perf_counter()
            self.store.export(self.pull.merge.tree or "", place / "tree")
            exported = time.perf_counter()
            env = {"HOME": str(place / "home"), "TMPDIR": str(place / "tmp")}
            with (place / "log").open("wb") as log:
                subprocess.run(
                    ["/bin/sh", "-c", commands],
                    cwd=place / "tree",
                    env={**self.shell.environment(), **env},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    check=True,
                )
            return exported - started, time.perf_counter() - exported


@contextmanager
def _bench(court: Court, history: History) -> Iterator[Bench]:
    operator = open_repository(history.path)
    shell = ContainedShell(court.toolbox.environ, extra_env=NETWORK_ENV)
    with open_store(operator) as store:
        pull = take_snapshot(store, operator.commit("main"), operator.commit("change"))
        yield Bench(store, pull, shell)


def measure(sample: Sample, court: Court) -> None:
    """Prints the figures."""
    history = court.history(court.locked(sample), sample.harmless)
    with _bench(court, history) as bench:
        judgment, _ = bench.judged()  # caches are warm from here on
        if judgment.status is not Status.PASS:
            sys.exit(f"{sample.name}: {judgment.reasoning}")
        builds = judgment.metadata.get("builds") or (judgment.metadata,)
        commands = " && ".join(f"( {build['command']} )" for build in builds)
        ours, exports, bare = [], [], []
        for _ in range(RUNS):
            ours.append(bench.judged()[1])
            export, build = bench.by_hand(commands)
            exports.append(export)
            bare.append(build)
    median = statistics.median
    over = median(map(float.__sub__, ours, bare))
    limit = max(SHARE * median(bare), SECONDS)
    took = f"judge {median(ours):6.2f} s, by hand {median(bare):6.2f} s"
    which = f"{over:.2f} s more, {median(exports):.2f} s of it for writing the tree out"
    kept = "within" if over <= limit else "over"
    print(f"{sample.name:8} {took}: {which}; {kept} the limit of {limit:.2f} s", flush=True)


def main(names: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="prjury-bench-") as place:
        court = Court(Path(place, "repositories"), Toolbox(Path(place, "toolbox")))
        for sample in SAMPLES:
            if names and sample.name not in names:
                continue
            if missing := court.toolbox.lacks(sample):
                print(f"{sample.name:8} {missing}")
            else:
                measure(sample, court)


if __name__ == "__main__":
    main(sys.argv[1:])
