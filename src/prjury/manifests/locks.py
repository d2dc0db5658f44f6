"""Reads lock files for what they resolve each package to; they are large and written by tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prjury.manifests.manifest import Coordinate, Manifest, ManifestError, Role
from prjury.manifests.requirements import normalised
from prjury.manifests.syntax import json_of, table, text_of, word

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


def read_python_lock(content: bytes) -> Manifest:
    """What ``uv.lock``, ``poetry.lock`` or ``pdm.lock`` resolves packages to."""
    found = _ENTRY.findall(text_of(content))
    return _locked([(normalised(name), f"=={version}") for name, version in found], "pypi")


def read_cargo_lock(content: bytes) -> Manifest:
    """What ``Cargo.lock`` resolves crates to."""
    found = _ENTRY.findall(text_of(content))
    return _locked([(name, f"={version}") for name, version in found], "cargo")


def read_pipfile_lock(content: bytes) -> Manifest:
    """What ``Pipfile.lock`` resolves packages to."""
    document = json_of(text_of(content))
    entries = [pair for key in ("default", "develop") for pair in table(document, key).items()]
    return _locked(_versions((normalised(name), value) for name, value in entries), "pypi")


def read_package_lock(content: bytes) -> Manifest:
    """What ``package-lock.json`` puts into the topmost ``node_modules``."""
    document = json_of(text_of(content))
    packages = {
        path.removeprefix(_MODULES): value
        for path, value in table(document, "packages").items()
        if path.startswith(_MODULES) and path.count(_MODULES) == 1
    }
    found = packages or table(document, "dependencies")
    return _locked(_versions(found.items()), "npm")


def read_yarn_lock(content: bytes) -> Manifest:
    """What ``yarn.lock``, old or new, resolves packages to."""
    return _locked(_YARN.findall(text_of(content)), "npm")


def read_pnpm_lock(content: bytes) -> Manifest:
    """What ``pnpm-lock.yaml`` resolves the packages to that are asked for by name."""
    text = text_of(content)
    importers = text.partition("\nimporters:\n")[2]
    if not importers and "\nspecifiers:\n" in text:
        raise ManifestError("a pnpm lock file of an old form")
    return _locked(_PNPM.findall(importers.partition("\npackages:\n")[0]), "npm")


def _versions(entries: Iterable[tuple[str, object]]) -> Iterator[tuple[str, str]]:
    """The names with their versions, where they have any."""
    for name, value in entries:
        if version := word(table(value).get("version")):
            yield name, version


def _locked(found: Iterable[tuple[str, str]], ecosystem: str) -> Manifest:
    return Manifest(
        coordinates=tuple(
            Coordinate("", name, version, Role.LOCKED, (), ecosystem) for name, version in found
        )
    )
