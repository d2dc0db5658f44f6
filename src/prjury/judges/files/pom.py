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
#: What Maven takes where nothing is said, by the element that may say it.
_DEFAULTS = {
    "dependency": {"type": "jar", "scope": "compile", "optional": "false"},
    "plugin": {"groupId": "org.apache.maven.plugins"},
    "project": {"packaging": "jar"},
}
_MOST_ROUNDS = 20
_LONGEST = 10_000


def read_pom_meaning(text: str) -> object:
    """The project as nested tuples.

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
    return _meaning(project, properties, hidden)


def _meaning(node: Node, properties: dict[str, str], hidden: set[str]) -> tuple[Any, ...]:
    children = [
        _meaning(child, properties, hidden)
        for child in node.children
        if not (node.tag == "properties" and child.tag in hidden)
    ]
    if node.children:
        defaults = _DEFAULTS.get(node.tag, {})
        tags = {child.tag for child in node.children}
        children += [(tag, "", value) for tag, value in defaults.items() if tag not in tags]
        if node.tag in _SETS | set(_DEFAULTS) or len(tags) == len(node.children):
            children.sort(key=repr)
    attributes = " ".join(f"{k}={v}" for k, v in sorted(node.attributes.items()) if _counts(k))
    text = " ".join(_put_in(node.text, properties).split())
    return (node.tag, attributes, text if not children else "", *children)


def _counts(attribute: str) -> bool:
    """Whether an attribute says something to Maven, not only to the reader of the XML."""
    return not attribute.startswith(("xmlns", "xsi:"))


def _put_in(text: str, properties: dict[str, str]) -> str:
    """The text with the properties of this file put in, also where they name each other."""
    for _ in range(_MOST_ROUNDS):
        replaced = _PROPERTY.sub(lambda match: properties.get(match[1], match[0]), text)
        if replaced == text or len(replaced) > _LONGEST:
            break
        text = replaced
    return text
