"""Reads ``package.json``, pnpm's workspaces and the files that name a version of Node."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from msgspec import field

from prjury.manifests.manifest import Coordinate, Manifest, ManifestError, Role, runtime
from prjury.manifests.syntax import (
    Mentions,
    index_json_pair_lines,
    lines_in,
    load_json_object,
    strings,
    table,
    text_of,
    word,
)

#: Of two sections that name a package, the earlier one's version counts: users of a library bring
#: their own version of a peer.
_SECTIONS = ("peerDependencies", "dependencies", "optionalDependencies", "devDependencies")
_ALIAS = re.compile(r"npm:((?:@[^@/\s]+/)?[^@/\s]+)(?:@(.+))?")
_CATALOG = "catalog:"
_ANYTHING = frozenset({"", "*", "x", "X", "latest"})
_OVERRIDDEN = re.compile(r"(?:.*[/>])?((?:@[^@/\s>]+/)?[^@/\s>]+)(?:@.*)?")


class PackageJson(Manifest, frozen=True):
    """A ``package.json``; ``manager`` is the package manager with its version, for Corepack."""

    scripts: Mapping[str, str] = field(default_factory=dict)
    manager: str = ""


def read_package_json(content: bytes) -> PackageJson:
    text = text_of(content)
    document = load_json_object(text)
    seen = index_json_pair_lines(text)
    name, version = word(document.get("name")), word(document.get("version"))
    own = [Coordinate("", name, version, Role.SELF, (), "npm")] if name else []
    pins = (word(table(document, key).get("node")) for key in ("engines", "volta"))
    if engine := next(filter(None, pins), None):
        own.append(runtime("node", engine, lines_in(seen, ("node", engine))))
    manager = word(document.get("packageManager")) or ""
    tool, _, number = manager.partition("@")
    if tool and number:
        lines = lines_in(seen, ("packageManager", manager))
        own.append(Coordinate("", tool, number.partition("+")[0], Role.PLUGIN, lines, "npm"))
    places = document.get("workspaces")
    members = strings(places.get("packages") if isinstance(places, dict) else places)
    by_name: dict[str, list[Coordinate]] = {}
    for each in _list_dependencies(document, seen):
        by_name.setdefault(each.artifact, []).append(each)
    merged = []
    for entries in by_name.values():
        first = next((entry for entry in entries if entry.version), entries[0])
        lines = tuple(dict.fromkeys(line for entry in entries for line in entry.lines))
        merged.append(replace(first, lines=lines))
    return PackageJson(
        name=name or "",
        version=version,
        own_version=version,
        coordinates=(*own, *merged, *_list_overrides(document, seen)),
        further=tuple(entry for entries in by_name.values() for entry in entries[1:]),
        members=members or (),
        unclear=members is None,
        scripts={
            name: text if isinstance(text, str) else ""
            for name, text in table(document, "scripts").items()
        },
        manager=manager,
    )


def _list_dependencies(document: Mapping[str, Any], seen: Mentions) -> Iterator[Coordinate]:
    names = {name for section in _SECTIONS for name in table(document, section)}
    for section in _SECTIONS:
        for name, version in table(document, section).items():
            alias = _ALIAS.fullmatch(version.strip()) if isinstance(version, str) else None
            # Beside the package itself, an alias is for other imports.
            is_other = alias and alias[1] != name and alias[1] in names
            if isinstance(version, str) and not is_other:
                lines = lines_in(seen, (name, version))
                yield replace(_dependency(name, version, Role.DEPENDENCY, lines), scope=section)


def _dependency(name: str, spec: str, role: Role, lines: tuple[int, ...]) -> Coordinate:
    version: str | None = spec.strip()
    if alias := _ALIAS.fullmatch(spec.strip()):
        name, version = alias[1], alias[2]
    if spec.startswith(_CATALOG):
        version = f"${{{_catalog_key(spec.removeprefix(_CATALOG), name)}}}"
    return Coordinate("", name, None if version in _ANYTHING else version, role, lines, "npm")


def _catalog_key(catalog: str, name: str) -> str:
    return f"{_CATALOG}{catalog.strip() or 'default'}:{name}"


def _list_overrides(document: Mapping[str, Any], seen: Mentions) -> Iterator[Coordinate]:
    for keys in (["overrides"], ["resolutions"], ["pnpm", "overrides"]):
        place = table(document, *keys)
        for key, value in place.items():
            version = table(place, key).get(".") if isinstance(value, dict) else value
            match = _OVERRIDDEN.fullmatch(key)
            if not isinstance(version, str) or version.startswith("$") or not match:
                continue
            if key.removeprefix("**/") in {match[1], f"{match[1]}@*"}:
                lines = lines_in(seen, (key, version))
                yield _dependency(match[1], version, Role.MANAGED, lines)


def read_pnpm_workspace(content: bytes) -> Manifest:
    """Members, catalogs and overrides of a ``pnpm-workspace.yaml``; catalogs become properties."""
    from prjury.errors import ConfigError  # noqa: PLC0415
    from prjury.policy.yaml_reader import read_yaml  # noqa: PLC0415 - yaml is slow to load

    try:
        document = read_yaml(text_of(content), "it").value
    except ConfigError as error:
        raise ManifestError(str(error)) from error
    catalogs = {"default": table(document, "catalog"), **table(document, "catalogs")}
    properties = {
        _catalog_key(catalog, name): str(version)
        for catalog, entries in catalogs.items()
        for name, version in table(entries).items()
        if isinstance(version, str | int | float)
    }
    overrides = {"overrides": table(document, "overrides")}
    members = strings(table(document).get("packages"))
    return Manifest(
        coordinates=tuple(_list_overrides(overrides, {})),
        properties=properties,
        members=members or (),
        unclear=members is None,
    )
