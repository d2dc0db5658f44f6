"""Versions of dependencies that a change moves, beside those that a branch has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from prjury.judges.backport.content.version_bumps import (
    Bump,
    Bumps,
    bumps_of,
    by_name,
    commit_of,
    declared_in,
    version_of,
)
from prjury.jury.judgment import Check, Location, Severity
from prjury.ports import Repository
from prjury.snapshot.bumps import Distance, VersionStep, distance
from prjury.snapshot.dependencies import DeclaredDependency, Purpose
from prjury.snapshot.model import FileChange, visible

__all__ = ["Bump", "BumpOnBranch", "Bumps", "Relation", "bumps_of", "bumps_on_branch", "checks_of"]

#: What is told of one by one; the rest is counted.
_SHOWN = 4


class Relation(StrEnum):
    """What a branch has, beside what the change goes from and to."""

    #: What the change goes from, or for an addition the same version already.
    SAME = "same"
    #: Where the change goes to, or beyond.
    ALREADY = "already"
    #: Further away, within the same major version as one of the two.
    FURTHER = "further"
    #: Another major version than both.
    OTHER_LINE = "other_line"
    NOT_THERE = "not_there"
    #: Nobody can tell which is the higher one.
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class BumpOnBranch:
    """A bump beside a branch.

    Attributes:
        have: the version that stands there; None where there is none.
        jump: from there to where the change goes.
    """

    bump: Bump
    have: str | None
    relation: Relation
    jump: Distance | None = None

    @property
    def unseen(self) -> bool:
        """Whether nothing could be read in the branch's version of the file."""
        return self.relation is Relation.UNKNOWN and self.have is None


def bumps_on_branch(bumps: Bumps, tip: str, repository: Repository) -> tuple[BumpOnBranch, ...]:
    """Each bump beside what stands in the same file of the branch with this tip."""
    if not bumps.changed:
        return ()
    paths = {bump.path for bump in bumps.changed}
    entries = repository.files(tip)
    blobs = {entry.path: entry.blob for entry in entries if entry.path in paths}
    new = [(path, blob) for path, blob in blobs.items() if (path, blob) not in bumps.seen]
    read = repository.read([blob for _, blob in new]) if new else {}
    for path, blob in new:
        found = declared_in(path, blob, read)
        bumps.seen[path, blob] = None if found is None else by_name(found)
    return tuple(_on_branch(bump, blobs.get(bump.path), bumps) for bump in bumps.changed)


def _on_branch(bump: Bump, blob: str | None, bumps: Bumps) -> BumpOnBranch:
    there = bumps.seen[bump.path, blob] if blob else {}
    if there is None:
        return BumpOnBranch(bump, None, Relation.UNKNOWN)
    return _standing(bump, list(there.get(bump.name, {}).values()))


def _standing(bump: Bump, there: Sequence[DeclaredDependency]) -> BumpOnBranch:
    versions = [
        version for each in there for version in (version_of(each), commit_of(each)) if version
    ]
    if not versions:
        return BumpOnBranch(bump, None, Relation.NOT_THERE)
    have = next((each for each in (bump.old, bump.new) if each in versions), versions[0])
    jump = distance(have, bump.new) if bump.new else None
    return BumpOnBranch(bump, have, _relation(bump, have, jump), jump)


def _relation(bump: Bump, have: str, jump: Distance | None) -> Relation:
    if have == bump.new:
        return Relation.ALREADY
    if have == bump.old or bump.new is None:
        return Relation.SAME
    if jump is None:
        return Relation.UNKNOWN
    if bump.old is None:
        return Relation.FURTHER if jump.up else Relation.ALREADY
    move = distance(bump.old, bump.new)
    if move is None:
        return Relation.UNKNOWN
    if jump.step is VersionStep.SAME or jump.up != move.up:
        return Relation.ALREADY
    return Relation.OTHER_LINE if jump.step is VersionStep.MAJOR != move.step else Relation.FURTHER


def only_raises(bumps: Bumps, files: Sequence[FileChange]) -> bool:
    """Whether a change of these files does nothing but move versions."""
    manifests = [file for file in files if file.path not in bumps.lock_files]
    named = {bump.path for bump in bumps.changed}
    return bool(manifests) and all(
        file.path in named and _only_versions(file, bumps.changed) for file in manifests
    )


def _only_versions(file: FileChange, changed: Sequence[Bump]) -> bool:
    """Whether each added line is a removed one but for a version."""
    moved = [bump for bump in changed if bump.path == file.path and bump.old and bump.new]
    removed, added = (
        [line.text for hunk in file.hunks for line in hunk.lines if line.sign == sign]
        for sign in "-+"
    )
    return len(added) == len(removed) == file.additions and all(
        any(new.replace(b.new or "", "") == old.replace(b.old or "", "") for b in moved)
        for old, new in zip(removed, added, strict=True)
    )


def checks_of(bumps: Bumps, found: Sequence[BumpOnBranch], branch: str) -> Iterator[Check]:
    """Yield the checks of a report: what moves, and what could not be read.

    A jump of a major version or a way back is an error; for what only builds, tests or checks the
    project it matters one degree less.
    """
    if bumps.changed:
        yield _moves(found, branch)
    unread = [*bumps.unread, *(each.bump.path for each in found if each.unseen)]
    if unread:
        names = ", ".join(map(visible, list(dict.fromkeys(unread))[:_SHOWN]))
        message = f"not looked into: no version could be read in {names}"
        yield Check("dependencies", passed=False, message=message, severity="hint")
    elif not bumps.changed:
        locked = "only a lock file changes" if bumps.lock_only else ""
        message = locked or "no version of a dependency changes"
        yield Check("dependencies", passed=True, message=message, severity="hint")


def _moves(found: Sequence[BumpOnBranch], branch: str) -> Check:
    ranked = sorted(found, key=lambda each: _RANKS.index(_severity(each)))
    worst = _severity(ranked[0])
    lines = [_sentence(each, branch) for each in ranked[:_SHOWN]]
    more = [f"{len(ranked) - _SHOWN} more"] if len(ranked) > _SHOWN else []
    first = ranked[0].bump
    return Check(
        "dependencies",
        passed=worst in {None, "hint"},
        message="; ".join([*lines, *more]),
        location=Location(first.path, first.line),
        severity=worst or "hint",
        evidence=f"{visible(first.name)} {visible(first.new or first.old or '')}",
    )


_RANKS: Sequence[Severity | None] = ("error", "warning", "hint", None)


def _severity(standing: BumpOnBranch) -> Severity | None:
    """How much it matters; None where it is in order."""
    rank = _RANKS.index(_library_severity(standing))
    tool = standing.bump.purpose is Purpose.TOOL
    return _RANKS[min(rank + tool, len(_RANKS) - 1)]


def _library_severity(standing: BumpOnBranch) -> Severity | None:
    bump, jump = standing.bump, standing.jump
    if bump.purpose is Purpose.OWN:
        return "warning"
    if standing.relation is Relation.ALREADY:
        return None
    if standing.relation is Relation.NOT_THERE:
        return "warning" if bump.new else None
    if jump is None:
        return "warning"  # removed, or nobody can tell
    if not jump.up or jump.step is VersionStep.MAJOR:
        return "error"
    return None if jump.step is VersionStep.PATCH else "warning"


def _sentence(standing: BumpOnBranch, branch: str) -> str:
    return f"{_move(standing.bump)}; {_there(standing, visible(branch))}"


def _move(bump: Bump) -> str:
    name = visible(bump.name)
    if bump.old is None:
        return f"adds {name} {visible(bump.new or '')}"
    if bump.new is None:
        return f"removes {name} {visible(bump.old)}"
    move = distance(bump.old, bump.new)
    verb = (
        "changes"
        if move is None or move.step is VersionStep.SAME
        else "raises"
        if move.up
        else "lowers"
    )
    return f"{verb} {name} from {visible(bump.old)} to {visible(bump.new)}"


def _there(standing: BumpOnBranch, branch: str) -> str:
    have = visible(standing.have or "")
    match standing.relation:
        case Relation.NOT_THERE:
            return f"{branch} does not have it in {visible(standing.bump.path)}"
        case Relation.ALREADY:
            return f"{branch} is at {have} already"
        case Relation.UNKNOWN:
            return (
                f"{branch} is at {have}, which nobody can compare"
                if have
                else f"not looked into on {branch}"
            )
    if standing.bump.new is None:
        return f"{branch} has {have}"
    jump = standing.jump
    same = "at the same version" if standing.relation is Relation.SAME else f"at {have}"
    return f"{branch} is {same}{_jump(jump)}"


def _jump(jump: Distance | None) -> str:
    if jump is None:
        return ": nobody can tell how far that is"
    way = "a jump of" if jump.up else "a way back by"
    plural = "s" if jump.count > 1 else ""
    count = _COUNTS.get(jump.count, str(jump.count))
    return f": {way} {count} {jump.step} version{plural}"


_COUNTS = {0: "a", 1: "a", 2: "two", 3: "three", 4: "four"}
