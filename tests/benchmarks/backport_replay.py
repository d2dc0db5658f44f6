"""Merged pull requests replayed as of their merge: what is predicted against what really happened.

    python tests/benchmarks/backport_replay.py --mirror DIR --repo spring-projects/spring-ai \
        --branch 1.0.x --branch 1.1.x --count 60 --seed 7

The mirror holds bare clones as `OWNER+NAME/repo`. For each branch a sample of merged pull requests,
half of them brought to the branch later as far as there are so many, is judged by `prjury backport`
without model and build, in a repository whose refs stand where they stood before the merge. What
happened later is found by git alone (`backport_truth.py`). The words by which the mergers ask for
a backport are taken out of the messages; `--as-asked` leaves them in. `--details` writes a line of
JSON for each replay.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# Also where the path of a script is not searched (`python -P`).
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.backport_figures import figures
from benchmarks.backport_truth import Arrival, Branch, Mirror, Unit, before, neighbours
from prjury.app.backport import backport
from prjury.app.request import ReviewRequest, RunEnvironment
from prjury.git.open_snapshot import NothingToReview, SnapshotRequest
from prjury.git.store import _ATTRIBUTES
from prjury.report.model import Backport

_ASKS = re.compile(
    r"^.*(?:cherry-?pick|back-?port|^\s*(?:needs|for):? \d).*$\n?", re.IGNORECASE | re.MULTILINE
)
_DAY, _HOUR = 86_400, 3_600
_WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "bench"), ("EMAIL", "bench@localhost"))
}


@dataclass(frozen=True)
class Replay:
    """One pull request on one branch.

    Attributes:
        how: by what it was found on the branch; empty where it never came.
        lag: days from the merge to the arrival.
        between: what came to the branch between merge and arrival, along its first parents.
        same: how the human's patch compares with the trial of the day: ``same patch``, ``same
            lines`` in other surroundings, ``other``, or empty where there is nothing to compare.
        later: the same for the trial on what the branch held just before the arrival; ``conflict``
            where that conflicts.
        first: for each prerequisite that is named, whether it was on the branch at the arrival.
        claims: the checks that failed, with severity and message.
        weight: so many changes of the branch it stands for, as backports are drawn more often.
    """

    repo: str
    branch: str
    number: int
    sha: str
    title: str
    date: int
    tip: str
    verdict: str
    applies: bool | None
    score: float | None
    band: str | None
    seconds: float
    how: str = ""
    came: tuple[str, ...] = ()
    whole: bool = True
    lag: float = 0.0
    between: int = 0
    same: str = ""
    later: str = ""
    conflicts: tuple[str, ...] = ()
    prerequisites: tuple[str, ...] = ()
    first: tuple[bool, ...] = ()
    claims: tuple[tuple[str, str, str], ...] = ()
    reasons: tuple[str, ...] = ()
    differs: str = ""
    weight: float = 1.0


@dataclass(frozen=True)
class Stage:
    """A repository of our own that borrows the mirror's objects, and whose refs are set back."""

    mirror: Mirror
    place: Path
    asked: bool = False
    own: Mirror = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "own", Mirror(self.place))
        subprocess.run(["git", "init", "--quiet", "--bare", str(self.place)], check=True)
        (self.place / "objects/info/alternates").write_text(f"{self.mirror.path}/objects\n")
        (self.place / "info/attributes").write_text(_ATTRIBUTES)

    def head(self, unit: Unit) -> tuple[str, str, str]:
        """The pull request as one commit, its title and its body."""
        last = unit.commits[-1]
        body = "\n\n".join(one.message.strip().partition("\n")[2].strip() for one in unit.commits)
        body = body if self.asked else _ASKS.sub("", body)
        title = re.sub(r"\s*\(#\d+\)\s*$", "", last.heading)
        tree = f"{last.sha}^{{tree}}"
        dates = {
            "GIT_AUTHOR_DATE": f"{unit.date} +0000",
            "GIT_COMMITTER_DATE": f"{unit.date} +0000",
        }
        argv = ["git", "-C", str(self.place), "commit-tree", tree, "-p", unit.base]
        done = subprocess.run(
            [*argv, "-m", f"{title}\n\n{body}"],
            env={**os.environ, **_WHO, **dates},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip(), title, body

    def set_back(self, refs: Iterable[tuple[str, str]]) -> None:
        """Lets the repository hold these branches and no other ref."""
        old = self.own.text("for-each-ref", "--format=%(refname)").split()
        lines = [*(f"delete {name}" for name in old)]
        self.own.git("update-ref", "--stdin", stdin="\n".join([*lines, ""]).encode())
        lines = [f"create refs/heads/{name} {sha}" for name, sha in refs]
        self.own.git("update-ref", "--stdin", stdin="\n".join([*lines, ""]).encode())

    def picked(self, base: str, head: str, onto: str) -> str | None:
        """The tree of a trial pick by plain git; None where it conflicts."""
        env = {**os.environ, **_WHO}
        git = ["git", "-C", str(self.place)]
        commit = [*git, "commit-tree", f"{onto}^{{tree}}", "-p", base, "-m", "onto"]
        made = subprocess.run(commit, env=env, capture_output=True, text=True, check=True)
        merge = [*git, "merge-tree", "--write-tree", made.stdout.strip(), head]
        done = subprocess.run(merge, env=env, capture_output=True, text=True, check=False)
        return done.stdout.split()[0] if done.returncode == 0 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mirror", type=Path, required=True, help="folders OWNER+NAME/repo")
    parser.add_argument("--repo", default="spring-projects/spring-ai")
    parser.add_argument("--branch", action="append", required=True)
    parser.add_argument("--main", default="main")
    parser.add_argument("--count", type=int, default=60, help="pull requests of each branch")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--as-asked", action="store_true")
    parser.add_argument("--details", type=Path)
    asked = parser.parse_args()
    mirror = Mirror(asked.mirror / asked.repo.replace("/", "+") / "repo")
    branches = [Branch(mirror, name, asked.main) for name in asked.branch]
    found: list[Replay] = []
    with tempfile.TemporaryDirectory() as place:
        stage = Stage(mirror, Path(place) / "stage.git", asked.as_asked)
        for branch in branches:
            sample = _sample(branch, asked.count, asked.seed)
            for unit, arrival, weight in sample:
                replay = _replayed(asked.repo, stage, branch, branches, unit, arrival)
                replay = replace(replay, weight=weight)
                found.append(replay)
                print(_line(replay), flush=True)
                if asked.details:
                    with asked.details.open("a") as file:
                        file.write(json.dumps(asdict(replay)) + "\n")
    for name in asked.branch:
        print(f"\n{asked.repo} {name}")
        figures([one for one in found if one.branch == name])
    if len(asked.branch) > 1:
        print(f"\n{asked.repo}, all branches")
        figures(found)


def _sample(branch: Branch, count: int, seed: int) -> list[tuple[Unit, Arrival | None, float]]:
    """Pull requests in the order of their merge with their weights; what came first is left out."""
    units = [(unit, branch.arrival(unit)) for unit in branch.units]
    came = [(u, a) for u, a in units if a and a.date > u.date - _HOUR]
    never = [(u, a) for u, a in units if a is None]
    print(
        f"{branch.name}: parted {_day(branch.spine[0].date)}, {len(units)} pull requests until "
        f"{_day(branch.spine[-1].date)}, {len(came)} came, {len(never)} never, "
        f"{len(units) - len(came) - len(never)} came there first"
    )
    chance = random.Random(seed)  # noqa: S311 - a sample
    half = min(len(came), max(count // 2, count - len(never)))
    some = [
        (*pair, len(pairs) / number)
        for pairs, number in ((came, half), (never, min(len(never), count - half)))
        for pair in chance.sample(pairs, number)
    ]
    return sorted(some, key=lambda drawn: drawn[0].date)


def _replayed(
    repo: str,
    stage: Stage,
    branch: Branch,
    branches: Sequence[Branch],
    unit: Unit,
    arrival: Arrival | None,
) -> Replay:
    date = min(unit.date, arrival.date) if arrival else unit.date
    head, title, body = stage.head(unit)
    living = [one for one in branches if one is branch or one.spine[0].date < date]
    tips = {one.name: one.tip_at(date) for one in living}
    stage.set_back([(branch.main, unit.base), ("replayed", head), *tips.items()])
    wanted = SnapshotRequest(
        repo=stage.place,
        number=unit.number,
        base=branch.main,
        head="replayed",
        facts={"title": title, "body": body, "repo": repo},
    )
    request = ReviewRequest(
        wanted, build=False, models=False, offline=True, backport_to=tuple(tips), timeout=120
    )
    try:
        told = backport(request, RunEnvironment())
    except NothingToReview as nothing:
        raise SystemExit(f"#{unit.number}: {nothing.what}") from nothing
    verdict = next(one for one in told.backports if one.branch == branch.name)
    tree = stage.picked(unit.base, unit.commits[-1].sha, tips[branch.name])
    if verdict.applies is not None and verdict.applies != (tree is not None):
        print(f"  the trial of #{unit.number} is not that of plain git", file=sys.stderr)
    return Replay(
        repo,
        branch.name,
        unit.number,
        unit.head,
        title,
        date,
        tips[branch.name],
        verdict.verdict,
        verdict.applies,
        verdict.score,
        verdict.band,
        told.elapsed_ms / 1_000 / len(tips),
        conflicts=tuple(one.path for one in verdict.conflicts),
        prerequisites=verdict.prerequisites,
        claims=tuple((c.name, c.severity, c.message) for c in verdict.checks if not c.passed),
        reasons=verdict.reasons,
        **(
            _truth(stage, branch, unit, arrival, verdict, tips[branch.name], tree)
            if arrival
            else {}
        ),
    )


def _truth(
    stage: Stage,
    branch: Branch,
    unit: Unit,
    arrival: Arrival,
    verdict: Backport,
    tip: str,
    tree: str | None,
) -> dict[str, Any]:
    """What happened, as fields of a replay."""
    start, end = before(arrival), arrival.commits[-1].sha
    whole = neighbours(arrival)
    then = stage.picked(unit.base, unit.commits[-1].sha, start)
    here = {commit.sha for commit in branch.own if commit.date <= arrival.date}
    first = tuple(_was_there(branch, one.split()[0], here) for one in verdict.prerequisites)
    return {
        "how": arrival.how,
        "came": tuple(commit.sha for commit in arrival.commits),
        "whole": arrival.whole,
        "lag": (arrival.date - unit.date) / _DAY,
        "between": int(stage.own.text("rev-list", "--count", "--first-parent", f"{tip}..{start}")),
        "same": _compared(stage.own, (tip, tree), (start, end)) if tree and whole else "",
        "later": (
            (_compared(stage.own, (start, then), (start, end)) if then else "conflict")
            if whole
            else ""
        ),
        "first": first,
        "differs": stage.own.text("diff", "--stat=200", then, end) if then and whole else "",
    }


def _was_there(branch: Branch, sha: str, here: set[str]) -> bool:
    """Whether a change of the base had reached the branch by one of these commits."""
    commit = branch.mirror.commits("-1", sha)[0]
    arrival = branch.arrival(Unit(max(commit.numbers, default=-1), (commit,)))
    return arrival is not None and any(one.sha in here for one in arrival.commits)


def _compared(git: Mirror, ours: tuple[str, str], theirs: tuple[str, str]) -> str:
    if git.patch_id(*ours) == git.patch_id(*theirs):
        return "same patch"
    lines = git.patch_id(*ours, context=0) == git.patch_id(*theirs, context=0)
    return "same lines" if lines else "other"


def _line(one: Replay) -> str:
    came = f"came after {one.lag:.1f} d ({one.how}{'' if one.whole else ', in part'})"
    told = f"{came}: {one.same or '-'}, then {one.later or '-'}" if one.how else "never came"
    picks = {True: "clean", False: "conflict", None: "no trial"}[one.applies]
    score = "-" if one.score is None else f"{one.score:.2f}"
    return (
        f"{_day(one.date)} {one.branch} #{one.number:<5} {picks:8} {one.verdict:21} {score:5} "
        f"{one.seconds:5.2f} s  {told}  {one.title[:60]}"
    )


def _day(date: int) -> str:
    return f"{datetime.fromtimestamp(date, UTC):%Y-%m-%d}"


if __name__ == "__main__":
    main()
