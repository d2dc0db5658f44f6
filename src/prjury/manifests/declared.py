"""The versions that one file declares, each under a name and for a purpose."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import PurePosixPath

from msgspec import Struct

from prjury.manifests.action_pins import read_pre_commit_pins, read_workflow_pins
from prjury.manifests.formats import SCRIPTS, Reader, find_format
from prjury.manifests.gradle import read_catalog_bytes, read_script_bytes
from prjury.manifests.manifest import Coordinate, Manifest, Role
from prjury.manifests.syntax import check_size

#: The name of the version that a file gives the project.
OWN_NAME = "the project itself"


class Purpose(StrEnum):
    """What a dependency is for."""

    LIBRARY = "library"
    #: What builds, tests or checks the project, and does not get to its users.
    TOOL = "tool"
    #: The project itself.
    OWN = "own"


class DeclaredDependency(Struct, frozen=True):
    """A version in a file, by ``group:artifact`` or the property that holds it."""

    name: str
    version: str
    written: str
    line: int
    purpose: Purpose = Purpose.LIBRARY
    scope: str = ""


#: Readers of files that no module of a project begins with or inherits from.
_BY_NAME: dict[str, Reader] = {
    "action.yml": read_workflow_pins,
    "action.yaml": read_workflow_pins,
    ".pre-commit-config.yaml": read_pre_commit_pins,
}
_WORKFLOW = re.compile(r"(^|/)\.github/workflows/[^/]+\.ya?ml$", re.IGNORECASE)
_VERSION_NAME = re.compile(r"version$|^revision$", re.IGNORECASE)
_TOOL_NAME = re.compile(
    r"plugin|gradle|maven-|checkstyle|jacoco|junit|mockito|testcontainers", re.IGNORECASE
)
_TOOL_SCOPE = re.compile(r"plugin|dev|build|test|lint|doc|dependency-groups|type", re.IGNORECASE)
_TOOL_FILE = re.compile(
    r"(dev|test|doc|lint|build|ci|typing|mypy|release)[^/]*$|(^|/)(\.?ci|tools?|tests?)/",
    re.IGNORECASE,
)
#: Properties that only repeat what a dependency of the file says, or are no versions of anything.
_REPEATED = re.compile(r"workspace\.(dependencies\..*|package\.edition)|TargetFrameworkVersion")
_OWN_PROPERTY = re.compile(
    r"version|revision|VersionPrefix|workspace\.package\.version", re.IGNORECASE
)
_REFERENCE = re.compile(r"\$\{?([\w.-]+)")
_NUMBER = re.compile(rb"\d[\w.]*")
#: Of so many lines with the same number the one with the name is looked for.
_MOST_LINES = 100
_PLUGIN_ARTIFACT = ".gradle.plugin"


def find_reader_unless_lock(path: str) -> Reader | None:
    """The reader of the versions in a file of this name; lock files have none."""
    if reader := _BY_NAME.get(PurePosixPath(path).name.lower()):
        return reader
    if _WORKFLOW.search(path):
        return read_workflow_pins
    if path.endswith(".versions.toml"):
        return read_catalog_bytes
    if kind := find_format(path):
        return None if kind.locked else kind.reader
    return read_script_bytes if path.endswith(SCRIPTS) else None


def is_manifest(path: str) -> bool:
    """Return true if versions of what a project is made of may stand in a file of this name."""
    return find_reader_unless_lock(path) is not None


def list_declared(path: str, content: bytes) -> tuple[DeclaredDependency, ...] | None:
    """List what a file declares, tools last; None for a file whose name declares nothing."""
    reader = find_reader_unless_lock(path)
    if reader is None:
        return None
    manifest = reader(check_size(content))
    lines = _Lines(content)
    properties = _list_own_and_properties(manifest, lines)
    dependencies = _list_versioned_dependencies(path, manifest, lines)
    distinct = dict.fromkeys([*dependencies, *properties])
    return tuple(sorted(distinct, key=lambda each: (each.purpose is Purpose.TOOL, each.line)))


@dataclass(frozen=True)
class _Lines:
    content: bytes

    def first(self, name: str, version: str) -> int:
        """Find the first line with both; else with the version; else the first of all."""
        number = _NUMBER.search(version.encode(errors="replace"))
        places = self._by_number.get(number[0], ()) if number else ()
        last = name.rpartition(":")[2].encode(errors="replace")
        exact = (at for at in places[:_MOST_LINES] if last in self._rows[at])
        return next(exact, places[0] if places else 0) + 1

    @cached_property
    def _rows(self) -> Sequence[bytes]:
        return self.content.split(b"\n")

    @cached_property
    def _by_number(self) -> Mapping[bytes, Sequence[int]]:
        places: dict[bytes, list[int]] = defaultdict(list)
        for at, line in enumerate(self._rows):
            for number in _NUMBER.findall(line):
                places[number].append(at)
        return places


def _list_versioned_dependencies(
    path: str, manifest: Manifest, lines: _Lines
) -> Iterator[DeclaredDependency]:
    for one in (*manifest.coordinates, *manifest.further):
        if one.version and "$" not in one.version and not one.via and one.role is not Role.SELF:
            name = one.group if one.artifact.endswith(_PLUGIN_ARTIFACT) else str(one)
            version = "" if one.pin == one.version else one.version
            if one.ecosystem == "nuget" and "," not in version:
                version = version.strip("[]")
            line = one.lines[0] if one.lines else lines.first(name, version)
            purpose = Purpose.TOOL if _is_tool(path, one) else Purpose.LIBRARY
            scope = f"{one.role.value} {one.scope}"
            yield DeclaredDependency(name, version, one.pin or version, line, purpose, scope)


def _is_tool(path: str, one: Coordinate) -> bool:
    tool_list = path.endswith((".txt", ".in")) and _TOOL_FILE.search(path)
    tool_version = one.ecosystem == "runtime" and (
        one.role is Role.LOCKED or one.artifact == "gradle"
    )
    tool_name = one.ecosystem == "maven" and _TOOL_NAME.search(one.artifact)
    tool = one.role is Role.PLUGIN or one.ecosystem == "action" or one.optional
    return bool(tool or tool_list or tool_version or tool_name or _TOOL_SCOPE.search(one.scope))


def _list_own_and_properties(manifest: Manifest, lines: _Lines) -> Iterator[DeclaredDependency]:
    if (own := manifest.own_version) and "$" not in own:
        line = lines.first("version", own)
        yield DeclaredDependency(OWN_NAME, own, own, line, Purpose.OWN)
    referred = {
        match[1] for one in manifest.coordinates for match in _REFERENCE.finditer(one.version or "")
    }
    for name, value in manifest.properties.items():
        catalog = name.startswith("catalog:")
        is_version = catalog or name in referred or _VERSION_NAME.search(name)
        if is_version and not _REPEATED.fullmatch(name) and name != "version":
            yield from _yield_if_version(name.rpartition(":")[2] if catalog else name, value, lines)
    for name, value in manifest.named_versions.items():
        yield from _yield_if_version(name, value, lines)


def _yield_if_version(name: str, value: str, lines: _Lines) -> Iterator[DeclaredDependency]:
    if not value or "$" in value or not any(map(str.isdigit, value)):
        return
    line = lines.first(name, value)
    if _OWN_PROPERTY.fullmatch(name):
        label = name if name == "revision" else OWN_NAME
        yield DeclaredDependency(label, value, value, line, Purpose.OWN)
    else:
        purpose = Purpose.TOOL if _TOOL_NAME.search(name) else Purpose.LIBRARY
        yield DeclaredDependency(name, value, value, line, purpose, "property")
