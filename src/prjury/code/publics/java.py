"""What a Java text offers: public and protected types and members that override nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prjury.code.publics.declared import Tree, tidy
from prjury.code.publics.model import Parameter, Publics, Symbol, SymbolKind

_TYPES = {
    "class_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "record_declaration": "record",
    "annotation_type_declaration": "@interface",
}
_CALLABLES = frozenset(
    {"method_declaration", "constructor_declaration", "annotation_type_element_declaration"}
)
_FIELDS = frozenset({"field_declaration", "constant_declaration"})
_BODIES = ("class_body", "interface_body", "enum_body", "annotation_type_body")
_ANNOTATION = re.compile(r"@[\w.]+(?:\([^()]*\))?\s*")
_OVERRIDE = re.compile(r"@(?:java\.lang\.)?Override\b")
_QUALIFIER = re.compile(r"\b(?:[a-z_][\w]*\.)+(?=[A-Z])")
#: Annotations that write constructors, so that none is there by itself.
_CONSTRUCTING = re.compile(r"@(?:\w+\.)*(?:\w+ArgsConstructor|Data|Value|Builder|SuperBuilder)\b")
_MATTERING = frozenset({"static", "abstract", "final", "sealed"})


def read(root: Tree) -> Publics:
    package = root.child("package_declaration").child("scoped_identifier", "identifier")
    return Publics(tuple(_find_public_java_members(root, "", "")), package.text)


def _find_public_java_members(tree: Tree, prefix: str, outer_word: str) -> Iterator[Symbol]:
    """The public names that stand in a node, below the word of the type around it."""
    for child in tree.open_children("ERROR", "enum_body_declarations"):
        name = child.field("name")
        if child.kind == "enum_constant":
            yield Symbol(prefix + name.text, SymbolKind.VALUE, name.line)
        elif child.kind in _FIELDS and _is_public(child, outer_word):
            yield from _read_fields(child, prefix)
        elif child.kind in _TYPES and name and _is_public(child, outer_word):
            yield from _read_java_type_constructor_and_members(child, prefix)
        elif child.kind in _CALLABLES and name and _is_public(child, outer_word):
            types = f"{_plain(child.field('type_parameters'))} {_plain(child.field('type'))}"
            result = tidy(types + child.field("dimensions").text)
            parameters = tuple(_read_java_parameters(child))
            words = child.modifiers & _MATTERING
            path, line = prefix + name.text, name.line
            yield Symbol(path, SymbolKind.CALLABLE, line, parameters, result, words)


def _annotations(tree: Tree) -> str:
    annotations = tree.child("modifiers").children("annotation", "marker_annotation")
    return " ".join(each.raw for each in annotations)


def _is_public(tree: Tree, outer_word: str) -> bool:
    words = tree.modifiers
    if _OVERRIDE.search(_annotations(tree)):
        return False
    if outer_word in {"interface", "@interface"}:
        return "private" not in words
    return bool(words & {"public", "protected"})


def _read_java_type_constructor_and_members(tree: Tree, prefix: str) -> Iterator[Symbol]:
    name, word, body = tree.field("name"), _TYPES[tree.kind], tree.child(*_BODIES)
    path = prefix + name.text
    members = list(_find_public_java_members(body, f"{path}.", word))
    constructor = f"{path}.{name.text}"
    written = bool(body.child("constructor_declaration"))
    if not written:  # it may be there and not parse
        form = rf"(?m)^\s*(?:public |protected |private )?{name.text}\s*\("
        written = re.search(form, body.raw) is not None
    words = tree.modifiers & _MATTERING if word == "class" else frozenset[str]()
    words -= {"static"} if not prefix else set[str]()
    if written and all(member.name != constructor for member in members):
        words -= {"final"}  # none can be extended anyway
    clauses = [tree.field("superclass"), tree.field("interfaces"), tree.child("extends_interfaces")]
    yield Symbol(
        path,
        SymbolKind.TYPE,
        name.line,
        tuple(_read_java_parameters(tree, with_names=True)) if tree.field("parameters") else None,
        f"{word} {_plain(tree.field('type_parameters'))}".rstrip(),
        words,
        tuple(base for clause in clauses for base in _bases(clause)),
    )
    yield from members
    if word == "class" and not written and not _CONSTRUCTING.search(_annotations(tree)):
        yield Symbol(constructor, SymbolKind.CALLABLE, name.line, ())


def _bases(clause: Tree) -> Iterator[str]:
    for child in clause.named_children():
        if child.kind == "type_list":
            yield from _bases(child)
        else:
            yield _plain(child).partition("<")[0]


def _read_java_parameters(tree: Tree, *, with_names: bool = False) -> Iterator[Parameter]:
    for child in tree.field("parameters").children("formal_parameter", "spread_parameter"):
        name, type_ = child.field("name"), _plain(child.field("type"))
        if child.kind == "spread_parameter":
            name = child.child("variable_declarator").field("name")
            types = [each for each in child.children() if each.kind.endswith("type")]
            types += child.children("type_identifier", "scoped_type_identifier")
            type_ = f"{_plain(types[0])}..." if types else "..."
        type_ += child.field("dimensions").text
        yield Parameter(name.text if with_names else "", tidy(type_))


def _plain(type_: Tree) -> str:
    return tidy(_QUALIFIER.sub("", _ANNOTATION.sub("", type_.text)))


def _read_fields(tree: Tree, prefix: str) -> Iterator[Symbol]:
    type_, words = _plain(tree.field("type")), tree.modifiers & _MATTERING
    for child in tree.children("variable_declarator"):
        name, result = child.field("name"), tidy(type_ + child.field("dimensions").text)
        yield Symbol(prefix + name.text, SymbolKind.VALUE, name.line, None, result, words)
