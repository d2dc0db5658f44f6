"""Which versions the project declares for a file, before and after the pull request.

Both sides are read: the base as it is, and with the pull request on top, because the change may be
what moves the version. Whether a module keeps an old library on purpose is asked of the base alone,
so that no pull request grants itself an exemption in passing; only a module that is new, in a
directory of its own, has nothing but itself to go by.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prjury.judges.patterns.project.formats import directory_of, format_of
from prjury.judges.patterns.project.lineage import Chain
from prjury.judges.patterns.project.module import Module, Sides
from prjury.judges.patterns.project.tree import (
    BuildTree,
    Places,
    build_files,
    family_of,
    is_build_file,
)
from prjury.ports import Repository, TreeEntry
from prjury.pull.kinds import REGULAR_MODES
from prjury.pull.model import FileChange, FileKind, PullRequest, printable

NOWHERE = Module()


@dataclass(frozen=True)
class Project:
    """The modules of a pull request's files.

    Attributes:
        of_file: the module of each changed file by its path; `NOWHERE` where none is above it.
        base: the files of the base.
        unread: why a build file that the pull request changes cannot be read, by printable path.
    """

    of_file: Mapping[str, Sides]
    base: Sequence[TreeEntry] = ()
    unread: Mapping[str, str] = field(default_factory=dict)

    @property
    def modules(self) -> tuple[Module, ...]:
        """Each module once on each side, by the path of its build file, the head's first."""
        found = dict.fromkeys(m for s in self.places for m in (s.head, s.base))
        return tuple(sorted(found, key=lambda module: module.path))

    @property
    def places(self) -> tuple[Sides, ...]:
        """Both sides of each module once."""
        found = {sides.key: sides for sides in self.of_file.values()}
        return tuple(found[key] for key in sorted(found))

    def files_of(self, module: str) -> Iterator[tuple[str, str]]:
        """Path and object name of each file that the module has at the base."""
        places = Places.of(build_files(self.base))
        for entry in self.base:
            if entry.mode in REGULAR_MODES:
                build_file = places.nearest(entry.path, family_of(entry.path)) or ""
                if printable(build_file) == module:
                    yield entry.path, entry.blob

    @classmethod
    def read(cls, pull: PullRequest, repository: Repository, paths: Iterable[str]) -> Project:
        """Reads the build files that the paths depend on.

        Raises:
            SourceError: when the repository cannot list a tree.
        """
        changed = [file for file in pull.files if _touches_build_file(file)]
        entries = repository.files(pull.base.sha)
        base = build_files(entries)
        before = after = BuildTree(repository, base)
        if changed:
            after = BuildTree(repository, _after(pull, repository, base, changed), before.contents)
        touched = frozenset(p for file in changed for p in (file.path, file.old_path) if p)
        borders = _Borders(before, after, _directories(entries) if changed else frozenset())
        places = {path: borders.around(path) for path in paths}
        after.load({place for place, _ in places.values() if place})
        before.load(
            {place for pair in places.values() for place in pair if place and before.holds(place)}
        )
        modules = {
            pair: _sides(pair, after, before, touched) for pair in sorted(set(places.values()))
        }
        of_file = {path: modules[pair] for path, pair in places.items()}
        return cls(of_file, entries, _unread(changed, after))


@dataclass(frozen=True)
class _Borders:
    """Where modules begin, by the build files of both sides.

    Attributes:
        existing: every directory of the base, the root as an empty string.
    """

    before: BuildTree
    after: BuildTree
    existing: frozenset[str]

    def around(self, path: str) -> tuple[str, str]:
        """The build file of a path at the head and at the base; empty where there is none."""
        family = family_of(path)
        head = self.after.places.nearest(path, family) or ""
        if head and not self.before.holds(head) and self._is_fresh(head):
            return head, head
        return head, self.before.places.nearest(path, family) or ""

    def _is_fresh(self, build_file: str) -> bool:
        """Whether a build file that is new begins a module rather than cuts into one."""
        kind = format_of(build_file)
        directory = directory_of(build_file)
        loose = kind is not None and kind.loose
        return not loose and "src" not in directory.split("/") and directory not in self.existing


def _directories(entries: Iterable[TreeEntry]) -> frozenset[str]:
    found: set[str] = set()
    for entry in entries:
        directory = posixpath.dirname(entry.path)
        while directory not in found:
            found.add(directory)
            directory = posixpath.dirname(directory)
    return frozenset(found)


def _unread(changed: Iterable[FileChange], after: BuildTree) -> dict[str, str]:
    """Test data aside, in which a broken build file may well be meant."""
    reasons = {
        printable(file.path): after.trouble(file.path)
        for file in changed
        if file.kind is not FileKind.TEST
    }
    return {path: f"build file: {reason}" for path, reason in reasons.items() if reason}


def _touches_build_file(file: FileChange) -> bool:
    return is_build_file(file.path) or is_build_file(file.old_path or "")


def _after(
    pull: PullRequest, repository: Repository, base: Mapping[str, str], changed: list[FileChange]
) -> dict[str, str]:
    """The build files with the pull request on top.

    Only where the base has moved on meanwhile do both sides have a say, and the trial merge knows.
    """
    if pull.behind and pull.merge.tree:
        return build_files(repository.files(pull.merge.tree))
    blobs = dict(base)
    for file in changed:
        blobs.pop(file.old_path or file.path, None)
    return blobs | {
        file.path: file.new_blob for file in changed if file.new_blob and is_build_file(file.path)
    }


def _sides(
    pair: tuple[str, str], after: BuildTree, before: BuildTree, touched: frozenset[str]
) -> Sides:
    place, base_place = pair
    base_chain = before.chain(base_place) if base_place and before.holds(base_place) else None
    head = NOWHERE
    if place:
        chain = after.chain(place)
        own = before.chain(place) if before.holds(place) else chain
        head = _module(place, chain, own, touched)
        if place == base_place and (base_chain is None or head.at == "base"):
            return Sides(head, head)
    if base_chain is None:
        return Sides(head, NOWHERE)
    return Sides(head, _module(base_place, base_chain, base_chain, frozenset()))


def _module(place: str, chain: Chain, own: Chain, touched: frozenset[str]) -> Module:
    paths = {*chain.paths, *own.paths}
    return Module(
        path=printable(place),
        names=_names(place, chain),
        declared=tuple(sorted(chain.declared())),
        kept=tuple(own.kept()),
        at="head" if touched.intersection(paths) else "base",
        broken=chain.broken,
        family=kind.family if (kind := format_of(place)) else "",
        notes=chain.notes,
    )


def _names(place: str, chain: Chain) -> tuple[str, ...]:
    directory = posixpath.basename(directory_of(place))
    return tuple(name for name in (directory, chain.name) if name)
