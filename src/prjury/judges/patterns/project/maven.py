"""Reads a ``pom.xml``: hostile XML is refused, namespaces do not matter, lines are kept."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.sax import SAXException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, Locator

from defusedxml import DefusedXmlException
from defusedxml import sax as defused

from prjury.judges.patterns.project.manifest import (
    Coordinate,
    Manifest,
    ManifestError,
    Role,
    Setting,
)

_MAX_DEPTH = 60
_LONE_CR = re.compile(rb"\r(?!\n)")


@dataclass
class _Node:
    tag: str
    line: int
    pieces: list[str] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces).strip()

    def all(self, *path: str) -> Iterator[_Node]:
        """The descendants at the path of tags; ``*`` is any tag."""
        if not path:
            yield self
            return
        for child in self.children:
            if path[0] in {"*", child.tag}:
                yield from child.all(*path[1:])

    def first(self, *path: str) -> _Node | None:
        return next(self.all(*path), None)

    def value(self, *path: str) -> str | None:
        """The text at the path; None where there is none or it is empty."""
        node = self.first(*path)
        return (node.text or None) if node else None


class _TreeBuilder(ContentHandler):
    """Builds the tree, and refuses to go deeper than any real build file does."""

    def __init__(self) -> None:
        super().__init__()
        self.root = _Node("", 0)
        self._open = [self.root]
        self._locator: Locator | None = None

    def setDocumentLocator(self, locator: Locator) -> None:  # noqa: N802 - SAX's own name
        self._locator = locator

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: ARG002, N802 - SAX
        if len(self._open) > _MAX_DEPTH:
            raise ManifestError(f"nested deeper than {_MAX_DEPTH} levels")
        line = (self._locator.getLineNumber() if self._locator else None) or 1
        node = _Node(name.rpartition(":")[2], line)
        self._open[-1].children.append(node)
        self._open.append(node)

    def endElement(self, name: str) -> None:  # noqa: ARG002, N802 - SAX
        self._open.pop()

    def characters(self, content: str) -> None:
        self._open[-1].pieces.append(content)


def read_pom(content: bytes) -> Manifest:
    """What a ``pom.xml`` declares. Nothing inside ``<exclusions>`` counts as declared.

    Raises:
        ManifestError: for a file that is not XML, has a DTD or entities, or is no project.
    """
    builder = _TreeBuilder()
    try:
        defused.parse(io.BytesIO(_LONE_CR.sub(b" ", content)), builder, forbid_dtd=True)
    except DefusedXmlException as error:
        raise ManifestError("it has a DTD or entities, which are refused") from error
    except (SAXException, ValueError, LookupError) as error:
        if isinstance(error, ManifestError):
            raise
        first_line = str(error).partition("\n")[0]
        raise ManifestError(f"not XML: {first_line}") from error
    project = builder.root.first("project")
    if project is None:
        raise ManifestError("it has no <project>")
    return _manifest(project)


def _manifest(project: _Node) -> Manifest:
    properties = {node.tag: node.text for node in project.all("properties", "*")}
    return Manifest(
        name=project.value("artifactId") or "",
        group=project.value("groupId") or project.value("parent", "groupId") or "",
        version=project.value("version") or project.value("parent", "version"),
        coordinates=tuple(_coordinates(project)),
        settings=tuple(_settings(project)),
        properties=properties,
        parent_path=_parent_path(project),
    )


def _parent_path(project: _Node) -> str | None:
    parent = project.first("parent")
    if parent is None:
        return None
    if parent.first("relativePath") is None:
        return "../pom.xml"
    return parent.value("relativePath")


def _coordinates(project: _Node) -> Iterator[Coordinate]:
    for parent in project.all("parent"):
        yield _coordinate(parent, Role.PARENT)
    for place in (project, *project.all("profiles", "profile")):
        for node in place.all("dependencies", "dependency"):
            yield _coordinate(node, Role.DEPENDENCY)
        for node in place.all("dependencyManagement", "dependencies", "dependency"):
            yield _coordinate(node, Role.BOM if node.value("scope") == "import" else Role.MANAGED)
        for node in _plugins(place):
            yield _coordinate(node, Role.PLUGIN)


def _plugins(place: _Node) -> Iterator[_Node]:
    yield from place.all("build", "plugins", "plugin")
    yield from place.all("build", "pluginManagement", "plugins", "plugin")


def _coordinate(node: _Node, role: Role) -> Coordinate:
    named = [node.first("artifactId"), node.first("groupId")]
    group = node.value("groupId")
    if group is None and role is Role.PLUGIN:
        group = "org.apache.maven.plugins"
    return Coordinate(
        group=group or "",
        artifact=node.value("artifactId") or "",
        version=node.value("version"),
        role=role,
        lines=tuple(part.line for part in named if part),
    )


def _settings(project: _Node) -> Iterator[Setting]:
    for place in (project, *project.all("profiles", "profile")):
        for plugin in _plugins(place):
            name = str(_coordinate(plugin, Role.PLUGIN))
            for holder in (plugin, *plugin.all("executions", "execution")):
                for configuration in holder.all("configuration"):
                    yield from _leaves(configuration, name, "")


def _leaves(node: _Node, plugin: str, prefix: str) -> Iterator[Setting]:
    for child in node.children:
        key = f"{prefix}{child.tag}"
        if child.children:
            yield from _leaves(child, plugin, f"{key}.")
        else:
            yield Setting(plugin, key, child.text, child.line)
