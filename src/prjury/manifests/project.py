"""Which versions the project declares for a file, before and after the pull request.

Both sides are read: the base as it is, and with the pull request on top, because the change may be
what moves the version. Whether a module keeps an old library on purpose, or is that library, is
asked of the base alone, so that no pull request grants itself an exemption in passing; only where
the base has no build files at all is the head all there is. A module that is new, in a directory of
its own, is compared with the one above it at the base.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from msgspec import Struct, field

from prjury.manifests.formats import find_format, find_project_directory
from prjury.manifests.lineage import Chain
from prjury.manifests.manifest import Role
from prjury.manifests.module import ManifestModule, Sides
from prjury.manifests.tree import (
    BuildFilesByDirectory,
    BuildTree,
    build_files,
    family_of,
    is_build_file,
)
from prjury.ports import Repository
from prjury.ports.types import TreeEntry
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import FileChange, FileKind, FileStatus, PullRequest, printable

NOWHERE = ManifestModule()


class Project(Struct, frozen=True):
    """The modules of changed files by path, and why changed build files cannot be read."""

    of_file: Mapping[str, Sides]
    base: Sequence[TreeEntry] = ()
    unread: Mapping[str, str] = field(default_factory=dict)

    @property
    def modules(self) -> tuple[ManifestModule, ...]:
        modules = dict.fromkeys(m for s in self.places for m in (s.head, s.base))
        return tuple(sorted(modules, key=lambda module: module.path))

    @property
    def places(self) -> tuple[Sides, ...]:
        by_key = {sides.key: sides for sides in self.of_file.values()}
        return tuple(by_key[key] for key in sorted(by_key))

    def list_base_files(self, module: str) -> Iterator[TreeEntry]:
        places = BuildFilesByDirectory.of(build_files(self.base))
        for entry in self.base:
            if entry.mode in REGULAR_MODES:
                build_file = places.nearest(entry.path, family_of(entry.path)) or ""
                if printable(build_file) == module:
                    yield entry

    @classmethod
    def read(cls, pull: PullRequest, repository: Repository, paths: Iterable[str]) -> Project:
        changed = [
            file for file in pull.files if any(map(is_build_file, (file.path, file.old_path or "")))
        ]
        entries = repository.files(pull.base.sha)
        base = build_files(entries)
        before = after = BuildTree(repository, base)
        if changed:
            after = BuildTree(
                repository, _list_blobs_after(pull, repository, base, changed), before.contents
            )
        renamed = [file for file in pull.files if file.status is FileStatus.RENAMED]
        touched = frozenset(p for file in changed for p in (file.path, file.old_path) if p)
        borders = _Borders(
            before,
            after,
            sorted(entry.path for entry in entries) if changed else (),
            {f.path: f.old_path for f in renamed if f.old_path},
        )
        pairs = [(path, borders.find_nearest_build_files(path)) for path in paths]
        places = {path: it._replace(tests=not _MAIN.search(path)) for path, it in pairs}
        after.load_with_inherited({place.head for place in places.values() if place.head})
        before.load_with_inherited(
            path for p in places.values() for path in (p.head, p.base) if before.holds(path)
        )
        modules = {
            place: _make_sides(place, after, before, touched)
            for place in sorted(set(places.values()))
        }
        of_file = {path: modules[place] for path, place in places.items()}
        # Test data aside, in which a broken build file may well be meant.
        reasons = {f.path: after.trouble(f.path) for f in changed if f.kind is not FileKind.TEST}
        unread = {printable(path): f"build file: {why}" for path, why in reasons.items() if why}
        return cls(of_file, entries, unread)


def list_parsed_locks(pull: PullRequest, repository: Repository) -> tuple[str, ...]:
    """The printable paths of the changed lock files that a reader of manifests can parse."""
    locks = {
        file.path: file.new_blob
        for file in pull.files
        if file.kind is FileKind.LOCK
        and file.new_blob
        and not file.exempt
        and is_build_file(file.path)
    }
    return tuple(printable(path) for path in BuildTree(repository, locks).list_declaring())


class _Place(NamedTuple):
    head: str
    base: str
    fresh: bool = False
    tests: bool = True


class _Borders(Struct, frozen=True):
    before: BuildTree
    after: BuildTree
    existing: Sequence[str]
    renamed: Mapping[str, str]

    def find_nearest_build_files(self, path: str) -> _Place:
        family = family_of(path)
        head = self.after.places.nearest(path, family) or ""
        old = self.renamed.get(path)
        base = self.before.places.nearest(old or path, family) or ""
        if old or not head or self.before.holds(head) or not self._is_in_new_directory(head):
            return _Place(head, base)
        moved = self.renamed.get(head, "")
        if self.before.holds(moved) and _family(moved) == _family(head):
            return _Place(head, moved)
        return _Place(head, base, fresh=True)

    def _is_in_new_directory(self, build_file: str) -> bool:
        kind = find_format(build_file)
        directory = find_project_directory(build_file)
        loose = kind is not None and kind.loose
        inside = f"{directory}/".lstrip("/")
        at = bisect_left(self.existing, inside)
        exists = any(path.startswith(inside) for path in self.existing[at : at + 1])
        return not (loose or exists or "src" in directory.split("/"))


def _list_blobs_after(
    pull: PullRequest, repository: Repository, base: Mapping[str, str], changed: list[FileChange]
) -> dict[str, str]:
    if pull.behind and pull.merge.tree:
        return build_files(repository.files(pull.merge.tree))
    blobs = dict(base)
    for file in changed:
        is_renamed = file.status is FileStatus.RENAMED
        blobs.pop((is_renamed and file.old_path) or file.path, None)
    return blobs | {
        file.path: file.new_blob for file in changed if file.new_blob and is_build_file(file.path)
    }


def _make_sides(
    place: _Place, after: BuildTree, before: BuildTree, touched: frozenset[str]
) -> Sides:
    chain = before.make_chain(place.base) if place.base else None
    base = _make_module(place.base, chain, tests=place.tests) if chain else NOWHERE
    if not place.head:
        return Sides(NOWHERE, base)
    chain, own, paths = after.make_chain(place.head), base, set[str]()
    if not before.blobs:
        own = _make_module(place.head, chain, tests=place.tests)
    elif place.fresh:
        own = ManifestModule(selves=base.selves)
    elif before.holds(place.head):
        before_it = before.make_chain(place.head)
        own = _make_module(place.head, before_it, tests=place.tests)
        paths = set(before_it.paths)
    head = replace(
        _make_module(place.head, chain, tests=place.tests),
        names=own.names,
        requested=own.requested,
        selves=own.selves,
        at="head" if touched.intersection({*chain.paths, *paths}) else "base",
    )
    alone = not place.base if place.fresh else place.head == place.base and head.at == "base"
    return Sides(head, head if alone else base, place.fresh and not alone, place.tests)


#: Sources of the JVM that are compiled without what only tests ask for.
_MAIN = re.compile(r"(?:^|/)src/\w*[mM]ain/")


def _make_module(place: str, chain: Chain, *, tests: bool) -> ManifestModule:
    directory = posixpath.basename(find_project_directory(place))
    declared = tuple(chain.list_resolved())
    own = chain.list_own(declared)
    return ManifestModule(
        path=printable(place),
        names=tuple(name for name in (directory, chain.name) if name),
        declared=tuple(sorted(declared)),
        requested=tuple(each for each in own if tests or "test" not in each.scope.lower()),
        selves=tuple(each for each in declared if each.role is Role.SELF),
        broken=chain.broken,
        family=_family(place),
        notes=chain.notes,
    )


def _family(build_file: str) -> str:
    kind = find_format(build_file)
    return kind.family if kind else ""
