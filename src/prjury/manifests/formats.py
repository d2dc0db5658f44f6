"""The build files and lock files, their families and readers: a visible table."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from msgspec import Struct

from prjury.code.source import MAX_BYTES
from prjury.manifests.action_pins import read_workflow_pins
from prjury.manifests.cargo import read_cargo_toml, read_toolchain
from prjury.manifests.dotnet import read_global_json, read_msbuild
from prjury.manifests.go import read_go_mod_or_work
from prjury.manifests.gradle import (
    read_buildsrc_constants,
    read_catalog_bytes,
    read_script_bytes,
    read_shared_script,
    read_wrapper,
)
from prjury.manifests.images import read_dockerfile_runtimes
from prjury.manifests.manifest import FAMILIES, Coordinate, Manifest, ManifestError, Role
from prjury.manifests.maven import read_pom
from prjury.manifests.node import read_package_json, read_pnpm_workspace
from prjury.manifests.python import read_pipfile, read_pyproject, read_python_version
from prjury.manifests.setuptools import (
    normalise_name,
    read_requirements,
    read_setup_cfg,
    read_setup_py,
)
from prjury.manifests.syntax import fill_properties, load_json_object, table, text_of, word
from prjury.manifests.tool_versions import read_mise, read_single_tool, read_tool_list

#: Reads a build file; all raise `ManifestError` for one that they cannot read.
Reader: TypeAlias = Callable[[bytes], Manifest]

_ENTRY = re.compile(
    r'^\[\[package\]\]\s*\nname = "([^"\n]+)"\s*\nversion = "([^"\n]+)"', re.MULTILINE
)
_YARN = re.compile(
    r'^"?((?:@[^@/\s"]+/)?[^@\s"/]+)@[^\n]*:[ \t]*\n[ \t]+"?version"?:?[ \t]+"?([^"\s]+)"?',
    re.MULTILINE,
)
_PNPM = re.compile(
    r"^ {6}'?((?:@[^@/\s']+/)?[^@\s'/:]+)'?:[ \t]*\n"
    r" {8}specifier:[^\n]*\n {8}version: '?([^\s'(]+)",
    re.MULTILINE,
)
_MODULES = "node_modules/"


def _read_by(pattern: re.Pattern[str], ecosystem: str, sign: str = "") -> Reader:

    def read(content: bytes) -> Manifest:
        entries = pattern.findall(text_of(content))
        return _make_lock(((name, f"{sign}{version}") for name, version in entries), ecosystem)

    return read


def read_pipfile_lock(content: bytes) -> Manifest:
    document = load_json_object(text_of(content))
    entries = [pair for key in ("default", "develop") for pair in table(document, key).items()]
    return _make_lock(_versions(entries), "pypi")


def read_topmost_node_modules(content: bytes) -> Manifest:
    """Read what ``package-lock.json`` puts into the topmost ``node_modules``."""
    document = load_json_object(text_of(content))
    packages = {
        path.removeprefix(_MODULES): value
        for path, value in table(document, "packages").items()
        if path.startswith(_MODULES) and path.count(_MODULES) == 1
    }
    entries = packages or table(document, "dependencies")
    return _make_lock(_versions(entries.items()), "npm")


def read_pnpm_lock(content: bytes) -> Manifest:
    """Read what ``pnpm-lock.yaml`` resolves the packages to that are asked for by name."""
    text = text_of(content)
    importers = text.partition("\nimporters:\n")[2]
    if not importers and "\nspecifiers:\n" in text:
        raise ManifestError("a pnpm lock file of an old form")
    return _make_lock(_PNPM.findall(importers.partition("\npackages:\n")[0]), "npm")


def _versions(entries: Iterable[tuple[str, object]]) -> Iterator[tuple[str, str]]:
    for name, value in entries:
        if version := word(table(value).get("version")):
            yield name, version


def _make_lock(entries: Iterable[tuple[str, str]], ecosystem: str) -> Manifest:
    spell = normalise_name if ecosystem == "pypi" else str
    pins = [
        Coordinate("", spell(name), version, Role.LOCKED, (), ecosystem)
        for name, version in entries
    ]
    return Manifest(coordinates=tuple(pins))


POM = "pom.xml"
#: How a catalog's name ends; scripts call it what stands before.
CATALOG = ".versions.toml"
_WRAPPER = "gradle/wrapper/gradle-wrapper.properties"
_MAX_LOCK_BYTES = 8 * 1024 * 1024


class ManifestFormat(Struct, frozen=True):
    """A kind of build file; of those in one directory, the ones of lower rank say more.

    A module begins where an ``anchor`` is, unless it is ``loose`` and may lie anywhere. A
    ``locked`` file only says what others resolve to: nothing is lost if it is unreadable. One
    without a ``family`` belongs to all of them.
    """

    family: str
    reader: Reader
    rank: int
    anchor: bool = False
    locked: bool = False
    loose: bool = False

    @property
    def families(self) -> frozenset[str]:
        return frozenset({self.family} if self.family else FAMILIES.values())

    @property
    def max_bytes(self) -> int:
        return _MAX_LOCK_BYTES if self.locked else MAX_BYTES


#: One more than the highest rank.
RANKS = 9

_REQUIREMENTS = ManifestFormat("python", read_requirements, 4, anchor=True, loose=True)
#: Constraints ask for nothing, and say which version it would be.
_CONSTRAINTS = ManifestFormat("python", partial(read_requirements, role=Role.LOCKED), 5)
_PYTHON_LOCK = ManifestFormat("python", _read_by(_ENTRY, "pypi", "=="), 6, locked=True)
_NODE_VERSION = ManifestFormat("node", partial(read_single_tool, tool="node"), 3)
_TOOLCHAIN = ManifestFormat("rust", read_toolchain, 2)
_MSBUILD = ManifestFormat("dotnet", read_msbuild, 0, anchor=True)
_SHARED = ManifestFormat("dotnet", read_msbuild, 1)
#: ``web/shop-web.gradle``: a build may give its scripts names of its own.
_NAMED_SCRIPT = ManifestFormat("jvm", read_script_bytes, 3, anchor=True)
#: ``gradle/versions.gradle``: the root applies it.
_SHARED_SCRIPT = ManifestFormat("jvm", read_shared_script, 7)

#: What an image brings counts where no build file says which version is used.
_IMAGE = ManifestFormat("", read_dockerfile_runtimes, 8, locked=True)
_TOOLS = ManifestFormat("", read_tool_list, 7, locked=True)
_MISE = ManifestFormat("", read_mise, 7, locked=True)

_BY_NAME: Mapping[str, ManifestFormat] = {
    POM: ManifestFormat("jvm", read_pom, 0, anchor=True),
    "build.gradle": ManifestFormat("jvm", read_script_bytes, 1, anchor=True),
    "build.gradle.kts": ManifestFormat("jvm", read_script_bytes, 2, anchor=True),
    "settings.gradle": ManifestFormat("jvm", read_script_bytes, 4),
    "settings.gradle.kts": ManifestFormat("jvm", read_script_bytes, 5),
    "gradle.properties": ManifestFormat("jvm", read_script_bytes, 6),
    "pyproject.toml": ManifestFormat("python", read_pyproject, 0, anchor=True),
    "setup.cfg": ManifestFormat("python", read_setup_cfg, 1, anchor=True),
    "setup.py": ManifestFormat("python", read_setup_py, 2, anchor=True),
    "Pipfile": ManifestFormat("python", read_pipfile, 3, anchor=True),
    "uv.lock": _PYTHON_LOCK,
    "poetry.lock": _PYTHON_LOCK,
    "pdm.lock": _PYTHON_LOCK,
    "Pipfile.lock": ManifestFormat("python", read_pipfile_lock, 6, locked=True),
    ".python-version": ManifestFormat("python", read_python_version, 7),
    "package.json": ManifestFormat("node", read_package_json, 0, anchor=True),
    "pnpm-workspace.yaml": ManifestFormat("node", read_pnpm_workspace, 1),
    "package-lock.json": ManifestFormat("node", read_topmost_node_modules, 2, locked=True),
    "npm-shrinkwrap.json": ManifestFormat("node", read_topmost_node_modules, 2, locked=True),
    "yarn.lock": ManifestFormat("node", _read_by(_YARN, "npm"), 2, locked=True),
    "pnpm-lock.yaml": ManifestFormat("node", read_pnpm_lock, 2, locked=True),
    ".nvmrc": _NODE_VERSION,
    ".node-version": _NODE_VERSION,
    "go.mod": ManifestFormat("go", read_go_mod_or_work, 0, anchor=True),
    "go.work": ManifestFormat("go", read_go_mod_or_work, 1),
    "Cargo.toml": ManifestFormat("rust", read_cargo_toml, 0, anchor=True),
    "Cargo.lock": ManifestFormat("rust", _read_by(_ENTRY, "cargo", "="), 1, locked=True),
    "rust-toolchain": _TOOLCHAIN,
    "rust-toolchain.toml": _TOOLCHAIN,
    "Directory.Packages.props": _SHARED,
    "Directory.Build.props": _SHARED,
    "Directory.Build.targets": _SHARED,
    "global.json": ManifestFormat("dotnet", read_global_json, 2),
    ".tool-versions": _TOOLS,
    ".sdkmanrc": _TOOLS,
    "mise.toml": _MISE,
    ".mise.toml": _MISE,
    ".java-version": ManifestFormat("jvm", partial(read_single_tool, tool="java"), 7, locked=True),
    ".ruby-version": ManifestFormat("", partial(read_single_tool, tool="ruby"), 7, locked=True),
    "Dockerfile": _IMAGE,
    "Containerfile": _IMAGE,
}
_BY_SUFFIX = {".csproj": _MSBUILD, ".fsproj": _MSBUILD, ".vbproj": _MSBUILD}
#: ``gradle/libs.versions.toml``, whose reader depends on what the scripts call it.
_CATALOG = ManifestFormat("jvm", read_catalog_bytes, 7)
#: A plugin that is a script, of ``buildSrc`` or of another build that builds this one.
_CONVENTION = ManifestFormat("jvm", read_script_bytes, 8)
_BY_TAIL: dict[str, ManifestFormat] = {
    _WRAPPER: ManifestFormat("jvm", read_wrapper, 8),
}
#: Objects of constants, as builds in Kotlin's language keep their versions.
_BY_TAIL |= {
    f"buildSrc/src/main/{folder}/{name}.{suffix}": ManifestFormat("jvm", read_buildsrc_constants, 8)
    for folder, suffix in (("kotlin", "kt"), ("java", "kt"), ("java", "java"))
    for name in ("Versions", "Dependencies", "Deps", "Libs")
}
#: How files of requirements end.
LISTS = (".txt", ".in")
#: Readers by the language of `prjury.code.languages`, for files of whatever name.
BY_LANGUAGE: Mapping[str, Reader] = {
    "maven": read_pom,
    "gradle": read_script_bytes,
    "pypi": read_requirements,
    "npm": read_package_json,
    "gomod": read_go_mod_or_work,
    "cargo": read_cargo_toml,
    "nuget": read_msbuild,
    "workflow": read_workflow_pins,
}
_FOLDER = "requirements"
#: How the scripts of Gradle end.
SCRIPTS = (".gradle", ".gradle.kts")
_SCRIPT_FOLDER = "gradle"
#: What is in here builds the build, and declares nothing of the project's modules.
_BUILD_OF_BUILD = "buildSrc"


def find_format(path: str) -> ManifestFormat | None:
    name = posixpath.basename(path)
    if kind := _BY_NAME.get(name):
        return kind
    suffix = posixpath.splitext(name)[1]
    if suffix in LISTS:
        return _list_of(path, name)
    if name.endswith(SCRIPTS):
        return _script_of(path, name)
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    if name.endswith(CATALOG) and path.split("/")[-2:-1] == [_SCRIPT_FOLDER]:
        return _CATALOG
    return next((_BY_TAIL[tail] for tail in _BY_TAIL if f"/{path}".endswith(f"/{tail}")), None)


def _list_of(path: str, name: str) -> ManifestFormat | None:
    lower = name.lower()
    if "constraints" in lower:
        return _CONSTRAINTS
    listed = _FOLDER in lower or f"/{_FOLDER}/" in f"/{path}"
    return _REQUIREMENTS if listed else None


def _script_of(path: str, name: str) -> ManifestFormat | None:
    directories = path.split("/")[:-1]
    if directories[-1:] == [_SCRIPT_FOLDER]:
        return _SHARED_SCRIPT
    if find_plugin_id(path):
        return _CONVENTION
    return None if _BUILD_OF_BUILD in directories or name in SCRIPTS else _NAMED_SCRIPT


def find_plugin_id(path: str) -> str | None:
    """Return the id of the plugin that a script of a build's own build is: package and name."""
    for folder in ("groovy", "kotlin"):
        _, sources, inside = f"/{path}".partition(f"/src/main/{folder}/")
        if sources and path.endswith(SCRIPTS):
            return inside.partition(".gradle")[0].replace("/", ".")
    return None


def reader_of(path: str, language: str) -> Reader:
    """Return the reader of a single file: its language may hold for names that no module has."""
    kind = find_format(path)
    if kind is None or language == "gradle":
        return BY_LANGUAGE[language]
    return kind.reader


def find_project_directory(build_file: str) -> str:
    """The directory to which a build file belongs: ``requirements/`` and ``gradle/`` are parts."""
    for tail in _BY_TAIL:
        if f"/{build_file}".endswith(f"/{tail}"):
            return build_file[: -len(tail)].rstrip("/")
    directory = posixpath.dirname(build_file)
    if find_format(build_file) in (_SHARED_SCRIPT, _CATALOG):
        return posixpath.dirname(directory)
    if build_file.endswith(LISTS):
        return f"/{directory}/".partition(f"/{_FOLDER}/")[0].strip("/")
    return directory


#: Files that name versions of tools: the pins first, then what build files ask for.
VERSION_FILES = (
    ".nvmrc", ".node-version", ".python-version", "rust-toolchain.toml", "rust-toolchain",
    "global.json", ".tool-versions", ".sdkmanrc", "mise.toml", ".mise.toml", ".java-version",
    ".ruby-version", "go.mod", "Cargo.toml", "package.json", "pom.xml", "build.gradle.kts",
    "build.gradle", "pyproject.toml", "setup.cfg",
)  # fmt: skip
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})


def read_tool_versions(path: str, content: bytes) -> tuple[Coordinate, ...]:
    """The tools and their versions that one of `VERSION_FILES` names; none if it is unreadable."""
    kind = find_format(path)
    coordinates = list[Coordinate]()
    try:
        manifest = kind.reader(content) if kind else Manifest()
    except ManifestError:
        return ()
    for each in manifest.coordinates:
        is_manager = each.role is Role.PLUGIN and each.artifact in _MANAGERS
        one = replace(each, ecosystem="runtime", role=Role.LOCKED) if is_manager else each
        version = one.version and fill_properties(one.version, manifest.properties)
        if version and one.ecosystem == "runtime":
            coordinates.append(replace(one, version=version))
    return tuple(coordinates)
