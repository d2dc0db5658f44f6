"""Reads lock files for what they resolve each package to; they are large and written by tools."""

from __future__ import annotations

import re

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
    """What ``uv.lock``, ``poetry.lock`` or ``pdm.lock`` resolves packages to.

    Raises:
        ManifestError: for a file that is no text.
    """
    return Manifest(
        coordinates=tuple(
            _locked(normalised(name), f"=={version}", "pypi")
            for name, version in _ENTRY.findall(text_of(content))
        )
    )


def read_cargo_lock(content: bytes) -> Manifest:
    """What ``Cargo.lock`` resolves crates to.

    Raises:
        ManifestError: for a file that is no text.
    """
    return Manifest(
        coordinates=tuple(
            _locked(name, f"={version}", "cargo")
            for name, version in _ENTRY.findall(text_of(content))
        )
    )


def read_pipfile_lock(content: bytes) -> Manifest:
    """What ``Pipfile.lock`` resolves packages to.

    Raises:
        ManifestError: for a file that is not JSON.
    """
    document = json_of(text_of(content))
    entries = [pair for key in ("default", "develop") for pair in table(document, key).items()]
    found = [(name, word(table(value).get("version"))) for name, value in entries]
    return Manifest(
        coordinates=tuple(
            _locked(normalised(name), version, "pypi") for name, version in found if version
        )
    )


def read_package_lock(content: bytes) -> Manifest:
    """What ``package-lock.json`` puts into the topmost ``node_modules``.

    Raises:
        ManifestError: for a file that is not JSON.
    """
    document = json_of(text_of(content))
    packages = {
        path.removeprefix(_MODULES): value
        for path, value in table(document, "packages").items()
        if path.startswith(_MODULES) and path.count(_MODULES) == 1
    }
    found = packages or table(document, "dependencies")
    versions = [(name, word(table(value).get("version"))) for name, value in found.items()]
    return Manifest(
        coordinates=tuple(_locked(name, version, "npm") for name, version in versions if version)
    )


def read_yarn_lock(content: bytes) -> Manifest:
    """What ``yarn.lock``, old or new, resolves packages to.

    Raises:
        ManifestError: for a file that is no text.
    """
    found = _YARN.findall(text_of(content))
    return Manifest(coordinates=tuple(_locked(name, version, "npm") for name, version in found))


def read_pnpm_lock(content: bytes) -> Manifest:
    """What ``pnpm-lock.yaml`` resolves the packages to that are asked for by name.

    Raises:
        ManifestError: for a file that is no text, or whose form is older than 2021's.
    """
    text = text_of(content)
    importers = text.partition("\nimporters:\n")[2]
    if not importers and "\nspecifiers:\n" in text:
        raise ManifestError("a pnpm lock file of an old form")
    found = _PNPM.findall(importers.partition("\npackages:\n")[0])
    return Manifest(coordinates=tuple(_locked(name, version, "npm") for name, version in found))


def _locked(name: str, version: str, ecosystem: str) -> Coordinate:
    return Coordinate("", name, version, Role.LOCKED, (), ecosystem)
