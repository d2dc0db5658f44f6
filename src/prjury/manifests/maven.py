"""Reads a ``pom.xml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prjury.manifests.manifest import Coordinate, Manifest, ManifestError, Role, Setting, runtime
from prjury.manifests.xml import Node, read_xml_document

#: Properties that set the release of Java; the earlier ones say more.
_JAVA = ("maven.compiler.release", "java.version", "maven.compiler.source")
_PLUGINS_GROUP = "org.apache.maven.plugins"
_COMPILER = f"{_PLUGINS_GROUP}:maven-compiler-plugin"
_KOTLIN = "org.jetbrains.kotlin:kotlin-maven-plugin"
_KOTLIN_VERSION = "kotlin.version"


class Pom(Manifest, frozen=True):
    """A ``pom.xml``; ``members`` are its modules, without those of profiles."""

    packaging: str = "jar"
    profile_modules: tuple[str, ...] = ()


def read_pom(content: bytes) -> Pom:
    """Read what a ``pom.xml`` declares. Nothing inside ``<exclusions>`` counts as declared."""
    project = read_xml_document(content).first("project")
    if project is None:
        raise ManifestError("it has no <project>")
    properties = {node.tag: node.text for node in project.all("properties", "*")}
    coordinates, settings = tuple(_list_coordinates(project)), tuple(_list_settings(project))
    group, name = project.value("groupId"), project.value("artifactId")
    version = project.value("version") or project.value("parent", "version")
    # One without a group of its own is no part of its parent's.
    own = [Coordinate(group, name, version, Role.SELF)] if group and name else []
    parent_path = project.value("parent", "relativePath")
    if project.first("parent") and project.first("parent", "relativePath") is None:
        parent_path = "../pom.xml"
    return Pom(
        name=name or "",
        group=group or project.value("parent", "groupId") or "",
        version=version,
        coordinates=(*coordinates, *own, *_list_runtimes(coordinates, settings, properties)),
        settings=settings,
        properties=properties,
        parent_path=parent_path,
        own_version=project.value("version"),
        further=tuple(_further(project)),
        named_versions={
            node.tag: node.text
            for node in project.all("profiles", "profile", "properties", "*")
            if node.tag not in properties
        },
        members=tuple(_list_modules(project)),
        packaging=project.value("packaging") or "jar",
        profile_modules=tuple(
            module
            for profile in project.all("profiles", "profile")
            for module in _list_modules(profile)
        ),
    )


def _list_runtimes(
    coordinates: tuple[Coordinate, ...],
    settings: tuple[Setting, ...],
    properties: Mapping[str, str],
) -> Iterator[Coordinate]:
    compiler = [s for s in settings if s.plugin == _COMPILER]
    configured = [s for key in ("release", "source") for s in compiler if s.key == key]
    placeholders = [f"${{{name}}}" for name in _JAVA if properties.get(name)]
    if configured:
        yield runtime("java", configured[0].value, (configured[0].line,))
    elif placeholders:
        yield runtime("java", placeholders[0], ())
    plugins = [c for c in coordinates if str(c) == _KOTLIN and c.version]
    if plugins:
        yield runtime("kotlin", plugins[0].version, plugins[0].lines, via=_KOTLIN)
    elif properties.get(_KOTLIN_VERSION):
        yield runtime("kotlin", f"${{{_KOTLIN_VERSION}}}", ())


def _list_coordinates(project: Node) -> Iterator[Coordinate]:
    for parent in project.all("parent"):
        yield _read_coordinate(parent, Role.PARENT)
    for place in (project, *project.all("profiles", "profile")):
        for node in place.all("dependencies", "dependency"):
            yield _read_coordinate(node, Role.DEPENDENCY)
        for node in place.all("dependencyManagement", "dependencies", "dependency"):
            role = Role.BOM if node.value("scope") == "import" else Role.MANAGED
            yield _read_coordinate(node, role)
        for node in _plugins(place):
            yield _read_coordinate(node, Role.PLUGIN)


def _plugins(place: Node) -> Iterator[Node]:
    yield from place.all("build", "plugins", "plugin")
    yield from place.all("build", "pluginManagement", "plugins", "plugin")


def _read_coordinate(node: Node, role: Role) -> Coordinate:
    parts = [node.first("artifactId"), node.first("groupId")]
    default_group = _PLUGINS_GROUP if role is Role.PLUGIN else ""
    return Coordinate(
        group=node.value("groupId") or default_group,
        artifact=node.value("artifactId") or "",
        version=node.value("version"),
        role=role,
        lines=tuple(part.line for part in parts if part),
        scope=node.value("scope") or "",
    )


def _further(project: Node) -> Iterator[Coordinate]:
    for place in (project, *project.all("profiles", "profile")):
        for extension in place.all("build", "extensions", "extension"):
            yield _read_coordinate(extension, Role.PLUGIN)
        for plugin in _plugins(place):
            for node in plugin.all("dependencies", "dependency"):
                yield _read_coordinate(node, Role.PLUGIN)


def _list_settings(project: Node) -> Iterator[Setting]:
    for place in (project, *project.all("profiles", "profile")):
        for plugin in _plugins(place):
            name = str(_read_coordinate(plugin, Role.PLUGIN))
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


def _list_modules(holder: Node) -> Iterator[str]:
    for path in (("modules", "module"), ("subprojects", "subproject")):
        for module in holder.all(*path):
            yield module.text
