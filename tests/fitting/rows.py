"""The recorded decisions, as the product sees a change and a branch: no more than it can know."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from prjury.judges.backport.history import EarlierChange, Habits, measure_habits
from prjury.judges.backport.score import BranchTraits, ChangeTraits
from prjury.judges.backport.titles import classify_title, strip_title_number, tokenise_title

_NEVER = float("inf")


@dataclass(frozen=True)
class Decision:
    """A change and a branch: what was known when the change was made, and what came of it."""

    repo: str
    branch: str
    backported: bool
    late: bool
    change: ChangeTraits
    traits: BranchTraits


def decisions(path: Path) -> list[Decision]:
    """Return every row but those whose change the branch held already."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row.get("split_test") is not None]
    pasts = list(_pasts(rows))
    branches = _by_branch(pasts)
    return [
        _decision(row, _known(past, branches[past.repo]))
        for row, past in zip(rows, pasts, strict=True)
    ]


def _decision(row: Mapping[str, Any], habits: Habits) -> Decision:
    recorded, trial = row["f"], row["trial_merge"]
    title = strip_title_number(row["subject"])
    change = ChangeTraits(
        words=tokenise_title(title),
        fix=not classify_title(title).isdisjoint({"fix", "security"}),
        recorded=bool(recorded.get("frag_bug")),
        lines=recorded.get("ins", 0) + recorded.get("del", 0),
        new_files=recorded.get("new_files", 0),
    )
    conflicts = 0 if trial["clean"] else max(1, trial["nconf"])
    branch = BranchTraits(habits, conflicts, recorded["rem_present"], bool(row["newest_branch"]))
    return Decision(
        row["repo"], row["branch"], bool(row["backported"]), bool(row["split_test"]), change, branch
    )


def _time(row: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(row["date"]).timestamp()


@dataclass(frozen=True)
class _Past:
    """A row, with its two faces for later ones: reached already, or not yet."""

    repo: str
    branch: str
    when: float
    reached: float
    title: frozenset[str]
    faces: tuple[EarlierChange, EarlierChange]


def _pasts(rows: Sequence[Mapping[str, Any]]) -> Iterator[_Past]:
    for row in rows:
        title = tokenise_title(strip_title_number(row["subject"]))
        faces = EarlierChange(title, reached=False), EarlierChange(title, reached=True)
        reached = row.get("backport_ct") or _NEVER
        yield _Past(row["repo"], row["branch"], _time(row), reached, title, faces)


def _by_branch(pasts: Sequence[_Past]) -> dict[str, dict[str, list[_Past]]]:
    """The rows of each repository and branch, newest first."""
    branches: dict[str, dict[str, list[_Past]]] = {}
    for past in sorted(pasts, key=lambda past: -past.when):
        branches.setdefault(past.repo, {}).setdefault(past.branch, []).append(past)
    return branches


def _known(now: _Past, branches: Mapping[str, Sequence[_Past]]) -> Habits:
    """What became of the changes before a row's, as of that time."""
    seen = {
        name: [past.faces[past.reached < now.when] for past in pasts if past.when < now.when]
        for name, pasts in branches.items()
    }
    own = seen.pop(now.branch)
    return measure_habits(now.title, own, list(seen.values()))
