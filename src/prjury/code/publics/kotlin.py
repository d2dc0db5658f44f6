"""What a Kotlin text offers: everything that is neither private nor internal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prjury.code.names import Node
from prjury.code.publics.declared import child_of, children_at, children_of, line_of, text_of
from prjury.code.publics.model import Parameter, Publics, Symbol, SymbolKind

_HIDDEN = frozenset({"private", "internal", "override"})
_MATTERING = frozenset({"abstract", "final", "sealed", "suspend"})
_BODIES = ("class_body", "enum_class_body")
_PARAMETERS = "function_value_parameters"


def read(root: Node) -> Publics:
    package = child_of(root, "package_header")
    name = child_of(package, "identifier") if package else None
    return Publics(tuple(_find_kotlin_members(root, "", 0)), text_of(name))


def _find_kotlin_members(node: Node, prefix: str, depth: int) -> Iterator[Symbol]:
    for child in children_at(node, depth):
        kind = child.kind()
        if kind == "ERROR":
            yield from _find_kotlin_members(child, prefix, depth + 1)
        elif _modifiers(child) & _HIDDEN:
            continue
        elif kind in {"class_declaration", "object_declaration", "companion_object"}:
            yield from _read_kotlin_type(child, prefix, depth)
        elif kind == "infix_expression":
            yield from _object(child, prefix, depth)
        elif kind in _READERS:
            yield from _READERS[kind](child, prefix)


def _modifiers(node: Node) -> frozenset[str]:
    modifiers = child_of(node, "modifiers")
    children = modifiers.children() if modifiers else ()
    return frozenset(each.text() for each in children if each.kind().endswith("_modifier"))


def _child_after(node: Node, token: str) -> Node | None:
    children = iter(node.children())
    return next(children, None) if any(child.kind() == token for child in children) else None


def _read_kotlin_function(node: Node, prefix: str) -> Iterator[Symbol]:
    name, listed = child_of(node, "simple_identifier"), child_of(node, _PARAMETERS)
    if name is None or listed is None:
        return
    receiver = text_of(child_of(node, "receiver_type"))
    path = f"{receiver}.{name.text()}" if receiver else name.text()
    parameters, result = tuple(_read_kotlin_parameters(listed)), text_of(_child_after(node, ":"))
    words, line = _modifiers(node) & _MATTERING, line_of(name)
    yield Symbol(prefix + path, SymbolKind.CALLABLE, line, parameters, result, words)


def _constructor(node: Node, prefix: str) -> Iterator[Symbol]:
    owner = prefix.rstrip(".").rpartition(".")[2]
    parameters = tuple(_read_kotlin_parameters(child_of(node, _PARAMETERS)))
    yield Symbol(prefix + owner, SymbolKind.CALLABLE, line_of(node), parameters)


def _read_kotlin_parameters(node: Node | None) -> Iterator[Parameter]:
    variable, last = "", None
    for child in node.children() if node else ():
        kind = child.kind()
        if kind == "parameter_modifiers":
            variable = "vararg " if "vararg" in child.text().split() else ""
        elif kind in {"parameter", ","}:
            if last:
                yield last
            last = _parameter(child, variable) if kind == "parameter" else None
            variable = ""
        elif kind == "=" and last:
            last = Parameter(last.name, last.type, optional=True)
    if last:
        yield last


def _parameter(node: Node, variable: str) -> Parameter:
    return Parameter(
        text_of(child_of(node, "simple_identifier")),
        variable + text_of(_child_after(node, ":")),
        optional=child_of(node, "=") is not None,
    )


def _list_properties(node: Node, prefix: str) -> Iterator[Symbol]:
    receiver = text_of(child_of(node, "receiver_type"))
    start = f"{prefix}{receiver}." if receiver else prefix
    words = _modifiers(node) & _MATTERING | _var(node)
    several = child_of(node, "multi_variable_declaration")
    for child in children_of(several or node, "variable_declaration"):
        name = child_of(child, "simple_identifier")
        if name is not None:
            result = text_of(_child_after(child, ":"))
            line = line_of(name)
            yield Symbol(start + name.text(), SymbolKind.VALUE, line, None, result, words)


def _constant(node: Node, prefix: str) -> Iterator[Symbol]:
    if name := child_of(node, "simple_identifier"):
        yield Symbol(prefix + name.text(), SymbolKind.VALUE, line_of(name))


def _alias(node: Node, prefix: str) -> Iterator[Symbol]:
    if name := child_of(node, "type_identifier"):
        result = f"typealias {text_of(_child_after(node, '='))}"
        yield Symbol(prefix + name.text(), SymbolKind.TYPE, line_of(name), None, result)


_READERS: Mapping[str, Callable[[Node, str], Iterator[Symbol]]] = {
    "function_declaration": _read_kotlin_function,
    "secondary_constructor": _constructor,
    "property_declaration": _list_properties,
    "enum_entry": _constant,
    "type_alias": _alias,
}


def _var(node: Node) -> frozenset[str]:
    return frozenset({"var"} & {text_of(child_of(node, "binding_pattern_kind"))})


def _read_kotlin_type(node: Node, prefix: str, depth: int) -> Iterator[Symbol]:
    name = child_of(node, "type_identifier")
    path = prefix + (name.text() if name else "Companion")
    tokens = {child.kind() for child in node.children()}
    word = (
        "enum"
        if "enum" in _modifiers(node) | tokens
        else "interface"
        if "interface" in tokens
        else "class"
    )
    word = word if node.kind() == "class_declaration" else "object"
    variables = text_of(child_of(node, "type_parameters"))
    bases = tuple(
        text_of(base).partition("<")[0]
        for specifier in children_of(node, "delegation_specifier")
        if (base := specifier.find(kind="user_type"))
    )
    line = line_of(name or node)
    words = _modifiers(node) & _MATTERING
    yield Symbol(path, SymbolKind.TYPE, line, None, f"{word} {variables}".strip(), words, bases)
    constructor = child_of(node, "primary_constructor")
    if constructor and name and not _modifiers(constructor) & _HIDDEN:
        listed = children_of(constructor, "class_parameter")
        parameters = tuple(
            _parameter(each, "vararg " * ("vararg" in _modifiers(each))) for each in listed
        )
        yield Symbol(f"{path}.{name.text()}", SymbolKind.CALLABLE, line, parameters)
        for each in listed:
            if child_of(each, "binding_pattern_kind") and not _modifiers(each) & _HIDDEN:
                parameter = _parameter(each, "")
                own = f"{path}.{parameter.name}"
                yield Symbol(own, SymbolKind.VALUE, line, None, parameter.type, _var(each))
    if body := child_of(node, *_BODIES):
        yield from _find_kotlin_members(body, f"{path}.", depth + 1)


def _object(node: Node, prefix: str, depth: int) -> Iterator[Symbol]:
    """An object that the grammar takes for an infix expression."""
    first, name, body = ([*node.children(), None, None, None])[:3]
    if first.text() == "object" and name and body and body.kind() == "lambda_literal":
        yield Symbol(prefix + name.text(), SymbolKind.TYPE, line_of(name), None, "object")
        if statements := child_of(body, "statements"):
            yield from _find_kotlin_members(statements, f"{prefix}{name.text()}.", depth + 1)
