"""Files of a tree that are not here, because a partial clone lacks their content. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prjury.errors import CannotJudgeError
from prjury.judges.builds.plan import BuildPlan
from prjury.ports.types import TreeEntry
from prjury.snapshot.kinds import has_suffix, holds_text, kind_of
from prjury.snapshot.model import FileKind, visible

_MOST_NAMED = 3
_WHY = "This partial clone lacks their content"
_REMEDY = "Fetch it all with: git fetch --refetch --no-filter; or use a full clone"


def object_missing(what: str) -> CannotJudgeError:
    """The error of a build that cannot go on without what is missing."""
    return CannotJudgeError(what, why=_WHY, remedy=_REMEDY, reason="object_missing")


def refuse_needed(
    absent: Sequence[str], entries: Sequence[TreeEntry], others: Sequence[TreeEntry]
) -> None:
    """Goes on only where the build of the tree tells the same without the absent files.

    That is where the other side of the comparison has them too, so that the change does not touch
    them, and where they are pictures, archives, other binary data, or documentation.

    Args:
        entries: the files of the tree.
        others: the files of the tree that it is compared with.

    Raises:
        CannotJudgeError: when one of the files may be needed.
    """
    if not absent:
        return
    missing, there = frozenset(absent), frozenset(others)
    needed = [
        entry.path
        for entry in entries
        if entry.path in missing and (entry not in there or _may_be_code(entry))
    ]
    if needed:
        raise object_missing(f"{_named(needed)} cannot be written")


def _may_be_code(entry: TreeEntry) -> bool:
    kind = kind_of(entry.path, entry.mode)
    tells = kind is not FileKind.SYMLINK and has_suffix(entry.path)
    return kind is not FileKind.DOCS and (not tells or holds_text(entry.path))


def noted(plan: BuildPlan, absent: Sequence[str]) -> BuildPlan:
    """The plan with a note of the files without which it is run, its thorough form as well."""
    if not absent:
        return plan
    note = f"not checked, since a partial clone lacks their content: {_named(absent)}"
    thorough = replace(plan.thorough, notes=(*plan.thorough.notes, note)) if plan.thorough else None
    return replace(plan, notes=(*plan.notes, note), thorough=thorough)


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return ", ".join(map(visible, paths[:_MOST_NAMED])) + more
