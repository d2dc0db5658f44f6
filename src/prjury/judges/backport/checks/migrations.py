"""Database migrations that a change adds, changes or removes.

Users of a release branch may have run other migrations, so one cannot be backported without care.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prjury.judges.backport.checks.wording import MOST_LISTED
from prjury.judges.backport.places import migration_tool
from prjury.jury.judgment import Check, Location
from prjury.report.wording import counted
from prjury.snapshot.model import FileChange, FileStatus, printable, visible

_VERBS = {FileStatus.ADDED: "adds", FileStatus.DELETED: "removes"}


@dataclass(frozen=True, slots=True)
class Migration:
    """A migration that is added, changed or removed."""

    path: str
    tool: str
    status: FileStatus


def migrations_in(files: Sequence[FileChange]) -> tuple[Migration, ...]:
    """Return the migrations among changed files, by the layouts of common tools."""
    return tuple(
        Migration(file.path, tool, file.status)
        for file in files
        if (tool := migration_tool(file.path))
    )


def migrations_check(found: Sequence[Migration]) -> Check | None:
    """Return the check ``migrations``; None without any."""
    if not found:
        return None
    by_verb: dict[str, list[Migration]] = {}
    for each in found:
        by_verb.setdefault(_VERBS.get(each.status, "changes"), []).append(each)
    words = [
        f"{verb} {counted(len(some), 'migration')} ({', '.join(sorted({m.tool for m in some}))})"
        for verb, some in by_verb.items()
    ]
    return Check(
        "migrations",
        passed=False,
        message=", ".join(words),
        location=Location(printable(found[0].path)),
        severity="warning" if set(by_verb) == {"adds"} else "error",
        evidence="\n".join(visible(each.path) for each in found[:MOST_LISTED]),
    )
