"""Conflicts as checks, as metadata and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prjury.jury.judgment import Check, Location
from prjury.report.wording import counted
from prjury.snapshot.model import (
    Conflict,
    ConflictRegion,
    ConflictType,
    LineSpan,
    printable,
    visible,
)

#: So many places of one file are shown to people, and so many are listed for programs.
_FEW_REGIONS, _LISTED_REGIONS = 4, 20
#: So many files are named in the judgment's own sentence.
_FEW_FILES = 3
#: Of each side of a place so many lines are shown, and so many characters of each.
_FEW_LINES, _LONGEST_LINE = 8, 160


def together(conflicts: Sequence[Conflict]) -> list[Conflict]:
    """Each conflict once: paths that one sentence names are one, reported at the last of them."""
    found: dict[object, Conflict] = {}
    for conflict in conflicts:
        key = (conflict.type, conflict.reason) if _named(conflict) >= 0 else conflict.path
        before = found.get(key)
        if before is None or _named(before) < _named(conflict):
            found[key] = conflict
    return list(found.values())


def _named(conflict: Conflict) -> int:
    """Where the sentence on a renamed file names this path; -1 if it does not."""
    if conflict.type is not ConflictType.RENAME:
        return -1
    return conflict.reason.rfind(f"`{visible(conflict.path)}`")


def conflict_messages(conflicts: Sequence[Conflict]) -> str:
    """``conflicts in 2 files, 1 needs a human``; what is mechanical is named at once."""
    single = together(conflicts)
    files = f"in {counted(len(conflicts), 'file')}"
    if len(single) < len(conflicts):
        files = f"{counted(len(single), 'conflict')} {files}"
    else:
        files = f"conflicts {files}"
    human = sum(not conflict.mechanical for conflict in single)
    return f"{files}, {_needing(human)} a human" if human else f"{files}, {_easy(single)}"


def _easy(conflicts: Sequence[Conflict]) -> str:
    """``all easy to resolve: requirements.txt (version numbers only: take the newer one)``."""
    ways: dict[str, list[str]] = {}
    for conflict in conflicts[:_FEW_FILES]:
        ways.setdefault(conflict.reason, []).append(visible(conflict.path))
    named = ", ".join(f"{', '.join(paths)} ({reason})" for reason, paths in ways.items())
    left = len(conflicts) - _FEW_FILES
    return f"all easy to resolve: {named}" + (f", and {left} more" if left > 0 else "")


def _needing(count: int) -> str:
    return f"{count} {'needs' if count == 1 else 'need'}"


def no_complex(conflicts: Sequence[Conflict]) -> tuple[Check, ...]:
    """The check that no conflict needs a human; none where one does.

    What needs a human is a finding of its own (`check_of`), and is not counted twice.
    """
    if not all(conflict.mechanical for conflict in conflicts):
        return ()
    return (Check("no-complex-conflicts", passed=True, message="none needs a human"),)


def check_of(conflict: Conflict, *, at: str | None = None, fix: str | None = None) -> Check:
    """The check that a conflict fails.

    Args:
        at: the commit that conflicts, where it is not the head: its lines are not the head's.
        fix: what would put it right, if it is more than to merge and resolve.
    """
    words = conflict.type.value.replace("_", "/")
    return Check(
        "conflict",
        passed=False,
        message=f"{words} conflict: {conflict.reason}",
        location=_location(conflict, lines=at is None),
        evidence=_evidence(conflict.regions, at),
        fix=fix,
    )


def _location(conflict: Conflict, *, lines: bool) -> Location:
    path = printable(conflict.path)
    if not lines or not conflict.regions:
        return Location(path)
    hard = (region for region in conflict.regions if not region.mechanical)
    first = next(hard, conflict.regions[0]).head
    return Location(path, first.first, first.last)


def _evidence(regions: Sequence[ConflictRegion], at: str | None) -> str | None:
    """Both texts of each place, as git marks them; the lines alone where the texts are unknown."""
    few = regions[:_FEW_REGIONS]
    parts = [_both(region, f"`{at}`" if at else "the head") for region in few]
    parts += (
        [f"and {counted(len(regions) - len(few), 'more place')}"] if len(regions) > len(few) else []
    )
    return "\n".join(parts) or None


def _both(region: ConflictRegion, head: str) -> str:
    if region.texts is None:
        return f"{region.head} at {head}; {region.onto} on the base"
    ours, theirs = region.texts
    sides = [f"<<<<<<< the base, {region.onto}", *_few(theirs), "======="]
    return "\n".join([*sides, *_few(ours), f">>>>>>> {head}, {region.head}"])


def _few(lines: Sequence[str]) -> list[str]:
    shown = [printable(line)[:_LONGEST_LINE] for line in lines[:_FEW_LINES]]
    left = len(lines) - len(shown)
    return [*shown, f"… ({counted(left, 'more line')})"] if left else shown


def described(conflict: Conflict) -> dict[str, Any]:
    """The conflict for programs, as a JSON value."""
    return {
        "path": printable(conflict.path),
        "type": conflict.type.value,
        "class": _class(conflict),
        "reason": conflict.reason,
        "lines": list(conflict.lines) if conflict.lines else None,
        "regions": [
            {
                "head": _pair(region.head),
                "onto": _pair(region.onto),
                "class": _class(region),
            }
            for region in conflict.regions[:_LISTED_REGIONS]
        ],
    }


def _class(part: Conflict | ConflictRegion) -> str:
    return "mechanical" if part.mechanical else "human"


def _pair(span: LineSpan) -> dict[str, int]:
    return {"first": span.first, "count": span.count}
