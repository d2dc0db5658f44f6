"""The recorded decisions, as the product sees a change and a branch: no more than it can know."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from prjury.judges.backport.history import (
    EarlierChange,
    HistoryFeatures,
    history_features,
)
from prjury.judges.backport.score.features import (
    ChangeFeatures,
    Part,
    classes,
    is_bump,
    title_of,
    words,
)
from prjury.judges.backport.score.score import Circumstances

_NEVER = float("inf")
_ONLY: Mapping[str, Part] = {
    "only_doc": "docs",
    "only_test": "tests",
    "only_ci": "ci",
    "only_man": "build",
}
_NOTES = {"frag_bug": "fix", "frag_feat": "feature", "frag_break": "breaking"}


@dataclass(frozen=True)
class Decision:
    """One change and one branch: what was known when the change was made, and what came of it.

    Attributes:
        late: whether it belongs to the later part, which a model is tested on.
        recorded: the row itself.
    """

    repo: str
    branch: str
    sha: str
    when: float
    backported: bool
    late: bool
    traits: ChangeFeatures
    circumstances: Circumstances
    recorded: Mapping[str, Any]


def decisions(path: Path, *, late_only: bool = False) -> list[Decision]:
    """Every row but those whose change the branch held already; or only the later ones of them."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row.get("split_test") is not None]
    pasts = list(_pasts(rows))
    branches = _by_branch(pasts)
    return [
        _decision(row, _known(past, branches[past.repo]))
        for row, past in zip(rows, pasts, strict=True)
        if row["split_test"] or not late_only
    ]


def _decision(row: Mapping[str, Any], found: HistoryFeatures) -> Decision:
    return Decision(
        repo=row["repo"],
        branch=row["branch"],
        sha=row["sha"],
        when=_time(row),
        backported=bool(row["backported"]),
        late=bool(row["split_test"]),
        traits=traits_of(row),
        circumstances=circumstances_of(row, found),
        recorded=row,
    )


def traits_of(row: Mapping[str, Any]) -> ChangeFeatures:
    """The recorded features of the change; those of its title are read from the title again."""
    recorded = row["f"]
    title = title_of(row["subject"])
    return ChangeFeatures(
        words=words(title),
        kinds=classes(title),
        notes=frozenset(kind for name, kind in _NOTES.items() if recorded.get(name)),
        only=next((part for name, part in _ONLY.items() if recorded.get(name)), None),
        files=recorded.get("files", 0),
        lines=recorded.get("ins", 0) + recorded.get("del", 0),
        new_files=recorded.get("new_files", 0),
        declared=recorded.get("pub_add", 0),
        bot=bool(recorded.get("bot")) or is_bump(title),
    )


def circumstances_of(row: Mapping[str, Any], found: HistoryFeatures) -> Circumstances:
    """The recorded features of the branch."""
    trial, recorded = row["trial_merge"], row["f"]
    return Circumstances(
        conflicts=0 if trial["clean"] else max(1, trial["nconf"]),
        lacks=recorded["miss_files"],
        removed=recorded["rem_present"],
        context=recorded["ctx_present"],
        newest=bool(row["newest_branch"]),
        habits=found,
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
        title = words(title_of(row["subject"]))
        faces = EarlierChange(title, reached=False), EarlierChange(title, reached=True)
        reached = row.get("backport_ct") or _NEVER
        yield _Past(row["repo"], row["branch"], _time(row), reached, title, faces)


def _by_branch(pasts: Sequence[_Past]) -> dict[str, dict[str, list[_Past]]]:
    """The rows of each repository and branch, newest first."""
    branches: dict[str, dict[str, list[_Past]]] = {}
    for past in sorted(pasts, key=lambda past: -past.when):
        branches.setdefault(past.repo, {}).setdefault(past.branch, []).append(past)
    return branches


def _known(now: _Past, branches: Mapping[str, Sequence[_Past]]) -> HistoryFeatures:
    """What became of the changes before a row's, as of that time."""
    seen = {
        name: [past.faces[past.reached < now.when] for past in pasts if past.when < now.when]
        for name, pasts in branches.items()
    }
    own = seen.pop(now.branch)
    return history_features(now.title, own, list(seen.values()))
