"""The build files of one tree, found by path, read in batches and at most once."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from prjury.code.source import MAX_BYTES, UnreadableError, decode
from prjury.judges.patterns.project.gradle import read_catalog, read_script
from prjury.judges.patterns.project.lineage import (
    Chain,
    gradle_chain,
    maven_chain,
    parent_path,
)
from prjury.judges.patterns.project.manifest import Coordinate, Manifest, ManifestError
from prjury.judges.patterns.project.maven import read_pom
from prjury.ports import Repository, TreeEntry
from prjury.pull.kinds import SUBMODULE_MODE, SYMLINK_MODE

Reader: TypeAlias = Callable[[bytes], Manifest]

_SCRIPTS = ("build.gradle", "build.gradle.kts")
_CATALOG = "gradle/libs.versions.toml"
_AROUND = ("settings.gradle", "settings.gradle.kts", "gradle.properties", _CATALOG)
_NAMES = frozenset(
    {"pom.xml", "libs.versions.toml", *_SCRIPTS, *(posixpath.basename(name) for name in _AROUND)}
)
_NOT_FILES = frozenset({SYMLINK_MODE, SUBMODULE_MODE})


def is_build_file(path: str) -> bool:
    """Whether versions may be declared in a file of this name."""
    return posixpath.basename(path) in _NAMES


def build_files(entries: Iterable[TreeEntry]) -> dict[str, str]:
    """The object names of a tree's build files by path; symbolic links are not followed."""
    return {
        entry.path: entry.blob
        for entry in entries
        if is_build_file(entry.path) and entry.mode not in _NOT_FILES
    }


def nearest(path: str, blobs: Container[str]) -> str | None:
    """The build file at or above the directory of a path, among those given."""
    for directory in _upwards(path):
        for name in ("pom.xml", *_SCRIPTS):
            if (place := posixpath.join(directory, name)) in blobs:
                return place
    return None


@dataclass
class BuildTree:
    """Build files by path, and what has been read of them so far."""

    repository: Repository
    blobs: Mapping[str, str]
    _contents: dict[str, bytes | None] = field(default_factory=dict)
    _manifests: dict[str, Manifest | ManifestError] = field(default_factory=dict)

    def chain(self, build_file: str) -> Chain:
        """The build file and what it inherits; `load` must have been told of it."""
        if build_file.endswith(".xml"):
            return maven_chain(build_file, self._manifests)
        return gradle_chain(self._around(build_file), self._manifests)

    def load(self, files: Iterable[str]) -> None:
        """Reads build files and everything that they inherit, one batch for each generation."""
        wanted = sorted(set(files) - self._manifests.keys())
        self._load_scripts([path for path in wanted if not path.endswith(".xml")])
        generation = [path for path in wanted if path.endswith(".xml")]
        while generation:
            self._fetch(generation)
            for path in generation:
                self._read(path, read_pom)
            parents = {self._parent(path) for path in generation}
            generation = sorted(parents & self.blobs.keys() - self._manifests.keys())

    def trouble(self, build_file: str) -> str | None:
        """Why a build file that has been loaded cannot be read; None for one that can."""
        manifest = self._manifests.get(build_file)
        return str(manifest) if isinstance(manifest, ManifestError) else None

    def _parent(self, path: str) -> str:
        manifest = self._manifests[path]
        return (parent_path(path, manifest) or "") if isinstance(manifest, Manifest) else ""

    def _load_scripts(self, scripts: list[str]) -> None:
        families = [self._around(script) for script in scripts]
        self._fetch({path for family in families for path in family})
        for family in families:
            catalog = self._catalog(family)
            for path in family:
                self._read(path, partial(_read_script, catalog))

    def _catalog(self, family: list[str]) -> dict[str, Coordinate]:
        """What ``libs.alias`` means to the scripts of one module."""
        found: dict[str, Coordinate] = {}
        for path in reversed([path for path in family if path.endswith(".toml")]):
            self._read(path, partial(_read_catalog, found))
        return found

    def _around(self, script: str) -> list[str]:
        """The script, and the files from its directory up to the root that it depends on."""
        places = (
            posixpath.join(directory, name)
            for directory in _upwards(script)
            for name in (*_SCRIPTS, *_AROUND)
        )
        return [place for place in places if place in self.blobs]

    def _fetch(self, paths: Iterable[str]) -> None:
        missing = {path: self.blobs[path] for path in paths if path not in self._contents}
        contents = self.repository.read(sorted(set(missing.values()))) if missing else {}
        self._contents |= {path: contents.get(blob) for path, blob in missing.items()}

    def _read(self, path: str, reader: Reader) -> None:
        """Reads one file that has been fetched, unless it has been read before."""
        if path in self._manifests:
            return
        try:
            self._manifests[path] = reader(_sound(self._contents[path]))
        except ManifestError as error:
            self._manifests[path] = error
        except UnreadableError as error:
            self._manifests[path] = ManifestError(str(error))


def _sound(content: bytes | None) -> bytes:
    if content is None:
        raise ManifestError("its content is missing from this clone")
    if len(content) > MAX_BYTES:
        raise ManifestError(f"larger than {MAX_BYTES // 1024} KiB")
    return content


def _read_catalog(found: dict[str, Coordinate], content: bytes) -> Manifest:
    """Reads a version catalog, and remembers its aliases for the scripts."""
    entries = read_catalog(decode(content))
    found.update(entries)
    return Manifest(coordinates=tuple(entries.values()))


def _read_script(catalog: Mapping[str, Coordinate], content: bytes) -> Manifest:
    """Reads a build script; a properties file is one that only names properties."""
    return read_script(decode(content), catalog)


def _upwards(path: str) -> Iterator[str]:
    """The path's directory and those above it, the root as an empty string."""
    directory = posixpath.dirname(path)
    while directory:
        yield directory
        directory = posixpath.dirname(directory)
    yield ""
