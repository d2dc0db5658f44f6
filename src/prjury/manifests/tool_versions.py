"""Files that name the versions of tools for version managers: asdf, mise, SDKMAN, jenv, rbenv."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from prjury.manifests.formats import format_of
from prjury.manifests.lineage import resolve
from prjury.manifests.manifest import Coordinate, Manifest, ManifestError, Role, runtime
from prjury.manifests.syntax import json_of, table, text_of, toml_of, word

#: Names of tools that managers spell in ways of their own.
_NAMES = {
    "nodejs": "node", "golang": "go", "openjdk": "java", "dotnet-core": "dotnet",
    "packagemanager": "",
}  # fmt: skip
#: A version behind the name of a vendor: ``temurin-21.0.2+13``, ``21.0.2-tem``, ``ruby-3.3.0``.
_VERSION = re.compile(
    r"(?:^|[a-z](?:32|64)?-|[a-z](?!(?:32|64)-))v?(\d+(?:\.\d+){0,3})(?![\d.]*[a-z]{3,}\d)"
)
_MANAGER = re.compile(r"(npm|pnpm|yarn|bun)@(\d+(?:\.\d+)*)")


def read_tool_versions(content: bytes) -> Manifest:
    """A ``.tool-versions``: a tool and its versions on each line; the first one counts."""
    return _of(_pairs(text_of(content), None))


def read_sdkmanrc(content: bytes) -> Manifest:
    """A ``.sdkmanrc``: ``java=21.0.2-tem``."""
    return _of(_pairs(text_of(content), "="))


def read_mise(content: bytes) -> Manifest:
    """The tools of a ``mise.toml``."""
    return _of(_list_tools(table(toml_of(text_of(content)), "tools")))


def _list_tools(tools: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in tools.items():
        one = value[0] if isinstance(value, list) and value else value
        version = one.get("version") if isinstance(one, dict) else one
        yield name, str(version)


def _pairs(text: str, sign: str | None) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        words = line.partition("#")[0].split(sign)
        if len(words) > 1:
            yield words[0].strip(), words[1].strip()


def _single(tool: str) -> Callable[[bytes], Manifest]:
    return lambda content: _of([(tool, text_of(content).strip().partition("\n")[0])])


def _of(pairs: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> Manifest:
    return Manifest(coordinates=tuple(_make_pins(pairs)))


def _make_pins(pairs: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> Iterator[Coordinate]:
    for name, text in pairs:
        tool = name.lower().rpartition(":")[2].rpartition("/")[2]
        if match := _VERSION.search(text):
            yield runtime(_NAMES.get(tool, tool), match[1], role=Role.LOCKED)


def read_package_manager(content: bytes) -> Manifest:
    """The package manager and its version that a ``package.json`` names."""
    match = _MANAGER.match(word(json_of(text_of(content)).get("packageManager")) or "")
    return Manifest(coordinates=(runtime(match[1], match[2], role=Role.LOCKED),) if match else ())


#: Files that pin tools, besides those of `prjury.manifests.formats`.
PINS: Mapping[str, Callable[[bytes], Manifest]] = {
    ".tool-versions": read_tool_versions,
    "mise.toml": read_mise,
    ".mise.toml": read_mise,
    ".sdkmanrc": read_sdkmanrc,
    ".java-version": _single("java"),
    ".ruby-version": _single("ruby"),
}
#: Files that name versions of tools: the pins first, then what build files ask for.
VERSION_FILES = (
    ".nvmrc", ".node-version", ".python-version", "rust-toolchain.toml", "rust-toolchain",
    "global.json", *PINS, "go.mod", "Cargo.toml", "package.json", "pom.xml", "build.gradle.kts",
    "build.gradle", "pyproject.toml", "setup.cfg",
)  # fmt: skip


def runtimes_in(path: str, content: bytes) -> tuple[Coordinate, ...]:
    """The tools and their versions that one of `VERSION_FILES` names; none if it is unreadable."""
    name = posixpath.basename(path)
    kind = format_of(path)
    readers = [PINS[name]] if name in PINS else [kind.reader] if kind else []
    if name == "package.json":
        readers.append(read_package_manager)
    coordinates = list[Coordinate]()
    for reader in readers:
        try:
            manifest = reader(content)
        except ManifestError:
            continue
        for each in manifest.coordinates:
            version = each.version and resolve(each.version, manifest.properties)
            if each.ecosystem == "runtime" and version:
                coordinates.append(replace(each, version=version))
    return tuple(coordinates)
