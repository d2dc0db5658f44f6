"""Versions of dependencies that a change moves, compared with those of the branch."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from prjury.errors import SourceError
from prjury.jury.judgment import Check, Location, Severity
from prjury.manifests.declared import DeclaredDependency, Purpose, is_manifest, list_declared
from prjury.manifests.distance import Distance, VersionStep, distance
from prjury.manifests.manifest import ManifestError
from prjury.ports import Repository
from prjury.snapshot.model import FileChange, FileKind, PullRequest, visible

if TYPE_CHECKING:
    from prjury.judges.backport.look import LookContext

#: Packages whose versions are dates with two digits of the year.
_DATED = frozenset({"attrs", "black", "packaging", "pip", "pyopenssl", "structlog", "twisted"})
_YEAR = re.compile(r"\D*(?:19|20)\d\d\b")
#: Shown digits of a commit.
_COMMIT = 12
_DIGIT = re.compile(r"\d")

#: The dependencies of a file by name and version.
Named: TypeAlias = Mapping[str, Mapping[str, DeclaredDependency]]


@dataclass(frozen=True)
class Bump:
    """A dependency that a change adds (without ``old``), removes (without ``new``) or moves.

    Attributes:
        line: at the head, or on the merge base for a removed one; from 1.
    """

    path: str
    name: str
    old: str | None
    new: str | None
    purpose: Purpose
    line: int


@dataclass(frozen=True)
class Bumps:
    """What a change does to dependencies in manifests and lock files.

    Attributes:
        unread: manifests without readable versions.
        seen: the dependencies of files of branches, by path and blob; None if unreadable.
    """

    changed: tuple[Bump, ...] = ()
    manifests: tuple[str, ...] = ()
    lock_files: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    seen: dict[tuple[str, str], Named | None] = field(
        default_factory=dict, repr=False, compare=False
    )


def bumps_of(pull: PullRequest, repository: Repository) -> Bumps:
    """Return what the change does to dependencies, for all branches."""
    files = [
        file for file in pull.files if is_manifest(file.path) or is_manifest(file.old_path or "")
    ]
    blobs = [blob for file in files for blob in (file.old_blob, file.new_blob) if blob]
    read = repository.read(blobs) if blobs else {}
    changed: list[Bump] = []
    unread: list[str] = []
    seen: dict[tuple[str, str], Named | None] = {}
    for file in files:
        old, new = (declared_in(file.path, blob, read) for blob in (file.old_blob, file.new_blob))
        if (old is None or new is None) and _may_move_a_version(file):
            unread.append(file.path)
            continue
        changed += _changes(file.path, old or (), new or ())
        for blob, there in ((file.old_blob, old), (file.new_blob, new)):
            seen[file.path, blob or ""] = None if there is None else by_name(there)
    locks = tuple(file.path for file in pull.files if file.kind is FileKind.LOCK)
    manifests = tuple(file.path for file in files)
    return Bumps(tuple(changed), manifests, locks, tuple(unread), seen)


def _may_move_a_version(file: FileChange) -> bool:
    lines = (line.text for hunk in file.hunks for line in hunk.lines if line.sign in "+-")
    return bool(file.unread) or any(map(_DIGIT.search, lines))


def declared_in(
    path: str, blob: str | None, read: Mapping[str, bytes | None]
) -> Sequence[DeclaredDependency] | None:
    """Return what a version of a file declares; None if it cannot be read, or no form is known."""
    content = read.get(blob) if blob else b""
    if content is None:
        return None
    try:
        found = list_declared(path, content) or ()
    except ManifestError:
        return None
    named = tuple(each for each in found if each.name)
    return named or (None if content.strip() else ())


def _changes(
    path: str, before: Sequence[DeclaredDependency], after: Sequence[DeclaredDependency]
) -> Iterator[Bump]:
    """Yield what differs by name; a file may declare a name several times."""
    old, new = by_name(before), by_name(after)
    for name in dict.fromkeys([*new, *old]):
        was, now = old.get(name, {}), new.get(name, {})
        gone = [each for written, each in was.items() if written not in now]
        come = [each for written, each in now.items() if written not in was]
        if was and now and not (gone and come):
            continue  # one of several places follows the others
        for number in range(max(len(gone), len(come))):
            one = gone[min(number, len(gone) - 1)] if gone else None
            other = come[min(number, len(come) - 1)] if come else None
            versions = version_of(one), version_of(other)
            if versions[0] == versions[1]:  # the comments beside two commits are the same
                versions = commit_of(one), commit_of(other)
            if shown := other or one:
                yield Bump(path, name, *versions, shown.purpose, shown.line)


def by_name(found: Sequence[DeclaredDependency]) -> Named:
    """Return the dependencies by name and by their version as written."""
    named: dict[str, dict[str, DeclaredDependency]] = defaultdict(dict)
    for each in found:
        named[each.name].setdefault(each.written, each)
    return named


def version_of(each: DeclaredDependency | None) -> str | None:
    """Return the version, or the commit of a pin without a comment."""
    return (each.version.lstrip("= ") or commit_of(each)) if each else None


def commit_of(each: DeclaredDependency | None) -> str | None:
    """Return what is written, a commit shortened."""
    return each.written[:_COMMIT] if each else None


#: So many are listed; the rest is counted.
_SHOWN = 4


class Relation(StrEnum):
    """The branch's version compared with the versions before and after the change."""

    #: The version before, or for an addition the added version.
    SAME = "same"
    #: The version after, or a newer one.
    ALREADY = "already"
    #: Further away, but the same major version as one of the two.
    FURTHER = "further"
    #: Another major version than both.
    OTHER_LINE = "other_line"
    NOT_THERE = "not_there"
    #: The versions cannot be compared.
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class BumpOnBranch:
    """A bump compared with the version that a branch has, and the jump from there."""

    bump: Bump
    have: str | None
    relation: Relation
    jump: Distance | None = None

    @property
    def unchecked(self) -> bool:
        """Return true if nothing could be read in the branch's version of the file."""
        return self.relation is Relation.UNKNOWN and self.have is None


def bumps_on_branch(bumps: Bumps, tip: str, repository: Repository) -> tuple[BumpOnBranch, ...]:
    """Compare each bump with the same file of the branch with this tip."""
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
    return tuple(_compare_on_branch(bump, blobs.get(bump.path), bumps) for bump in bumps.changed)


def _compare_on_branch(bump: Bump, blob: str | None, bumps: Bumps) -> BumpOnBranch:
    named = bumps.seen[bump.path, blob] if blob else {}
    if named is None:
        return BumpOnBranch(bump, None, Relation.UNKNOWN)
    there = named.get(bump.name, {}).values()
    versions = [v for each in there for v in (version_of(each), commit_of(each)) if v]
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
    """Return true if a change of these files only moves versions."""
    manifests = [file for file in files if file.path not in bumps.lock_files]
    named = {bump.path for bump in bumps.changed}
    return bool(manifests) and all(
        file.path in named and _moves_versions_alone(file, bumps.changed) for file in manifests
    )


def _moves_versions_alone(file: FileChange, changed: Sequence[Bump]) -> bool:
    """Return true if each added line is a removed one with another version."""
    moved = [bump for bump in changed if bump.path == file.path and bump.old and bump.new]
    removed, added = (
        [line.text for hunk in file.hunks for line in hunk.lines if line.sign == sign]
        for sign in "-+"
    )
    return len(added) == len(removed) == file.additions and all(
        any(new.replace(b.new or "", "") == old.replace(b.old or "", "") for b in moved)
        for old, new in zip(removed, added, strict=True)
    )


def unread_manifests(context: LookContext) -> Check | None:
    """Return the check on manifests without readable versions, if the change touches manifests."""
    bumps = context.change.bumps
    try:
        touched = bumps.manifests or bumps.lock_files
        return manifests_check(bumps, context.bumps) if touched else None
    except SourceError:
        return None  # `dependencies` reports it


def manifests_check(bumps: Bumps, found: Sequence[BumpOnBranch]) -> Check | None:
    """Return the check ``dependencies`` for what could not be read, or where no version changes."""
    unread = [*bumps.unread, *(each.bump.path for each in found if each.unchecked)]
    if unread:
        names = ", ".join(map(visible, list(dict.fromkeys(unread))[:_SHOWN]))
        message = f"not checked: no version can be read in {names}"
        return Check("dependencies", passed=False, message=message, severity="hint")
    if bumps.changed:
        return None
    what = "only a lock file" if bumps.lock_files else "no version of a dependency"
    return Check("dependencies", passed=True, message=f"{what} changes", severity="hint")


def moves_check(found: Sequence[BumpOnBranch], branch: str) -> Check | None:
    """Return the check ``dependencies`` for moved versions; None without any.

    A new major version and a downgrade are errors; for build and test tools one degree less.
    """
    if not found:
        return None
    ranked = sorted(found, key=lambda each: _RANKS.index(_severity(each)))
    worst = _severity(ranked[0])
    lines = [
        f"{_move_words(each.bump)}; {_branch_words(each, visible(branch))}"
        for each in ranked[:_SHOWN]
    ]
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
    """Return how much it matters; None if it is fine."""
    rank = _RANKS.index(_library_severity(standing))
    return (*_RANKS, None)[rank + (standing.bump.purpose is Purpose.TOOL)]


def _library_severity(standing: BumpOnBranch) -> Severity | None:
    bump, jump = standing.bump, standing.jump
    if bump.purpose is Purpose.OWN:
        return "warning"
    if standing.relation is Relation.ALREADY:
        return None
    if standing.relation is Relation.NOT_THERE:
        return "warning" if bump.new else None
    if jump is None:
        return "warning"  # removed, or not comparable
    if jump.up and _is_dated(bump):
        return None
    if not jump.up or jump.step is VersionStep.MAJOR:
        return "error"
    return None if jump.step is VersionStep.PATCH else "warning"


def _is_dated(bump: Bump) -> bool:
    """Return true if the versions are dates, whose first number says nothing of what breaks."""
    years = [_YEAR.match(version) for version in (bump.old, bump.new) if version]
    return bump.name.casefold() in _DATED or all(years)


def _move_words(bump: Bump) -> str:
    name = visible(bump.name)
    if bump.old is None:
        return f"adds {name} {visible(bump.new or '')}"
    if bump.new is None:
        return f"removes {name} {visible(bump.old)}"
    move, verb = distance(bump.old, bump.new), "changes"
    if move and move.step is not VersionStep.SAME:
        verb = "raises" if move.up else "lowers"
    return f"{verb} {name} from {visible(bump.old)} to {visible(bump.new)}"


def _branch_words(standing: BumpOnBranch, branch: str) -> str:
    have, jump = visible(standing.have or ""), standing.jump
    match standing.relation:
        case Relation.NOT_THERE:
            return f"{branch} does not have it in {visible(standing.bump.path)}"
        case Relation.ALREADY:
            return f"{branch} is already at {have}"
        case Relation.UNKNOWN if not have:
            return f"not checked on {branch}"
        case Relation.UNKNOWN:
            return f"{branch} is at {have}, which cannot be compared"
    if standing.bump.new is None:
        return f"{branch} has {have}"
    same = "at the same version" if standing.relation is Relation.SAME else f"at {have}"
    if jump is None:
        return f"{branch} is {same}, and the versions cannot be compared"
    way = "a jump of" if jump.up else "a downgrade by"
    count = _COUNTS.get(jump.count, str(jump.count))
    return f"{branch} is {same}: {way} {count} {jump.step} version{'s' * (jump.count > 1)}"


_COUNTS = {0: "a", 1: "a", 2: "two", 3: "three", 4: "four"}
