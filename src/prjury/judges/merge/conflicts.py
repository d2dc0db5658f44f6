"""Conflicts as checks, as metadata and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from prjury.jury.judgment import Check, Location
from prjury.report.wording import counted
from prjury.snapshot.model import (
    Conflict,
    ConflictRegion,
    ConflictType,
    printable,
    visible,
)

#: So many places of one file are shown to people, and so many are listed for programs.
_FEW_REGIONS, _LISTED_REGIONS = 4, 20
#: So many files are named in the judgment's own sentence.
_FEW_FILES = 3
#: Of each side of a place so many lines are shown, and so many characters of each.
_FEW_LINES, _LONGEST_LINE = 8, 160


def merge_paths(conflicts: Sequence[Conflict]) -> list[Conflict]:
    """Each conflict once: git gives the same words on every path that a rename concerns."""
    single: dict[object, Conflict] = {}
    for conflict in conflicts:
        renamed = conflict.type is ConflictType.RENAME
        single.setdefault(conflict.reason if renamed else conflict.path, conflict)
    return list(single.values())


def conflict_messages(conflicts: Sequence[Conflict]) -> str:
    """``conflicts in 2 files``, and how to resolve them where that is easy."""
    single = merge_paths(conflicts)
    files = f"in {counted(len(conflicts), 'file')}"
    if len(single) < len(conflicts):
        words = f"{counted(len(single), 'conflict')} {files}"
    else:
        words = f"conflicts {files}"
    if not all(conflict.mechanical for conflict in single):
        return words
    names = [f"{visible(each.path)} ({each.reason})" for each in single[:_FEW_FILES]]
    left = len(single) - _FEW_FILES
    more = f", and {left} more" if left > 0 else ""
    return f"{words}, all easy to resolve: {', '.join(names)}{more}"


def conflict_check(conflict: Conflict, *, at: str | None = None, fix: str | None = None) -> Check:
    """The check that a conflict fails.

    Args:
        at: the commit that conflicts, where it is not the head: its lines are not the head's.
        fix: what would put it right, if it is more than to merge and resolve.
    """
    words = conflict.type.value.replace("_", "/")
    first = conflict.regions[0].head if conflict.regions and at is None else None
    path = printable(conflict.path)
    return Check(
        "conflict",
        passed=False,
        message=f"{words} conflict: {conflict.reason}",
        location=Location(path, first.first, first.last) if first else Location(path),
        evidence=_show_regions(conflict.regions, f"`{at}`" if at else "the head"),
        fix=fix,
    )


def _show_regions(regions: Sequence[ConflictRegion], head: str) -> str | None:
    """Both texts of each place, as git marks them; the lines alone where the texts are unknown."""
    parts = [_show_region(region, head) for region in regions[:_FEW_REGIONS]]
    left = len(regions) - len(parts)
    if left:
        parts.append(f"and {counted(left, 'more place')}")
    return "\n".join(parts) or None


def _show_region(region: ConflictRegion, head: str) -> str:
    if region.texts is None:
        return f"{region.head} at {head}; {region.onto} on the base"
    ours, theirs = region.texts
    lines = [f"<<<<<<< the base, {region.onto}", *_first_lines(theirs), "======="]
    return "\n".join([*lines, *_first_lines(ours), f">>>>>>> {head}, {region.head}"])


def _first_lines(lines: Sequence[str]) -> list[str]:
    shown = [printable(line)[:_LONGEST_LINE] for line in lines[:_FEW_LINES]]
    left = len(lines) - len(shown)
    return [*shown, f"… ({counted(left, 'more line')})"] if left else shown


def conflict_json(conflict: Conflict) -> dict[str, Any]:
    """The conflict for programs, as a JSON value."""
    return {
        "path": printable(conflict.path),
        "type": conflict.type.value,
        "class": "mechanical" if conflict.mechanical else "human",
        "reason": conflict.reason,
        "lines": list(conflict.lines) if conflict.lines else None,
        "regions": [
            {"head": asdict(region.head), "onto": asdict(region.onto)}
            for region in conflict.regions[:_LISTED_REGIONS]
        ],
    }
