"""Trial picks against `git cherry-pick`: the same verdict and tree, and how much faster.

    python tests/benchmarks/backport_picks.py --mirror DIR --data backports.jsonl.gz --rows 500

For a sample of real decisions each commit is picked onto the branch's tip of its day twice: by the
product in object space, and by `git cherry-pick` in a work tree that is used again and again, under
the same ``info/attributes``. Both must agree on clean or not, on the tree where it is clean, and on
the files in conflict where it is not.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prjury.git.operator import open_repository
from prjury.git.releases import Releases
from prjury.git.store import _ATTRIBUTES, open_store

WHO = dict.fromkeys(
    ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"), "bench"
)


@dataclass(frozen=True)
class Outcome:
    """A pick's tree, or the files that conflict, and how long it took in seconds."""

    tree: str | None
    conflicts: frozenset[str]
    seconds: float

    def same(self, other: Outcome) -> bool:
        return self.tree == other.tree and self.conflicts == other.conflicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", type=Path, required=True, help="folders OWNER+NAME/repo")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repo", default="astropy/astropy")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    rows = sample(asked.data, asked.repo, asked.rows, asked.seed)
    repository = asked.mirror / asked.repo.replace("/", "+") / "repo"
    with tempfile.TemporaryDirectory() as scratch, trying(repository) as ours:
        theirs = WorkTree(repository, Path(scratch) / "clone")
        pairs = [(row, ours(row), theirs(row)) for row in told(rows)]
    return report(asked.repo, pairs)


def sample(data: Path, repo: str, count: int, seed: int) -> list[Any]:
    with gzip.open(data, "rt") as lines:
        rows = [row for line in lines if (row := json.loads(line))["repo"] == repo]
    return random.Random(seed).sample(rows, min(count, len(rows)))  # noqa: S311 - a sample


def told(rows: list[Any]) -> Iterator[Any]:
    for number, row in enumerate(rows, 1):
        if number % 50 == 0:
            print(f"{number} of {len(rows)}", file=sys.stderr, flush=True)
        yield row


class trying:  # noqa: N801 - used as a context
    """The product's own trial, with what one run would open only once."""

    def __init__(self, repository: Path) -> None:
        self.store = open_store(open_repository(repository))

    def __enter__(self) -> Callable[[Any], Outcome]:
        releases = Releases(self.store.__enter__())

        def pick(row: Any) -> Outcome:
            started = time.perf_counter()
            merge = releases.pick(row["parent"], row["sha"], row["tip_at_merge"])
            seconds = time.perf_counter() - started
            return Outcome(merge.tree, frozenset(c.path for c in merge.conflicts), seconds)

        return pick

    def __exit__(self, *error: object) -> None:
        self.store.__exit__(None, None, None)


class WorkTree:
    """`git cherry-pick` in one work tree that stands on the last branch's tip."""

    def __init__(self, repository: Path, place: Path) -> None:
        self.place = place
        self.git(
            "clone", "--quiet", "--shared", "--no-checkout", str(repository), str(place), at=None
        )
        (place / ".git/info/attributes").write_text(_ATTRIBUTES)
        self.git("config", "advice.mergeConflict", "false")

    def git(self, *args: str, at: Path | None = Path()) -> subprocess.CompletedProcess[str]:
        where = self.place if at is not None else None
        env = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "GIT_LFS_SKIP_SMUDGE": "1",
            **WHO,
        }
        return subprocess.run(
            ["git", *args], cwd=where, env=env, capture_output=True, text=True, check=False
        )

    def __call__(self, row: Any) -> Outcome:
        self.git("cherry-pick", "--abort")
        self.git("reset", "--hard", "--quiet")
        self.git("clean", "-fdxq")
        options = ["-m", "1"] if row["nparents"] > 1 else []
        started = time.perf_counter()
        self.git("checkout", "--quiet", "--force", "--detach", row["tip_at_merge"])
        keep = ("--allow-empty", "--keep-redundant-commits", "--allow-empty-message")
        done = self.git("cherry-pick", *keep, *options, row["sha"])
        seconds = time.perf_counter() - started
        if done.returncode == 0:
            tree = self.git("rev-parse", "HEAD^{tree}").stdout.strip()
            return Outcome(tree, frozenset(), seconds)
        unmerged = self.git("diff", "--name-only", "--diff-filter=U", "-z").stdout.split("\0")
        return Outcome(None, frozenset(filter(None, unmerged)), seconds)


def report(repo: str, pairs: list[tuple[Any, Outcome, Outcome]]) -> int:
    same = sum(ours.same(theirs) for _, ours, theirs in pairs)
    clean = sum(ours.tree is not None for _, ours, _ in pairs)
    print(f"{repo}: {len(pairs)} picks, {clean} clean")
    print(f"the same verdict, tree and files in conflict: {same} ({same / len(pairs):.1%})")
    for row, ours, theirs in pairs:
        if not ours.same(theirs):
            print(f"  differs: {row['sha'][:10]} onto {row['tip_at_merge'][:10]}: {ours} {theirs}")
    mine, git = ([pair[at].seconds for pair in pairs] for at in (1, 2))
    for name, seconds in (("trial", mine), ("cherry-pick", git)):
        ninth = statistics.quantiles(seconds, n=10)[-1]
        print(f"{name}: median {statistics.median(seconds):.4f} s, 9 of 10 within {ninth:.4f} s")
    ratios = statistics.median(git) / statistics.median(mine)
    print(f"cherry-pick takes {ratios:.1f} times as long (medians)")
    return same != len(pairs)


if __name__ == "__main__":
    sys.exit(main())
