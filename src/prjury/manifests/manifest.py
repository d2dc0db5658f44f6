"""What one build file declares, whatever its format: dependencies, properties, a parent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import msgspec
from msgspec import Struct

#: Where a name is at home: package registries by the names of package URLs where those are not too
#: long, GitHub's actions, and ``runtime`` for languages and tools (``python``, ``node``, ``go``,
#: ``rust``, ``rust-edition``, ``java``, ``kotlin``, ``gradle``, ``dotnet``).
ECOSYSTEMS = ("maven", "pypi", "npm", "go", "cargo", "nuget", "action", "runtime")

#: Whose build files declare what: languages' families by ecosystem, and by runtime.
FAMILIES = {
    "maven": "jvm", "pypi": "python", "npm": "node", "go": "go", "cargo": "rust",
    "nuget": "dotnet", "runtime:java": "jvm", "runtime:kotlin": "jvm", "runtime:gradle": "jvm",
    "runtime:python": "python", "runtime:node": "node", "runtime:go": "go",
    "runtime:rust": "rust", "runtime:rust-edition": "rust", "runtime:dotnet": "dotnet",
}  # fmt: skip


class ManifestError(ValueError):
    """A build file that cannot be read; the message says why."""


class Role(Enum):
    """In which way a build file names a coordinate; earlier ones say more about a version."""

    BOM = "bom"
    MANAGED = "managed dependency"
    DEPENDENCY = "dependency"
    PARENT = "parent"
    SELF = "the project itself"
    LOCKED = "lock file"
    PLUGIN = "plugin"


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A dependency, managed dependency, BOM, parent, plugin or runtime as it is written.

    Attributes:
        artifact: in its registry's canonical spelling (``ruamel-yaml`` for ``Ruamel.YAML``).
        lines: those that name it; the version's line is not among them.
        optional: only an extra or a group asks for it.
        scope: a table, a Maven scope, a configuration of Gradle.
        pin: the commit that is used; the version is then the one in the comment behind it.
        via: the entry of this file that holds the version, for one that is written elsewhere.
        for_all: a script asks for it in the name of all projects below.
    """

    group: str
    artifact: str
    version: str | None
    role: Role
    lines: tuple[int, ...] = ()
    ecosystem: str = "maven"
    optional: bool = False
    scope: str = field(default="", compare=False)
    pin: str | None = field(default=None, compare=False)
    via: str = field(default="", compare=False)
    for_all: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{self.group}:{self.artifact}" if self.group else self.artifact


def runtime(
    name: str,
    version: str | None,
    lines: tuple[int, ...] = (),
    *,
    role: Role = Role.MANAGED,
    via: str = "",
) -> Coordinate:
    return Coordinate("", name, version, role, lines, "runtime", via=via)


class Setting(Struct, frozen=True):
    """A value in a plugin's configuration, by its dotted key."""

    plugin: str
    key: str
    value: str
    line: int


class Manifest(Struct, frozen=True):
    """One build file.

    Attributes:
        parent_path: where Maven looks for the parent, relative to this file; None for nowhere.
        includes: further files of the same kind, relative to this one.
        own_version: the version that this very file gives the project.
        further: entries that say nothing of what the code is compiled against, such as overridden.
        members, excluded: parts of its project, mostly patterns of directories.
        unclear: it names its members in a form that no reader understands.
        projects: of Gradle, such as ``a:b``; those whose managed versions hold here are BOMs.
        applied: the ids of Gradle's plugins, among them scripts of the build's own.
    """

    name: str = ""
    group: str = ""
    version: str | None = None
    coordinates: tuple[Coordinate, ...] = ()
    settings: tuple[Setting, ...] = ()
    properties: Mapping[str, str] = msgspec.field(default_factory=dict)
    parent_path: str | None = None
    includes: tuple[str, ...] = ()
    own_version: str | None = None
    further: tuple[Coordinate, ...] = ()
    members: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    unclear: bool = False
    projects: tuple[Coordinate, ...] = ()
    applied: tuple[str, ...] = ()
    named_versions: Mapping[str, str] = msgspec.field(default_factory=dict)

    @property
    def parent(self) -> Coordinate | None:
        return next((c for c in self.coordinates if c.role is Role.PARENT), None)

    @property
    def own(self) -> tuple[Coordinate, ...]:
        """The dependencies that this very file asks for; managed ones are only offered."""
        return tuple(c for c in self.coordinates if c.role is Role.DEPENDENCY)
