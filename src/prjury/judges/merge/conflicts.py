"""Conflicts as checks, as metadata and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prjury.jury.judgment import Check, Location
from prjury.report.wording import join_words, pluralize
from prjury.snapshot.model import Conflict, ConflictRegion, ConflictType, printable, visible

#: Places of one file that are shown, lines of each side, and characters of each.
_FEW_REGIONS, _FEW_LINES, _LONGEST_LINE = 4, 8, 160


def conflict_messages(conflicts: Sequence[Conflict]) -> str:
    """Say ``conflicts in 2 files``, and how to resolve them if that is easy."""
    single = _merge_paths(conflicts)
    words = f"conflicts in {pluralize(len(conflicts), 'file')}"
    if not all(conflict.mechanical for conflict in single):
        return words
    names = [f"{visible(each.path)} ({each.reason})" for each in single]
    return f"{words}, all easy to resolve: {join_words(names)}"


def list_conflicts(
    conflicts: Sequence[Conflict], *, at: str | None = None, fix: str | None = None
) -> tuple[list[Check], list[dict[str, Any]]]:
    """Return the checks that conflicts fail, and their values, at a commit other than the head."""
    checks = []
    for conflict in _merge_paths(conflicts):
        kind = conflict.type.value.replace("_", "/")
        first = conflict.regions[0].head if conflict.regions and at is None else None
        path, lines = printable(conflict.path), (first.first, first.last) if first else ()
        evidence = _show_regions(conflict.regions, f"`{at}`" if at else "the head")
        message, place = f"{kind} conflict: {conflict.reason}", Location(path, *lines)
        checks.append(Check.bad("conflict", message, place, evidence=evidence, fix=fix))
    values = [
        {
            "path": printable(conflict.path),
            "type": conflict.type.value,
            "class": "mechanical" if conflict.mechanical else "human",
            "reason": conflict.reason,
        }
        for conflict in conflicts
    ]
    return checks, values


def _merge_paths(conflicts: Sequence[Conflict]) -> list[Conflict]:
    """List each conflict once: git words all paths that a rename concerns alike."""
    single: dict[object, Conflict] = {}
    for conflict in conflicts:
        renamed = conflict.type is ConflictType.RENAME
        single.setdefault(conflict.reason if renamed else conflict.path, conflict)
    return list(single.values())


def _show_regions(regions: Sequence[ConflictRegion], head: str) -> str | None:
    parts = []
    for region in regions[:_FEW_REGIONS]:
        if region.texts is None:
            parts.append(f"{region.head} at {head}; {region.onto} on the base")
            continue
        parts += [f"<<<<<<< the base, {region.onto}", *_cut_lines(region.texts[1]), "======="]
        parts += [*_cut_lines(region.texts[0]), f">>>>>>> {head}, {region.head}"]
    if len(regions) > _FEW_REGIONS:
        parts.append(f"and {pluralize(len(regions) - _FEW_REGIONS, 'more place')}")
    return "\n".join(parts) or None


def _cut_lines(lines: Sequence[str]) -> list[str]:
    rows = [printable(line)[:_LONGEST_LINE] for line in lines[:_FEW_LINES]]
    rest = len(lines) - len(rows)
    return [*rows, f"… ({pluralize(rest, 'more line')})"] if rest else rows
