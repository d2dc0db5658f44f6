"""What the build judge costs over the build itself, for changes that pass.

    nice python -P tests/benchmarks/build.py [--cold] [--whole] [NAME...]

Each fixture project of the tests is judged, and the same commands are run by hand on the same tree
and in the same environment, one after the other, several times. The judge's time beyond that is
what it takes to write the tree out, to recognise the build, to ask for the tools' versions, and to
read what came of it.

With ``--cold``, each build finds no caches: HOME is a fresh directory and no variable names another
place. Maven, which does not look at HOME, has its own all the same. With ``--whole`` the time is
that of a whole ``prjury review``, from the start of the process to its end, with its modules
compiled as an installation leaves them.
"""

from __future__ import annotations

import compileall
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
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
from prjury.sandbox.contained import ContainedShell
from prjury.snapshot.model import PullRequest

RUNS = 5
SHARE, SECONDS = 0.03, 0.5
WHOLE_SHARE, WHOLE_SECONDS = 0.05, 1.0
#: Where caches are found in spite of another HOME.
CACHES = ("XDG_CACHE_HOME", "XDG_DATA_HOME", "UV_CACHE_DIR", "PIP_CACHE_DIR", "npm_config_cache",
          "CARGO_HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "GRADLE_USER_HOME")  # fmt: skip


@dataclass(frozen=True)
class Bench:
    """One project, photographed once.

    Attributes:
        environ: the operator's.
        fresh: where each build gets another HOME; None for the operator's.
    """

    store: Store
    pull: PullRequest
    path: Path
    environ: Mapping[str, str]
    level: str
    fresh: Path | None = None

    @property
    def shell(self) -> ContainedShell:
        return ContainedShell(self._operator(), extra_env=NETWORK_ENV, level=self.level)

    def _operator(self) -> Mapping[str, str]:
        if self.fresh is None:
            return self.environ
        kept = {name: text for name, text in self.environ.items() if name not in CACHES}
        return {**kept, "HOME": tempfile.mkdtemp(dir=self.fresh)}

    def whole(self) -> float:
        """The seconds of a whole review."""
        sides = ("--repo", str(self.path), "--base", "main", "--head", "change")
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-P", "-m", "prjury", "review", *sides, "--offline"],
            env=self._operator(),
            check=True,
            capture_output=True,
        )
        return time.perf_counter() - started

    def judged(self) -> tuple[Judgment, float]:
        ports = Ports(self.store, self.shell, SilentProgress())
        context = PullRequestContext("merge", pull=self.pull, deadline=Deadline.after(900))
        started = time.perf_counter()
        judgment = ask(make(BuildOptions(), ports), context)
        return judgment, time.perf_counter() - started

    def variables(self) -> Mapping[str, str]:
        """The variables that the plans set."""
        judge = make(BuildOptions(), Ports(self.store, self.shell, SilentProgress()))
        plans = judge.find_plans(self.pull.merge.tree or "", self.pull.base.sha).plans
        return {name: text for plan in plans for name, text in plan.env.items()}

    def by_hand(self, commands: str, variables: Mapping[str, str]) -> tuple[float, float]:
        """The seconds of writing the tree out, and those of the commands.

        Args:
            variables: that the plan sets, with its placeholders.
        """
        shell = self.shell
        with shell.scratch() as place:
            for name in ("tree", "home", "tmp"):
                (place / name).mkdir()
            started = time.perf_counter()
            self.store.export_and_list_missing(self.pull.merge.tree or "", place / "tree")
            exported = time.perf_counter()
            home, reports = str(place / "home"), str(place / "reports")
            own = {
                name: text.format(home=home, reports=reports, version="0.1", tag="")
                for name, text in variables.items()
            }
            env = {**own, "HOME": home, "TMPDIR": str(place / "tmp")}
            with (place / "log").open("wb") as log:
                subprocess.run(
                    ["/bin/sh", "-c", commands],
                    cwd=place / "tree",
                    env={**shell.environment(), **env},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    check=True,
                )
            return exported - started, time.perf_counter() - exported


@contextmanager
def _bench(court: Court, history: History, level: str, *, cold: bool) -> Iterator[Bench]:
    operator = open_repository(history.path)
    fresh = court.place.with_name("homes") if cold else None
    if fresh:
        fresh.mkdir(exist_ok=True)
    with open_store(operator) as store:
        pull = take_snapshot(store, operator.resolve("main"), operator.resolve("change"))
        yield Bench(store, pull, history.path, court.toolbox.environ, level, fresh)


def measure(sample: Sample, court: Court, *, cold: bool, whole: bool) -> None:
    """Prints the figures."""
    history = court.history(court.locked(sample), sample.harmless)
    with _bench(court, history, court.find_level(sample.tree), cold=cold) as bench:
        judgment, _ = bench.judged()  # caches are warm from here on
        if judgment.status is not Status.PASS:
            print(f"{sample.name:8} not measured: {judgment.reasoning}", flush=True)
            return
        builds = judgment.metadata.get("builds") or (judgment.metadata,)
        commands = " && ".join(f"( {build['command']} )" for build in builds)
        variables = bench.variables()
        ours, exports, bare = [], [], []
        for _ in range(RUNS):
            ours.append(bench.whole() if whole else bench.judged()[1])
            export, build = bench.by_hand(commands, variables)
            exports.append(export)
            bare.append(build)
    median = statistics.median
    over = median(map(float.__sub__, ours, bare))
    share, seconds = (WHOLE_SHARE, WHOLE_SECONDS) if whole else (SHARE, SECONDS)
    limit = max(share * median(bare), seconds)
    took = f"{'review' if whole else 'judge'} {median(ours):6.2f} s, by hand {median(bare):6.2f} s"
    which = f"{over:.2f} s more, {median(exports):.2f} s of it for writing the tree out"
    kept = "within" if over <= limit else "over"
    print(f"{sample.name:8} {took}: {which}; {kept} the limit of {limit:.2f} s", flush=True)


def main(arguments: Sequence[str]) -> None:
    names = [name for name in arguments if not name.startswith("--")]
    cold, whole = "--cold" in arguments, "--whole" in arguments
    compileall.compile_dir(Path(make.__code__.co_filename).parents[2], quiet=1)
    with tempfile.TemporaryDirectory(prefix="prjury-bench-") as place:
        court = Court(Path(place, "repositories"), Toolbox(Path(place, "toolbox")))
        for sample in SAMPLES:
            if names and sample.name not in names:
                continue
            if missing := court.toolbox.lacks(sample):
                print(f"{sample.name:8} {missing}")
            else:
                measure(sample, court, cold=cold, whole=whole)


if __name__ == "__main__":
    main(sys.argv[1:])
