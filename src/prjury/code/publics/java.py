"""What a Java text offers: public and protected types and members that override nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prjury.code.names import Node
from prjury.code.publics.declared import child_of, children_at, children_of, line_of, text_of, tidy
from prjury.code.publics.model import Parameter, Publics, Symbol, SymbolKind

_TYPES = {
    "class_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "record_declaration": "record",
    "annotation_type_declaration": "@interface",
}
_CALLABLES = {
    "method_declaration",
    "constructor_declaration",
    "annotation_type_element_declaration",
}
_FIELDS = {"field_declaration", "constant_declaration"}
_BODIES = ("class_body", "interface_body", "enum_body", "annotation_type_body")
_ANNOTATIONS = ("annotation", "marker_annotation")
_ANNOTATION = re.compile(r"@[\w.]+(?:\([^()]*\))?\s*")
_QUALIFIER = re.compile(r"\b(?:[a-z_][\w]*\.)+(?=[A-Z])")
#: Annotations that write constructors, so that none is there by itself.
_CONSTRUCTING = re.compile(r"@(?:\w+\.)*(?:\w+ArgsConstructor|Data|Value|Builder|SuperBuilder)\b")
_MATTERING = frozenset({"static", "abstract", "final", "sealed"})


def read(root: Node) -> Publics:
    package = child_of(root, "package_declaration")
    name = child_of(package, "scoped_identifier", "identifier") if package else None
    return Publics(tuple(_find_java_members(root, "", "", 0)), text_of(name))


def _find_java_members(node: Node, prefix: str, outer: str, depth: int) -> Iterator[Symbol]:
    """The public names that stand in a node, below the word of the type around it."""
    for child in children_at(node, depth):
        kind = child.kind()
        if kind in {"ERROR", "enum_body_declarations"}:
            yield from _find_java_members(child, prefix, outer, depth + 1)
        elif kind == "enum_constant":
            name = child.field("name")
            yield Symbol(prefix + name.text(), SymbolKind.VALUE, line_of(name))
        elif (kind in _TYPES or kind in _CALLABLES or kind in _FIELDS) and _is_public(child, outer):
            if kind in _TYPES:
                yield from _read_java_type(child, prefix, depth)
            elif kind in _CALLABLES:
                yield from _list_callables(child, prefix)
            else:
                yield from _fields(child, prefix)


def _modifiers(node: Node) -> frozenset[str]:
    modifiers = child_of(node, "modifiers")
    return frozenset(child.kind() for child in modifiers.children()) if modifiers else frozenset()


def _annotations(node: Node) -> str:
    return " ".join(each.text() for each in children_of(child_of(node, "modifiers"), *_ANNOTATIONS))


def _is_public(node: Node, outer: str) -> bool:
    words = _modifiers(node)
    if re.search(r"@(?:java\.lang\.)?Override\b", _annotations(node)):
        return False
    if outer in {"interface", "@interface"}:
        return "private" not in words
    return bool(words & {"public", "protected"})


def _read_java_type(node: Node, prefix: str, depth: int) -> Iterator[Symbol]:
    name, word = node.field("name"), _TYPES[node.kind()]
    if name is None:
        return
    parameters = node.field("parameters")
    clauses = [node.field("superclass"), node.field("interfaces")]
    clauses.append(child_of(node, "extends_interfaces"))
    body = child_of(node, *_BODIES)
    members = (
        list(_find_java_members(body, f"{prefix}{name.text()}.", word, depth + 1)) if body else []
    )
    constructor = f"{prefix}{name.text()}.{name.text()}"
    written = bool(children_of(body, "constructor_declaration"))
    if body and not written:  # it may be there and not parse
        form = rf"(?m)^\s*(?:public |protected |private )?{name.text()}\s*\("
        written = re.search(form, body.text()) is not None
    hidden = written and all(member.name != constructor for member in members)
    words = _modifiers(node) & _MATTERING if word == "class" else frozenset[str]()
    words -= {"static"} if not prefix else set[str]()
    words -= {"final"} if hidden else set[str]()  # none can be extended anyway
    yield Symbol(
        prefix + name.text(),
        SymbolKind.TYPE,
        line_of(name),
        tuple(_read_java_parameters(parameters, named=True)) if parameters else None,
        f"{word} {_plain_type(node.field('type_parameters'))}".rstrip(),
        words,
        tuple(base for clause in clauses if clause for base in _bases(clause)),
    )
    yield from members
    if word == "class" and not written and not _CONSTRUCTING.search(_annotations(node)):
        yield Symbol(constructor, SymbolKind.CALLABLE, line_of(name), ())


def _bases(clause: Node) -> Iterator[str]:
    for child in clause.children():
        if child.kind() == "type_list":
            yield from _bases(child)
        elif child.is_named():
            yield _plain_type(child).partition("<")[0]


def _list_callables(node: Node, prefix: str) -> Iterator[Symbol]:
    name = node.field("name")
    if name is None:
        return
    types = f"{_plain_type(node.field('type_parameters'))} {_plain_type(node.field('type'))}"
    parameters = tuple(_read_java_parameters(node.field("parameters")))
    words = _modifiers(node) & _MATTERING
    result = tidy(types + text_of(node.field("dimensions")))
    line = line_of(name)
    yield Symbol(prefix + name.text(), SymbolKind.CALLABLE, line, parameters, result, words)


def _read_java_parameters(node: Node | None, *, named: bool = False) -> Iterator[Parameter]:
    for child in children_of(node, "formal_parameter", "spread_parameter"):
        name = child.field("name")
        if child.kind() == "spread_parameter":
            declarator = child_of(child, "variable_declarator")
            name = declarator.field("name") if declarator else None
            before = [each for each in child.children() if each.kind().endswith("type")]
            before += children_of(child, "type_identifier", "scoped_type_identifier")
            type_ = f"{_plain_type(before[0])}..." if before else "..."
        else:
            type_ = _plain_type(child.field("type")) + text_of(child.field("dimensions"))
        yield Parameter(name.text() if named and name else "", tidy(type_))


def _plain_type(type_: Node | None) -> str:
    return tidy(_QUALIFIER.sub("", _ANNOTATION.sub("", text_of(type_))))


def _fields(node: Node, prefix: str) -> Iterator[Symbol]:
    type_, words = _plain_type(node.field("type")), _modifiers(node) & _MATTERING
    for child in children_of(node, "variable_declarator"):
        name = child.field("name")
        result = tidy(type_ + text_of(child.field("dimensions")))
        line = line_of(name)
        yield Symbol(prefix + name.text(), SymbolKind.VALUE, line, None, result, words)
