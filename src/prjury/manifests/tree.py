"""The build files of one tree, found by path, read in batches and at most once."""

from __future__ import annotations

import posixpath
import re
from collections import ChainMap, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TypeAlias

from msgspec import Struct

from prjury.code.languages import language_of
from prjury.manifests import gradle
from prjury.manifests.formats import (
    CATALOG,
    LISTS,
    POM,
    SCRIPTS,
    ManifestFormat,
    find_format,
    find_plugin_id,
    find_project_directory,
)
from prjury.manifests.lineage import Chain, make_directory_chain, make_maven_chain, parent_path
from prjury.manifests.manifest import Manifest, ManifestError, Role
from prjury.manifests.syntax import check_size, text_of
from prjury.ports import Repository
from prjury.ports.types import TreeEntry
from prjury.snapshot.kinds import SUBMODULE_MODE, SYMLINK_MODE
from prjury.snapshot.model import MISSING, printable

View: TypeAlias = Callable[[Manifest], Manifest]
#: How scripts, catalogs and objects of constants end, which offer names to scripts.
_OFFERING = (*SCRIPTS, CATALOG, ".kt", ".java")
_NOT_FILES = frozenset({SYMLINK_MODE, SUBMODULE_MODE})


def is_build_file(path: str) -> bool:
    return find_format(path) is not None


def build_files(entries: Iterable[TreeEntry]) -> dict[str, str]:
    """The object names of a tree's build files by path; symbolic links are not followed."""
    return {
        entry.path: entry.blob
        for entry in entries
        if is_build_file(entry.path) and entry.mode not in _NOT_FILES
    }


def family_of(path: str) -> str:
    language = language_of(printable(path))
    return language.family if language else ""


class BuildFilesByDirectory(Struct, frozen=True):
    """Build files by the family and the directory to which they belong, the telling ones first."""

    by_place: Mapping[tuple[str, str], Sequence[str]]

    @classmethod
    def of(cls, paths: Iterable[str]) -> BuildFilesByDirectory:
        by_place: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
        for path in paths:
            if kind := find_format(path):
                for family in kind.families:
                    by_place[family, find_project_directory(path)].append((kind.rank, path))
        return cls(
            {place: [path for _, path in sorted(files)] for place, files in by_place.items()}
        )

    def nearest(self, path: str, family: str) -> str | None:
        """The build file of a family with which the module of a file begins."""
        if not family:
            return None
        return next(filter(None, (self.anchor(d, family) for d in _upwards(path))), None)

    def anchor(self, directory: str, family: str) -> str | None:
        """The build file with which a module of this very directory begins."""
        files = self.by_place.get((family, directory), ())
        return next((path for path in files if _kind(path).anchor), None)

    def list_around(self, build_file: str) -> list[list[str]]:
        """A module's build files in its directory and in each one above, without Maven's."""
        family = _kind(build_file).family
        inside = f"{find_project_directory(build_file)}/x".lstrip("/")
        places = (self.by_place.get((family, directory), ()) for directory in _upwards(inside))
        return [[path for path in files if not _is_pom(path)] for files in places]


@dataclass
class BuildTree:
    """Build files by path, and what was read of them; trees of a repository may share contents."""

    repository: Repository
    blobs: Mapping[str, str]
    contents: dict[str, bytes | None] = field(default_factory=dict)
    _manifests: dict[str, Manifest | ManifestError] = field(default_factory=dict)
    _catalogs: dict[str, gradle.Catalog] = field(default_factory=dict)

    @cached_property
    def places(self) -> BuildFilesByDirectory:
        return BuildFilesByDirectory.of(self.blobs)

    def holds(self, build_file: str) -> bool:
        """Return true if there is such a module; Maven's and Gradle's are different ones."""
        kind = find_format(build_file)
        if kind is None or kind.family == "jvm":
            return build_file in self.blobs
        return self.places.anchor(find_project_directory(build_file), kind.family) is not None

    def make_chain(self, build_file: str) -> Chain:
        """The build files of a module and of what it inherits, once `load_with_inherited` ran."""
        if _is_pom(build_file):
            return make_maven_chain(build_file, self._manifests)
        places = self.places.list_around(build_file)
        own, seen = set(places[0]), {path for files in places for path in files}
        views: dict[str, Manifest | ManifestError] = {}
        for place in places:
            for path in place:  # which grows
                scopes = gradle.COMPILED if path in own else gradle.EXPORTED
                for each, view in self._map_inclusions(path, scopes).items():
                    manifest = self._manifests.get(each)
                    if each not in seen and manifest is not None:
                        seen.add(each)
                        place.append(each)
                        own |= set() if view else {each}
                        if view and isinstance(manifest, Manifest):
                            views[each] = view(manifest)
        return make_directory_chain(places, ChainMap(views, self._manifests))

    def load_with_inherited(self, files: Iterable[str]) -> None:
        """Read modules and everything that they inherit, one batch for each generation."""
        generation = set(files)
        while generation:
            poms = {path for path in generation if _is_pom(path)}
            around = {each for path in generation - poms for each in self._list_around(path)}
            generation = (poms | around) - self._manifests.keys()
            self._fetch(generation)
            for path in generation:
                self._read_once(path)
            inherited = {
                each for path in generation for each in self._map_inclusions(path, gradle.COMPILED)
            }
            generation = inherited & self.blobs.keys()

    def list_declaring(self) -> list[str]:
        """Reads every build file by itself; the paths of those in which something is declared."""
        self._fetch(self.blobs)
        for path in self.blobs:
            self._read_once(path)
        read = self._manifests.items()
        return [path for path, it in read if isinstance(it, Manifest) and it.coordinates]

    def trouble(self, build_file: str) -> str | None:
        """Return why a build file that has been loaded cannot be read; None for a lock file."""
        manifest = self._manifests.get(build_file)
        unread = isinstance(manifest, ManifestError) and not _kind(build_file).locked
        return str(manifest) if unread else None

    def _list_around(self, build_file: str) -> list[str]:
        return [path for files in self.places.list_around(build_file) for path in files]

    def _map_inclusions(self, path: str, scopes: re.Pattern[str]) -> dict[str, View | None]:
        """List what a build file includes, and how others see that, if not as it is."""
        manifest = self._manifests.get(path)
        if not isinstance(manifest, Manifest):
            return {}
        if _is_pom(path):
            return {parent_path(path, manifest) or "": None}
        included: dict[str, View | None] = {}
        for each in manifest.projects:
            is_platform = each.role is Role.BOM
            script = self._find_project_script(path, str(each))
            if script and (is_platform or scopes.fullmatch(each.scope)):
                included[script] = gradle.managing if is_platform else gradle.exporting
        # The plugins of a project above are not those of the ones below.
        applied = manifest.applied if scopes is gradle.COMPILED else ()
        included |= {self._plugins[name]: None for name in applied if name in self._plugins}
        directory = posixpath.dirname(path) or "."
        files = (posixpath.normpath(f"{directory}/{each}") for each in manifest.includes)
        return {**included, **dict.fromkeys(each for each in files if each.endswith(LISTS))}

    def _find_project_script(self, path: str, project: str) -> str | None:
        names = _plain(project).split(":")
        directory = "/".join(names)
        for above in _upwards(path):
            if any(f"{above}/settings{end}".lstrip("/") in self.blobs for end in SCRIPTS):
                directory = _plain(f"{above}/{directory}".strip("/"))
                break
        scripts, namesakes = (self._scripts.get(key, []) for key in (f"/{directory}", names[-1]))
        return next(iter(scripts or (namesakes if len(namesakes) == 1 else [])), None)

    @cached_property
    def _scripts(self) -> Mapping[str, Sequence[str]]:
        """The scripts of projects by their names, and by their directories after a slash."""
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.blobs):
            if path.endswith(SCRIPTS) and _kind(path).anchor:
                by_name[_plain(posixpath.basename(path).partition(".gradle")[0])].append(path)
                by_name[_plain(f"/{posixpath.dirname(path)}")].append(path)
        return by_name

    @cached_property
    def _plugins(self) -> Mapping[str, str]:
        """The scripts that are plugins by their ids: package and name."""
        ids = ((find_plugin_id(path), path) for path in sorted(self.blobs))
        return {name: path for name, path in ids if name}

    def _fetch(self, paths: Iterable[str]) -> None:
        missing = {self.blobs[path] for path in paths} - self.contents.keys()
        if missing:
            contents = self.repository.read(sorted(missing))
            self.contents |= {blob: contents.get(blob) for blob in missing}

    def _read_once(self, path: str) -> None:
        if path in self._manifests:
            return
        try:
            self._manifests[path] = self._read_manifest(path)
        except ManifestError as error:
            self._manifests[path] = error

    def _read_manifest(self, path: str) -> Manifest:
        content = self.contents[self.blobs[path]]
        if content is None:
            raise ManifestError(f"its content is {MISSING}")
        kind = _kind(path)
        check_size(content, kind.max_bytes)
        if kind.reader is not gradle.read_script_bytes:
            return kind.reader(content)
        catalog = gradle.Catalog()
        for each in reversed(self._list_around(path)):
            if each.endswith(_OFFERING):
                catalog = catalog.join(self._read_catalog(each))
        return gradle.read_script(text_of(content), catalog)

    def _read_catalog(self, path: str) -> gradle.Catalog:
        """Read what a build file offers to scripts by names; nothing if it is unreadable."""
        if path not in self._catalogs:
            self._catalogs[path] = gradle.Catalog()
            with suppress(ManifestError):
                text = text_of(check_size(self.contents.get(self.blobs[path]) or b""))
                name, catalog, _ = posixpath.basename(path).partition(CATALOG)
                read = partial(gradle.read_catalog, name=name) if catalog else gradle.read_offered
                self._catalogs[path] = read(text)
        return self._catalogs[path]


def _kind(path: str) -> ManifestFormat:
    kind = find_format(path)
    if kind is None:
        raise ValueError(f"{path!r} is no build file")
    return kind


def _is_pom(path: str) -> bool:
    return posixpath.basename(path) == POM


def _plain(name: str) -> str:
    return re.sub(r"[-_.]", "", name).lower()


def _upwards(path: str) -> Iterator[str]:
    directory = posixpath.dirname(path)
    while directory:
        yield directory
        directory = posixpath.dirname(directory)
    yield ""
