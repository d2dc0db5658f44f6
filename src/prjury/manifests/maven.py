"""Reads a ``pom.xml``: what it declares, and what matters for a build of several modules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from prjury.manifests.manifest import Coordinate, Manifest, ManifestError, Role, Setting, runtime
from prjury.manifests.xml import Node, read_xml

#: Properties that set the release of Java; the earlier ones say more.
_JAVA = ("maven.compiler.release", "java.version", "maven.compiler.source")
_PLUGINS_GROUP = "org.apache.maven.plugins"
_COMPILER = f"{_PLUGINS_GROUP}:maven-compiler-plugin"
_KOTLIN = "org.jetbrains.kotlin:kotlin-maven-plugin"
_KOTLIN_VERSION = "kotlin.version"

#: Whether a profile is active by itself. ``default``: unless another one of the same file is;
#: ``unknown``: that depends on the machine.
State: TypeAlias = Literal["off", "default", "unknown"]

#: Properties with these prefixes may be set on any machine.
_SET_ANYWAY = (
    "env.", "java.", "jdk.", "os.", "user.", "file.", "path.", "line.", "sun.", "maven.", "stdout.",
)  # fmt: skip
#: What separates the paths of one text.
_BETWEEN = re.compile(r"[\s,;:=|\"']+")
_ORIGINS: Mapping[str, str] = {
    "${project.basedir}": "module",
    "${basedir}": "module",
    "${pom.basedir}": "module",
    "${project.parent.basedir}": "parent",
    "${parent.basedir}": "parent",
    "${maven.multiModuleProjectDirectory}": "root",
    "${session.executionRootDirectory}": "root",
    "${session.rootDirectory}": "root",
    "${session.topDirectory}": "root",
    "${project.rootDirectory}": "root",
}


class MavenName(NamedTuple):
    """A group and an artifact as written, with ``${…}``; an empty group is any group."""

    group: str
    artifact: str


class PomPath(NamedTuple):
    """A path that a file names.

    Attributes:
        origin: where it begins: ``module``, ``parent`` for the directory of the module's parent,
            or ``root`` for that of the reactor.
    """

    origin: str
    path: str


@dataclass(frozen=True)
class Profile:
    """A profile with its modules.

    Attributes:
        switch: the property that turns it on; empty if no property does.
    """

    name: str
    state: State
    modules: tuple[str, ...]
    switch: str = ""


@dataclass(frozen=True)
class Pom(Manifest):
    """A ``pom.xml``; ``members`` are its modules, without those of profiles.

    Attributes:
        mentions: whatever it builds with: dependencies, plugins and theirs, extensions, imported
            versions, annotation processors. What it only manages for others is not in it.
        places: the directories and files that it names outside of its own directory.
        searches: whether Maven looks for modules by itself.
    """

    packaging: str = "jar"
    profiles: tuple[Profile, ...] = ()
    mentions: frozenset[MavenName] = frozenset()
    places: frozenset[PomPath] = frozenset()
    searches: bool = False

    @property
    def itself(self) -> MavenName:
        """What it builds, as written."""
        return MavenName(self.group, self.name)

    @property
    def parent_name(self) -> MavenName | None:
        """Its parent, as written."""
        parent = self.parent
        return MavenName(parent.group, parent.artifact) if parent else None

    @property
    def aggregates(self) -> bool:
        """Whether it has modules, perhaps only in a profile."""
        return bool(self.members) or any(profile.modules for profile in self.profiles)


def read_pom(content: bytes) -> Pom:
    """What a ``pom.xml`` declares. Nothing inside ``<exclusions>`` counts as declared."""
    project = read_xml(content).first("project")
    if project is None:
        raise ManifestError("it has no <project>")
    properties = {node.tag: node.text for node in project.all("properties", "*")}
    coordinates, settings = tuple(_coordinates(project)), tuple(_settings(project))
    packaging = project.value("packaging") or "jar"
    modules = tuple(_modules(project))
    return Pom(
        name=project.value("artifactId") or "",
        group=project.value("groupId") or project.value("parent", "groupId") or "",
        version=project.value("version") or project.value("parent", "version"),
        coordinates=(
            *coordinates,
            *_itself(project),
            *_runtimes(coordinates, settings, properties),
        ),
        settings=settings,
        properties=properties,
        parent_path=_parent_path(project),
        own_version=project.value("version"),
        further=tuple(_further(project)),
        named_versions={
            node.tag: node.text
            for node in project.all("profiles", "profile", "properties", "*")
            if node.tag not in properties
        },
        members=modules,
        packaging=packaging,
        profiles=tuple(_profiles(project)),
        mentions=frozenset(_mentions(project)),
        places=frozenset(_places(project)),
        searches=packaging == "pom" and not modules and _model(project) > (4, 0),
    )


def _itself(project: Node) -> Iterator[Coordinate]:
    """The project, where it names its own group: one that has its parent's is no part of it."""
    group, name = project.value("groupId"), project.value("artifactId")
    version = project.value("version") or project.value("parent", "version")
    if group and name:
        yield Coordinate(group, name, version, Role.SELF)


def _runtimes(
    coordinates: tuple[Coordinate, ...],
    settings: tuple[Setting, ...],
    properties: Mapping[str, str],
) -> Iterator[Coordinate]:
    """The Java and the Kotlin that a project asks for, possibly by a property."""
    found = [s for s in settings if s.plugin == _COMPILER]
    configured = [s for key in ("release", "source") for s in found if s.key == key]
    named = [f"${{{name}}}" for name in _JAVA if properties.get(name)]
    if configured:
        yield runtime("java", configured[0].value, (configured[0].line,))
    elif named:
        yield runtime("java", named[0], ())
    plugins = [c for c in coordinates if str(c) == _KOTLIN and c.version]
    if plugins:
        yield runtime("kotlin", plugins[0].version, plugins[0].lines, via=_KOTLIN)
    elif properties.get(_KOTLIN_VERSION):
        yield runtime("kotlin", f"${{{_KOTLIN_VERSION}}}", ())


def _parent_path(project: Node) -> str | None:
    parent = project.first("parent")
    if parent is None:
        return None
    if parent.first("relativePath") is None:
        return "../pom.xml"
    return parent.value("relativePath")


def _coordinates(project: Node) -> Iterator[Coordinate]:
    for parent in project.all("parent"):
        yield _coordinate(parent, Role.PARENT)
    for place in (project, *project.all("profiles", "profile")):
        for node in place.all("dependencies", "dependency"):
            yield _coordinate(node, Role.DEPENDENCY)
        for node in place.all("dependencyManagement", "dependencies", "dependency"):
            yield _coordinate(node, Role.BOM if node.value("scope") == "import" else Role.MANAGED)
        for node in _plugins(place):
            yield _coordinate(node, Role.PLUGIN)


def _plugins(place: Node) -> Iterator[Node]:
    yield from place.all("build", "plugins", "plugin")
    yield from place.all("build", "pluginManagement", "plugins", "plugin")


def _coordinate(node: Node, role: Role) -> Coordinate:
    named = [node.first("artifactId"), node.first("groupId")]
    group = node.value("groupId")
    if group is None and role is Role.PLUGIN:
        group = _PLUGINS_GROUP
    return Coordinate(
        group=group or "",
        artifact=node.value("artifactId") or "",
        version=node.value("version"),
        role=role,
        lines=tuple(part.line for part in named if part),
        scope=node.value("scope") or "",
    )


def _further(project: Node) -> Iterator[Coordinate]:
    """Extensions of the build, and what plugins depend on."""
    for place in (project, *project.all("profiles", "profile")):
        for extension in place.all("build", "extensions", "extension"):
            yield _coordinate(extension, Role.PLUGIN)
        for plugin in _plugins(place):
            for node in plugin.all("dependencies", "dependency"):
                yield _coordinate(node, Role.PLUGIN)


def _settings(project: Node) -> Iterator[Setting]:
    for place in (project, *project.all("profiles", "profile")):
        for plugin in _plugins(place):
            name = str(_coordinate(plugin, Role.PLUGIN))
            for holder in (plugin, *plugin.all("executions", "execution")):
                for configuration in holder.all("configuration"):
                    yield from _leaves(configuration, name, "")


def _leaves(node: Node, plugin: str, prefix: str) -> Iterator[Setting]:
    for child in node.children:
        key = f"{prefix}{child.tag}"
        if child.children:
            yield from _leaves(child, plugin, f"{key}.")
        else:
            yield Setting(plugin, key, child.text, child.line)


def _model(project: Node) -> tuple[int, ...]:
    """The version of the format."""
    parts = (project.value("modelVersion") or "4.0.0").split(".")[:2]
    return tuple(int(part) if part.isascii() and part.isdigit() else 0 for part in parts)


def _modules(holder: Node) -> Iterator[str]:
    for path in (("modules", "module"), ("subprojects", "subproject")):
        for module in holder.all(*path):
            yield module.text


def _profiles(project: Node) -> Iterator[Profile]:
    for profile in project.all("profiles", "profile"):
        switch = profile.value("activation", "property", "name") or ""
        name = profile.value("id") or ""
        yield Profile(name, _state(profile), tuple(_modules(profile)), switch)


def _state(profile: Node) -> State:
    """The state of a profile; a condition on the machine may hold or not."""
    activation = profile.first("activation")
    conditions = {condition.tag for condition in activation.children} if activation else set()
    if conditions - {"activeByDefault", "property"}:
        return "unknown"
    name, value = (
        profile.value("activation", "property", part) or "" for part in ("name", "value")
    )
    if "property" in conditions and (
        not name or name.startswith(("!", "$", *_SET_ANYWAY)) or value.startswith("!")
    ):
        return "unknown"
    by_default = profile.value("activation", "activeByDefault") == "true"
    return "default" if by_default else "off"


def _walk(project: Node) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """Every element with the tags that lead to it from the project; exclusions are left out."""
    waiting: list[tuple[Node, tuple[str, ...]]] = [(project, ())]
    while waiting:
        element, path = waiting.pop()
        for child in element.children:
            if child.tag != "exclusions":
                here = (*path, child.tag)
                yield child, here
                waiting.append((child, here))


def _mentions(project: Node) -> Iterator[MavenName]:
    for element, path in _walk(project):
        artifact = element.value("artifactId")
        if artifact and not _only_managed(element, path):
            plugins = _PLUGINS_GROUP if path[-1] == "plugin" else ""
            yield MavenName(element.value("groupId") or plugins, artifact)


def _only_managed(element: Node, path: tuple[str, ...]) -> bool:
    """Whether it only sets the version of something that others may use."""
    if path[-3:] == ("dependencyManagement", "dependencies", "dependency"):
        return element.value("scope") != "import"
    return path[-3:] == ("pluginManagement", "plugins", "plugin")


def _places(project: Node) -> Iterator[PomPath]:
    for element, path in _walk(project):
        if "build" in path or "properties" in path:
            for word in _BETWEEN.split(element.text):
                if place := _place(word):
                    yield place


def _place(word: str) -> PomPath | None:
    """The path, if a word is one that leads out of the module, as far as it is fixed."""
    origin, path = "module", word.replace("\\", "/")
    if path.startswith("${"):
        start, _, path = path.partition("}/")
        origin = _ORIGINS.get(f"{start}}}", "")
    known, opened, _ = path.partition("$")
    known = known.rpartition("/")[0] if opened else known
    leaves = origin != "module" or "../" in f"{known}/"
    return PomPath(origin, known) if origin and known and leaves else None
