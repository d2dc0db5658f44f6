"""The trial merge on a real repository, beside git by hand and beside a merge in a work tree.

    python tests/benchmarks/merge.py path/to/repository.git 60
    python tests/benchmarks/merge.py path/to/repository.git refs/pull/1/head refs/pull/2/head

With a number: so many pull requests, evenly taken from the newest thousand. Each is merged onto the
tip of the default branch, by `git merge-tree` alone and by the trial (which also classifies the
conflicts), the best of several runs each, and once by `git merge` in a work tree. Rebases are tried
as well.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prjury.deadline import Deadline
from prjury.errors import PrJuryError
from prjury.git.merge import try_merge
from prjury.git.operator import OperatorRepository, open_repository
from prjury.git.store import Store, open_store
from prjury.snapshot.merge_style import RECENT, RebaseTrial, habit
from prjury.snapshot.model import MergeTrial

RUNS = 7
LIMIT = 0.05
NEWEST = 1_000


def main(repository: str, *wanted: str) -> None:
    operator = open_repository(Path(repository))
    base = operator.default_branch()
    with open_store(operator) as store, tempfile.TemporaryDirectory() as place:
        work_tree = WorkTree.checked_out(Path(place), operator, base.sha)
        told = habit(store.recent(base.sha, RECENT))
        print(f"{operator.name}, {base.ref} @{base.sha[:7]}: {told.way}, for {told.reason}")
        results = Results()
        for ref in _refs(operator, wanted):
            head = operator.commit(ref).sha
            try:
                results.add(ref, *_measured(store, work_tree, base.sha, head))
            except PrJuryError as error:
                results.skipped[str(error)[:60]] += 1
        results.show()


def _refs(operator: OperatorRepository, wanted: Sequence[str]) -> Sequence[str]:
    if not wanted[0].isdecimal():
        return wanted
    listing = operator.git.text("for-each-ref", "--format=%(refname)", "refs/pull/*/head")
    refs = sorted(listing.split(), key=lambda ref: int(ref.split("/")[2]))[-NEWEST:]
    return refs[:: max(1, len(refs) // int(wanted[0]))][: int(wanted[0])]


@dataclass(frozen=True)
class WorkTree:
    """A checked-out base that shares the objects of the repository and writes to none of them."""

    path: Path
    base: str

    @classmethod
    def checked_out(cls, path: Path, operator: OperatorRepository, base: str) -> WorkTree:
        subprocess.run(["git", "init", "--quiet", path], check=True)
        alternates = path / ".git" / "objects" / "info" / "alternates"
        alternates.write_text("".join(f"{place}\n" for place in operator.object_directories))
        tree = cls(path, base)
        tree.git("checkout", "--quiet", "--detach", base)
        return tree

    def git(self, *args: str) -> int:
        who = ("-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "gc.auto=0")
        argv = ["git", *who, *args]
        return subprocess.run(argv, cwd=self.path, capture_output=True, check=False).returncode

    def merge(self, head: str) -> float:
        """Seconds for one merge; the tree is put back afterwards."""
        started = time.perf_counter()
        self.git("merge", "--quiet", "--no-edit", "--no-ff", head)
        seconds = time.perf_counter() - started
        self.git("reset", "--quiet", "--hard", self.base)
        return seconds


@dataclass(frozen=True)
class Times:
    """Seconds for one pull request: the best of several runs; one for a work tree and a rebase."""

    ours: float
    by_hand: float
    work_tree: float
    rebase: float


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def _measured(
    store: Store, work_tree: WorkTree, base: str, head: str
) -> tuple[MergeTrial, RebaseTrial, Times]:
    by_hand = ["git", f"--git-dir={store.git.git_dir}", "merge-tree", "--write-tree", base, head]
    trial = try_merge(store.git, base, head)
    # In turns, so that whatever else the machine does slows both down.
    pairs = [
        (
            _seconds(lambda: try_merge(store.git, base, head)),
            _seconds(lambda: subprocess.run(by_hand, capture_output=True, check=False)),
        )
        for _ in range(RUNS)
    ]
    ours, alone = (min(times) for times in zip(*pairs, strict=True))
    started = time.perf_counter()
    rebase = store.rebase(base, head, Deadline.after(120))
    seconds = time.perf_counter() - started
    return trial, rebase, Times(ours, alone, work_tree.merge(head), seconds)


@dataclass
class Results:
    """What was measured, and what it came to."""

    clean: list[Times] = field(default_factory=list)
    conflicting: list[Times] = field(default_factory=list)
    rebases: list[tuple[int, float]] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, str] = (0.0, "")

    def add(self, ref: str, trial: MergeTrial, rebase: RebaseTrial, times: Times) -> None:
        if trial.impossible:
            self.skipped[trial.impossible[:60]] += 1
            return
        (self.clean if trial.clean else self.conflicting).append(times)
        words = "clean" if trial.clean else "conflicts"
        also = rebase.impossible or rebase.unfinished or ("clean" if rebase.clean else "conflicts")
        self.outcomes[f"merge {words}, rebase {also}"] += 1
        self.rebases.append((rebase.total, times.rebase))
        self.slowest = max(self.slowest, (times.ours, ref))
        for conflict in trial.conflicts:
            kind = "mechanical" if conflict.mechanical else "human"
            self.classes[f"{conflict.type.value} {kind}"] += 1

    def show(self) -> None:
        every = self.clean + self.conflicting
        for name, times in (
            ("clean", self.clean),
            ("conflicting", self.conflicting),
            ("all", every),
        ):
            if times:
                self._line(name, times)
        print(f"slowest trial: {self.slowest[0] * 1000:.1f} ms ({self.slowest[1]})")
        over = sum(one.ours > LIMIT for one in every)
        print(f"over {LIMIT * 1000:.0f} ms: {over} of {len(every)}")
        picks = sum(count for count, _ in self.rebases)
        seconds = [second for _, second in self.rebases]
        if picks:
            print(
                f"rebases: median {statistics.median(seconds) * 1000:.0f} ms, "
                f"{sum(seconds) / picks * 1000:.0f} ms a commit over {picks} commits"
            )
        for counted in (self.outcomes, self.classes, self.skipped):
            print(dict(counted))

    def _line(self, name: str, times: Sequence[Times]) -> None:
        ours, by_hand, work_tree = (
            statistics.median(getattr(one, which) for one in times) * 1000
            for which in ("ours", "by_hand", "work_tree")
        )
        print(
            f"{name} ({len(times)}): trial {ours:.1f} ms, git merge-tree by hand {by_hand:.1f} ms, "
            f"git merge in a work tree {work_tree:.0f} ms (medians over pull requests)"
        )


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
