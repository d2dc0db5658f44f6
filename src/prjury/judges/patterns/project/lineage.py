"""From build files to a module: the chain of parents, and properties put into their places."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from prjury.judges.patterns.project.manifest import Coordinate, Manifest, ManifestError
from prjury.judges.patterns.project.module import Declared
from prjury.pull.model import printable

_PLACEHOLDER = re.compile(r"\$\{([^${}]+)\}|\$([A-Za-z_]\w*)")
_MAX_STEPS = 20
_MAX_LENGTH = 500

#: Parents that are complete in themselves: everything they imply is what their coordinates say.
_KNOWN_PARENTS = frozenset({"org.springframework.boot"})


#: Build files by path, each one read or the reason why it cannot be.
Shelf: TypeAlias = Mapping[str, Manifest | ManifestError]


@dataclass(frozen=True)
class Chain:
    """A module's build file, then its parents as far as they are in the tree.

    Attributes:
        paths: every path that was looked for, whether it could be read or not.
    """

    links: tuple[tuple[str, Manifest], ...]
    paths: tuple[str, ...]
    notes: tuple[str, ...]
    broken: bool

    def declared(self) -> Iterator[Declared]:
        """The coordinates of the whole chain, with resolved properties."""
        properties = self._properties()
        for level, (path, manifest) in enumerate(self.links):
            for coordinate in manifest.coordinates:
                yield _resolved(coordinate, properties, path, level)

    def _properties(self) -> dict[str, str]:
        """A child's word counts more than its parent's."""
        merged: dict[str, str] = {}
        for _, manifest in self.links:
            for name, value in {**manifest.properties, **_built_in(manifest)}.items():
                merged.setdefault(name, value)
        return merged


def _built_in(manifest: Manifest) -> dict[str, str]:
    parent = manifest.parent
    values = {
        "project.version": manifest.version,
        "project.groupId": manifest.group or None,
        "project.parent.version": parent.version if parent else None,
        "project.parent.groupId": parent.group if parent else None,
    }
    return {name: value for name, value in values.items() if value}


def _resolved(
    coordinate: Coordinate, properties: Mapping[str, str], path: str, level: int
) -> Declared:
    return Declared(
        group=resolve(coordinate.group, properties) or coordinate.group,
        artifact=resolve(coordinate.artifact, properties) or coordinate.artifact,
        version=resolve(coordinate.version, properties) if coordinate.version else None,
        written=coordinate.version,
        role=coordinate.role,
        path=printable(path),
        level=level,
        ecosystem=coordinate.ecosystem,
    )


def resolve(text: str, properties: Mapping[str, str]) -> str | None:
    """The text with its properties put in; None for one that is missing, or a cycle of them."""
    for _ in range(_MAX_STEPS):
        match = _PLACEHOLDER.search(text)
        if not match:
            return text
        value = properties.get(match[1] or match[2])
        if value is None or len(text) + len(value) > _MAX_LENGTH:
            return None
        text = text[: match.start()] + value + text[match.end() :]
    return None


def parent_path(path: str, manifest: Manifest) -> str | None:
    """Where the parent of a ``pom.xml`` would be in the tree; None for nowhere in it."""
    if manifest.parent_path is None:
        return None
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), manifest.parent_path))
    if place.startswith(("/", "..")) or place == posixpath.normpath(path):
        return None
    return place if place.endswith(".xml") else posixpath.normpath(f"{place}/pom.xml")


def maven_chain(path: str, shelf: Shelf) -> Chain:
    """The ``pom.xml`` at the path and its parents."""
    links: list[tuple[str, Manifest]] = []
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
        links.append((following, manifest))
        following, note = _next(following, manifest, shelf)
        notes += [note] if note else []
    return Chain(tuple(links), tuple(paths), tuple(notes), broken)


def _next(path: str, manifest: Manifest, shelf: Shelf) -> tuple[str | None, str | None]:
    """The parent's path if it is in the tree, else a note unless its coordinates say it all."""
    parent = manifest.parent
    if parent is None:
        return None, None
    place = parent_path(path, manifest)
    found = shelf.get(place) if place else None
    if isinstance(found, ManifestError) or (found and _is(found, parent)):
        return place, None
    if parent.group in _KNOWN_PARENTS:
        return None, None
    where = f"{printable(path)}: its parent {printable(str(parent))} is not in the tree"
    return None, where


def _is(found: Manifest, parent: Coordinate) -> bool:
    """Maven takes the file only if it is what the child asks for."""
    same_group = not found.group or "$" in found.group or found.group == parent.group
    return same_group and found.name == parent.artifact


def gradle_chain(scripts: Iterable[str], shelf: Shelf) -> Chain:
    """Build scripts from the module's own up to the root's, with what they take from."""
    paths = tuple(scripts)
    read = [(path, shelf.get(path)) for path in paths]
    links = tuple((path, m) for path, m in read if isinstance(m, Manifest))
    bad = [(path, m) for path, m in read if isinstance(m, ManifestError)]
    notes = tuple(f"{printable(path)}: {error}" for path, error in bad)
    return Chain(links, paths, notes, broken=bool(bad))
