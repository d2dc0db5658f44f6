"""Versions of dependencies that a change moves, compared with those of the branch."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from prjury.jury.judgment import Check, Location, Severity
from prjury.manifests.declared import DeclaredDependency, Purpose, is_manifest, list_declared
from prjury.manifests.distance import Distance, VersionStep, measure_distance
from prjury.manifests.manifest import ManifestError
from prjury.ports import Repository
from prjury.snapshot.model import FileChange, FileKind, PullRequest, visible

#: Packages whose versions are dates with two digits of the year.
_DATED = frozenset({"attrs", "black", "packaging", "pip", "pyopenssl", "structlog", "twisted"})
_YEAR = re.compile(r"\D*(?:19|20)\d\d\b")
#: Shown digits of a commit.
_COMMIT = 12
_DIGIT = re.compile(r"\d")
#: So many are listed; the rest is counted.
_SHOWN = 4


class Bump(Struct, frozen=True):
    """A dependency that a change adds (without ``old``), removes (without ``new``) or moves."""

    path: str
    name: str
    old: str | None
    new: str | None
    purpose: Purpose
    line: int


class Bumps(Struct, frozen=True):
    """Changes of dependencies in manifests; ``unread`` ones have no readable versions."""

    changed: tuple[Bump, ...] = ()
    unread: tuple[str, ...] = ()
    lock_files: tuple[str, ...] = ()


def find_dependency_changes(pull: PullRequest, repository: Repository) -> Bumps:
    """Return what the change does to dependencies, for all branches."""
    files = [f for f in pull.files if is_manifest(f.path) or is_manifest(f.old_path or "")]
    blobs = [blob for file in files for blob in (file.old_blob, file.new_blob) if blob]
    contents = repository.read(blobs) if blobs else {}
    changed: list[Bump] = []
    unread: list[str] = []
    for file in files:
        old, new = (
            _read_dependencies(file.path, contents.get(blob) if blob else b"")
            for blob in (file.old_blob, file.new_blob)
        )
        lines = (line.text for hunk in file.hunks for line in hunk.lines if line.sign in "+-")
        moving = file.unread or any(map(_DIGIT.search, lines))
        if (old is None or new is None) and moving:
            unread.append(file.path)
        else:
            changed += _list_dependency_changes(file.path, old or (), new or ())
    locks = tuple(file.path for file in pull.files if file.kind is FileKind.LOCK)
    return Bumps(tuple(changed), tuple(unread), locks)


def _read_dependencies(path: str, content: bytes | None) -> Sequence[DeclaredDependency] | None:
    """Return the dependencies of a file; None if it cannot be read, or no form is known."""
    if content is None:
        return None
    try:
        dependencies = tuple(each for each in list_declared(path, content) or () if each.name)
    except ManifestError:
        return None
    return dependencies or (None if content.strip() else ())


def _list_dependency_changes(
    path: str, before: Iterable[DeclaredDependency], after: Iterable[DeclaredDependency]
) -> Iterator[Bump]:
    """Yield what differs by name; a file may declare a name several times."""
    old, new = _group_by_name(before), _group_by_name(after)
    for name in dict.fromkeys([*new, *old]):
        was, now = old.get(name, {}), new.get(name, {})
        gone = [each for written, each in was.items() if written not in now]
        come = [each for written, each in now.items() if written not in was]
        if was and now and not (gone and come):
            continue  # one of several places follows the others
        for number in range(max(len(gone), len(come))):
            one = gone[min(number, len(gone) - 1)] if gone else None
            other = come[min(number, len(come) - 1)] if come else None
            versions = _version_of(one), _version_of(other)
            if versions[0] == versions[1]:  # the comments beside two commits are the same
                versions = _commit_of(one), _commit_of(other)
            if shown := other or one:
                yield Bump(path, name, *versions, shown.purpose, shown.line)


def _group_by_name(
    dependencies: Iterable[DeclaredDependency],
) -> Mapping[str, Mapping[str, DeclaredDependency]]:
    by_name: dict[str, dict[str, DeclaredDependency]] = defaultdict(dict)
    for each in dependencies:
        by_name[each.name].setdefault(each.written, each)
    return by_name


def _version_of(each: DeclaredDependency | None) -> str | None:
    """Return the version, or the commit of a pin without a comment."""
    return (each.version.lstrip("= ") or _commit_of(each)) if each else None


def _commit_of(each: DeclaredDependency | None) -> str | None:
    return each.written[:_COMMIT] if each else None


class BumpOnBranch(Struct, frozen=True):
    """A bump beside the version that a branch has (None without any), and the jump from there."""

    bump: Bump
    have: str | None = None
    jump: Distance | None = None
    readable: bool = True

    @property
    def has_version_or_newer(self) -> bool:
        """Return true if the branch has the version after the change, or a newer one."""
        bump, jump = self.bump, self.jump
        if bump.new is None or self.have in {None, bump.old}:
            return False
        if self.have == bump.new:
            return True
        move = measure_distance(bump.old, bump.new) if bump.old else Distance(VersionStep.MAJOR)
        if jump is None or move is None:
            return False
        return jump.step is VersionStep.SAME or jump.up != move.up

    @property
    def is_beyond_patch(self) -> bool:
        """Return true if the branch's version would move by more than a patch."""
        if self.jump is None or not self.jump.up or _is_dated(self.bump):
            return False
        return self.jump.step in {VersionStep.MINOR, VersionStep.MAJOR}


def compare_bumps(bumps: Bumps, tip: str, repository: Repository) -> tuple[BumpOnBranch, ...]:
    """Compare each bump with the same file of the branch with this tip."""
    if not bumps.changed:
        return ()
    paths = {bump.path for bump in bumps.changed}
    blobs = {entry.path: entry.blob for entry in repository.files(tip) if entry.path in paths}
    contents = repository.read(list(blobs.values())) if blobs else {}
    declared = {path: _read_dependencies(path, contents.get(blob)) for path, blob in blobs.items()}
    return tuple(_compare_bump(bump, declared.get(bump.path, ())) for bump in bumps.changed)


def _compare_bump(bump: Bump, declared: Sequence[DeclaredDependency] | None) -> BumpOnBranch:
    if declared is None:
        return BumpOnBranch(bump, readable=False)
    same = [each for each in declared if each.name == bump.name]
    versions = [v for each in same for v in (_version_of(each), _commit_of(each)) if v]
    if not versions:
        return BumpOnBranch(bump)
    have = next((each for each in (bump.old, bump.new) if each in versions), versions[0])
    return BumpOnBranch(bump, have, measure_distance(have, bump.new) if bump.new else None)


def moves_only_versions(bumps: Bumps, files: Sequence[FileChange]) -> bool:
    """Return true if each added line of these files is a removed one with another version."""
    manifests = [file for file in files if file.path not in bumps.lock_files]
    for file in manifests:
        moved = [b for b in bumps.changed if b.path == file.path and b.old and b.new]
        lines = [line for hunk in file.hunks for line in hunk.lines]
        removed, added = ([line.text for line in lines if line.sign == sign] for sign in "-+")
        if not moved or not len(added) == len(removed) == file.additions:
            return False
        for old, new in zip(removed, added, strict=True):
            if not any(new.replace(b.new or "", "") == old.replace(b.old or "", "") for b in moved):
                return False
    return bool(manifests)


def check_unread_files(bumps: Bumps, on_branch: Sequence[BumpOnBranch]) -> Check | None:
    """Return the check ``dependencies`` for what could not be read."""
    unread = [*bumps.unread, *(each.bump.path for each in on_branch if not each.readable)]
    if unread:
        names = ", ".join(map(visible, list(dict.fromkeys(unread))[:_SHOWN]))
        message = f"not checked: no version can be read in {names}"
        return Check("dependencies", passed=False, message=message, severity="hint")
    return None


def check_moved_versions(on_branch: Sequence[BumpOnBranch], branch: str) -> Check | None:
    """Return the check ``dependencies`` for moved versions; tools count one degree less."""
    if not on_branch:
        return None
    ranked = sorted(on_branch, key=lambda each: _RANKS.index(_rate(each)))
    worst, bump = _rate(ranked[0]), ranked[0].bump
    words = [
        f"{_move_words(each.bump)}; {_describe_branch_version(each, visible(branch))}"
        for each in ranked[:_SHOWN]
    ]
    more = [f"{len(ranked) - _SHOWN} more"] if len(ranked) > _SHOWN else []
    return Check(
        "dependencies",
        passed=worst in {None, "hint"},
        message="; ".join([*words, *more]),
        location=Location(bump.path, bump.line),
        severity=worst or "hint",
        evidence=f"{visible(bump.name)} {visible(bump.new or bump.old or '')}",
    )


_RANKS: Sequence[Severity | None] = ("error", "warning", "hint", None)


def _rate(standing: BumpOnBranch) -> Severity | None:
    rank = _RANKS.index(_rate_bump_on_branch(standing))
    return (*_RANKS, None)[rank + (standing.bump.purpose is Purpose.TOOL)]


def _rate_bump_on_branch(standing: BumpOnBranch) -> Severity | None:
    bump, jump = standing.bump, standing.jump
    if bump.purpose is Purpose.OWN:
        return "warning"
    if standing.has_version_or_newer or (standing.readable and not (standing.have or bump.new)):
        return None
    if jump is None:
        return "warning"  # added or removed, or not comparable
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
    name, old, new = visible(bump.name), visible(bump.old or ""), visible(bump.new or "")
    if bump.old is None:
        return f"adds {name} {new}"
    return f"moves {name} from {old} to {new}" if new else f"removes {name} {old}"


def _describe_branch_version(standing: BumpOnBranch, branch: str) -> str:
    have, jump = visible(standing.have or ""), standing.jump
    if not standing.readable:
        return f"not checked on {branch}"
    if not have:
        return f"{branch} does not have it in {visible(standing.bump.path)}"
    if standing.has_version_or_newer:
        return f"{branch} is already at {have}"
    if standing.bump.new is None:
        return f"{branch} has {have}"
    if jump is None:
        return f"{branch} is at {have}, which cannot be compared"
    if not jump.up:
        return f"{branch} is at {have}, which is newer"
    return f"{branch} is at {have}, a {jump.step} version away"
