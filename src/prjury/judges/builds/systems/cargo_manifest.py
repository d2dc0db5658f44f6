"""Cargo's manifests: the packages of a workspace and which of them depend on which. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from prjury.judges.builds.systems.globs import matching
from prjury.judges.builds.systems.manifest import read_toml, strings, table
from prjury.judges.builds.systems.source_tree import SourceTree, joined, parent_of
from prjury.judges.builds.systems.workspace_graph import Member, WorkspaceGraph
from prjury.snapshot.model import visible

MANIFEST = "Cargo.toml"
#: What belongs to the package in the root of a workspace by Cargo's own conventions.
_OWN = ("src", "tests", "benches", "examples", "build.rs")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_KINDS = ("dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies")


@dataclass(frozen=True)
class CargoWorkspace:
    """What a root manifest says. Directories are as seen from its own.

    Attributes:
        members: the workspace, None for a package that stands alone.
        directories: where its packages are.
        excluded: directories that it says are none of its own.
        default: the names of the packages that Cargo builds unless it is told otherwise; empty
            where the manifest does not say.
        outside: the directories of other packages that it depends on, from the root of the tree.
    """

    members: WorkspaceGraph | None
    directories: frozenset[str] = frozenset({""})
    excluded: tuple[str, ...] = ()
    default: frozenset[str] = frozenset()
    outside: frozenset[str] = frozenset()

    def owns(self, directory: str) -> bool:
        """Whether a package there is part of it, or none at all because it is not excluded.

        Cargo refuses to build a package below a workspace that neither has it nor excludes it.
        """
        if self.members is None:
            return False
        return directory in self.directories or not _is_in(directory, self.excluded)


def read_workspace(root: SourceTree) -> CargoWorkspace:
    """The workspace or the package whose manifest is in the root of this tree."""
    manifest = read_toml(root.text(MANIFEST))
    if manifest is None:
        return _unreadable(f"{MANIFEST} cannot be read")
    if isinstance(manifest.get("workspace"), dict):
        return _read(root, manifest)
    outside = CargoPackages(root, manifest, ()).local("", manifest)
    return CargoWorkspace(None, outside=frozenset(outside))


def _unreadable(because: str) -> CargoWorkspace:
    return CargoWorkspace(WorkspaceGraph((), unreadable=because))


def _read(root: SourceTree, manifest: Mapping[str, Any]) -> CargoWorkspace:
    workspace = table(manifest, "workspace")
    patterns, excluded, default = (
        strings(workspace.get(key)) for key in ("members", "exclude", "default-members")
    )
    if patterns is None or excluded is None or default is None:
        return _unreadable(f"the workspace in {MANIFEST} cannot be read")
    places = root.directories_with(MANIFEST)
    named, chosen = matching(patterns, places), matching(default, places)
    if named is None or chosen is None:
        return _unreadable(f"the patterns in {MANIFEST} are not understood")
    left_out = tuple(filter(None, (joined("", path) for path in excluded)))
    literal = {joined("", pattern) for pattern in patterns}
    start = frozenset(path for path in named if path in literal or not _is_in(path, left_out))
    packages = CargoPackages(root, manifest, left_out)
    found = packages.reached(start | ({""} if "package" in manifest else set()))
    if isinstance(found, str):
        return _unreadable(found)
    members = tuple(packages.member(path, found) for path in sorted(found))
    names = frozenset(member.name for member in members if member.directory in chosen)
    outside = packages.outside(found)
    return CargoWorkspace(
        WorkspaceGraph(members, (*_OWN, *_targets(manifest))),
        frozenset(found),
        left_out,
        names,
        frozenset(outside),
    )


def _targets(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Where a package has its programs and tests, if it says so: their directories, or files."""
    kinds = (manifest.get(kind) for kind in ("bin", "test", "bench", "example"))
    listed = [one for kind in kinds if isinstance(kind, list) for one in kind]
    paths = [table(one).get("path") for one in (*listed, manifest.get("lib"))]
    for path in (*paths, table(manifest, "package").get("build")):
        place = joined("", path) if isinstance(path, str) else None
        if place:
            yield parent_of(place) or place


def _is_in(path: str, directories: tuple[str, ...]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in directories)


@dataclass(frozen=True)
class CargoPackages:
    """The packages that a root manifest leads to."""

    root: SourceTree
    manifest: Mapping[str, Any]
    excluded: tuple[str, ...]

    def reached(self, start: frozenset[str]) -> dict[str, Mapping[str, Any]] | str:
        """The members' manifests by directory; what they depend on by path belongs to them.

        Returns:
            Why that cannot be told, where a manifest cannot be read.
        """
        found: dict[str, Mapping[str, Any]] = {}
        waiting = sorted(start)
        while waiting:
            directory = waiting.pop()
            if directory in found:
                continue
            manifest = read_toml(self.root.text(_inside(directory)))
            if manifest is None or not _named(manifest):
                return f"{visible(_inside(directory))} cannot be read"
            found[directory] = manifest
            waiting += sorted(filter(self._is_member, self._below(directory, manifest)))
        return found

    def _is_member(self, directory: str) -> bool:
        return _inside(directory) in self.root.files and not _is_in(directory, self.excluded)

    def member(self, directory: str, found: Mapping[str, Mapping[str, Any]]) -> Member:
        """The package in a directory, with what it needs of the others."""
        manifest = found[directory]
        paths = self._below(directory, manifest) & found.keys()
        needs = frozenset(_named(found[path]) for path in paths)
        return Member(_named(manifest), directory, _inside(directory), needs - {_named(manifest)})

    def outside(self, found: Mapping[str, Mapping[str, Any]]) -> set[str]:
        """The directories of packages that these depend on and that are not among them."""
        own = {joined(self.root.place, directory) for directory in found}
        return {
            place
            for directory, manifest in found.items()
            for place in self.local(directory, manifest)
            if place not in own
        }

    def _below(self, directory: str, manifest: Mapping[str, Any]) -> set[str]:
        prefix = f"{self.root.place}/" if self.root.place else ""
        local = self.local(directory, manifest)
        return {place.removeprefix(prefix) for place in local if place.startswith(prefix)}

    def local(self, directory: str, manifest: Mapping[str, Any]) -> set[str]:
        """Where the packages are that one depends on by path, from the root of the tree."""
        asked = (self._asked(directory, *wanted) for wanted in _dependencies(manifest))
        return {place for place in asked if place is not None}

    def _asked(self, directory: str, name: str, wanted: Any) -> str | None:  # noqa: ANN401
        """The directory of a dependency; what the workspace or a patch says of it counts."""
        if isinstance(wanted, dict) and wanted.get("workspace") is True:
            directory, wanted = "", table(self.manifest, "workspace", "dependencies").get(name)
        spec = wanted if isinstance(wanted, dict) else {}
        if "path" not in spec:
            directory, spec = "", table(self._patched.get(str(spec.get("package", name))))
        path = spec.get("path")
        if not isinstance(path, str):
            return None
        return joined(joined(self.root.place, directory) or "", path)

    @cached_property
    def _patched(self) -> dict[str, Any]:
        sources = table(self.manifest, "patch").values()
        return {name: patch for source in sources for name, patch in table(source).items()}


def _inside(directory: str) -> str:
    return f"{directory}/{MANIFEST}" if directory else MANIFEST


def _named(manifest: Mapping[str, Any]) -> str:
    """The package's name, empty where there is none that Cargo would take."""
    name = table(manifest, "package").get("name")
    return name if isinstance(name, str) and _NAME.fullmatch(name) else ""


def _dependencies(manifest: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    targets = (table(target) for target in table(manifest, "target").values())
    for holder in (manifest, *targets):
        for kind in _KINDS:
            yield from table(holder, kind).items()
