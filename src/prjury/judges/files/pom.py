"""A Maven POM by its meaning: properties put in, defaults written out, orders sorted."""

from __future__ import annotations

import re
from typing import Any

from prjury.manifests.manifest import ManifestError
from prjury.manifests.xml import Node, read_xml

_PROPERTY = re.compile(r"\$\{([^{}]+)\}")
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
_MOST_ROUNDS = 20
_LONGEST = 10_000


def read_pom_meaning(text: str) -> object:
    """Read the project as nested tuples.

    Raises:
        ManifestError: for what is not XML, or no POM.
    """
    project = read_xml(text).first("project")
    if project is None:
        raise ManifestError("it is not a POM: there is no project")
    declared = project.first("properties")
    properties = {node.tag: node.text for node in declared.children} if declared else {}
    used = {name for name in _PROPERTY.findall(text) if name in properties}
    hidden = {name for name in used if not _READ_BY_NAME.fullmatch(name)}
    return _normalise(project, properties, hidden)


def _normalise(node: Node, properties: dict[str, str], hidden: set[str]) -> tuple[Any, ...]:
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
    attributes = " ".join(f"{k}={v}" for k, v in sorted(node.attributes.items()) if _matters(k))
    text = " ".join(_expand(node.text, properties).split())
    return (node.tag, attributes, text if not children else "", *children)


def _matters(attribute: str) -> bool:
    """Return true for an attribute that Maven reads, not only the reader of the XML."""
    return not attribute.startswith(("xmlns", "xsi:"))


def _expand(text: str, properties: dict[str, str]) -> str:
    """Put in the properties of this file, also where they name each other."""
    for _ in range(_MOST_ROUNDS):
        replaced = _PROPERTY.sub(lambda match: properties.get(match[1], match[0]), text)
        if replaced == text or len(replaced) > _LONGEST:
            break
        text = replaced
    return text
