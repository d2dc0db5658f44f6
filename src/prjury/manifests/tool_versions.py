"""Files that name the versions of tools for version managers: asdf, mise, SDKMAN, jenv, rbenv."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from prjury.manifests.formats import find_format
from prjury.manifests.lineage import fill_properties
from prjury.manifests.manifest import Coordinate, Manifest, ManifestError, Role, runtime
from prjury.manifests.syntax import load_toml, table, text_of

#: Names of tools that managers spell in ways of their own.
_NAMES = {
    "nodejs": "node", "golang": "go", "openjdk": "java", "dotnet-core": "dotnet",
    "packagemanager": "",
}  # fmt: skip
#: A version behind the name of a vendor: ``temurin-21.0.2+13``, ``21.0.2-tem``, ``ruby-3.3.0``.
_VERSION = re.compile(
    r"(?:^|[a-z](?:32|64)?-|[a-z](?!(?:32|64)-))v?(\d+(?:\.\d+){0,3})(?![\d.]*[a-z]{3,}\d)"
)
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})


def _list_mise_tools(text: str) -> Iterator[tuple[str, str]]:
    for name, value in table(load_toml(text), "tools").items():
        one = value[0] if isinstance(value, list) and value else value
        version = one.get("version") if isinstance(one, dict) else one
        yield name, str(version)


def _list_pairs(text: str, sign: str | None = None) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        words = line.partition("#")[0].split(sign)
        if len(words) > 1:
            yield words[0].strip(), words[1].strip()


#: Files that pin tools, besides those of `prjury.manifests.formats`; in an asdf file the first
#: version of a line counts.
PINS: Mapping[str, Callable[[str], Iterable[tuple[str, str]]]] = {
    ".tool-versions": _list_pairs,
    ".sdkmanrc": partial(_list_pairs, sign="="),
    "mise.toml": _list_mise_tools,
    ".mise.toml": _list_mise_tools,
    ".java-version": lambda text: [("java", text.strip().partition("\n")[0])],
    ".ruby-version": lambda text: [("ruby", text.strip().partition("\n")[0])],
}
#: Files that name versions of tools: the pins first, then what build files ask for.
VERSION_FILES = (
    ".nvmrc", ".node-version", ".python-version", "rust-toolchain.toml", "rust-toolchain",
    "global.json", *PINS, "go.mod", "Cargo.toml", "package.json", "pom.xml", "build.gradle.kts",
    "build.gradle", "pyproject.toml", "setup.cfg",
)  # fmt: skip


def read_tool_versions(path: str, content: bytes) -> tuple[Coordinate, ...]:
    """The tools and their versions that one of `VERSION_FILES` names; none if it is unreadable."""
    kind, list_pins = find_format(path), PINS.get(posixpath.basename(path))
    coordinates = list[Coordinate]()
    try:
        for name, text in list_pins(text_of(content)) if list_pins else ():
            tool = name.lower().rpartition(":")[2].rpartition("/")[2]
            if match := _VERSION.search(text):
                pin = runtime(_NAMES.get(tool, tool), match[1], role=Role.LOCKED)
                coordinates.append(pin)
        manifest = kind.reader(content) if kind and not list_pins else Manifest()
    except ManifestError:
        return ()
    for each in manifest.coordinates:
        is_manager = each.role is Role.PLUGIN and each.artifact in _MANAGERS
        version = each.version and fill_properties(each.version, manifest.properties)
        if version and is_manager:
            coordinates.append(runtime(each.artifact, version, role=Role.LOCKED))
        elif version and each.ecosystem == "runtime":
            coordinates.append(replace(each, version=version))
    return tuple(coordinates)
