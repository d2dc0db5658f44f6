"""Reads ``Cargo.toml`` and the files that name a Rust toolchain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from prjury.manifests.manifest import Coordinate, Manifest, Role, runtime
from prjury.manifests.syntax import (
    Mentions,
    index_toml_lines,
    lines_in,
    load_toml,
    strings,
    table,
    text_of,
    word,
)

#: Cargo still takes the two with underscores.
_SECTIONS = (
    "dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies",
    "build_dependencies",
)  # fmt: skip
_INHERITED = "workspace.dependencies."
#: Cargo takes this one where a package names none.
_FIRST_EDITION = "2015"
#: The latest edition, and the first Rust that knows it.
_LATEST_EDITION, _ITS_RUST = "2024", "1.85"
_CHANNEL = re.compile(r"(\d+\.\d+(?:\.\d+)?)\s*")


class CargoToml(Manifest, frozen=True):
    """A ``Cargo.toml``; ``default`` has patterns of the members that are built by default."""

    is_workspace: bool = False
    default: tuple[str, ...] = ()


def read_cargo_toml(content: bytes) -> CargoToml:
    """Read a ``Cargo.toml``; what a workspace offers to its members becomes properties."""
    text = text_of(content)
    document = load_toml(text)
    seen = index_toml_lines(text)
    package = table(document, "package")
    name = word(package.get("name"))
    version = _read_key(package, "version")
    own = [Coordinate("", name, version, Role.SELF, (), "cargo")] if name else []
    workspace = table(document, "workspace")
    members, excluded, default = (
        strings(workspace.get(key)) for key in ("members", "exclude", "default-members")
    )
    properties = {f"workspace.package.{k}": v for k, v in table(workspace, "package").items()}
    for crate, value in table(workspace, "dependencies").items():
        properties[f"{_INHERITED}{crate}"] = _read_version(value)
    return CargoToml(
        name=name or "",
        version=version,
        own_version=word(package.get("version")),
        coordinates=(*own, *_list_rust_and_edition(package, seen), *_dependencies(document, seen)),
        properties={key: value for key, value in properties.items() if isinstance(value, str)},
        members=members or (),
        excluded=excluded or (),
        is_workspace=isinstance(document.get("workspace"), dict),
        default=default or (),
    )


def _read_key(package: Mapping[str, Any], key: str) -> str | None:
    value = package.get(key)
    if isinstance(value, dict):
        return f"${{workspace.package.{key}}}" if value.get("workspace") is True else None
    return word(value)


def _list_rust_and_edition(package: Mapping[str, Any], seen: Mentions) -> Iterator[Coordinate]:
    edition = _read_key(package, "edition") or _FIRST_EDITION
    lines = lines_in(seen, "edition")
    if rust := _read_key(package, "rust-version"):
        yield runtime("rust", rust, lines_in(seen, "rust-version"))
    elif edition == _LATEST_EDITION:
        yield runtime("rust", _ITS_RUST, lines, via="edition")
    if package:
        yield runtime("rust-edition", edition, lines, via="edition")


def _read_version(value: object) -> str | None:
    return word(value.get("version") if isinstance(value, dict) else value)


def _dependencies(document: Mapping[str, Any], seen: Mentions) -> Iterator[Coordinate]:
    places = (document, *map(table, table(document, "target").values()))
    for section, place in product(_SECTIONS, places):
        for name, value in table(place, section).items():
            yield replace(_make_dependency(name, value, Role.DEPENDENCY, seen), scope=section)
    for name, value in table(document, "workspace", "dependencies").items():
        yield _make_dependency(name, value, Role.MANAGED, seen)


def _make_dependency(name: str, value: object, role: Role, seen: Mentions) -> Coordinate:
    entry = value if isinstance(value, dict) else {}
    version = _read_version(value)
    if entry.get("workspace") is True:
        version = f"${{{_INHERITED}{name}}}"
    crate = word(entry.get("package")) or name
    anything = None if version == "*" else version
    return Coordinate("", crate, anything, role, lines_in(seen, name), "cargo")


def read_toolchain(content: bytes) -> Manifest:
    text = text_of(content).strip()
    if "[" in text:
        text = word(table(load_toml(text), "toolchain").get("channel")) or ""
    match = _CHANNEL.match(text)
    return Manifest(coordinates=(runtime("rust", match[1], role=Role.LOCKED),) if match else ())
