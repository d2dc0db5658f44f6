"""Reads MSBuild's projects and property files, and ``global.json``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prjury.manifests.manifest import Coordinate, Manifest, ManifestError, Role, runtime
from prjury.manifests.syntax import load_json_object, table, text_of, word
from prjury.manifests.xml import Node, read_xml_document

_PROPERTY = re.compile(r"\$\(([\w.-]+)\)")
_FRAMEWORKS = ("TargetFramework", "TargetFrameworks")
_REFERENCES = {
    "PackageReference": Role.DEPENDENCY,
    "GlobalPackageReference": Role.DEPENDENCY,
    "PackageVersion": Role.MANAGED,
}
_SDK = re.compile(r"(\d+\.\d+)\.\d+")


def read_msbuild(content: bytes) -> Manifest:
    """Read what a project or a file of properties declares; conditions are not looked at."""
    project = read_xml_document(content).first("Project")
    if project is None:
        raise ManifestError("it has no <Project>")
    values = [node for node in project.all("PropertyGroup", "*") if node.text]
    properties = {node.tag: _placeholders(node.text) for node in values}
    coordinates = list(_list_packages(project))
    nodes = [node for tag in _FRAMEWORKS for node in values if node.tag == tag]
    if nodes:
        names = ";".join(_placeholders(node.text) for node in nodes)
        coordinates.insert(0, runtime("dotnet", names, tuple(node.line for node in nodes)))
    own = {key: value for key, value in properties.items() if key not in _FRAMEWORKS}
    return Manifest(
        coordinates=tuple(coordinates),
        properties=properties,
        own_version=own.get("Version") or own.get("VersionPrefix"),
    )


def _placeholders(text: str) -> str:
    return _PROPERTY.sub(r"${\1}", text)


def _list_packages(project: Node) -> Iterator[Coordinate]:
    for group in project.all("ItemGroup"):
        for node in group.children:
            name = node.attributes.get("Include") or node.attributes.get("Update")
            if node.tag in _REFERENCES and name:
                role = _REFERENCES[node.tag]
                lower = name.strip().lower()
                yield Coordinate("", lower, _read_version(node), role, (node.line,), "nuget")


def _read_version(node: Node) -> str | None:
    for key in ("VersionOverride", "Version"):
        if version := node.attributes.get(key) or node.value(key):
            return _placeholders(version)
    return None


def read_global_json(content: bytes) -> Manifest:
    """The SDK in a ``global.json``: what a project targets where it does not say so itself."""
    version = word(table(load_json_object(text_of(content)), "sdk").get("version"))
    match = _SDK.match(version or "")
    coordinates = (runtime("dotnet", f"net{match[1]}", role=Role.LOCKED),) if match else ()
    return Manifest(coordinates=coordinates)
