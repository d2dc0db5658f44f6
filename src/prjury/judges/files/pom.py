"""A Maven POM by its meaning: properties put in, defaults written out, orders sorted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from prjury.manifests.lineage import resolve
from prjury.manifests.manifest import ManifestError
from prjury.manifests.xml import Node, read_xml

#: Properties that Maven and its plugins read by their names, used in this file or not.
_READ_BY_NAME = re.compile(r"(?:maven|project|java|kotlin|surefire|failsafe|jacoco)\b.*|skip.*")
#: Elements whose parts may stand in any order.
_SETS = frozenset(
    "dependencies plugins modules properties dependencyManagement pluginManagement profiles "
    "repositories pluginRepositories exclusions extensions resources testResources licenses "
    "developers executions".split()
)
#: Maven's defaults, by the element that may override them.
_DEFAULTS = {
    "dependency": {"type": "jar", "scope": "compile", "optional": "false"},
    "plugin": {"groupId": "org.apache.maven.plugins"},
    "project": {"packaging": "jar"},
}


def read_pom_meaning(text: str) -> object:
    """Read the project as nested tuples; properties that are only used in this file are put in."""
    project = read_xml(text).first("project")
    if project is None:
        raise ManifestError("it is not a POM: there is no project")
    properties = {node.tag: node.text for node in project.all("properties", "*")}
    hidden = {
        name for name in properties if f"${{{name}}}" in text and not _READ_BY_NAME.fullmatch(name)
    }
    return _normalise(project, properties, hidden)


def _normalise(node: Node, properties: Mapping[str, str], hidden: set[str]) -> tuple[Any, ...]:
    children = [
        _normalise(child, properties, hidden)
        for child in node.children
        if not (node.tag == "properties" and child.tag in hidden)
    ]
    if node.children:
        defaults = _DEFAULTS.get(node.tag, {})
        tags = {child.tag for child in node.children}
        children += [(tag, "", value) for tag, value in defaults.items() if tag not in tags]
        if node.tag in _SETS | set(_DEFAULTS) or len(tags) == len(node.children):
            children.sort(key=repr)
    attributes = [
        f"{name}={value}"
        for name, value in sorted(node.attributes.items())
        if not name.startswith(("xmlns", "xsi:"))  # Maven does not read these
    ]
    text = " ".join((resolve(node.text, properties) or node.text).split())
    return (node.tag, " ".join(attributes), "" if children else text, *children)
