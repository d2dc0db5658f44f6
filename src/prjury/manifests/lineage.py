"""From build files to a module: the chain of parents, and properties put into their places."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from msgspec import Struct, json

from prjury.manifests.formats import RANKS, find_format
from prjury.manifests.manifest import Coordinate, Manifest, ManifestError, Role
from prjury.manifests.module import DeclaredVersion
from prjury.manifests.syntax import fill_properties
from prjury.resources import read_published_text
from prjury.snapshot.model import printable

#: Builds before a line's first release, which may still manage what the line before does.
_UNRELEASED = re.compile(r"\d+\.\d+\.0[-.](?:M\d|(?:BUILD-)?SNAPSHOT)")
#: Where an override at the root holds for all that is below.
_OVERRIDING = frozenset({"npm", "go"})

#: Versions by ``group:artifact``, by minor line, by the parent or BOM that manages them.
_Table: TypeAlias = Mapping[str, Mapping[str, Mapping[str, str]]]
#: Build files by path, each one read or the reason why it cannot be.
Shelf: TypeAlias = Mapping[str, Manifest | ManifestError]


class Link(Struct, frozen=True):
    """A build file of a module or of what it inherits from; the lowest level is nearest."""

    path: str
    manifest: Manifest
    level: int
    own: bool


class Chain(Struct, frozen=True):
    """A module's build files, then those it inherits from; paths that were looked for."""

    links: tuple[Link, ...]
    paths: tuple[str, ...]
    notes: tuple[str, ...]
    broken: bool

    @property
    def name(self) -> str:
        return next((link.manifest.name for link in self.links if link.own), "")

    def list_resolved(self) -> Iterator[DeclaredVersion]:
        properties: dict[str, str] = {}
        for link in reversed(self.links):
            properties |= {**link.manifest.properties, **_list_builtin_properties(link.manifest)}
        requests = {
            each.artifact
            for link in self.links
            for each in link.manifest.coordinates
            if each.ecosystem == "npm" and each.role is not Role.LOCKED
        }
        for link in self.links:
            for coordinate in link.manifest.coordinates:
                # A package of npm that came along with others is out of the code's reach.
                locked = coordinate.ecosystem == "npm" and coordinate.role is Role.LOCKED
                if not locked or coordinate.artifact in requests:
                    declared = _resolve_coordinate(coordinate, properties, link)
                    yield declared
                    yield from _list_versions_of_bom(declared)

    def list_own(self, declared: Iterable[DeclaredVersion]) -> Iterator[DeclaredVersion]:
        """List what the module asks for, and what scripts above it ask for in the name of all."""
        own = {printable(link.path) for link in self.links if link.own}
        requests = (each for each in declared if each.role is Role.DEPENDENCY)
        return (each for each in requests if each.path in own or each.for_all)


def _list_versions_of_bom(declared: DeclaredVersion) -> Iterator[DeclaredVersion]:
    if declared.role not in {Role.PARENT, Role.BOM}:
        return
    for name, version in find_bom_versions(str(declared), declared.version).items():
        group, _, artifact = name.partition(":")
        role, level = Role.MANAGED, declared.level + RANKS
        yield replace(
            declared, group=group, artifact=artifact, version=version, role=role, level=level
        )


def _list_builtin_properties(manifest: Manifest) -> dict[str, str]:
    parent = manifest.parent
    values = {
        "project.version": manifest.version,
        "project.groupId": manifest.group or None,
        "project.parent.version": parent.version if parent else None,
        "project.parent.groupId": parent.group if parent else None,
    }
    return {name: value for name, value in values.items() if value}


def _resolve_coordinate(
    coordinate: Coordinate, properties: Mapping[str, str], link: Link
) -> DeclaredVersion:
    overridden = coordinate.role is Role.MANAGED and coordinate.ecosystem in _OVERRIDING
    return DeclaredVersion(
        group=fill_properties(coordinate.group, properties) or coordinate.group,
        artifact=fill_properties(coordinate.artifact, properties) or coordinate.artifact,
        version=fill_properties(coordinate.version, properties) if coordinate.version else None,
        written=coordinate.version,
        role=coordinate.role,
        path=printable(link.path),
        level=-1 if overridden else link.level,
        ecosystem=coordinate.ecosystem,
        optional=coordinate.optional,
        line=coordinate.lines[0] if coordinate.lines else None,
        scope=coordinate.scope,
        for_all=coordinate.for_all,
    )


def parent_path(path: str, manifest: Manifest) -> str | None:
    if manifest.parent_path is None:
        return None
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), manifest.parent_path))
    if place.startswith(("/", "..")) or place == posixpath.normpath(path):
        return None
    return place if place.endswith(".xml") else posixpath.normpath(f"{place}/pom.xml")


def make_maven_chain(path: str, shelf: Shelf) -> Chain:
    links: list[Link] = []
    notes: list[str] = []
    paths: list[str] = []
    following: str | None = path
    broken = False
    while following is not None:
        if following in paths:
            notes.append(f"{printable(following)} is its own ancestor")
            broken = True
            break
        paths.append(following)
        manifest = shelf.get(following)
        if not isinstance(manifest, Manifest):
            notes.append(f"{printable(following)}: {manifest}")
            broken = True
            break
        links.append(Link(following, manifest, len(links), own=True))  # a child has them all
        following, note = _find_parent_path_or_note(following, manifest, shelf)
        notes += [note] if note else []
    return Chain(tuple(links), tuple(paths), tuple(notes), broken)


def _find_parent_path_or_note(
    path: str, manifest: Manifest, shelf: Shelf
) -> tuple[str | None, str | None]:
    parent = manifest.parent
    if parent is None:
        return None, None
    place = parent_path(path, manifest)
    other = shelf.get(place) if place else None
    if isinstance(other, ManifestError):
        return place, None
    # Maven takes the file only if it is what the child asks for.
    same_group = other and ("$" in other.group or other.group in {"", parent.group})
    if other and same_group and other.name == parent.artifact:
        return place, None
    # Everything that the parents of Spring Boot imply is what their coordinates say.
    if parent.group == "org.springframework.boot" or find_bom_versions(str(parent), parent.version):
        return None, None
    return None, f"{printable(path)}: its parent {printable(str(parent))} is not in the tree"


def make_directory_chain(places: Iterable[Iterable[str]], shelf: Shelf) -> Chain:
    links: list[Link] = []
    notes: list[str] = []
    paths: list[str] = []
    own: int | None = None
    broken = False
    for depth, files in enumerate(places):
        for path in files:
            paths.append(path)
            manifest = shelf.get(path)
            kind = find_format(path)
            is_package = posixpath.basename(path) == "package.json"
            # One without dependencies only says how Node reads the files beside it.
            is_blank = is_package and isinstance(manifest, Manifest) and not manifest.own
            if own is None and kind and kind.anchor and not is_blank:
                own = depth
            if isinstance(manifest, Manifest):
                level = depth * RANKS + (kind.rank if kind else 0)
                links.append(Link(path, manifest, level, own=own in {None, depth}))
            else:
                notes.append(f"{printable(path)}: {manifest}")
                broken = broken or not (kind and kind.locked)
    return Chain(tuple(links), tuple(paths), tuple(notes), broken)


@cache
def _table() -> _Table:
    table: _Table = json.decode(read_published_text(), type=_Table)
    return table


def find_bom_versions(name: str, version: str | None) -> Mapping[str, str]:
    """Return what a parent or BOM manages: in its minor line, or the last one known before."""
    minor = _line_of(version or "")
    lines = {_line_of(line): versions for line, versions in _table().get(name, {}).items()}
    earlier = sorted(line for line in lines if minor and line <= minor)
    if not earlier or earlier[-1][0] != minor[0]:
        return {}
    managed = lines[earlier[-1]]
    if earlier[-1] != minor or len(earlier) == 1 or not _UNRELEASED.match(version or ""):
        return managed
    before = {**managed, **lines[earlier[-2]]}
    return {n: v if before[n] == v else f"[{before[n]},{v}]" for n, v in managed.items()}


def _line_of(version: str) -> tuple[int, ...]:
    numbers = version.split(".")[:2]
    return tuple(map(int, numbers)) if all(part.isdigit() for part in numbers) else ()
