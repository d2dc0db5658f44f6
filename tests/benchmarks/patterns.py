"""The version-pattern judge over the newest pull requests of a repository, beside a plain search.

    python tests/benchmarks/patterns.py path/to/repository.git 300

For each pull request, against its merge base with the default branch: what the judge says, how long
it took (git excluded), and how often `import javax.` and `com.fasterxml.jackson` stand in added
lines, which is what a search without versions and package lists would flag.
"""

from __future__ import annotations

import re
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

from prjury.config.tiers import PatternsOptions
from prjury.deadline import Deadline
from prjury.errors import PrJuryError
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.judge import make
from prjury.jury.judgment import Judgment
from prjury.ports import Doors
from prjury.publishers.progress import SilentProgress
from prjury.pull.model import PullRequest
from prjury.sources.git.find import open_repository
from prjury.sources.git.photograph import photograph
from prjury.sources.git.store import Store, open_store
from prjury.sources.shell import ContainedShell

PLAIN = {
    "import javax.": re.compile(r"^\s*import\s+(static\s+)?javax\."),
    "com.fasterxml.jackson": re.compile(r"com\.fasterxml\.jackson"),
}


def _judged(store: Store, pull: PullRequest) -> tuple[Judgment, float]:
    doors = Doors(store, ContainedShell({"PATH": "/usr/bin:/bin"}), SilentProgress())
    context = PullRequestContext("merge", pull=pull, deadline=Deadline.after(60))
    started = time.perf_counter()
    judgment = make(PatternsOptions(), doors).judge(context)
    return judgment, time.perf_counter() - started


def _plain_hits(pull: PullRequest) -> Counter[str]:
    lines = [line.text for file in pull.files for line in file.added_lines]
    return Counter({name: sum(map(bool, map(p.search, lines))) for name, p in PLAIN.items()})


def main(repository: str, count: str) -> None:
    operator = open_repository(Path(repository))
    listing = operator.git.text("for-each-ref", "--format=%(refname)", "refs/pull/*/head")
    refs = sorted(listing.splitlines(), key=lambda ref: int(ref.split("/")[2]))[-int(count) :]
    statuses: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    findings, times, plain_pulls = [], [], 0
    main_branch = operator.default_branch()
    with open_store(operator) as store:
        for ref in refs:
            head = operator.commit(ref)
            try:
                parted = operator.commit(store.git.text("merge-base", main_branch.sha, head.sha))
                pull = photograph(store, parted, head)
            except PrJuryError as error:
                statuses[f"not read: {error}"] += 1
                continue
            judgment, seconds = _judged(store, pull)
            statuses[judgment.label or judgment.status.value] += 1
            times.append(seconds)
            found = _plain_hits(pull)
            hits += found
            plain_pulls += bool(found.total())
            errors = [c for c in judgment.failed_checks if c.severity == "error"]
            findings += [f"{ref} {c.name} {c.location} {c.evidence}" for c in errors]
    cuts = statistics.quantiles(times, n=100)
    print(f"{len(refs)} pull requests: {dict(statuses)}; {len(findings)} findings that block")
    print(f"a plain search: {dict(hits)} added lines in {plain_pulls} pull requests")
    print(f"seconds a pull request: p50 {cuts[49]:.2f}, p95 {cuts[94]:.2f}, max {max(times):.2f}")
    print(*findings, sep="\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
