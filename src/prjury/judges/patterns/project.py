"""Which versions the project declares for a file, before and after the pull request.

The tree that counts is the base's with the pull request on top: a build file that it changes is
read as it leaves it, because then the change is what moves the version. Whether a module keeps an
old library on purpose is asked of the base alone, so that no pull request grants itself an
exemption in passing; only a module that is new has nothing but itself to go by.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from prjury.judges.patterns.lineage import Chain
from prjury.judges.patterns.manifest import Manifest, Role
from prjury.judges.patterns.module import Declared, Module
from prjury.judges.patterns.tree import BuildTree, build_files, is_build_file, nearest
from prjury.ports import Repository, TreeEntry
from prjury.pull.kinds import REGULAR_MODES
from prjury.pull.model import FileChange, PullRequest, printable

NOWHERE = Module()


@dataclass(frozen=True)
class Project:
    """The modules of a pull request's files.

    Attributes:
        of_file: the module of each changed file by its path; `NOWHERE` where none is above it.
        base: the files of the base.
    """

    of_file: Mapping[str, Module]
    base: Sequence[TreeEntry] = ()

    @property
    def modules(self) -> tuple[Module, ...]:
        """Each module once, by the path of its build file."""
        found = {module.path: module for module in self.of_file.values()}
        return tuple(found[path] for path in sorted(found))

    def files_of(self, module: str) -> Iterator[tuple[str, str]]:
        """Path and object name of each file that the module has at the base."""
        places = build_files(self.base)
        for entry in self.base:
            if (
                entry.mode in REGULAR_MODES
                and printable(nearest(entry.path, places) or "") == module
            ):
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
            after = BuildTree(repository, _after(pull, repository, base, changed))
        touched = frozenset(file.path for file in changed)
        places = {path: nearest(path, after.blobs) for path in paths}
        wanted = {place for place in places.values() if place}
        after.load(wanted)
        before.load(wanted & base.keys())
        modules = {place: _module(place, after, before, touched) for place in sorted(wanted)}
        of_file = {path: modules[place] if place else NOWHERE for path, place in places.items()}
        return cls(of_file, entries)


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


def _module(place: str, after: BuildTree, before: BuildTree, touched: frozenset[str]) -> Module:
    chain = after.chain(place)
    base_chain = before.chain(place) if place in before.blobs else chain
    return Module(
        path=printable(place),
        names=_names(place, chain),
        declared=tuple(sorted(chain.declared())),
        kept=_own(base_chain),
        at="head" if touched.intersection(chain.paths) else "base",
        broken=chain.broken,
        notes=chain.notes,
    )


def _own(chain: Chain) -> tuple[Declared, ...]:
    """What the module's own build file asks for."""
    own = (Role.DEPENDENCY, 0)
    return tuple(d for d in chain.declared() if (d.role, d.level) == own)


def _names(place: str, chain: Chain) -> tuple[str, ...]:
    directory = posixpath.basename(posixpath.dirname(place))
    manifest = chain.links[0][1] if chain.links else Manifest()
    return tuple(name for name in (directory, manifest.name) if name)
