"""How often the search for names that a branch lacks speaks, and how often it is wrong.

    python tests/benchmarks/backport_lacking.py backports.jsonl.gz --mirror DIRECTORY

The rows are real commits with the branches that they were or were not picked onto. Where people
picked a commit and the result equals the trial, nothing can have been lacking: a claim is false.
The mirror holds bare clones as `OWNER+NAME/repo`. `--rows-of picked` asks these rows, `differs`
those where people changed what was picked, and `clean` those that pick cleanly and nobody picked.
`--show` lists the claims: where the tip of the day lacked what a later backport brought, a claim is
right.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from prjury.errors import PrJuryError
from prjury.git.operator import OperatorRepository, open_repository
from prjury.git.store import Store, open_store
from prjury.git.take_snapshot import take_snapshot
from prjury.judges.backport.checks.symbols import (
    MissingOnBranch,
    MissingSymbols,
    missing_on,
)
from prjury.judges.backport.references import needs_of

Row: TypeAlias = Mapping[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", type=Path)
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100, help="rows of each repository")
    parser.add_argument("--rows-of", choices=("picked", "differs", "clean"), default="picked")
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    with gzip.open(asked.rows, "rt") as lines:
        rows = [row for row in map(json.loads, lines) if _WANTED[asked.rows_of](row)]
    for repo, some in sorted(_by_repository(rows).items()):
        place = asked.mirror / repo.replace("/", "+") / "repo"
        if place.is_dir():
            _measure(repo, place, _sample(some, min(asked.count, len(some))), asked.show)


def _sample(rows: list[Row], count: int) -> list[Row]:
    return random.Random(8).sample(rows, count)  # noqa: S311 - nothing secret


def _clean(row: Row) -> bool:
    return bool((row.get("trial_merge") or {}).get("clean"))


def _picked(row: Row, equal: int) -> bool:
    backport = row.get("trial_backport") or {}
    return bool(row["backported"] and backport.get("clean")) and backport.get("equal") == equal


_WANTED = {
    "picked": lambda row: _picked(row, 1),
    "differs": lambda row: _picked(row, 0),
    "clean": lambda row: _clean(row) and not row["backported"],
}


def _by_repository(rows: list[Row]) -> Mapping[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["repo"]].append(row)
    return found


def _measure(repo: str, place: Path, rows: list[Row], show: bool) -> None:
    operator = open_repository(place)
    tally: Counter[str] = Counter()
    once, branch = [], []
    for row in rows:
        with open_store(operator) as store, suppress(PrJuryError):
            lacked, *seconds = _asked(operator, store, row)
            once.append(seconds[0])
            branch.append(seconds[1])
            tally["rows"] += 1
            tally["claims"] += bool(lacked.symbols)
            tally["not checked"] += bool(lacked.unchecked)
            for told in _told(row, lacked) if show else ():
                print(told)
    print(f"{repo}: {dict(tally)}; once per change {_spread(once)}, per branch {_spread(branch)}")


def _asked(
    operator: OperatorRepository, store: Store, row: Row
) -> tuple[MissingOnBranch, float, float]:
    pull = take_snapshot(store, operator.commit(row["parent"]), operator.commit(row["sha"]))
    store.listings.clear()
    start = time.perf_counter()
    needs = needs_of(pull, store)
    between = time.perf_counter()
    lacked = missing_on(needs, row["tip_at_merge"], store)
    return lacked, between - start, time.perf_counter() - between


def _told(row: Row, lacked: MissingOnBranch) -> Iterator[str]:
    def told(each: MissingSymbols) -> str:
        return f"    {each.name}: {each.used[0]}, {each.defined}"

    if lacked.symbols or lacked.unchecked:
        yield f"  {row['sha'][:10]} on {row['branch']}: {row['subject']} {lacked.unchecked}"
        yield from map(told, lacked.symbols)


def _spread(seconds: list[float]) -> str:
    if not seconds:
        return "-"
    ordered = sorted(1_000 * each for each in seconds)
    high = ordered[int(0.95 * (len(ordered) - 1))]
    median = statistics.median(ordered)
    return f"median {median:.0f} ms, 95 % {high:.0f} ms, worst {ordered[-1]:.0f} ms"


if __name__ == "__main__":
    main()
