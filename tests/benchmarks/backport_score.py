"""The shipped backport score, end to end over real commits, beside what was recorded of them.

    python -P tests/benchmarks/backport_score.py backports.jsonl.gz --mirror DIRECTORY

The mirror holds bare clones as `OWNER+NAME/repo`. Every sampled row is seen as the product would
have seen it on the day of the change: the change photographed between its commit and the parent,
the pick tried on the branch's tip of that day, history read from git. Prints for each feature how
often it agrees with the recorded one, and the area under the curve of the shipped model beside
the same on recorded features. The model was fitted on these rows: see tests/fitting for how it
does on others; what counts here is the difference.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fitting.rows import Decision, decisions
from prjury.errors import PrJuryError
from prjury.git.operator import open_repository
from prjury.git.releases import ReleaseBranches
from prjury.git.store import open_store
from prjury.git.take_snapshot import take_snapshot
from prjury.judges.backport.checks.lines_and_files import line_overlap
from prjury.judges.backport.history import History, history_features, history_of
from prjury.judges.backport.score.features import ChangeFeatures, change_features
from prjury.judges.backport.score.score import FEATURES, Circumstances, shipped_models
from prjury.ports.types import BranchTip
from prjury.snapshot.model import PullRequest, Side

#: Numbers that differ by no more than this are the same.
_CLOSE = 0.02


@dataclass(frozen=True)
class Seen:
    """A row, with what the product makes of it."""

    row: Decision
    traits: ChangeFeatures
    circumstances: Circumstances


@dataclass(frozen=True)
class Repository:
    """A mirrored repository, and the tips of its branches in the course of time."""

    releases: ReleaseBranches
    rows: Sequence[Decision]

    def tips(self, when: float) -> dict[str, BranchTip]:
        """The branches of that day."""
        found: dict[str, BranchTip] = {}
        for row in self.rows:  # oldest first
            if row.when <= when:
                found[row.branch] = BranchTip(row.branch, row.recorded["tip_at_merge"])
        return found

    def seen(self, row: Decision) -> Seen:
        pull = self._pull(row)
        found = change_features(pull)
        tips = self.tips(row.when) | {
            row.branch: BranchTip(row.branch, row.recorded["tip_at_merge"])
        }
        histories = {name: history_of(pull, tip, self.releases) for name, tip in tips.items()}
        return Seen(row, found, self._circumstances(pull, found, tips[row.branch], histories))

    def _pull(self, row: Decision) -> PullRequest:
        base, head = Side("base", row.recorded["parent"]), Side("head", row.sha)
        pull = take_snapshot(self.releases.store, base, head)
        message = self.releases.git.text(
            "log", "-1", "--no-show-signature", "--encoding=UTF-8", "--format=%B", row.sha
        )
        title, _, body = message.strip().partition("\n")
        return replace(pull, title=title, body=body.strip())

    def _circumstances(
        self,
        pull: PullRequest,
        found: ChangeFeatures,
        tip: BranchTip,
        histories: Mapping[str, History],
    ) -> Circumstances:
        merge = self.releases.pick(pull.merge_base, pull.head.sha, tip.sha)
        stands = line_overlap(pull, self.releases.store, tip.sha)
        own = histories[tip.name]
        latest = min((len(one.earlier) for one in histories.values() if one.fork_point), default=0)
        others = [one.earlier for name, one in histories.items() if name != tip.name]
        return Circumstances(
            conflicts=None if merge.impossible else len(merge.conflicts),
            lacks=len(stands.lacks),
            removed=stands.removed.value,
            context=stands.context.value,
            newest=not own.fork_point or len(own.earlier) == latest,
            habits=history_features(found.words, own.earlier, others) if own.fork_point else None,
        )


def sample(rows: Sequence[Decision], count: int, seed: int) -> list[Decision]:
    few = min(count, len(rows))
    return random.Random(seed).sample(list(rows), few)  # noqa: S311 - nothing secret


def measured(repo: str, rows: Sequence[Decision], mirror: Path, args: Given) -> Iterator[Seen]:
    ordered = sorted(rows, key=lambda row: row.when)
    with open_store(open_repository(mirror / repo.replace("/", "+") / "repo")) as store:
        repository = Repository(ReleaseBranches(store), ordered)
        for row in sample(ordered, args.count, args.seed):
            try:
                yield repository.seen(row)
            except PrJuryError as error:
                print(f"{repo} {row.sha[:9]}: {error}")


@dataclass(frozen=True)
class Given:
    count: int
    seed: int


def auc(told: Sequence[float], flags: Sequence[bool]) -> float:
    """How often a backport is told higher than another change; ties count as half."""
    yes = sorted(one for one, flag in zip(told, flags, strict=True) if flag)
    no = sorted(one for one, flag in zip(told, flags, strict=True) if not flag)
    if not yes or not no:
        return float("nan")
    wins = sum(0.5 * (one == other) + (one > other) for one in yes for other in no)
    return wins / (len(yes) * len(no))


def figures(name: str, found: Sequence[Seen]) -> str:
    model = shipped_models()
    flags = [one.row.backported for one in found]
    ours = [model.score(one.traits, one.circumstances).value for one in found]
    without = [
        model.score(one.traits, replace(one.circumstances, habits=None)).value for one in found
    ]
    recorded = [model.score(one.row.traits, one.row.circumstances).value for one in found]
    bands = [model.score(one.traits, one.circumstances).band for one in found]
    likely = [flag for flag, band in zip(flags, bands, strict=True) if band == "likely"]
    unlikely = [flag for flag, band in zip(flags, bands, strict=True) if band == "unlikely"]
    return (
        f"{name:24}{len(found):6}{auc(ours, flags):8.3f}{auc(recorded, flags):10.3f}"
        f"{auc(without, flags):10.3f}   "
        f"{sum(likely)} of {len(likely)} likely, {sum(unlikely)} of {len(unlikely)} unlikely"
    )


def agreement(found: Sequence[Seen]) -> Iterator[str]:
    """How often a feature is the same, and how far apart it is where it is not."""
    for name, feature in FEATURES.items():
        pairs = [
            (
                feature.value(one.traits, one.circumstances),
                feature.value(one.row.traits, one.row.circumstances),
            )
            for one in found
        ]
        same = sum(_same(ours, theirs) for ours, theirs in pairs)
        known = [
            (ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None
        ]
        apart = sum(abs(ours - theirs) for ours, theirs in known) / max(1, len(known))
        yield f"{name:20}{same / len(pairs):8.1%}{apart:12.3f}"


def _same(ours: float | None, theirs: float | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return abs(ours - theirs) <= _CLOSE


def told(found: Sequence[Seen]) -> None:
    print(f"\n{'':24}{'rows':>6}{'ours':>8}{'recorded':>10}{'no habits':>10}   backported in bands")
    for repo in sorted({one.row.repo for one in found}):
        print(figures(repo, [one for one in found if one.row.repo == repo]))
    print(figures("all", found))
    print(f"\n{'feature':20}{'same':>8}{'mean apart':>12}")
    print("\n".join(agreement(found)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--count", type=int, default=300, help="rows of each repository")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--show", action="store_true", help="each row with its score and reasons")
    given = parser.parse_args()
    rows = decisions(given.rows)
    found: list[Seen] = []
    for repo in sorted({row.repo for row in rows}):
        own = [row for row in rows if row.repo == repo]
        start = time.perf_counter()
        found += measured(repo, own, given.mirror, Given(given.count, given.seed))
        print(f"{repo}: {time.perf_counter() - start:.0f} s", flush=True)
    if given.show:
        for one in found:
            score = shipped_models().score(one.traits, one.circumstances)
            shown = [one.row.recorded["subject"][:80], one.row.branch, one.row.backported]
            print(
                json.dumps(
                    [*shown, round(score.value, 3), score.band, score.reasons], ensure_ascii=False
                )
            )
    told(found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
