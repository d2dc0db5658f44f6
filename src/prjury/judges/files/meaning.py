"""Forms of a text in which two texts that mean the same are equal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any, TypeAlias

from prjury.code.languages import Language, language_of
from prjury.code.parser import NotParsed, Parser, make_job
from prjury.code.source import UnreadableError, decode_text, unescape_java
from prjury.deadline import Deadline
from prjury.manifests.manifest import ManifestError
from prjury.manifests.syntax import fill_properties, load_toml
from prjury.manifests.xml import Node, read_xml_document

#: It raises `ManifestError` where the text cannot be understood.
Meaning: TypeAlias = Callable[[str], object]

_SECONDS = 60.0
#: Lists and maps within each other, where they are written in brackets.
_DEEPEST = 200


def find_meaning(path: str) -> Meaning:
    """Choose the form in which a file of this name is compared: POM, data, code, or words."""
    if PurePosixPath(path).name == "pom.xml":
        return read_pom_meaning
    by_suffix = _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())
    language = find_language(path)
    return by_suffix or (partial(list_syntax_leaves, language) if language else split_words)


def split_words(text: str) -> list[str]:
    """List the lines that hold something, with single blanks."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line]


def read_json(text: str) -> object:
    """Read JSON; the order of keys has no meaning, a key that is given twice is refused."""
    try:
        return _tag_types(json.loads(text, object_pairs_hook=_refuse_double_keys))
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"it is not JSON: {error}") from error


def _refuse_double_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a key is given twice")
    return document


def read_yaml_with_types(text: str) -> object:
    """Read the YAML documents of a text; aliases and keys that are given twice are refused."""
    import yaml  # noqa: PLC0415 - only for YAML

    class Reader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - as PyYAML has it
            keys = [key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
            mapping = super().construct_mapping(node, deep=deep)
            if len({self.construct_object(key, deep=True) for key in keys}) < len(keys):
                raise ValueError("a key is given twice")
            return mapping

    try:
        depth = 0
        for token in yaml.scan(text):  # each token takes longer the deeper it stands
            if isinstance(token, yaml.AliasToken):
                raise ManifestError("it has aliases, which are not followed")
            depth += isinstance(token, (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken))
            depth -= isinstance(token, (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken))
            if depth > _DEEPEST:
                raise ManifestError("it is nested without end")
        return [_tag_types(document) for document in yaml.load_all(text, Reader)]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ManifestError(f"it is not YAML: {str(error).splitlines()[0]}") from error


def read_toml(text: str) -> object:
    """Read TOML; the order of keys and tables has no meaning."""
    return _tag_types(load_toml(text))


def _tag_types(value: object) -> Any:  # noqa: ANN401 - as the value
    """Tell values by their types: ``1``, ``1.0``, ``"1"`` and ``true`` differ, as keys too."""
    kind = type(value).__name__
    if isinstance(value, dict):
        return {_tag_types(key): _tag_types(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return (kind, *map(_tag_types, value))
    if isinstance(value, set):
        return (kind, frozenset(map(_tag_types, value)))
    return (kind, repr(value) if isinstance(value, float) else value)


def canonicalize_xml(text: str) -> str:
    """Write XML canonically; comments, prefixes and blanks around texts have no meaning."""
    from xml.etree.ElementTree import canonicalize  # noqa: PLC0415 - only for XML

    from defusedxml import DefusedXmlException  # noqa: PLC0415 - the same
    from defusedxml.ElementTree import ParseError, fromstring  # noqa: PLC0415 - the same

    plain = text.removeprefix("\ufeff")
    try:
        fromstring(plain, forbid_dtd=True)
        return canonicalize(plain, strip_text=True, rewrite_prefixes=True)
    except DefusedXmlException as error:
        raise ManifestError("it has a document type or entities, which are refused") from error
    except (ParseError, ValueError, RecursionError) as error:
        raise ManifestError(f"it is not XML: {error}") from error


_BY_SUFFIX: Mapping[str, Meaning] = {
    ".json": read_json,
    ".yml": read_yaml_with_types,
    ".yaml": read_yaml_with_types,
    ".toml": read_toml,
    ".xml": canonicalize_xml,
}
#: Statements of imports by language; neighbours may stand in any order.
_IMPORTS: Mapping[str, frozenset[str]] = {
    "java": frozenset({"import_declaration"}),
    "kotlin": frozenset({"import_header"}),
    "go": frozenset({"import_spec"}),
    "rust": frozenset({"use_declaration"}),
    "python": frozenset({"import_statement", "import_from_statement"}),
    **dict.fromkeys(("javascript", "typescript", "tsx"), frozenset({"import_statement"})),
}
_ROOTS = frozenset({"program", "source_file", "module"})
#: Kinds in which a comma at the end says something: ``(a,)``, ``[,]``, ``x[1,]``.
_COMMA_COUNTS = ("tuple", "array", "subscript", "pattern")
#: Comments that tell the compiler something.
_DIRECTIVE = re.compile(r"//(?:go:|export )")
Leaf: TypeAlias = tuple[str, str]
Row: TypeAlias = tuple[str, int, int, int]


def find_language(path: str) -> Language | None:
    """Find the language of a file whose source code can be compared."""
    language = language_of(path)
    return language if language and language.name in _IMPORTS else None


def list_syntax_leaves(language: Language, text: str) -> list[Leaf]:
    """List the leaves of the syntax tree, each with the kind of the node above it.

    Comments, white space, commas before a closing bracket and the order of imports do not count.
    """
    try:
        plain = unescape_java(decode_text(text.encode()), language)
    except UnreadableError as error:
        raise ManifestError(str(error)) from error
    [reply] = Parser().parse([make_job(plain, language, as_tree=True)], Deadline.after(_SECONDS))
    if isinstance(reply, NotParsed):
        raise ManifestError(f"it could not be parsed ({reply})")
    for kind, start, end, count in reply.tree:
        made_up = start == end and not count and "content" not in kind and kind not in _ROOTS
        if made_up or kind == "ERROR":
            line = plain.count("\n", 0, start) + 1
            raise ManifestError(f"it could not be parsed (syntax error in line {line})")
    try:
        leaves = _read_syntax_leaves(language, plain, iter(reply.tree))
    except RecursionError as error:
        raise ManifestError("it is nested without end") from error
    return [
        leaf
        for leaf, (_, after) in zip(leaves, [*leaves[1:], ("", "")], strict=False)
        if leaf[1] != "," or after not in {")", "]", "}"} or leaf[0].endswith(_COMMA_COUNTS)
    ]


def _read_syntax_leaves(language: Language, text: str, rows: Iterator[Row]) -> list[Leaf]:
    is_python = language.name == "python"
    is_script = language.kin == "script"

    def read_text(kind: str, start: int, end: int) -> list[Leaf]:
        word = text[start:end]  # in a string even blanks count
        return [(kind, word)] if word and ("string" in kind or word.strip()) else []

    def read_node_leaves(row: Row, parent: str) -> list[Leaf]:
        kind, start, end, count = row
        if kind in language.comments and not _DIRECTIVE.match(text, start):
            for _ in range(count):
                read_node_leaves(next(rows), kind)
            return []
        if not count:
            return read_text(parent, start, end)
        leaves: list[Leaf] = []
        imports: list[list[Leaf]] = []
        for _ in range(count):
            child = next(rows)
            leaves += read_text(kind, start, child[1])
            start = child[2]
            part = read_node_leaves(child, kind)
            words = {word for _, word in part}
            effect = "*" in words if is_python else is_script and not words & {"from", "="}
            if child[0] in _IMPORTS[language.name] and not effect:
                imports.append(part)
            elif part:
                leaves += [*_sort_imports(imports), *part]
                imports.clear()
        leaves += [*_sort_imports(imports), *read_text(kind, start, end)]
        if kind == "block" and is_python:
            return [("block", "{"), *leaves, ("block", "}")]
        return leaves

    return read_node_leaves(next(rows), "")


def _sort_imports(imports: Sequence[list[Leaf]]) -> Iterator[Leaf]:
    """Yield the leaves of neighbours, sorted unless two of them may bind one name."""
    names = [[word for _, word in each if word[:1].isalpha()][-1:] for each in imports]
    single = all(names.count(name) == 1 for name in names)
    for each in sorted(imports) if single else imports:
        yield from each


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
    project = read_xml_document(text).first("project")
    if project is None:
        raise ManifestError("it is not a POM: there is no project")
    properties = {node.tag: node.text for node in project.all("properties", "*")}
    hidden = {
        name for name in properties if f"${{{name}}}" in text and not _READ_BY_NAME.fullmatch(name)
    }
    return _normalise_node(project, properties, hidden)


def _normalise_node(node: Node, properties: Mapping[str, str], hidden: set[str]) -> tuple[Any, ...]:
    children = [
        _normalise_node(child, properties, hidden)
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
    text = " ".join((fill_properties(node.text, properties) or node.text).split())
    return (node.tag, " ".join(attributes), "" if children else text, *children)
