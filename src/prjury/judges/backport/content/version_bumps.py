"""What a change does to versions of dependencies, found out once for all branches."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from prjury.manifests.formats import format_of
from prjury.manifests.manifest import Coordinate, ManifestError, Role
from prjury.ports import Repository
from prjury.snapshot.dependencies import DeclaredDependency, Purpose, declared
from prjury.snapshot.manifests import is_manifest
from prjury.snapshot.model import FileChange, FileKind, PullRequest

#: So many digits of a commit are shown.
_COMMIT = 12
_DIGIT = re.compile(r"\d")
#: Versions of a catalog have names of their own, by which the line reader knows them.
_CATALOG = ".versions.toml"

#: What a file declares, by name and version.
Named: TypeAlias = Mapping[str, Mapping[str, DeclaredDependency]]


@dataclass(frozen=True)
class Bump:
    """A dependency that a change adds, removes or moves to another version.

    Attributes:
        old: the version or range before; None for one that is added.
        new: the version or range behind; None for one that is removed.
        line: where it stands at the head, or stood on the merge base if it is removed; from 1.
    """

    path: str
    name: str
    old: str | None
    new: str | None
    purpose: Purpose
    line: int

    @property
    def is_library(self) -> bool:
        """Whether it gets to the project's users, other than what builds, tests or checks it."""
        return self.purpose is Purpose.LIBRARY


@dataclass(frozen=True)
class Bumps:
    """What a change does to dependencies.

    Attributes:
        manifests: the files that may declare versions.
        lock_files: those that the change touches.
        unread: manifests that are not here, not text, or hold no version in a known form.
        seen: what files of branches declare, by path and blob; None where nobody can read it.
    """

    changed: tuple[Bump, ...] = ()
    manifests: tuple[str, ...] = ()
    lock_files: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    seen: dict[tuple[str, str], Named | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def told(self) -> bool:
        """Whether there is anything to say."""
        return bool(self.manifests or self.lock_files)

    @property
    def lock_only(self) -> bool:
        """Whether only the exact versions within the declared ranges change."""
        return bool(self.lock_files) and not self.changed and not self.unread


def bumps_of(pull: PullRequest, repository: Repository) -> Bumps:
    """What the change does to dependencies; the same for every branch."""
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
    """Whether a changed line holds a digit, or the changed lines are not known."""
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
        found = declared(path, content.decode().splitlines(keepends=True)) or ()
    except UnicodeDecodeError:
        return None
    both = (*found, *_parsed(path, content, found))
    return both or (None if content.strip() else ())


def _parsed(
    path: str, content: bytes, found: Sequence[DeclaredDependency]
) -> Iterator[DeclaredDependency]:
    """Yield what the pattern judge's parser reads in the file and the line reader does not."""
    kind = format_of(path)
    if kind is None or kind.locked or path.endswith(_CATALOG) or len(content) > kind.max_bytes:
        return
    try:
        coordinates = kind.reader(content).coordinates
    except ManifestError:
        return
    known = {_plain(each.name) for each in found}
    for one in coordinates:
        name = "the project itself" if one.role is Role.SELF else str(one)
        # A Gradle plugin is known by its id alone, which is the group here.
        if known & {_plain(name), _plain(one.group)} or one.ecosystem == "runtime":
            continue
        if one.version and "$" not in one.version:
            line = one.lines[0] if one.lines else 1
            yield DeclaredDependency(name, one.version, one.version, line, _purpose(one))


def _plain(name: str) -> str:
    """Return the name in one spelling: registries take `_`, `.` and `-` for the same."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _purpose(one: Coordinate) -> Purpose:
    if one.role is Role.SELF:
        return Purpose.OWN
    return Purpose.TOOL if one.role is Role.PLUGIN or one.optional else Purpose.LIBRARY


def _changes(
    path: str, before: Sequence[DeclaredDependency], after: Sequence[DeclaredDependency]
) -> Iterator[Bump]:
    """What differs by name; a name may stand in a file several times, with several versions."""
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
            told = other or one
            if told:
                was_at, is_at = _told_apart(one, other)
                yield Bump(path, name, was_at, is_at, told.purpose, told.line)


def _told_apart(
    one: DeclaredDependency | None, other: DeclaredDependency | None
) -> tuple[str | None, str | None]:
    """Both versions, or the commits where a remark beside them stays the same."""
    versions = version_of(one), version_of(other)
    return versions if versions[0] != versions[1] else (commit_of(one), commit_of(other))


def by_name(found: Sequence[DeclaredDependency]) -> Named:
    """The dependencies by name, and of one name by the version as it is written."""
    named: dict[str, dict[str, DeclaredDependency]] = defaultdict(dict)
    for each in found:
        named[each.name].setdefault(each.written, each)
    return named


def version_of(each: DeclaredDependency | None) -> str | None:
    """The version as people say it; for a pinned commit without a remark the commit."""
    return (each.version.lstrip("= ") or commit_of(each)) if each else None


def commit_of(each: DeclaredDependency | None) -> str | None:
    """What is written there, a commit in short."""
    return each.written[:_COMMIT] if each else None
