"""Reads ``Cargo.toml`` and the files that name a Rust toolchain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from prjury.manifests.manifest import Coordinate, Manifest, Role
from prjury.manifests.syntax import lines_in, table, text_of, toml_mentions, toml_of, word

_SECTIONS = ("dependencies", "dev-dependencies", "build-dependencies")
#: Cargo takes this one where a package names none.
_FIRST_EDITION = "2015"
#: The latest edition, and the first Rust that knows it.
_LATEST_EDITION, _ITS_RUST = "2024", "1.85"
_CHANNEL = re.compile(r"(\d+\.\d+(?:\.\d+)?)\s*")


def read_cargo_toml(content: bytes) -> Manifest:
    """What a ``Cargo.toml`` declares; what a workspace offers to its members are properties.

    Raises:
        ManifestError: for a file that is not TOML.
    """
    text = text_of(content)
    document = toml_of(text)
    seen = toml_mentions(text)
    package = table(document, "package")
    name = word(package.get("name"))
    version = _inherited(package, "version")
    own = [Coordinate("", name, version, Role.SELF, (), "cargo")] if name else []
    return Manifest(
        name=name or "",
        version=version,
        own_version=word(package.get("version")),
        coordinates=(*own, *_language(package, seen), *_dependencies(document, seen)),
        properties=_offered(table(document, "workspace")),
    )


def _inherited(package: Mapping[str, Any], key: str) -> str | None:
    """A key's value, or a placeholder for the workspace's."""
    value = package.get(key)
    if isinstance(value, dict):
        return f"${{workspace.package.{key}}}" if value.get("workspace") is True else None
    return word(value)


def _language(
    package: Mapping[str, Any], seen: Mapping[str, Sequence[int]]
) -> Iterator[Coordinate]:
    edition = _inherited(package, "edition") or _FIRST_EDITION
    lines = lines_in(seen, "edition")
    if rust := _inherited(package, "rust-version"):
        yield Coordinate("", "rust", rust, Role.MANAGED, lines_in(seen, "rust-version"), "runtime")
    elif edition == _LATEST_EDITION:
        yield Coordinate("", "rust", _ITS_RUST, Role.MANAGED, lines, "runtime", via="edition")
    if package:
        yield Coordinate("", "rust-edition", edition, Role.MANAGED, lines, "runtime", via="edition")


def _offered(workspace: Mapping[str, Any]) -> dict[str, str]:
    found = {f"workspace.package.{k}": v for k, v in table(workspace, "package").items()}
    for name, value in table(workspace, "dependencies").items():
        found[f"workspace.dependencies.{name}"] = _version(value)
    return {key: value for key, value in found.items() if isinstance(value, str)}


def _version(value: object) -> str | None:
    """A version requirement, which a path or a repository may go without."""
    return word(value.get("version") if isinstance(value, dict) else value)


def _dependencies(
    document: Mapping[str, Any], seen: Mapping[str, Sequence[int]]
) -> Iterator[Coordinate]:
    targets = [value for value in table(document, "target").values() if isinstance(value, dict)]
    for section in _SECTIONS:
        for place in (document, *targets):
            for name, value in table(place, section).items():
                yield replace(_dependency(name, value, Role.DEPENDENCY, seen), scope=section)
    for name, value in table(document, "workspace", "dependencies").items():
        yield _dependency(name, value, Role.MANAGED, seen)


def _dependency(
    name: str, value: object, role: Role, seen: Mapping[str, Sequence[int]]
) -> Coordinate:
    told = value if isinstance(value, dict) else {}
    version = _version(value)
    if told.get("workspace") is True:
        version = f"${{workspace.dependencies.{name}}}"
    crate = word(told.get("package")) or name
    anything = None if version == "*" else version
    return Coordinate("", crate, anything, role, lines_in(seen, name), "cargo")


def read_toolchain(content: bytes) -> Manifest:
    """The Rust that developers of the project use, in ``rust-toolchain`` with or without TOML.

    Raises:
        ManifestError: for a file that is no text, or TOML that is none.
    """
    text = text_of(content).strip()
    if "[" in text:
        text = word(table(toml_of(text), "toolchain").get("channel")) or ""
    match = _CHANNEL.match(text)
    found = [Coordinate("", "rust", match[1], Role.LOCKED, (), "runtime")] if match else []
    return Manifest(coordinates=tuple(found))
