"""Files whose content a partial clone lacks: may a tree be built without them?"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from prjury.errors import CannotJudgeError
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.wording import join_names
from prjury.ports.types import TreeEntry
from prjury.snapshot.kinds import has_suffix, holds_text, kind_of
from prjury.snapshot.model import FileKind, visible

_MOST_NAMED = 3
_FETCH_ALL = "Fetch it all with: git fetch --refetch --no-filter; or use a full clone"


def object_missing(what: str) -> CannotJudgeError:
    """The error of a build that cannot go on without what is missing."""
    why = "This partial clone lacks their content"
    return CannotJudgeError(what, why=why, remedy=_FETCH_ALL, reason="object_missing")


def refuse_needed(
    absent: Sequence[str], entries: Sequence[TreeEntry], others: Sequence[TreeEntry]
) -> None:
    """Raise CannotJudgeError unless absent files are data or documentation of both sides."""
    if not absent:
        return
    missing, others_entries = frozenset(absent), frozenset(others)
    needed = [
        entry.path
        for entry in entries
        if entry.path in missing and (entry not in others_entries or _may_be_code(entry))
    ]
    if needed:
        raise object_missing(
            f"{join_names([visible(path) for path in needed], _MOST_NAMED)} cannot be written"
        )


def _may_be_code(entry: TreeEntry) -> bool:
    kind = kind_of(entry.path, entry.mode)
    has_name = kind is not FileKind.SYMLINK and has_suffix(entry.path)
    return kind is not FileKind.DOCS and (not has_name or holds_text(entry.path))


def note_files(plan: BuildPlan, absent: Sequence[str]) -> BuildPlan:
    """The plan with a note of the files without which it is run."""
    lacks = "not checked, since a partial clone lacks their content"
    note = f"{lacks}: {join_names([visible(path) for path in absent], _MOST_NAMED)}"
    return replace(plan, notes=(*plan.notes, note)) if absent else plan
